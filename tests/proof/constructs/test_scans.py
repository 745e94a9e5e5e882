"""Scan: axes and directions, Scan 8 with its batch, no trips."""

import itertools

import numpy as np
import pytest
from proofs import assert_open, assert_proved, model
from straightline.reference import run
from term_values import evaluated

SCAN = """g (float[%s] x, float[2] y) => (float[p, q] z, float[2] f) { %s }"""
BODY = """f, z = Scan <num_scan_inputs = 1%s,
    body = b (float[2] s, float[2] e) => (float[2] t, float[2] o) { t = Sub (e, s) o = Sin (t) }>
    (y, x)"""
NAMES = ["input_axes", "input_directions", "output_axes", "output_directions"]


def scan(sizes, *numbers):
    said = "".join(f", scan_{n} = [{k}]" for n, k in zip(NAMES, numbers, strict=True))
    return SCAN % (sizes, BODY % said)


WAYS = list(itertools.product((0, 1), repeat=4))


def unrolled(trips, axis, back, out_axis, out_back):
    """The same by Gather and Concat."""
    order = [trips - 1 - t if back else t for t in range(trips)]
    nodes = [f"k{t} = Constant <value_int = {p}> ()" for t, p in enumerate(order)]
    nodes += [f"a = Constant <value_ints = [{out_axis}]> ()", "t0 = Identity (y)"]
    for t in range(trips):
        nodes.append(f"e{t} = Gather <axis = {axis}> (x, k{t}) t{t + 1} = Sub (e{t}, t{t})")
        nodes.append(f"o{t} = Sin (t{t + 1}) u{t} = Unsqueeze (o{t}, a)")
    made = [f"u{t}" for t in range(trips)][:: -1 if out_back else 1]
    nodes.append(f"z = Concat <axis = {out_axis}> ({', '.join(made)}) f = Identity (t{trips})")
    return SCAN % ("2, 2", " ".join(nodes))


@pytest.mark.parametrize("way", WAYS)
def test_axes_and_directions_say_what_is_read_and_where_it_goes(way):
    assert_proved(scan("2, 2", *way), unrolled(2, *way))
    for k in range(4):
        other = [1 - n if at == k else n for at, n in enumerate(way)]
        assert_open(scan("2, 2", *way), unrolled(2, *other))


@pytest.mark.parametrize("way", WAYS)
def test_axes_may_be_counted_from_the_end(way):
    axis, back, out_axis, out_back = way
    for sizes in ("2, 2", "n, 2" if axis == 0 else "2, n"):
        assert_proved(scan(sizes, *way), scan(sizes, axis - 2, back, out_axis - 2, out_back))


@pytest.mark.parametrize("way", WAYS)
def test_run_time_lengths_differ_with_axes_and_directions(way):
    sizes = "2, n" if way[0] else "n, 2"
    for k in (1, 2, 3):
        other = [1 - n if at == k else n for at, n in enumerate(way)]
        assert_open(scan(sizes, *way), scan(sizes, *other))


@pytest.mark.parametrize("length", [0, 1, 3])
@pytest.mark.parametrize("way", WAYS)
def test_terms_are_worth_what_runs_give(way, length):
    shape = (2, length) if way[0] else (length, 2)
    x = np.arange(2 * length, dtype=np.float32).reshape(shape)
    feeds = {"x": x, "y": np.array([1, -2], np.float32)}
    for sizes in (", ".join(map(str, shape)), "2, n" if way[0] else "n, 2"):
        text = model(scan(sizes, *way))
        for one, other in zip(evaluated(text, feeds), run(text, feeds), strict=True):
            assert one.shape == other.shape
            np.testing.assert_array_equal(one, other)


def test_no_trips_give_an_axis_without_elements():
    empty = "f = Identity (y) z = Constant <value = float[%s] {}> ()"
    assert_proved(scan("0, 2", 0, 0, 0, 0), SCAN % ("0, 2", empty % "0, 2"))
    assert_proved(scan("0, 2", 0, 0, 1, 0), SCAN % ("0, 2", empty % "2, 0"))
    assert_open(scan("0, 2", 0, 0, 1, 0), SCAN % ("0, 2", empty % "0, 2"))


BATCH = """g (float[%s] x, float[2, 1] y) => (float[2, 1] f, float[2, p, 1] z)
    <int64[2] lengths = {%s}, float[1, 1] blank = {0}, int64 k0 = {0}, int64 k1 = {1}> { %s }"""
EACH = """f, z = Scan <num_scan_inputs = 1%s,
    body = b (float[1] s, float[1] e) => (float[1] t, float[1] o) { t = Sub (e, s) o = Sin (t) }>
    (%s, y, x)"""


def batch(said="", lengths="", numbers="2, 1", sizes="2, 2, 1"):
    return BATCH % (sizes, numbers, EACH % (said, lengths))


def by_hand(trips, numbers="2, 1"):
    """The same for each element of the batch, which reads these places one after the other."""
    nodes, unsqueeze = [], "Unsqueeze <axes = [0]>"
    for b, places in enumerate(trips):
        nodes.append(f"r{b} = Gather (x, k{b}) s{b}_0 = Gather (y, k{b})")
        for t, place in enumerate(places):
            nodes.append(f"e{b}_{t} = Gather (r{b}, k{place})")
            nodes.append(f"s{b}_{t + 1} = Sub (e{b}_{t}, s{b}_{t}) o{b}_{t} = Sin (s{b}_{t + 1})")
            nodes.append(f"u{b}_{t} = {unsqueeze} (o{b}_{t})")
        rows = [f"u{b}_{t}" for t in range(len(places))] + ["blank"] * (2 - len(places))
        nodes.append(f"w{b} = Concat <axis = 0> ({', '.join(rows)}) z{b} = {unsqueeze} (w{b})")
        nodes.append(f"f{b} = {unsqueeze} (s{b}_{len(places)})")
    nodes.append("z = Concat <axis = 0> (z0, z1) f = Concat <axis = 0> (f0, f1)")
    return BATCH % ("2, 2, 1", numbers, " ".join(nodes))


BACK = ", directions = [1]"


@pytest.mark.parametrize(
    ("said", "lengths", "numbers", "trips"),
    [
        ("", "", "2, 1", [[0, 1], [0, 1]]),
        (BACK, "", "2, 1", [[1, 0], [1, 0]]),
        ("", "lengths", "2, 1", [[0, 1], [0]]),
        ("", "lengths", "0, 2", [[], [0, 1]]),
        (BACK, "lengths", "1, 2", [[0], [1, 0]]),
    ],
)
def test_each_element_of_a_batch_has_its_own_trips(said, lengths, numbers, trips):
    before = batch(said, lengths, numbers)
    assert_proved(before, by_hand(trips, numbers), opset=8)
    assert_open(before, by_hand([[0], [1]], numbers), opset=8)


@pytest.mark.parametrize("sizes", ["2, n, 1", "b, n, 1", "b, 2, 1"])
def test_a_batch_of_any_size(sizes):
    one = batch(sizes=sizes)
    assert_proved(one, one, opset=8)
    assert_open(one, batch(BACK, sizes=sizes), opset=8)


def test_lengths_that_run_time_tells_are_left_open():
    text = batch("", "lengths").replace("float[2, 1] y", "float[2, 1] y, int64[2] lengths")
    assert_open(text, text, "lengths that run time tells", opset=8)
    text = batch("", "lengths", sizes="2, n, 1")
    assert_open(text, text, "a Scan 8 of unknown batch or length, with lengths", opset=8)


@pytest.mark.parametrize("place", [0, 2])
def test_an_axis_that_is_not_there_is_no_other(place):
    for axis in (2, -3):
        way = [axis if at == place else 0 for at in range(4)]
        assert_open(scan("2, 2", *way), scan("2, 2", 0, 0, 0, 0), "has no axis")
