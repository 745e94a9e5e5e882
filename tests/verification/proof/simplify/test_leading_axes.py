import numpy as np
import pytest
from proofs import assert_open, assert_proved, model
from sessions import by_reference
from straightline.facts.polynomial import Dimension
from straightline.verification.proof.simplify.leading_axes import ones_in_front
from straightline.verification.proof.terms.axis_maps import broadcast

TEXT = """g (float[n, 2, 3] x, float[2, 3] w, float[3] v, float[3, 4] m) => (float[n, %s] z)
    <int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}> { %s }"""
ROWS = """z = Scan <num_scan_inputs = 1, body = b (float[2, 3] e) => (float[%s] o) { %s }> (x)"""
PAIRS = [
    # the sizes of an element, what is done with one row, with all rows, what is something else
    ("2, 3", "o = Add (e, v)", "z = Add (x, v)", "z = Add (x, w)"),
    ("2, 3", "o = Mul (w, e)", "z = Mul (w, x)", "z = Mul (v, x)"),
    ("2, 3", "o = Softmax <axis = 0> (e)", "z = Softmax <axis = 1> (x)", "z = Softmax (x)"),
    ("2, 3", "o = Softmax (e)", "z = Softmax <axis = 2> (x)", "z = Softmax <axis = 0> (x)"),
    ("2, 3", "o = LayerNormalization (e, v)", "z = LayerNormalization (x, v)",
     "z = LayerNormalization (x, w)"),
    ("2, 3", "o = LayerNormalization <axis = 0> (e, w)", "z = LayerNormalization <axis = 1> (x, w)",
     "z = LayerNormalization <axis = 2> (x, w)"),
    ("1, 3", "o = ReduceSum (e, zero)", "z = ReduceSum (x, one)", "z = ReduceMax (x, one)"),
    ("2", "o = ReduceMax <keepdims = 0> (e, one)", "z = ReduceMax <keepdims = 0> (x, two)",
     "z = ReduceMin <keepdims = 0> (x, two)"),
    ("2", "y = ArgMax <axis = 1, keepdims = 0> (e) o = Cast <to = 1> (y)",
     "y = ArgMax <axis = -1, keepdims = 0> (x) z = Cast <to = 1> (y)",
     "y = ArgMin <axis = -1, keepdims = 0> (x) z = Cast <to = 1> (y)"),
    ("2, 2", "o, p = TopK (e, two)", "z, p = TopK (x, two)", "z, p = TopK <largest = 0> (x, two)"),
    ("2, 2", "t, p = TopK (e, two) o = Cast <to = 1> (p)",
     "t, p = TopK (x, two) z = Cast <to = 1> (p)",
     "t, p = TopK <largest = 0> (x, two) z = Cast <to = 1> (p)"),
    ("2, 4", "o = MatMul (e, m)", "z = MatMul (x, m)", "k = Neg (m) z = MatMul (x, k)"),
    ("2", "o = MatMul (e, v)", "z = MatMul (x, v)", "k = Neg (v) z = MatMul (x, k)")]  # fmt: skip


@pytest.mark.sample(7)
@pytest.mark.parametrize(("sizes", "row", "whole", "other"), PAIRS)
def test_an_operator_on_each_row_is_one_on_all_rows(sizes, row, whole, other):
    rows = TEXT % (sizes, ROWS % (sizes, row))
    assert_proved(rows, TEXT % (sizes, whole))
    assert_open(rows, TEXT % (sizes, other))


@pytest.mark.parametrize(("sizes", "row", "whole", "other"), PAIRS)
def test_runs_agree(sizes, row, whole, other):
    rng = np.random.default_rng(0)
    shapes = {"x": (5, 2, 3), "w": (2, 3), "v": (3,), "m": (3, 4)}
    feeds = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    texts = [ROWS % (sizes, row), whole, other]
    one, same, another = (by_reference(model(TEXT % (sizes, nodes)), feeds)[0] for nodes in texts)
    np.testing.assert_allclose(one, same, rtol=1e-5)
    assert not np.allclose(one, another)


def test_an_axis_of_length_1_in_front_may_be_put_back():
    text = "g (float[1, 2, 3] x, float[%s] y) => (float[1, 2, 3] z) <int64[1] a = {0}> { %s }"
    bare = "s = Squeeze (x, a) r = %s z = Unsqueeze (r, a)"
    for one, other in [
        ("Add (%s, y)", "3"),
        ("Add (y, %s)", "2, 1"),
        ("Softmax <axis = -1> (%s)", "3"),
        ("Softmax <axis = -2> (%s)", "3"),
        ("MatMul (%s, y)", "3, 3"),
    ]:
        assert_proved(text % (other, "z = " + one % "x"), text % (other, bare % one % "s"))
    first = "z = Softmax <axis = 0> (%s)"
    assert_open(text % ("3", first % "x"), text % ("3", bare % "Softmax <axis = 0> (s)"))


def test_a_vector_is_a_matrix_of_one_row_or_column():
    text = "g (float[3] x, float[3, 3] y) => (float[3] z) <int64[1] a = {%d}> { %s }"
    assert_proved(
        text % (0, "z = MatMul (x, y)"),
        text % (0, "r = Unsqueeze (x, a) p = MatMul (r, y) z = Squeeze (p, a)"),
    )
    assert_proved(
        text % (1, "z = MatMul (y, x)"),
        text % (1, "r = Unsqueeze (x, a) p = MatMul (y, r) z = Squeeze (p, a)"),
    )
    assert_open(text % (0, "z = MatMul (x, y)"), text % (0, "z = MatMul (y, x)"))


def sizes(*dims):
    return tuple(Dimension.symbol(d) if isinstance(d, str) else Dimension.constant(d) for d in dims)


def test_shapes_broadcast_from_behind():
    assert broadcast([sizes("n", 1), sizes(3)]) == sizes("n", 3)
    assert broadcast([sizes(1, "n"), sizes(2, 1, "n")]) == sizes(2, 1, "n")
    assert broadcast([sizes(), sizes(1)]) == sizes(1)
    assert broadcast([sizes(0), sizes(1)]) == sizes(0)
    assert broadcast([sizes("n"), sizes("m")]) is None
    assert broadcast([sizes("n"), None]) is None


def test_only_axes_in_front_are_counted():
    assert ones_in_front(sizes(1, 1, 2, 1)) == 2
    assert ones_in_front(sizes("n", 1)) == 0
    assert ones_in_front(sizes(1, 1)) == 2
