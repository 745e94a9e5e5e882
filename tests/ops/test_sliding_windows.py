import numpy as np
import pytest
from harness import as_model, assert_rewrites, run_in_onnxruntime
from loops import op_types
from straightline.passes import VectorizeLoops
from tables import table
from vectorized import assert_same, numbers, vectorized

TEXT = """g ({data} x) => ({row} z) <int64[1] at = {{0}}, int64 zero = {{0}}, bool yes = {{1}},
        int64[1] width = {{{width}}}, int64 step = {{{step}}}, int64 less = {{{less}}},
        int64[1] axes = {{{axis}}}, float[2] w = {{2, -1}}, float[2, 1] u = {{3, -2}}> {{
    shape = Shape (x) size = Gather (shape, {place}) m = Sub (size, less) iterations = Div (m, step)
    z = Loop (iterations, yes) <body = b (int64 i, bool c) => (bool c2, {element} r) {{
        c2 = Identity (c) j = Mul (i, step) s = Unsqueeze (j, at) e = Add (s, width)
        part = Slice (x, s, e, axes) {body} }}> }}"""
ROWS = {
    "data": "float[N, 2]",
    "row": "float[M, 2]",
    "element": "float[2]",
    "width": 3,
    "step": 1,
    "less": 2,
    "axis": 0,
    "place": "zero",
}
COLUMNS = {**ROWS, "data": "float[2, N]", "axis": 1, "place": "axes"}
SUM = "r = ReduceSum <keepdims = 0> (part, axes)"
MAX = "r = ReduceMax <axes = [0], keepdims = 0> (part)"


def model_of(form, body):
    text = TEXT.format(**form, body=body)
    if not body.startswith("r = ReduceSum") and "ReduceMean <keepdims" in body:
        text = text.replace("<keepdims = 0> (part, axes)", "<axes = [0], keepdims = 0> (part)")
    return as_model(text)


@table(
    ("three rows", ROWS, SUM),
    ("one by one", {**ROWS, "width": 1, "less": 0}, SUM),
    ("six rows", {**ROWS, "width": 6, "less": 5}, MAX),
    ("seven rows", {**ROWS, "width": 7, "less": 6}, SUM.replace("Sum", "Mean")),
    ("every second", {**ROWS, "step": 2, "width": 5, "less": 4}, SUM),
    ("columns", COLUMNS, SUM),
    ("squares", ROWS, "p = Mul (part, part) " + SUM.replace("part,", "p,")),
    ("weights", ROWS, "q = Mul (w, part) p = Abs (q) " + SUM.replace("part,", "p,")),
    ("both axes", {**ROWS, "row": "float[M]", "element": "float"},
     "r = ReduceMean <axes = [0, 1], keepdims = 0> (part)"),
    ("a kept axis", {**ROWS, "row": "float[M, 1, 2]", "element": "float[1, 2]"},
     "r = ReduceMin <axes = [-2]> (part)"),
    ("integers", {**ROWS, "data": "int64[N, 2]", "row": "int64[M, 2]", "element": "int64[2]"},
     MAX))  # fmt: skip
def test_windows_are_joined(what, form, body):
    model = model_of(form, body)
    result = vectorized(model).model
    types = list(op_types(result.graph))
    assert "Loop" not in types
    assert ("Range" in types) == (what == "one by one")
    for length in (form["less"], form["less"] + 1, form["less"] + 4):
        sizes = (2, length) if form["axis"] else (length, 2)
        x = (10 * numbers(*sizes)).astype(np.int64 if "int64" in form["data"] else np.float32)
        assert_same(model, result, {"x": x})


def test_steps_of_doubling_length():
    loop = """g (float[8] x) => (float[4] z) <int64[1] at = {0}, int64[1] width = {5},
        int64 four = {4}, bool yes = {1}> {
        z = Loop (four, yes) <body = b (int64 i, bool c) => (bool c2, float r) {
            c2 = Identity (c) s = Unsqueeze (i, at) e = Add (s, width)
            part = Slice (x, s, e, at) r = ReduceSum <keepdims = 0> (part, at) }> }"""
    joined = """g (float[8] x) => (float[4] z) <int64[1] at = {0}, int64[1] width = {5},
        int64 four = {4}, bool yes = {1}, int64[1] axes = {0}, int64[1] axes_1 = {1},
        int64[1] part_k = {4}, int64[1] k = {-1}, int64[1] k_1 = {9223372036854775807},
        int64[1] k_2 = {-2}, int64[1] k_3 = {2}, int64[1] part_end = {8}> {
        part_rows = Slice (x, axes, part_end, axes)
        r_part = Slice (part_rows, axes, k, axes)
        r_part_1 = Slice (part_rows, axes_1, k_1, axes)
        r_joined = Add (r_part, r_part_1)
        r_part_2 = Slice (r_joined, axes, k_2, axes)
        r_part_3 = Slice (r_joined, k_3, k_1, axes)
        r_joined_1 = Add (r_part_2, r_part_3)
        r_part_4 = Slice (r_joined_1, axes, k, axes)
        r_part_5 = Slice (part_rows, part_k, k_1, axes)
        z = Add (r_part_4, r_part_5) }"""
    feeds = [{"x": x} for x in (numbers(8), np.full(8, np.inf, np.float32), -np.zeros(8, "f"))]
    assert_rewrites(VectorizeLoops(), loop, joined, feeds)


def test_infinities_and_nan_stay_in_their_windows():
    for body in (SUM, MAX, "r = ReduceMean <axes = [0], keepdims = 0> (part)"):
        model = model_of(ROWS, body)
        result = vectorized(model).model
        for odd in (np.inf, -np.inf, np.nan):
            x = numbers(7, 2)
            x[2, 1] = x[5, 0] = odd
            both = body is not MAX or not np.isnan(odd)
            assert_same(model, result, {"x": x}, zero_length_runs=both)


@table(
    ("apart", {**ROWS, "step": 3}, SUM),
    ("multiplied with weights", {**ROWS, "width": 2, "less": 1},
     "p = Mul (part, u) " + SUM.replace("part,", "p,")),
    ("a norm", ROWS, "r = ReduceLogSumExp <axes = [0], keepdims = 0> (part)"),
    ("along another axis", {**ROWS, "row": "float[M, 3]", "element": "float[3]"},
     "r = ReduceMax <axes = [1], keepdims = 0> (part)"))  # fmt: skip
def test_other_windows_are_read(what, form, body):
    model = model_of(form, body)
    result = vectorized(model).model
    assert "Range" in op_types(result.graph) and "Loop" not in op_types(result.graph)
    assert_same(model, result, {"x": numbers(form["less"] + 6, 2)})


def test_few_windows_of_many_rows_need_no_others():
    """Only rows of windows are joined, as a Loop of few iterations reads no more."""
    text = TEXT.format(**ROWS, body=SUM).replace("float[N, 2] x)", "float[N, 2] x, int64 n)")
    model = as_model(text.replace("Loop (iterations", "Loop (n"))
    result = vectorized(model).model
    slices = [node for node in result.graph.node if node.op_type == "Slice"]
    assert slices[0].input[0] == "x"
    assert all("x" not in node.input for node in slices[1:])
    for n in (0, 1, 3):
        assert_same(model, result, {"x": numbers(9, 2), "n": np.array(n)})


@pytest.mark.parametrize("opset", [11, 12])
def test_older_opsets(opset):
    text = TEXT.format(**ROWS, body=MAX).replace("(j, at)", "<axes = [0]> (j)")
    model = as_model(text, opset)
    result = vectorized(model).model
    assert ("Max" in op_types(result.graph)) == (opset == 12)
    assert_same(model, result, {"x": numbers(6, 2)})


def test_the_mean_of_nothing_is_that_of_onnxruntime():
    """The specification leaves it open; onnxruntime returns 0, the reference NaN."""
    text = """g (float[n] x) => (float[k] y) <bool t = {1}, int64[1] z = {0}, int64[1] two = {2}> {
        s = Shape (x) m = Squeeze (s)
        y = Loop (m, t) <body = b (int64 i, bool q) => (bool d, float o) {
            d = Identity (q) e = Unsqueeze (i, z) first = Add (e, two) end = Add (first, two)
            r = Slice (x, first, end, z) o = ReduceMean <keepdims = 0> (r) }> }"""
    before = as_model(text)
    after = vectorized(before).model
    assert "Loop" not in op_types(after.graph)
    for length in (1, 2, 3, 5):
        feed = {"x": numbers(length)}
        (one,), (other,) = (run_in_onnxruntime(each, dict(feed)) for each in (before, after))
        np.testing.assert_allclose(other, one, rtol=1e-6)
        assert not np.signbit(other[max(0, length - 2) :]).any()
