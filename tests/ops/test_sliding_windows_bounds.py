"""Sums of slices whose length differs between iterations, or is known at run time only."""

import itertools

import numpy as np
import pytest
from harness import as_model
from loops import op_types
from tables import table
from vectorized import assert_same, numbers, vectorized

TEXT = """g ({type}[N, 3] x, int64 n, int64 w, int64[K] ends) => ({type}[M{row}] z)
        <int64[1] at = {{0}}, int64[1] axes = {{{axis}}}, int64 zero = {{0}},
        int64 one = {{1}}, int64 two = {{2}},
        int64[1] far = {{9223372036854775807}}, int64[1] last = {{-1}}, bool yes = {{1}}> {{
    z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, {type}[{element}] r) {{
        c2 = Identity (c) i1 = Unsqueeze (i, at) {body} }}> }}"""
ROWS = {"type": "float", "row": ", 3", "element": "3", "axis": 0}
COLUMNS = {"type": "float", "row": ", ?", "element": "?", "axis": 1}
SUM = "r = ReduceSum <keepdims = 0> (part, axes)"
MEAN = "r = ReduceMean <axes = [0], keepdims = 0> (part)"
NEXT = "j = Add (i, one) e = Unsqueeze (j, at)"
WINDOW = "s = Add (i, w) e = Unsqueeze (s, at) part = Slice (x, i1, e, axes)"
AROUND = (
    "q = Sub (i, w) b = Max (q, zero) a = Unsqueeze (b, at) s = Add (i, w) f = Add (s, one)"
    " h = Min (f, n) e = Unsqueeze (h, at) part = Slice (x, a, e, axes)"
)
GONE = {
    "prefixes": (ROWS, f"{NEXT} part = Slice (x, at, e, axes) {SUM}"),
    "prefixes without the row": (ROWS, f"part = Slice (x, at, i1, axes) {SUM}"),
    "prefixes of columns": (COLUMNS, f"{NEXT} part = Slice (x, at, e, axes) {SUM}"),
    "means of prefixes": (ROWS, f"{NEXT} part = Slice (x, at, e, axes) {MEAN}"),
    "squares of prefixes": (ROWS,
     f"{NEXT} part = Slice (x, at, e, axes) p = Exp (part)"
     " r = ReduceSumSquare <axes = [0], keepdims = 0> (p)"),
    "prefixes of any length": (ROWS,
     f"q = Gather (ends, i) e = Unsqueeze (q, at) part = Slice (x, at, e, axes) {SUM}"),
    "all but some": (ROWS,
     f"q = Sub (one, i) e = Unsqueeze (q, at) part = Slice (x, at, e, axes) {SUM}"),
    "suffixes": (ROWS, f"part = Slice (x, i1, far, axes) {SUM}"),
    "suffixes from the end": (ROWS,
     f"q = Sub (one, i) s = Unsqueeze (q, at) part = Slice (x, s, far, axes) {SUM}"),
    "windows": (ROWS, f"{WINDOW} {SUM}"),
    "means of windows": (ROWS, f"{WINDOW} {MEAN}"),
    "windows apart": (ROWS,
     "a = Mul (i, two) b = Unsqueeze (a, at) s = Add (a, w) e = Unsqueeze (s, at)"
     f" part = Slice (x, b, e, axes) {SUM}"),
    "windows of columns": (COLUMNS, f"{WINDOW} {SUM}"),
    "a kept axis": ({**ROWS, "row": ", 1, 3", "element": "1, 3"},
     f"{WINDOW} r = ReduceL1 <axes = [0]> (part)"),
    "both axes": ({**ROWS, "row": "", "element": ""},
     f"{WINDOW} r = ReduceMean <keepdims = 0> (part)"),
    "all of prefixes": ({**ROWS, "row": ", 1, 1", "element": "1, 1"},
     f"{NEXT} part = Slice (x, at, e, axes) r = ReduceSum (part)"),
    "extremes of prefixes": (ROWS,
     f"{NEXT} part = Slice (x, at, e, axes) r = ReduceMax <axes = [0], keepdims = 0> (part)"),
    "extremes of suffixes": (COLUMNS,
     "part = Slice (x, i1, far, axes) r = ReduceMin <axes = [1], keepdims = 0> (part)"),
    "products of prefixes of any length": ({**ROWS, "row": ", 1", "element": "1"},
     "q = Gather (ends, i) e = Unsqueeze (q, at) part = Slice (x, at, e, axes)"
     " y = Tanh (part) p = ReduceProd <keepdims = 0> (y) r = Unsqueeze (p, at)"),
    "extremes of windows": (ROWS,
     f"{WINDOW} y = Tanh (part) r = ReduceMax <axes = [0], keepdims = 0> (y)"),
    "extremes of windows of integers": ({**ROWS, "type": "int64", "row": ", 1, 3",
     "element": "1, 3"}, f"{WINDOW} r = ReduceMin <axes = [0]> (part)"),
    "extremes of windows around a row": (ROWS,
     f"{AROUND} r = ReduceMin <axes = [0], keepdims = 0> (part)"),
    "sums of windows around a row": (ROWS, f"{AROUND} {SUM}")}  # fmt: skip


def model_of(form, body):
    form = {**form, "element": form["element"]}
    text = TEXT.format(**form, body=body)
    return as_model(text.replace("float[] r", "float r").replace("int64[] r", "int64 r"))


@pytest.mark.sample(5)
@pytest.mark.parametrize("what", GONE)
def test_slices_are_summed_at_once(what):
    form, body = GONE[what]
    model = model_of(form, body)
    result = vectorized(model).model
    loops = [node for node in result.graph.node if node.op_type == "Loop"]
    assert all("Slice" in {n.op_type for n in node.attribute[0].g.node} for node in loops)
    assert not loops or "extremes" in what or "products" in what
    widths = (-2, 0, 2, 9) if "w)" in body else (1,)
    for length, n, w in itertools.product((0, 1, 5), (0, 1, 7), widths):
        x = (10 * numbers(length, 3)).astype(np.int64 if form["type"] == "int64" else np.float32)
        ends = np.array([3, -2, 0, 9, -9, 1, 2])
        assert_same(model, result, {"x": x, "n": np.array(n), "w": np.array(w), "ends": ends})


@pytest.mark.parametrize(
    "count", ["n = Gather (sizes, zero)", "m = Gather (sizes, zero) n = Sub (m, one)"]
)
def test_bounds_inside_the_rows_are_not_clamped(count):
    """Only a prefix that never reaches the last rows is cut."""
    form, body = GONE["means of prefixes"]
    text = TEXT.format(**form, body=body).replace("int64 n, ", "")
    model = as_model(text.replace("z = Loop", f"sizes = Shape (x) {count} z = Loop"))
    result = vectorized(model).model
    types = {*op_types(result.graph)}
    assert not types & {"Loop", "Where", "Less"} and ("Slice" in types) == ("Sub" in count)
    for length in (0, 1, 5):
        feed = {"x": numbers(length, 3), "w": np.array(0), "ends": np.arange(7)}
        feed["x"][2:] = np.inf
        assert_same(model, result, feed)


def test_sums_of_integers_stay():
    """onnxruntime adds them up as doubles; the difference of two running sums is exact."""
    model = model_of({**ROWS, "type": "int64"}, f"{WINDOW} {SUM}")
    result = vectorized(model)
    assert "onnxruntime computes as doubles" in str(result.remarks)
    most = np.full((7, 3), 2**62 // 3 * 2)
    feed = {"x": most, "n": np.array(7), "w": np.array(2), "ends": np.arange(7)}
    assert_same(model, result.model, feed)


@table(
    "prefixes", "suffixes", "windows", "extremes of prefixes", "extremes of windows around a row"
)
def test_infinities_and_nan_stay_in_their_slices(what):
    model = model_of(*GONE[what])
    result = vectorized(model).model
    for odd in (np.inf, -np.inf, np.nan):
        x = numbers(7, 3)
        x[2, 1] = x[4, 0] = odd
        feed = {"x": x, "n": np.array(7), "w": np.array(2), "ends": np.arange(7)}
        # ReduceMax of onnxruntime may lose a NaN.
        assert_same(model, result, feed, zero_length_runs="extremes" not in what)


KEPT = {
    "products of windows": f"{WINDOW} r = ReduceProd <axes = [0], keepdims = 0> (part)",
    "a norm": f"{NEXT} part = Slice (x, at, e, axes)"
    " r = ReduceL2 <axes = [0], keepdims = 0> (part)",
    "backward": f"{NEXT} part = Slice (x, i1, last, axes, last) {SUM}",
    "with other rows": f"{NEXT} part = Slice (x, at, e, axes) y = Mul (part, part2)"
    f" {SUM.replace('part', 'y')}",
    "of weights": f"{NEXT} part = Slice (x, at, e, axes) q = Cast <to = 1> (i)"
    f" y = Mul (part, q) {SUM.replace('part', 'y')}",
}


@pytest.mark.parametrize("what", KEPT)
def test_others_stay(what):
    body = KEPT[what]
    if "part2" in body:
        body = body.replace("y =", "part2 = Slice (x, i1, far, axes) y =")
    assert "Loop" in op_types(vectorized(model_of(ROWS, body)).model.graph)


def test_lengths_of_an_outer_loop_are_not_fixed():
    """In the inner loop the end is the start and a number, which the outer loop changes."""
    model = as_model(
        """g (float[N] x, int64[K] w, int64 n, int64 m) => (float[M, L] z)
        <int64[1] at = {0}, bool yes = {1}> {
    z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[L] r) {
        c2 = Identity (c) k = Gather (w, i)
        r = Loop (m, yes) <body = d (int64 j, bool f) => (bool f2, float q) {
            f2 = Identity (f) a = Unsqueeze (j, at) s = Add (j, k) e = Unsqueeze (s, at)
            part = Slice (x, a, e, at) q = ReduceSum <keepdims = 0> (part, at) }> }> }"""
    )
    result = vectorized(model).model
    feed = {"x": numbers(6), "w": np.array([1, 3, 2]), "n": np.array(3), "m": np.array(4)}
    assert_same(model, result, feed)


def test_memory_grows_with_the_rows_only():
    """Blocks of rows hold twice the rows at most."""
    result = vectorized(model_of(*GONE["windows"])).model
    assert {"CumSum", "Reshape"} < set(op_types(result.graph))
    assert "ReduceSum" not in op_types(result.graph)
