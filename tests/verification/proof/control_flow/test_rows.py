"""Scan 9: axes and directions, no trips, lengths that run time tells."""

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


@pytest.mark.parametrize("place", [0, 2])
def test_an_axis_that_is_not_there_is_no_other(place):
    for axis in (2, -3):
        way = [axis if at == place else 0 for at in range(4)]
        assert_open(scan("2, 2", *way), scan("2, 2", 0, 0, 0, 0), "has no axis")


def test_a_state_of_which_the_rank_is_not_known_is_open():
    text = """g (int64[r] k, float[4] x, float[2, 3, 2] rows) => (float[n, 2] y) {
        s = Reshape (x, k)
        y, z = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e) =>
            (float[2] c, float[2] o) { c = Add (a, e) o = Neg (e) }> ("", s, rows) }"""
    assert_open(text, text.replace("Neg", "Abs"), "no known rank", opset=8)
