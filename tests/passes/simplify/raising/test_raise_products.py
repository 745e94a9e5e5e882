import pytest
from raising import assert_near, assert_raises, assert_stays, numbers, text
from straightline.passes import RaiseProducts
from tables import table

CONSTANTS = """<float[4, 3] w = {1, 2, 3, 4, 5, 6, 7, 8, 9, -1, -2, -3}, float[3] b = {1, -2, 3},
    float[3, 3] v = {1, 2, 3, 4, 5, 6, -1, -2, -3}, float two = {2.0}, int64[1] first = {0},
    int64[4] heads = {0, 0, 3, 1}, int64[2] rows = {-1, 3}>"""
ROWS = "(float[N, 2, 4] x) => (float[M, 3] y)"
CUBE = "(float[N, 2, 4] x) => (float[N, 2, 3] y)"
VIEWED = "(float[1, N, 2, 4] x) => (float[N, 2, 3, 1] y)"


@pytest.mark.parametrize("opset", [13, 17])
@table(
        ("r = Squeeze (x, first) t = MatMul (r, w) s = Add (t, b) y = Reshape (s, heads)",
         VIEWED, ["Reshape", "Gemm", "Reshape"]),
        ("t = MatMul (x, w) s = Add (b, t) y = Reshape (s, rows)",
         ROWS, ["Reshape", "Gemm"]),
        ("t = MatMul (x, w) s = Add (t, b) a = Relu (s) c = MatMul (a, v) d = Add (c, b)"
         " e = Tanh (d) f = MatMul (e, v) y = Add (f, b)",
         CUBE, ["Reshape", "Gemm", "Relu", "Gemm", "Tanh", "Gemm", "Reshape"]))  # fmt: skip
def test_products_of_rows(nodes, signature, operators, opset):
    source = text(nodes, signature, CONSTANTS, opset)
    model = assert_raises(RaiseProducts(), source, operators)
    for batch in (3, 1, 0):
        shape = (1, batch, 2, 4) if signature == VIEWED else (batch, 2, 4)
        assert_near(source, model, {"x": numbers(*shape)})


def test_a_view_of_a_matrix_is_the_matrix():
    nodes = "r = Reshape (x, sizes) t = MatMul (r, w) s = Add (t, b) y = Reshape (s, rows)"
    constants = CONSTANTS.replace("two = {2.0}", "two = {2.0}, int64[3] sizes = {-1, 2, 4}")
    source = text(nodes, "(float[6, 4] x) => (float[6, 3] y)", constants, 17)
    assert_near(source, assert_raises(RaiseProducts(), source, ["Gemm"]), {"x": numbers(6, 4)})


@table(
        ("t = MatMul (x, w) y = Add (t, b)", CUBE),  # reshapes would cost more
        ("t = MatMul (x, w) s = Add (t, b) a = Relu (s) c = MatMul (a, v) y = Add (c, b)", CUBE),
        ("t = MatMul (x, w) s = Add (t, two) y = Reshape (s, rows)", ROWS),
        ("t = MatMul (x, w) s = Mul (t, b) y = Reshape (s, rows)", ROWS),
        ("t = MatMul (x, w) s = Add (t, b) y = Reshape (s, rows)",
         ROWS.replace("y)", "y, float[N, 2, 3] s)")),
        ("t = MatMul (x, w) s = Add (t, b) y = Reshape (s, rows)",
         "(float[N, 2, 4] x, float[N, 4, 3] w) => (float[M, 3] y)"))  # fmt: skip
def test_near_misses_stay(nodes, signature):
    constants = CONSTANTS
    if " w)" in signature:
        constants = CONSTANTS.replace("float[4, 3] w", "float[4, 3] u")
    assert_stays(RaiseProducts(), text(nodes, signature, constants, 17))


def test_nothing_is_raised_bit_for_bit():
    nodes = "t = MatMul (x, w) s = Add (b, t) y = Reshape (s, rows)"
    assert_stays(RaiseProducts(exactness="values"), text(nodes, ROWS, CONSTANTS, 17))
