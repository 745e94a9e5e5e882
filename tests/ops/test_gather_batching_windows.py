"""Windows of which the last ones may lie past the end, where the loop fails or repeats one element.

A window that is too short does not fit what it is multiplied with; of one element there are as many
as are asked for."""

import numpy as np
import pytest
from harness import as_model
from loops import op_types
from straightline import reference
from tables import table
from vectorized import assert_same, numbers, vectorized

TEXT = """g (float[{shape}] x, int64 n) => (float[{out}] z) <float[3] w = {{1, 2, 3}},
        float[3, 2] k = {{1, 2, 3, 4, 5, 6}}, float[2, 3] v = {{1, 2, 3, 4, 5, 6}},
        int64[1] at = {{0}}, int64[1] axes = {{{axis}}}, int64[1] three = {{3}}, bool yes = {{1}},
        int64 two = {{2}}, int64 nought = {{0}},
        int64[1] one = {{1}}, int64[1] last = {{-1}}> {{
    z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[{row}] r) {{
        c2 = Identity (c) s = {start} s1 = Unsqueeze (s, at) t1 = Add (s1, three)
        part = Slice (x, s1, t1, axes) {body} }}> }}"""
ONE = {"shape": "N", "out": "M, 3", "row": "3", "axis": 0}
TWO = {"shape": "2, N", "out": "M, 2, 3", "row": "2, 3", "axis": 1}
ON, BY_TWO = "Identity (i)", "Mul (i, two)"
GONE = {
    "a weight for each": (ONE, ON, "r = Mul (part, w)"),
    "by two": (ONE, BY_TWO, "r = Add (w, part)"),
    "rows": (TWO, ON, "r = Mul (part, w)"),
    "rows by two": (TWO, BY_TWO, "p = Mul (part, w) q = Sub (v, part) r = Add (p, q)"),
    "a product": ({**ONE, "out": "M, 2", "row": "2"}, ON, "r = MatMul (part, k)"),
    "a product of rows": ({**TWO, "out": "M, 2, 2", "row": "2, 2"}, BY_TWO,
     "m = ReduceMax (part) q = MatMul (part, k) r = Add (q, m)"),
    "a product of itself": ({**ONE, "row": "?", "out": "?, ?"}, ON, "r = Mul (part, part)"),
    "a function": (ONE, BY_TWO, "r = Exp (part)"),
    "a row": (TWO, ON, "r = Neg (part)"),
    "an axis before it": ({**ONE, "out": "M, 1, 3", "row": "1, 3"}, ON, "r = Unsqueeze (part, at)"),
    "less its mean": (ONE, ON, "m = ReduceMean (part) p = Sub (part, m) r = Mul (w, p)"),
    "a weight and a sum": (ONE, ON, "p = Mul (part, w) q = ReduceSum (part) r = Add (p, q)"),
    "differences": ({**ONE, "row": "2", "out": "M, 2"}, ON,
     "a = Slice (part, one, three, at) b = Slice (part, at, last, at) r = Sub (a, b)"),
    "its first elements": ({**ONE, "row": "1", "out": "M, 1"}, ON,
     "a = Slice (part, at, one) r = Exp (a)"),
    "a function before a product": ({**ONE, "out": "M, 2", "row": "2"}, BY_TWO,
     "p = Tanh (part) r = MatMul (p, k)"),
    "the right of a product": ({"shape": "N, 2", "out": "M, 2, 2", "row": "2, 2", "axis": 0}, ON,
     "r = MatMul (v, part)")}  # fmt: skip


@pytest.mark.sample(6)
@pytest.mark.parametrize("what", GONE)
def test_windows_that_must_be_whole(what):
    form, start, body = GONE[what]
    model = as_model(TEXT.format(**form, start=start, body=body))
    result = vectorized(model)
    assert "Loop" not in op_types(result.model.graph), result.remarks
    ran = 0
    for length in (1, 2, 3, 4, 6, 7):
        sizes = [length if size == "N" else int(size) for size in form["shape"].split(", ")]
        for n in (0, 1, 2, 3, 5):
            feed = {"x": numbers(*sizes), "n": np.array(n)}
            try:
                reference.run(model, feed)
            except reference.EvaluationError:
                with pytest.raises(reference.EvaluationError):
                    reference.run(result.model, feed)
                continue
            assert_same(model, result.model, feed)
            ran += n > 0
    assert ran > 3


@table(
    ("what may be short", "p = CumSum (part, nought) r = Sub (p, w)"),
    ("what may be empty", "p = Exp (part) r = Reshape (p, three)"),
)
def test_windows_that_may_be_short(what, text):
    model = as_model(TEXT.format(**ONE, start=ON, body=text))
    result = vectorized(model)
    assert "Loop" in op_types(result.model.graph)
    for length in (3, 4):
        for n in (0, 1, 2):
            feed = {"x": numbers(length), "n": np.array(n)}
            if n <= length - 2:
                assert_same(model, result.model, feed)
