import numpy as np
import pytest
from cells import interpreted, made_of
from straightline.passes.recurrences.weights import Unfit
from tables import table

W = np.arange(16).reshape(4, 4)


def test_products_of_what_is_free_are_looked_into_and_else_nothing():
    body = "a = MatMul (e, w) b = Relu (a) c = MatMul (b, w) d = Add (h, c) h2 = Tanh (d)"
    assert made_of(body, w=W) == "1 Tanh(1 (b @ w[0, 4, 0, 4]) + 1 h)"
    assert made_of("a = Neg (e) h2 = Add (h, a)") == "1 a + 1 h"


def test_a_number_everywhere_is_a_number():
    assert made_of("h2 = Mul (h, k)", k=[[2, 2, 2, 2]]) == "2 h"
    assert made_of("h2 = Mul (h, k)", k=[2, 2, 2, 3]) == "1 h k"


def test_a_weight_may_be_turned_inside():
    assert made_of("t = Transpose (w) h2 = MatMul (h, t)", w=W) == "1 (h @ w'[0, 4, 0, 4])"


@table(
    (
        "is broadcast by Add",
        "a = Unsqueeze (h, one) b = Add (a, h) h2 = ReduceSum <keepdims = 0> (b, one)",
    ),
    (
        "which is not a matrix of known sizes",
        "a = MatMul (h, stack) h2 = ReduceMax <keepdims = 0> (a, first)",
    ),
    ("it holds Sin 'h1/a'", "a = Sin (h) b = Softmax (a) h2 = Neg (b)"),
)
def test_the_first_reason_is_told(reason, text):
    body = "one = Constant <value_ints = [1]> () first = Constant <value_ints = [0]> () " + text
    of = None
    with pytest.raises(Unfit, match=reason):
        of = interpreted(body, w=W, stack=np.zeros((2, 4, 4)))
        of.result(of.recurrence.states[0].result)
    assert of is not None


def test_a_weight_for_what_is_read_and_not_the_other_way_round():
    body = "a = MatMul (w, e) b = MatMul (h, w) h2 = Add (a, b)"
    square = {"state": "float[4, 4]", "element": "float[4, 4]"}
    assert made_of(body, w=W, **square) == "1 (h @ w[0, 4, 0, 4]) + 1 a"


def test_a_vector_beside_columns_stands_along_the_batch():
    body = "a = MatMul (w, h) b = Add (a, v) h2 = Tanh (b)"
    square = {"state": "float[4, 4]", "element": "float[4, 4]"}
    with pytest.raises(Unfit, match="'v', which lies along its batch"):
        made_of(body, w=W, v=[1, 2, 3, 4], turned=True, **square)
    with pytest.raises(Unfit, match="depends on it"):
        made_of(body, w=W, v=[1, 2, 3, 4], **square)


def test_equal_forms_are_one():
    of = interpreted("a = Add (h, e) b = Add (e, h) c = Mul (a, b) h2 = Identity (a)")
    (state,) = of.recurrence.states
    assert [value.name for value in of.aliases(state)] == ["a", "h2"]
