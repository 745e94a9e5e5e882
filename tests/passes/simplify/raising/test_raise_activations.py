import numpy as np
import pytest
from harness import assert_rewrites
from raising import assert_near, assert_raises, assert_stays, numbers, text
from straightline.passes import RaiseActivations
from tables import table

CUBE = "(float[N, 3, 4] x) => (float[N, 3, 4] y)"
CONSTANTS = """<float two = {2.0}, float half = {0.5}, float one = {1.0}, float three = {3.0},
    float six = {6.0}, float zero = {0.0}, float root = {1.4142135}, float k = {0.7978846},
    float c = {0.044715}, float quick = {1.702}, int64[1] last = {-1}, int64[1] second = {1}>"""
TANH = "q = Mul (c, p) r = Add (x, q) t = Mul (k, r) u = Tanh (t) w = Add (one, u) "
TOP = "m = ReduceMax <axes = [-1]> (x) d = Sub (x, m) e = Exp (d) t = ReduceSum (e, last) "

FORMS = [
    ("d = Div (x, root) e = Erf (d) f = Add (e, one) g = Mul (x, f) y = Mul (g, half)", 20, "Gelu"),
    ("d = Div (x, root) e = Erf (d) g = Mul (x, e) f = Add (x, g) y = Mul (half, f)", 20, "Gelu"),
    ("p = Pow (x, three) " + TANH + "z = Mul (half, x) y = Mul (z, w)", 20, "Gelu"),
    ("s = Mul (x, x) p = Mul (s, x) " + TANH + "z = Mul (w, x) y = Div (z, two)", 20, "Gelu"),
    ("s = Softplus (x) t = Tanh (s) y = Mul (t, x)", 18, "Mish"),
    ("e = Exp (x) f = Add (e, one) s = Log (f) t = Tanh (s) y = Mul (x, t)", 18, "Mish"),
    ("h = HardSigmoid <alpha = 0.16666667, beta = 0.5> (x) y = Mul (x, h)", 14, "HardSwish"),
    ("e = Add (x, three) f = Clip (e, zero, six) g = Mul (x, f) y = Div (g, six)", 14, "HardSwish"),
    ("e = Add (x, three) f = Clip (e, zero, six) g = Div (f, six) y = Mul (g, x)", 14, "HardSwish"),
    ("s = Sigmoid (x) y = Mul (s, x)", 24, "Swish"),
    ("n = Neg (x) e = Exp (n) f = Add (one, e) y = Div (x, f)", 24, "Swish"),
    ("n = Mul (quick, x) s = Sigmoid (n) y = Mul (s, x)", 24, "Swish"),
    ("e = Exp (x) f = Add (one, e) y = Log (f)", 13, "Softplus"),
    (TOP + "y = Div (e, t)", 13, "Softmax"),
    (TOP + "r = Reciprocal (t) y = Mul (r, e)", 13, "Softmax"),
    ("e = Exp (x) t = ReduceSum (e, second) y = Div (e, t)", 13, "Softmax"),
    (TOP + "l = Log (t) y = Sub (d, l)", 13, "LogSoftmax"),
    ("p = Softmax (x) y = Log (p)", 13, "LogSoftmax"),
    ("l = ReduceLogSumExp <axes = [2]> (x) y = Sub (x, l)", 13, "LogSoftmax"),
]


@pytest.mark.sample(10)
@pytest.mark.parametrize(("nodes", "opset", "operator"), FORMS)
def test_spellings(nodes, opset, operator):
    source = text(nodes, CUBE, CONSTANTS, opset)
    model = assert_raises(RaiseActivations(without_kernel=True), source, [operator])
    for scale in (1.0, 20.0):
        feeds = {"x": numbers(2, 3, 4, scale=scale)}
        if opset < 24:  # onnx's own model of Swish takes the attribute for an input
            assert_near(source, model, feeds)


@table(
    (FORMS[0][0], 19),
    (FORMS[0][0].replace("(x, root)", "(x, two)"), 20),
    (FORMS[0][0].replace("Mul (g, half)", "Mul (g, two)"), 20),
    (FORMS[2][0].replace("(c, p)", "(one, p)"), 20),
    (FORMS[2][0].replace("(x, three)", "(x, two)"), 20),
    (FORMS[4][0], 17),
    (FORMS[6][0].replace("0.5", "0.4"), 14),
    (FORMS[7][0].replace("zero, six", "zero, three"), 14),
    (FORMS[7][0].replace("zero, six", "half, six"), 14),
    (FORMS[9][0], 23),
    (FORMS[9][0], 24),
    (FORMS[12][0].replace("(one, e)", "(two, e)"), 13),
    ("e = Exp (x) t = ReduceSum (e, last) y = Div (t, e)", 13),
)
def test_near_misses_stay(nodes, opset):
    assert_stays(RaiseActivations(), text(nodes, CUBE, CONSTANTS, opset))


def test_sums_along_another_axis_than_the_maximum_keep_the_maximum():
    nodes = TOP.replace("(e, last)", "(e, second)") + "y = Div (e, t)"
    model = assert_raises(
        RaiseActivations(), text(nodes, CUBE, CONSTANTS, 13), ["ReduceMax", "Sub", "Softmax"]
    )
    assert_near(text(nodes, CUBE, CONSTANTS, 13), model, {"x": numbers(2, 3, 4)})


def test_before_opset_13_softmax_is_along_the_last_axis_only():
    constants = CONSTANTS.replace(", int64[1] last = {-1}, int64[1] second = {1}", "")
    nodes = "e = Exp (x) t = ReduceSum <axes = [2]> (e) y = Div (e, t)"
    assert_raises(RaiseActivations(), text(nodes, CUBE, constants, 11), ["Softmax"])
    other = nodes.replace("[2]", "[1]")
    assert_stays(RaiseActivations(), text(other, CUBE, constants, 11))


def test_an_axis_that_may_be_empty_stays():
    nodes = "e = Exp (x) t = ReduceSum (e, second) y = Div (e, t)"
    assert_stays(RaiseActivations(), text(nodes, CUBE.replace("3", "M"), CONSTANTS, 13))


def test_before_and_after():
    before = text(FORMS[0][0], CUBE, CONSTANTS, 20)
    after = text("y = Gelu (x)", CUBE, CONSTANTS, 20)
    assert_rewrites(RaiseActivations(), before, after, [{"x": numbers(2, 3, 4)}])


def test_a_value_with_another_reader_stays():
    signature = CUBE.replace("4] y)", "4] y, float[N, 3, 4] e)")
    assert_stays(RaiseActivations(), text(FORMS[0][0], signature, CONSTANTS, 20))


def test_special_values():
    """Finite outputs stay finite, but for exp(x) / sum(exp(x)) beside an infinity."""
    x = np.array([[[0, -0.0, 3e38, -np.inf], [np.nan, 88, -88, 1e-40], [1e4, -1e4, 3, -3]]])
    for nodes, opset, operator in FORMS:
        if opset < 24:
            source = text(nodes, CUBE, CONSTANTS, opset)
            model = assert_raises(RaiseActivations(), source, [operator])
            assert_near(source, model, {"x": x.astype(np.float32)})


def test_doubles_stay_where_onnxruntime_has_no_kernel():
    source = text(FORMS[0][0], CUBE, CONSTANTS, 20).replace("float", "double")
    assert_stays(RaiseActivations(), source)
