import functools
import itertools

import numpy as np
import onnx
import pytest
import straightline as sl
from proofs import assert_open, assert_proved, is_proved, model
from sessions import by_reference, open_session
from straightline.reference import run
from straightline.verification.proof import prove
from tables import table
from term_values import evaluated

BATCH = """g (float[%s] x, float[2, 1] y) => (float[2, 1] f, float[2, p, 1] z)
    <int64[2] lengths = {%s}, float[1, 1] blank = {0}, int64 k0 = {0}, int64 k1 = {1}> { %s }"""
EACH = """f, z = Scan <num_scan_inputs = 1%s,
    body = b (float[1] s, float[1] e) => (float[1] t, float[1] o) { t = Sub (e, s) o = Sin (t) }>
    (%s, y, x)"""


def batch(said="", lengths="", numbers="2, 1", sizes="2, 2, 1"):
    return BATCH % (sizes, numbers, EACH % (said, lengths))


def by_hand(iterations, numbers="2, 1"):
    """The same for each element of the batch, which reads these places one after the other."""
    nodes, unsqueeze = [], "Unsqueeze <axes = [0]>"
    for b, places in enumerate(iterations):
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


@table(
    ("", "", "2, 1", [[0, 1], [0, 1]]),
    (BACK, "", "2, 1", [[1, 0], [1, 0]]),
    ("", "lengths", "2, 1", [[0, 1], [0]]),
    ("", "lengths", "0, 2", [[], [0, 1]]),
    (BACK, "lengths", "1, 2", [[0], [1, 0]]),
)
def test_each_element_of_a_batch_has_its_own_iterations(said, lengths, numbers, iterations):
    before = batch(said, lengths, numbers)
    assert_proved(before, by_hand(iterations, numbers), opset=8)
    assert_open(before, by_hand([[0], [1]], numbers), opset=8)


@pytest.mark.parametrize("sizes", ["2, n, 1", "b, n, 1", "b, 2, 1"])
def test_a_batch_of_any_size(sizes):
    one = batch(sizes=sizes)
    assert_proved(one, one, opset=8)
    assert_open(one, batch(BACK, sizes=sizes), opset=8)


LENGTHS = """g (float[%s] x, float[%s, 1] y, int64[%s] lengths)
    => (float[%s, 1] f, float[%s, 1] z) { %s }"""
SIZES = ["2, 2", "1, 3", "b, 2", "2, n", "b, n"]


def by_run_time(sizes, said="", body="t = Sub (e, s) o = Neg (t)", lengths="", given="lengths"):
    """A Scan 8 with lengths that run time tells."""
    batch = sizes.split(",")[0]
    node = f"""f, z = Scan <num_scan_inputs = 1{said},
        body = b (float[1] s, float[1] e) => (float[1] t, float[1] o) {{ {body} }}>
        ({given}, y, x)"""
    return LENGTHS % (f"{sizes}, 1", batch, batch, batch, sizes, f"{lengths} {node}")


def feeds_of(*lengths, longest=2):
    batch = len(lengths)
    return {
        "x": np.arange(1, batch * longest + 1, dtype=np.float32).reshape(batch, longest, 1),
        "y": np.arange(batch, dtype=np.float32).reshape(batch, 1),
        "lengths": np.array(lengths, np.int64),
    }


@pytest.mark.sample(4)
@pytest.mark.parametrize("said", ["", BACK])
@pytest.mark.parametrize("sizes", SIZES)
def test_a_scan_of_lengths_that_run_time_tells_is_its_form_in_later_opsets(sizes, said):
    before = model(by_run_time(sizes, said), 8)
    for opset in (9, 11, 13):
        after = sl.convert_version(before, opset)
        assert is_proved(before, after)
    assert is_proved(after, before)


@functools.cache
def later():
    return sl.convert_version(model(by_run_time("2, n"), 8), 13)


OTHERS = {
    "another direction": by_run_time("2, n", BACK),
    "another state": by_run_time("2, n", body="t = Sub (s, e) o = Neg (t)"),
    "another element": by_run_time("2, n", body="t = Sub (e, s) o = Neg (s)"),
    "no lengths": by_run_time("2, n", given=""),
    "one more": by_run_time("2, n",
     lengths="u = Constant <value = int64 {1}> () more = Add (lengths, u)", given="more"),
    "other order": by_run_time("2, n",
     lengths="u = Constant <value = int64[2] {1, 0}> () more = Gather (lengths, u)",
     given="more")}  # fmt: skip


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
def test_another_scan_is_not(text):
    assert not is_proved(model(text, 8), later())
    assert_open(by_run_time("2, n"), text, opset=8)


@pytest.mark.parametrize("lengths", [(1, 2), (2, 2), (0, 2), (2, 0), (0, 0), (1, 1)])
@pytest.mark.parametrize("said", ["", BACK])
@pytest.mark.parametrize("sizes", ["2, 2", "b, n"])
def test_terms_of_lengths_are_worth_what_runs_give(sizes, said, lengths):
    text, feeds = model(by_run_time(sizes, said), 8), feeds_of(*lengths)
    found, expected = evaluated(text, feeds), run(text, feeds)
    for one, other in zip(found, expected, strict=True):
        assert one.shape == other.shape
        np.testing.assert_array_equal(one, other)
    if 0 not in lengths:  # of a row without elements onnxruntime gives anything, or fails
        runtime = open_session(text).run(None, feeds)
        for one, other in zip(found, runtime, strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_size_that_nobody_tells_is_not_filled_up():
    text = by_run_time("2, n").replace("int64[2] lengths", "int64[2] lengths, int64[1] r")
    text = text.replace("Neg (t)", "Reshape (t, r)").replace("float[1] o)", "float[k] o)")
    text = text.replace("float[2, n, 1] z", "float[b, l, k] z")
    assert_open(text, text, "pads elements of run-time size", opset=8)


def test_lengths_are_as_many_as_elements_of_the_batch():
    text = """g (float[1, 2] s, float[1, 3, 2] x) => (float[1, 2] y)
        <int64[2] two = {1, 2}, int64[1] one = {1}> {
        y = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e) => (float[2] c) {
            c = Identity (a) }> (%s, s, x) }"""
    assert_proved(text % '""', text % "one", opset=8)
    assert_open(text % '""', text % "two", opset=8)


def test_states_have_the_batch_of_scan_inputs():
    one = """g (float[1, 2] s, float[2, 2] r, float[1, 3, 2] x)
        => (float[a, 2] y, float[1, 3, 2] z) {
        t, z = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e) =>
            (float[2] c, float[2] o) { c = Identity (a) o = Neg (e) }> ("", %s, x) y = Neg (s) }"""
    assert_open(one % "s", one % "r", opset=8)


def test_lengths_of_no_known_rank_are_left_open():
    text = by_run_time(
        "2, n", lengths="s = Shape (y) more = Reshape (lengths, l)", given="more"
    ).replace("int64[2] lengths", "int64[2] lengths, int64[r] l")
    other = text.replace("Neg (t)", "Neg (u)").replace("o = Neg", "u = Identity (t) o = Neg")
    assert_open(text, other, "its lengths may not be a vector", opset=8)


def test_a_batch_too_large_to_be_run_is_compared_by_any_of_its_elements():
    text = """g (float[4000000, 2] s, float[4000000, 5, 2] x)
        => (float[4000000, 2] y, float[4000000, 5, 2] z) {
        y, z = Scan <num_scan_inputs = 1, body = b (float[2] a, float[2] e) =>
            (float[2] c, float[2] o) { c = Add (a, e) o = %s (e) }> ("", s, x) }"""
    assert_proved(text % "Neg", text % "Neg", opset=8)
    assert_open(text % "Neg", text % "Abs", opset=8)


def test_rows_of_an_unknown_type_are_not_padded():
    text = """<ir_version: 8, opset_import: ["" : 8]>
      g (float[2, 2, 1] x) => (float[2, 2, 1] z) <int64[2] lengths = {2, 1}> {
        z = Scan <num_scan_inputs = 1, body = b (float[1] e) => (float[1] o) { o = Identity (e) }>
            (lengths, x) }"""
    proto = onnx.parser.parse_model(text)
    (body,) = (a.g for a in proto.graph.node[0].attribute if a.HasField("g"))
    for info in (*proto.graph.input, *proto.graph.output, *body.input, *body.output):
        info.type.tensor_type.elem_type = 0
    assert prove(proto, proto).status in ("proved", "open")


def test_rows_are_not_padded_without_bound():
    """The zeros that fill a row count as its iterations do."""
    text = f"g (float[2, {1 << 40}, 1] x, float[2, 1] y) => (float[2, 1] f, float[2, p, 1] z)"
    text += f" <int64[2] lengths = {{2, 1}}> {{ {EACH % ('', 'lengths')} }}"
    assert prove(model(text, 8), model(text, 8)).status in ("proved", "open")


SCAN = """g (float[%s] x, float[2] y) => (float[p, q] z, float[2] f) { %s }"""
BODY = """f, z = Scan <num_scan_inputs = 1%s,
    body = b (float[2] s, float[2] e) => (float[2] t, float[2] o) { t = Sub (e, s) o = Sin (t) }>
    (y, x)"""
NAMES = ["input_axes", "input_directions", "output_axes", "output_directions"]


def scan(sizes, *numbers):
    said = "".join(f", scan_{n} = [{k}]" for n, k in zip(NAMES, numbers, strict=True))
    return SCAN % (sizes, BODY % said)


WAYS = list(itertools.product((0, 1), repeat=4))


def unrolled(iterations, axis, back, out_axis, out_back):
    """The same by Gather and Concat."""
    order = [iterations - 1 - t if back else t for t in range(iterations)]
    nodes = [f"k{t} = Constant <value_int = {p}> ()" for t, p in enumerate(order)]
    nodes += [f"a = Constant <value_ints = [{out_axis}]> ()", "t0 = Identity (y)"]
    for t in range(iterations):
        nodes.append(f"e{t} = Gather <axis = {axis}> (x, k{t}) t{t + 1} = Sub (e{t}, t{t})")
        nodes.append(f"o{t} = Sin (t{t + 1}) u{t} = Unsqueeze (o{t}, a)")
    made = [f"u{t}" for t in range(iterations)][:: -1 if out_back else 1]
    nodes.append(f"z = Concat <axis = {out_axis}> ({', '.join(made)}) f = Identity (t{iterations})")
    return SCAN % ("2, 2", " ".join(nodes))


@pytest.mark.sample(3)
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


@pytest.mark.sample(8)
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
        for one, other in zip(evaluated(text, feeds), by_reference(text, feeds), strict=True):
            assert one.shape == other.shape
            np.testing.assert_array_equal(one, other)


def test_no_iterations_give_an_axis_without_elements():
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
    assert_open(text, text.replace("Neg", "Abs"), "an unknown rank", opset=8)
