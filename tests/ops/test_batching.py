import numpy as np
import pytest
from harness import HEAD, as_model
from loops import op_types
from straightline.facts.polynomial import Dimension
from straightline.ops.batching import Extent, Quotient
from tables import table
from vectorized import FEED, assert_same, assert_vectorizes, loop, untyped, vectorized


@pytest.mark.sample(24)
@table(
    ("unary", ("r = Exp (e)", "float[3] r")),
    ("attributes", ("r = LeakyRelu <alpha = 0.5> (e)", "float[3] r")),
    ("invariant of the same rank", ("r = Add (e, y)", "float[3] r")),
    ("invariant of a higher rank", ("r = Mul (e, m)", "float[2, 3] r")),
    ("varying of lower rank", ("k = Cast <to = 1> (i) r = Sub (m, k)", "float[2, 3] r")),
    ("two that vary, of two ranks", (
        "k = Cast <to = 1> (i) f = Add (k, e) h = Mul (f, m) r = Add (h, e)",
        "float[2, 3] r",
    )),
    ("three operands", ("p = Greater (e, y) r = Where (p, e, y)", "float[3] r")),
    ("many operands", ("r = Max (e, y, m)", "float[2, 3] r")),
    ("cast", ("r = Cast <to = 7> (e)", "int64[3] r")),
    ("clip", ("l = Constant <value = float {-0.5}> () r = Clip (e, l)", "float[3] r")),
    ("slope", ("r = PRelu (e, y)", "float[3] r")),
    ("logic", ("p = Less (e, y) q = Not (p) r = And (p, q)", "bool[3] r")),
    ("matrix by vector", ("t = Transpose (w) r = MatMul (t, e)", "float[4] r")),
    ("vector by matrix", ("r = MatMul (e, w)", "float[4] r")),
    ("vector by vector", ("r = MatMul (e, y)", "float r")),
    ("vector by itself", ("r = MatMul (e, e)", "float r")),
    ("matrix by varying matrix", (
        "f = Mul (m, e) t = Transpose (w) g = Transpose (f) r = MatMul (t, g)",
        "float[4, 2] r",
    )),
    ("matrix by matrix", ("f = Mul (m, e) r = MatMul (f, w)", "float[2, 4] r")),
    ("varying matrix by varying vector", ("f = Mul (m, e) r = MatMul (f, e)", "float[2] r")),
    ("transpose", ("f = Mul (m, e) r = Transpose (f)", "float[3, 2] r")),
    ("transpose with perm",
     ("a = Constant <value_ints = [0]> () f = Mul (m, e) g = Unsqueeze (f, a)"
     " r = Transpose <perm = [1, 0, 2]> (g)", "float[2, 1, 3] r")),
    ("unsqueeze", ("a = Constant <value_ints = [-1, 0]> () r = Unsqueeze (e, a)",
     "float[1, 3, 1] r")),
    ("squeeze", ("a = Constant <value_ints = [0]> () u = Unsqueeze (e, a) r = Squeeze (u, a)",
     "float[3] r")),
    ("squeeze of all", ("a = Constant <value_ints = [0]> () u = Unsqueeze (e, a) r = Squeeze (u)",
     "float[3] r")),
    ("reshape", ("s = Constant <value_ints = [3, -1]> () f = Mul (m, e) r = Reshape (f, s)",
     "float[3, 2] r")),
    ("flatten", ("f = Mul (m, e) r = Flatten <axis = 0> (f)", "float[1, 6] r")),
    ("expand", ("s = Constant <value_ints = [2, 1]> () r = Expand (e, s)", "float[2, 3] r")),
    ("tile", ("s = Constant <value_ints = [2]> () r = Tile (e, s)", "float[6] r")),
    ("concat", ("r = Concat <axis = 0> (e, y)", "float[6] r")),
    ("split", ("s = Constant <value_ints = [1, 2]> () p, r = Split <axis = -1> (e, s)",
     "float[2] r")),
    ("slice", (
        "a = Constant <value_ints = [1]> () b = Constant <value_ints = [3]> () r = Slice (e, a, b)",
        "float[2] r",
    )),
    ("slice along axes backward", (
        "f = Mul (m, e) a = Constant <value_ints = [-1]> () b = Constant <value_ints = [0]> ()"
        " x1 = Constant <value_ints = [-1]> () r = Slice (f, a, b, x1, a)",
        "float[2, 2] r",
    )),
    ("reduction", ("r = ReduceMax <keepdims = 0> (e)", "float r")),
    ("reduction along axes", ("f = Mul (m, e) r = ReduceMean <axes = [0]> (f)", "float[1, 3] r")),
    ("reduction of a scalar", ("k = Cast <to = 1> (i) r = ReduceSumSquare (k)", "float r")),
    ("sum",
     ("a = Constant <value_ints = [-1]> () r = ReduceSum <keepdims = 0> (e, a)", "float r")),
    ("sum of nothing", ("r = ReduceSum <noop_with_empty_axes = 1> (e)", "float[3] r")),
    ("softmax", ("r = Softmax (e)", "float[3] r")),
    ("argmax", ("r = ArgMax <keepdims = 0> (e)", "int64 r")),
    ("topk", ("k = Constant <value_ints = [2]> () r, j = TopK (e, k)", "float[2] r")),
    ("cumsum", ("a = Constant <value_int = 0> () r = CumSum (e, a)", "float[3] r")),
    ("gather from what varies", ("j = Constant <value_ints = [2, 0]> () r = Gather (e, j)",
     "float[2] r")),
    ("gather from what does not", (
        "o = Constant <value_int = 1> () j = Mod (i, o) r = Gather <axis = 1> (w, j)",
        "float[3] r",
    )),
    ("the number of the iteration", ("r = Mul (i, i)", "int64 r")),
    ("what is the same", ("r = Identity (m)", "float[2, 3] r")))  # fmt: skip
def test_a_batching_rule_against_the_loop(rule, case):
    assert_vectorizes(loop(*case))


@pytest.mark.parametrize("opset", [11, 12, 18])
def test_rules_in_other_opsets(opset):
    head = HEAD.replace('"" : 17', f'"" : {opset}')
    body = """f = Mul (m, e) s = ReduceMax <keepdims = 0> (f) g = Softmax <axis = 1> (f)
        p = Transpose (g) h = Sub (p, s) r = ReduceMin (h)"""
    model = untyped(as_model(head + loop(body, "float[1, 1] r")))
    result = vectorized(model)
    assert "Loop" not in set(op_types(result.model.graph)), result.remarks
    for n in (0, 1, 4):
        assert_same(model, result.model, {**FEED, "n": np.array(n)})


N = Dimension.symbol("N")
ITERATION = Dimension.symbol("iteration")


@table(
    (None, ITERATION, True),
    (None, ITERATION * 2 + N, True),
    (None, N - ITERATION - 1, False),
    (N, N - ITERATION - 1, True),
    (N, N - ITERATION, True),
    (N, N - ITERATION - 2, False),
    (N - 2, N - ITERATION - 3, True),
    (N - 2, N - ITERATION - 4, False),
    (N + 3, N + 2 - ITERATION, True),
    (N, ITERATION - 1, False),
    (N, (N - ITERATION) * ITERATION, False),
    (N * 2, N * 2 - ITERATION - 1, True),
    (N * 2, N * 2 - ITERATION - 2, False),
    (Dimension.constant(5), 4 - ITERATION, True),
    (Dimension.constant(5), 8 - ITERATION * 2, True),
    (Dimension.constant(5), 7 - ITERATION * 2, False),
)
def test_extents_that_are_never_negative(most, number, expected):
    assert Extent(ITERATION, most).never_negative(number) is expected


@table(
    (2, N - ITERATION * 2 - 2, True),
    (2, N - ITERATION * 2 - 3, False),
    (2, N - ITERATION - 1, True),
    (3, N - ITERATION * 4 - 2, False),
    (1, N * 2 - ITERATION * 2 - 2, True),
)
def test_trip_counts_that_a_division_yields(divisor, number, expected):
    """There are N / divisor iterations, in integers."""
    extent = Extent(ITERATION, Dimension.symbol("q"), quotients=(Quotient("q", divisor, N),))
    assert extent.never_negative(number) is expected
    assert Extent(ITERATION, Dimension.symbol("q")).never_negative(number) is False
