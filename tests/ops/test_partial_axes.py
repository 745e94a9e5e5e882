import itertools
import random

import numpy as np
import onnx
import pytest
from harness import as_model
from loops import op_types
from straightline import reference
from tables import table
from vectorized import assert_same, numbers, vectorized

TEXT = """g (float[{shape}] x, int64 n) => (float[M, {row}] z) <float[3] w = {{1, 2, 3}},
        float[1, 2] v = {{-1, 1}}, int64[1] at = {{0}}, int64[1] axes = {{{axis}}},
        int64[1] steps = {{{step}}}, int64[1] width = {{{width}}}, int64 two = {{2}},
        bool yes = {{1}}> {{
    z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[{row}] r) {{
        c2 = Identity (c) s = {start} s1 = Unsqueeze (s, at) t1 = Add (s1, width)
        part = Slice (x, s1, t1, axes, steps) {body} }}> }}"""
ROWS = {"shape": "N, 2", "row": "2", "axis": 0, "step": 1, "width": 3, "start": "Identity (i)"}
COLUMNS = {**ROWS, "shape": "2, N", "axis": 1}
SPARSE = {**ROWS, "step": 2, "width": 5}
APART = {**ROWS, "start": "Mul (i, two)"}
VECTOR = {**ROWS, "shape": "N", "row": "1"}
MEAN = "r = ReduceMean <axes = [0], keepdims = 0> (part)"
GONE = {
    "a mean": (ROWS, MEAN),
    "a mean of columns": (COLUMNS, "r = ReduceMean <axes = [-1], keepdims = 0> (part)"),
    "a mean of all": (VECTOR, "r = ReduceMean (part)"),
    "a mean of all rows": ({**ROWS, "row": "1"},
     "m = ReduceMean <keepdims = 0> (part) r = Unsqueeze (m, at)"),
    "a mean of squares": (ROWS, "p = Mul (part, part) " + MEAN.replace("part", "p")),
    "sparse": (SPARSE, MEAN),
    "apart": (APART, MEAN),
    "an extreme": (ROWS, "r = ReduceMax <axes = [0], keepdims = 0> (part)"),
    "the least of a function": (ROWS,
     "p = Tanh (part) q = Sub (v, p) r = ReduceMin <axes = [0], keepdims = 0> (q)"),
    "a kept axis": (COLUMNS, "p = ReduceL2 <axes = [1], keepdims = 1> (part) r = Squeeze (p, one)"),
    "a product": (ROWS, "r = ReduceProd <axes = [0], keepdims = 0> (part)"),
    "logarithms": (ROWS, "r = ReduceLogSumExp <axes = [0], keepdims = 0> (part)"),
    "two of one": (ROWS,
     "p = ReduceSum <keepdims = 0> (part, at) q = ReduceMax <axes = [0], keepdims = 0> (part)"
     " r = Sub (p, q)"),
    "counted": (ROWS,
     "b = Greater (part, zero) p = Cast <to = 1> (b) r = ReduceSum <keepdims = 0> (p, at)"),
    "limited": (ROWS,
     "p = Clip (part, zero) r = ReduceL1 <axes = [0], keepdims = 0> (p)")}  # fmt: skip


def model_of(form, body):
    text = TEXT.format(**form, body=body).replace(
        "int64 two", "float zero = {0}, int64[1] one = {1}, int64 two"
    )
    return as_model(text)


def sizes_of(form, length):
    return [length if size == "N" else int(size) for size in form["shape"].split(", ")]


@pytest.mark.sample(6)
@pytest.mark.parametrize("what", GONE)
def test_windows_that_are_reduced(what):
    form, body = GONE[what]
    model = model_of(form, body)
    result = vectorized(model)
    assert "Loop" not in op_types(result.model.graph), result.remarks
    for length in (0, 1, 2, 3, 4, 7):
        for n in (0, 1, 2, 3, 5, 7):
            feed = {"x": numbers(*sizes_of(form, length)), "n": np.array(n)}
            assert_same(model, result.model, feed)


def test_infinities_and_nan_stay_in_their_windows():
    for body in (MEAN, "r = ReduceMax <axes = [0], keepdims = 0> (part)", GONE["logarithms"][1]):
        model = model_of(ROWS, body)
        result = vectorized(model).model
        for odd in (np.inf, -np.inf, np.nan):
            x = numbers(5, 2)
            x[2, 1] = x[4, 0] = odd
            # ReduceMax of onnxruntime may lose a NaN, which Max never does.
            both = "ReduceMax" not in body or not np.isnan(odd)
            assert_same(model, result, {"x": x, "n": np.array(5)}, zero_length_runs=both)


@pytest.mark.parametrize("known", [False, True])
def test_padding_that_the_model_has_counts(known):
    """Only the element past the end of a window holds a neutral number."""
    least = "r = ReduceMax <axes = [0], keepdims = 0> (part)"
    text = TEXT.format(**{**ROWS, "shape": "4, 2" if known else "N, 2"}, body=least)
    text = text.replace("int64 two", "int64[4] pads = {0, 0, 2, 0}, int64 two")
    text = text.replace("z = Loop", "padded = Pad (x, pads) z = Loop")
    model = as_model(text.replace("Slice (x", "Slice (padded"))
    result = vectorized(model)
    assert "Loop" not in op_types(result.model.graph), result.remarks
    for n in (1, 3, 6):
        assert_same(model, result.model, {"x": -np.abs(numbers(4, 2)), "n": np.array(n)})


def test_a_mean_of_windows_needs_no_select_but_for_nothing():
    types = list(op_types(vectorized(model_of(ROWS, MEAN)).model.graph))
    assert types.count("Where") == types.count("Pad") == 1
    rows = model_of({**ROWS, "shape": "7, 2"}, MEAN)
    rows.graph.initializer.append(onnx.helper.make_tensor("n", onnx.TensorProto.INT64, (), [6]))
    del rows.graph.input[1]
    assert "Where" not in op_types(vectorized(rows).model.graph)


@pytest.mark.sample(10)
@pytest.mark.parametrize("keepdims", [0, 1])
@pytest.mark.parametrize("form", [ROWS, COLUMNS, SPARSE, APART, VECTOR])
@pytest.mark.parametrize("kind", ["Sum", "Mean"])
def test_a_sum_and_a_mean_of_nothing_are_zero(kind, form, keepdims):
    """Also their sign, which an inverse shows."""
    axis = form["axis"]
    given = "part, axes" if kind == "Sum" else "part"
    listed = "" if kind == "Sum" else f"axes = [{axis}], "
    body = f"r0 = Reduce{kind} <{listed}keepdims = {keepdims}> ({given}) r = Reciprocal (r0)"
    kept = [str(1), form["row"]] if axis == 0 else [form["row"], "1"]
    row = ["1"] if form is VECTOR else (kept if keepdims else [form["row"]])
    row = [] if form is VECTOR and not keepdims else row
    text = TEXT.replace("[M, {row}]", "[M, {whole}]").replace("float[{row}] r", "float[{whole}] r")
    if not row:
        text = text.replace("[M, {whole}]", "[M]").replace("float[{whole}] r", "float r")
    model = as_model(text.format(**form, body=body, whole=", ".join(row)))
    result = vectorized(model)
    assert "Loop" not in op_types(result.model.graph), result.remarks
    for length, n in ((0, 2), (1, 3), (2, 6)):
        feed = {"x": numbers(*sizes_of(form, length)), "n": np.array(n)}
        assert_same(model, result.model, feed)


MOVED = {
    "a reduction of the other axis": "p = Neg (part) r = ReduceSum <keepdims = 0> (p, one)",
    "rows of a product": "p = MatMul (part, v2) q = ReduceMax <axes = [0], keepdims = 0> (p)"
    " r = Squeeze (q, at)",
    "a transposed window": "p = Transpose (part) r = ReduceMin <axes = [0], keepdims = 0> (p)",
}


@pytest.mark.parametrize("what", MOVED)
def test_windows_whose_other_axis_changes(what):
    text = TEXT.format(**{**ROWS, "row": "K"}, body=MOVED[what]).replace(
        "int64 two", "int64[1] one = {1}, float[2, 1] v2 = {3, -2}, int64 two"
    )
    if "Squeeze" in MOVED[what]:
        text = text.replace("[M, K] z", "[M] z").replace("[K] r", " r")
    model = as_model(text)
    result = vectorized(model)
    assert "Loop" not in op_types(result.model.graph), result.remarks
    for length, n in ((3, 1), (5, 3), (6, 2), (0, 3), (4, 0)):
        assert_same(model, result.model, {"x": numbers(length, 2), "n": np.array(n)})


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", ["Sum", "Max"])
@table(
    ("from before the first element", {**ROWS, "start": "Sub (i, two)"}),
    ("by a step of run time", {**ROWS, "start": "Mul (i, hop)"}),
    ("by a step of run time, of columns", {**COLUMNS, "start": "Mul (i, hop)"}),
)
def test_windows_that_either_end_cuts(what, form, kind):
    """A negative start counts from the end, so that a window may be empty or cut anywhere."""
    listed = f"<axes = [{form['axis']}], keepdims = 0> (part)"
    body = f"r = Reduce{kind} {listed}".replace("ReduceSum", "ReduceMean")
    text = TEXT.replace("int64 n)", "int64 n, int64 hop)").format(**form, body=body)
    model = as_model(text)
    result = vectorized(model)
    assert "Loop" not in op_types(result.model.graph), result.remarks
    for length, hop in itertools.product((0, 1, 2, 3, 4, 9), (-4, -1, 0, 2, 5)):
        x = numbers(*sizes_of(form, length))
        assert_same(model, result.model, {"x": x, "n": np.array(4), "hop": np.array(hop)})


def test_parts_of_windows_fit_or_fail():
    """A single element is repeated beside others, as ONNX broadcasts."""
    body = (
        "s2 = Add (s1, one) other = Slice (x, s2, t1, axes) first = Slice (part, at, width2, axes)"
    )
    body = f"{body} r = Sub (first, other)"
    text = TEXT.format(**{**ROWS, "row": "K, 2"}, body=body).replace(
        "int64 two", "int64[1] one = {1}, int64[1] width2 = {2}, int64 two"
    )
    model = as_model(text)
    result = vectorized(model)
    assert "Loop" not in op_types(result.model.graph), result.remarks
    for length, n in ((3, 1), (4, 2), (9, 7), (2, 1), (1, 1), (0, 2), (5, 0)):
        assert_same(model, result.model, {"x": numbers(length, 2), "n": np.array(n)})
    feed = {"x": numbers(5, 2), "n": np.array(5)}
    for each in (model, result.model):
        with pytest.raises(reference.EvaluationError):
            reference.run(each, feed)


def test_integers_are_blocks_of_any_sizes():
    model = as_model(
        """g (int64[N] x, int64 n) => (int64[M] z) <int64[1] at = {0}, int64[1] width = {3},
        bool yes = {1}> {
    z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, int64 r) {
        c2 = Identity (c) s1 = Unsqueeze (i, at) t1 = Add (s1, width)
        part = Slice (x, s1, t1, at) r = ReduceSum <keepdims = 0> (part, at) }> }"""
    )
    result = vectorized(model)
    assert "Loop" not in op_types(result.model.graph)
    assert_same(model, result.model, {"x": np.arange(5), "n": np.array(5)})


def test_the_window_as_another_output():
    """The window itself is an output too: all iterations have it whole, or the loop fails."""
    text = """g (float[N] x, int64 n) => (float[M, K] z, float[M] m) <int64[1] at = {0},
        int64[1] width = {3}, bool yes = {1}> {
    z, m = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[K] part, float r) {
        c2 = Identity (c) s1 = Unsqueeze (i, at) t1 = Add (s1, width)
        part = Slice (x, s1, t1, at) r = ReduceSum <keepdims = 0> (part, at) }> }"""
    model = as_model(text)
    result = vectorized(model)
    assert "Loop" not in op_types(result.model.graph)
    for length, n in ((3, 1), (5, 3), (6, 2), (2, 1), (0, 3), (4, 0)):
        assert_same(model, result.model, {"x": numbers(length), "n": np.array(n)})
    with pytest.raises(reference.EvaluationError):
        reference.run(result.model, {"x": numbers(3), "n": np.array(2)})


@pytest.mark.sample(10)
@pytest.mark.parametrize("seed", range(20))
def test_random_windows(seed):
    dice = random.Random(seed)
    form = dict(dice.choice((ROWS, COLUMNS, SPARSE, APART)))
    form["width"] = dice.randrange(1, 6)
    lines, last = [], "part"
    operators = ("Abs", "Exp", "Neg", "Sqrt", "Reciprocal", "Floor")
    for number in range(dice.randrange(3)):
        other = dice.choice(("part", "zero", last))
        makes = (f"{dice.choice(operators)} ({last})", f"Sub ({last}, {other})")
        lines.append(f"p{number} = {dice.choice(makes)}")
        last = f"p{number}"
    reductions = ("Sum", "Mean", "Max", "Min", "L1", "L2", "SumSquare", "Prod", "LogSumExp")
    kind = dice.choice(reductions)
    axes = "" if kind == "Sum" else f"axes = [{form['axis']}], "
    given = f"{last}, axes" if kind == "Sum" else last
    lines.append(f"r = Reduce{kind} <{axes}keepdims = 0> ({given})")
    model = model_of(form, " ".join(lines))
    result = vectorized(model)
    assert "Loop" not in op_types(result.model.graph), result.remarks
    for _ in range(4):
        length, n = dice.randrange(1, 9), dice.randrange(9)
        feed = {"x": numbers(*sizes_of(form, length)), "n": np.array(n)}
        assert_same(model, result.model, feed)
