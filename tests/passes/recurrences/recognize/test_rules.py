import numpy as np
import pytest
from cells import made_of
from straightline.passes.recurrences.weights import Unfit

SQUARE = np.arange(16).reshape(4, 4)
WIDE = np.arange(32).reshape(4, 8)
SHOWN = {
    "h2 = Add (h, e)": "1 e + 1 h",
    "a = Sub (e, h) h2 = Sub (a, h)": "-2 h + 1 e",
    "a = Mul (h, e) h2 = Neg (a)": "-1 e h",
    "h2 = Sum (h, e, h)": "1 e + 2 h",
    "two = Constant <value_float = 2.0> () h2 = Div (h, two)": "0.5 h",
    "a = MatMul (h, w) h2 = Tanh (a)": "1 Tanh(1 (h @ w[0, 4, 0, 4]))",
    "h2 = Gemm <alpha = 3.0, beta = 2.0, transB = 1> (h, w, e)": "2 e + 3 (h @ w'[0, 4, 0, 4])",
    "a = MatMul (h, v) b, c = Split <axis = 1, num_outputs = 2> (a) h2 = Add (b, c)": (
        "1 (h @ v[0, 4, 0, 4]) + 1 (h @ v[0, 4, 4, 8])"
    ),
    "a = MatMul (h, v) h2 = Slice (a, m4, last, axis)": "1 (h @ v[0, 4, 4, 8])",
    "a = MatMul (h, v) h2 = Slice (a, corner, both, axes)": "1 (h @ v[0, 4, 4, 8])",
    "a = MatMul (h, v) h2 = Slice (a, m4, last, last_axis)": "1 (h @ v[0, 4, 4, 8])",
    "a = MatMul (h, v) h2 = Slice (a, corner, whole, axes)": "1 (h @ v[0, 4, 4, 8])",
    "a = MatMul (h, w) b = Cast <to = 1> (a) h2 = Tanh (b)": "1 Tanh(1 (h @ w[0, 4, 0, 4]))",
    "a = Concat <axis = 1> (e, h) h2 = MatMul (a, vt)": (
        "1 (e @ vt[0, 4, 0, 4]) + 1 (h @ vt[4, 8, 0, 4])"
    ),
    "a = Unsqueeze (h, axis) b = Neg (a) h2 = Squeeze (b, axis)": "-1 h",
    "a = Neg (h) b = Exp (a) c = Add (one, b) h2 = Reciprocal (c)": "1 Sigmoid(1 h)",
    "a = Neg (h) b = Exp (a) c = Add (b, one) h2 = Div (e, c)": "1 Sigmoid(1 h) e",
    "h2 = Max (zero, h)": "1 Relu(1 h)",
    "a = Add (h, one) h2 = Clip (a, zero, one)": "1 HardSigmoid(1 h)",
    "h2 = LeakyRelu <alpha = 0.5> (h)": "1 LeakyRelu(1 h)",
    "a = Sub (one, h) b = Mul (a, e) c = Mul (h, h) h2 = Add (b, c)": "-1 e h + 1 e + 1 h h",
}
WEIGHTS = {"w": SQUARE, "v": WIDE, "vt": WIDE.T, "one": 1, "zero": [0]}
CONSTANTS = """m4 = Constant <value_ints = [-4]> () last = Constant <value_ints = [9999]> ()
    axis = Constant <value_ints = [1]> () corner = Constant <value_ints = [0, 4]> ()
    both = Constant <value_ints = [2147483647, 8]> () whole = Constant <value_ints = [2, 8]> ()
    axes = Constant <value_ints = [0, 1]> ()
    last_axis = Constant <value_ints = [-1]> () """


@pytest.mark.parametrize("body", SHOWN)
def test_forms_of_a_state(body):
    assert made_of(CONSTANTS + body, **WEIGHTS) == SHOWN[body]


REFUSED = {
    "divides by a value other than 1": "h2 = Div (e, h)",
    "whose bounds are not 0 and 1": "m = Constant <value_float = -1.0> () h2 = Clip (h, m, one)",
    "it holds Max": "h2 = Max (h, e)",
    "along its batch": "a, b = Split <axis = 0, num_outputs = 2> (h) h2 = Concat <axis = 0> (b, a)",
    "along several axes or in steps": "a = Slice (e, zero1, last, axis, two)"
    " b = Concat <axis = 1> (a, a) c = Slice (h, zero1, last, axis, two)"
    " d = Concat <axis = 1> (c, c) h2 = Add (b, d)",
    "c' along several axes": "a = Slice (e, zeros, ends, axes)"
    " b = Concat <axis = 1> (a, a) c = Slice (h, zeros, ends, axes)"
    " d = Concat <axis = 1> (c, c) h2 = Add (b, d)",
    "converted to another type": "a = Cast <to = 11> (h) b = Neg (a) h2 = Cast <to = 1> (b)",
    "is reshaped by": "a = Reshape (h, s) h2 = Reshape (a, s2)",
    "takes columns of": "a, b = Split <axis = 1, num_outputs = 2> (h) c = Concat <axis = 1> (b, a)"
    " h2 = Neg (c)",
    "which transposes a value other than a weight": "h2 = Gemm <transA = 1> (e, h)",
}
INTEGERS = """zeros = Constant <value_ints = [0, 0]> () ends = Constant <value_ints = [1, 2]> ()
    zero1 = Constant <value_ints = [0]> () two = Constant <value_ints = [2]> ()
    s = Constant <value_ints = [4, 2]> () s2 = Constant <value_ints = [2, 4]> () """


@pytest.mark.parametrize("reason", REFUSED)
def test_refused_forms(reason):
    square = {"state": "float[4, 4]", "element": "float[4, 4]"} if "Gemm" in REFUSED[reason] else {}
    with pytest.raises(Unfit, match=reason):
        made_of(CONSTANTS + INTEGERS + REFUSED[reason], **WEIGHTS, **square)


def test_columns_for_rows():
    body = "a = MatMul (w, h) b = Gemm (w, e, a) h2 = Tanh (b)"
    turned = {"state": "float[4, 2]", "element": "float[4, 2]", "turned": True}
    assert made_of(body, w=SQUARE, **turned) == (
        "1 Tanh(1 (e @ w'[0, 4, 0, 4]) + 1 (h @ w'[0, 4, 0, 4]))"
    )


def test_a_vector_on_either_side():
    vector = {"state": "float[4]", "element": "float[4]"}
    body = "a = MatMul (h, w) b = MatMul (w, e) h2 = Add (a, b)"
    assert made_of(body, w=SQUARE, **vector) == "1 (e @ w'[0, 4, 0, 4]) + 1 (h @ w[0, 4, 0, 4])"
