"""Operators that onnxruntime cannot run on an empty batch, where there may be no iterations."""

import numpy as np
import pytest
from loops import op_types
from tables import table
from vectorized import assert_vectorizes, loop, numbers

DECLARED = "float[N, 2, 3] x, float[4, 3, 2] w, float[4, 2, 3] v, int64[N, 2] p, int64 d, int64 n"
FEED = {
    "x": numbers(5, 2, 3),
    "w": numbers(4, 3, 2),
    "v": numbers(4, 2, 3),
    "p": np.arange(10).reshape(5, 2),
}


@table(
    ("a product with several matrices", ("r = MatMul (e, w)", "float[4, 2, 2] r")),
    ("a product of several matrices", ("f = Mul (e, v) r = MatMul (f, w)", "float[4, 2, 2] r")),
    ("letters that are turned", ('r = Einsum <equation = "ij,kj->ki"> (e, e)', "float[2, 2] r")),
    ("letters beside what is the same", (
        'r = Einsum <equation = "ij,hjk->hik"> (e, w)',
        "float[4, 2, 2] r",
    )),
    ("groups", (
        """a = Constant <value = int64[2] {0, 3}> () u = Unsqueeze (e, a)
        k = Constant <value = float[2] {1, 2}> ()
        g = GroupNormalization <num_groups = 2> (u, k, k) r = Squeeze (g, a)""",
        "float[2, 3] r",
    )),
    ("groups of a batch", (
        """k = Constant <value = float[2] {1, 2}> () f = Mul (e, v)
        g = GroupNormalization <num_groups = 2> (f, k, k) r = Identity (g)""",
        "float[4, 2, 3] r",
    )))  # fmt: skip
def test_operators_that_need_a_row(rule, case):
    feed = FEED | {"d": np.array(3)}
    model = assert_vectorizes(loop(*case, DECLARED), feed, opset=21)
    assert "ConstantOfShape" in op_types(model.graph)


def test_iterations_guarantee_a_row():
    text = """g (float[5, 2, 3] x, float[4, 3, 2] w) => (z) { z = Scan <num_scan_inputs = 1,
        body = f (float[2, 3] e) => (float[4, 2, 2] r) { r = MatMul (e, w) }> (x) }"""
    model = assert_vectorizes(text, {"x": FEED["x"], "w": FEED["w"]}, (None,))
    assert list(op_types(model.graph)) == ["Unsqueeze", "MatMul"]


@pytest.mark.parametrize("op_type", ["Div", "Mod"])
@pytest.mark.parametrize("value", ["i", "q"])
def test_a_divisor_that_is_zero_where_there_are_no_iterations(op_type, value):
    out = "int64 r" if value == "i" else "int64[2] r"
    text = loop(f"q = Gather (p, i) r = {op_type} ({value}, d)", out, DECLARED)
    assert_vectorizes(text, FEED | {"d": np.array(0)}, lengths=(0,))
    assert_vectorizes(text, FEED | {"d": np.array(2)}, lengths=(0, 1, 5))
