import numpy as np
import pytest
from raising import assert_near, assert_raises, assert_stays, numbers, text
from straightline.passes import RaiseReductions
from tables import table

CUBE = "(float[N, 3, 4] x) => (float[N, 3, 1] y)"
ROWS = "(float[N, 3, 4] x) => (float[N, 3] y)"
CONSTANTS = "<float two = {2.0}, float half = {0.5}, int64[1] last = {-1}>"


@table(
    ("p = Mul (x, x) s = ReduceSum (p, last) y = Sqrt (s)", "ReduceL2"),
    ("p = Pow (x, two) s = ReduceSum (p, last) y = Pow (s, half)", "ReduceL2"),
    ("s = ReduceSumSquare <axes = [2]> (x) y = Sqrt (s)", "ReduceL2"),
    ("e = Exp (x) s = ReduceSum (e, last) y = Log (s)", "ReduceLogSumExp"),
)
@pytest.mark.parametrize("opset", [13, 18])
def test_spellings(nodes, operator, opset):
    if opset == 18:
        nodes = nodes.replace("<axes = [2]> (x)", "(x, last)")
    source = text(nodes, CUBE, CONSTANTS, opset)
    model = assert_raises(RaiseReductions(), source, [operator])
    assert_near(source, model, {"x": numbers(2, 3, 4)})
    special = np.array([[[0, -0.0, 1e-30, 2], [1, -np.inf, 3, 4], [1e18, 1, 1, 1]]], np.float32)
    assert_near(source, model, {"x": special})


def test_axes_may_be_dropped():
    nodes = "p = Mul (x, x) s = ReduceSum <keepdims = 0> (p, last) y = Sqrt (s)"
    source = text(nodes, ROWS, CONSTANTS, 17)
    model = assert_raises(RaiseReductions(), source, ["ReduceL2"])
    assert_near(source, model, {"x": numbers(2, 3, 4)})


@table(
        ("p = Pow (x, half) s = ReduceSum (p, last) y = Sqrt (s)", CUBE),
        ("p = Mul (x, x) s = ReduceMean <axes = [2]> (p) y = Sqrt (s)", CUBE),
        ("p = Mul (x, x) s = ReduceSum (p, last) y = Log (s)", CUBE),
        ("p = Mul (x, x) s = ReduceSum (p, last) y = Sqrt (s)", CUBE.replace("4] x", "M] x")),
        ("p = Mul (x, x) s = ReduceSum (p, last) y = Sqrt (s)",
         CUBE.replace("1] y", "1] y, float[N, 3, 1] s")),
        ("p = Mul (x, x) s = ReduceSum (p, k) y = Sqrt (s)",
         CUBE.replace("x)", "x, int64[1] k)")))  # fmt: skip
def test_near_misses_stay(nodes, signature):
    assert_stays(RaiseReductions(), text(nodes, signature, CONSTANTS, 17))
