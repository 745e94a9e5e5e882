import numpy as np
import onnx
import pytest
from proofs import over_reals
from sessions import by_reference
from straightline import prove
from tables import table

CUBE = "(float[n, 4, 8] x, float[8] s, float[8] b) => (float[n, 4, 8] y)"
IMAGE = "(float[2, 6, 5] x, float[6] s, float[6] b, float[6] m, float[6] v) => (float[2, 6, 5] y)"
ROWS = "(float[n, 4] x) => (float[n] y)"
LAST = "<int64[1] axis = {-1}, float two = {2.0}, float eps = {1e-5}, float one = {1.0}>"
CHANNELS = "<int64[1] axis = {2}, int64[3] column = {1, 6, 1}, float eps = {1e-5}>"

VARIANCE = "m = ReduceMean (x, axis) d = Sub (x, m) q = Pow (d, two) v = ReduceMean (q, axis) "
GROUPS = (
    "<int64[1] axis = {2}, int64[3] column = {1, 6, 1}, float eps = {1e-5}, "
    "int64[3] image = {2, 6, 5}, int64[3] grouped = {2, 2, 15}, "
    "float[2] ones = {1, 1}, float[2] zeros = {0, 0}>"
)
TURNED = "<float[6, 1] tall = {1, 2, 3, 4, 5, 6}, float[6] wide = {1, 2, 3, 4, 5, 6}>"

FORMS = {
    "LayerNormalization": (
        (CUBE, "y = LayerNormalization (x, s, b)", LAST),
        VARIANCE + "e = Add (v, eps) r = Sqrt (e) n = Div (d, r) k = Mul (n, s) y = Add (k, b)",
        VARIANCE.replace("Pow (d, two)", "Mul (d, d)")
        + "e = Add (eps, v) r = Sqrt (e) i = Reciprocal (r) k = Mul (i, s) w = Mul (k, d) "
        "y = Add (b, w)",
        "m = ReduceMean (x, axis) d = Sub (x, m) p = Mul (x, x) a = ReduceMean (p, axis) "
        "c = Mul (m, m) v = Sub (a, c) e = Add (v, eps) r = Sqrt (e) n = Div (d, r) "
        "k = Mul (n, s) y = Add (k, b)",
    ),
    "RMSNormalization": ((CUBE, "y = RMSNormalization (x, s)", LAST),
     "p = Pow (x, two) a = ReduceMean (p, axis) e = Add (a, eps) r = Sqrt (e) i = Div (one, r) "
     "n = Mul (x, i) y = Mul (s, n)"),
    "InstanceNormalization": ((IMAGE, "y = InstanceNormalization (x, s, b)", CHANNELS),
     "k = ReduceMean (x, axis) d = Sub (x, k) q = Mul (d, d) u = ReduceMean (q, axis) "
     "e = Add (u, eps) r = Sqrt (e) n = Div (d, r) c = Reshape (s, column) "
     "f = Reshape (b, column) w = Mul (n, c) y = Add (w, f)"),
    "GroupNormalization": (
        (IMAGE, "y = GroupNormalization <num_groups = 2> (x, s, b)", GROUPS),
        "g = Reshape (x, grouped) k = ReduceMean (g, axis) d = Sub (g, k) q = Mul (d, d) "
        "u = ReduceMean (q, axis) e = Add (u, eps) r = Sqrt (e) i = Reciprocal (r) n = Mul (i, d) "
        "z = Reshape (n, image) c = Reshape (s, column) f = Reshape (b, column) "
        "w = Mul (z, c) y = Add (f, w)",
        "g = Reshape (x, grouped) n = InstanceNormalization (g, ones, zeros) "
        "z = Reshape (n, image) c = Reshape (s, column) f = Reshape (b, column) "
        "w = Mul (z, c) y = Add (w, f)",
    ),
    "Transpose": ((IMAGE, "k = Add (x, tall) y = Mul (k, x)", TURNED),
     "t = Transpose <perm = [2, 0, 1]> (x) a = Add (wide, t) q = Mul (t, t) r = Mul (t, wide) "
     "c = Add (q, r) y = Transpose <perm = [1, 2, 0]> (c)"),
    "BatchNormalization": ((IMAGE, "y = BatchNormalization (x, s, b, m, v)", CHANNELS),
     "e = Add (v, eps) r = Sqrt (e) k = Div (s, r) a = Mul (m, k) c = Sub (b, a) "
     "f = Reshape (k, column) h = Reshape (c, column) w = Mul (x, f) y = Add (w, h)"),
    "Gelu": ((CUBE, "y = Gelu (x)",
     "<float root = {1.4142135}, float one = {1.0}, float half = {0.5}>"),
     "d = Div (x, root) e = Erf (d) f = Add (e, one) g = Mul (x, f) y = Mul (g, half)",
     "d = Div (x, root) e = Erf (d) g = Mul (x, e) f = Add (x, g) y = Mul (half, f)"),
    "Gelu of tanh": (
        (CUBE, 'y = Gelu <approximate = "tanh"> (x)',
         "<float k = {0.7978846}, float c = {0.044715}, float one = {1.0}, float half = {0.5}, "
         "float three = {3.0}>"),
        "p = Pow (x, three) q = Mul (c, p) r = Add (x, q) t = Mul (k, r) u = Tanh (t) "
        "w = Add (one, u) z = Mul (half, x) y = Mul (z, w)",
    ),
    "Softmax": ((CUBE, "y = Softmax (x)", LAST),
     "m = ReduceMax (x, axis) d = Sub (x, m) e = Exp (d) t = ReduceSum (e, axis) "
     "i = Reciprocal (t) y = Mul (e, i)"),
    "LogSoftmax": ((CUBE, "y = LogSoftmax (x)", LAST), "p = Softmax (x) y = Log (p)",
     "l = ReduceLogSumExp (x, axis) y = Sub (x, l)"),
    "Mish": ((CUBE, "y = Mish (x)", LAST),
     "e = Exp (x) f = Add (e, one) p = Log (f) t = Tanh (p) y = Mul (x, t)"),
    "Swish": ((CUBE, "n = Neg (x) e = Exp (n) f = Add (one, e) y = Div (x, f)", LAST),
     "y = Swish (x)"),
    "HardSwish": ((CUBE, "y = HardSwish (x)",
     "<float c = {3.0}, float z = {0.0}, float k = {6.0}>"),
     "a = Add (x, c) f = Clip (a, z, k) g = Mul (x, f) y = Div (g, k)",
     "a = Add (c, x) f = Clip (a, z, k) g = Div (f, k) y = Mul (g, x)"),
    "Sigmoid": ((CUBE, "y = Sigmoid (x)", LAST), "e = Exp (x) f = Add (e, one) y = Div (e, f)"),
    "Softplus": ((CUBE, "y = Softplus (x)", LAST), "e = Exp (x) f = Add (e, one) y = Log (f)"),
    "Tanh": ((CUBE, "y = Tanh (x)", LAST),
     "d = Mul (two, x) p = Sigmoid (d) q = Mul (two, p) y = Sub (q, one)"),
    "Sinh": ((CUBE, "y = Sinh (x)", LAST),
     "m = Neg (x) e = Exp (x) f = Exp (m) d = Sub (e, f) y = Div (d, two)",
     "m = Neg (x) k = Sinh (m) y = Neg (k)"),
    "Cosh": ((CUBE, "y = Cosh (x)", LAST),
     "e = Exp (x) f = Reciprocal (e) d = Add (e, f) y = Div (d, two)", "m = Neg (x) y = Cosh (m)"),
    "ReduceL2": ((ROWS, "y = ReduceL2 <keepdims = 0> (x, axis)", LAST),
     "q = Pow (x, two) t = ReduceSum <keepdims = 0> (q, axis) y = Sqrt (t)"),
    "ReduceLogSumExp": ((ROWS, "y = ReduceLogSumExp <keepdims = 0> (x, axis)", LAST),
     "m = ReduceMax (x, axis) d = Sub (x, m) e = Exp (d) t = ReduceSum (e, axis) l = Log (t) "
     "r = Add (l, m) y = Squeeze (r, axis)"),
    "sums": ((CUBE, "a = Add (x, s) y = Add (a, b)", LAST), "a = Add (b, s) y = Sum (a, x)"),
}  # fmt: skip
"""A signature, nodes and constants, then other nodes that are equal over the reals."""

MISSES = {
    "LayerNormalization": ("1e-5", "2e-5"),
    "RMSNormalization": ("ReduceMean", "ReduceSum"),
    "InstanceNormalization": ("Mul (n, c)", "Mul (x, c)"),
    "GroupNormalization": ("ReduceMean (g, axis)", "ReduceMax (g, axis)"),
    "Transpose": ("Mul (t, wide)", "Mul (t, t)"),
    "BatchNormalization": ("Sub (b, a)", "Add (b, a)"),
    "Gelu": ("1.4142135", "1.4143"),
    "Gelu of tanh": ("0.044715", "0.0447"),
    "Softmax": ("Mul (e, i)", "Mul (e, t)"),
    "LogSoftmax": ("(p)", "(x)"),
    "Mish": ("Log (f)", "Log (e)"),
    "Swish": ("Swish (x)", "Swish <alpha = 1.1> (x)"),
    "HardSwish": ("3.0", "3.5"),
    "Sigmoid": ("Div (e, f)", "Div (f, e)"),
    "Softplus": ("Add (e, one)", "Add (e, two)"),
    "Tanh": ("Sub (q, one)", "Sub (one, q)"),
    "Sinh": ("Sub (e, f)", "Add (e, f)"),
    "Cosh": ("Add (e, f)", "Sub (e, f)"),
    "ReduceL2": ("Sqrt (t)", "Identity (t)"),
    "ReduceLogSumExp": ("Add (l, m)", "Add (l, l)"),
    "sums": ("Sum (a, x)", "Sum (a, a, x)"),
}


def model(signature, nodes, constants):
    text = f'<ir_version: 10, opset_import: ["" : 24]> g {signature} {constants} {{ {nodes} }}'
    return onnx.parser.parse_model(text)


PAIRS = [
    pytest.param(model(*first), model(first[0], other, first[2]), id=f"{name}-{number}")
    for name, (first, *others) in FORMS.items()
    for number, other in enumerate(others)
]


@pytest.mark.sample(15)
@pytest.mark.parametrize(("before", "after"), PAIRS)
def test_longer_forms_are_equal_over_the_reals(before, after):
    proof = prove(before, after, equality="reals")
    assert proof and proof.equality == "reals"
    assert str(proof).startswith("proved: equal over the reals for every input, if ")
    rng = np.random.default_rng(0)
    feeds = {
        info.name: rng.uniform(0.5, 2, [d.dim_value or 3 for d in info.type.tensor_type.shape.dim])
        .astype(np.float32)
        for info in before.graph.input
    }  # fmt: skip
    (one,), (other,) = (by_reference(m, feeds) for m in (before, after))
    np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.sample(10)
@pytest.mark.parametrize("name", FORMS)
def test_other_functions_are_not(name):
    first, *others = FORMS[name]
    old, new = MISSES[name]
    changed = [text.replace(old, new) for text in (first[2], others[0])]
    assert changed != [first[2], others[0]]
    after = model(first[0], changed[1], changed[0])
    proof = prove(model(*first), after, equality="reals", search=False)
    assert proof.status == "open" and proof.equality is None


def test_bits_are_wanted_by_default_and_the_answer_says_what_holds():
    text, nodes, constants = FORMS["sums"][0]
    before, after = model(text, nodes, constants), model(text, FORMS["sums"][1], constants)
    proof = prove(before, after, search=False)
    assert (proof.status, proof.equality, bool(proof)) == ("open", "reals", False)
    assert proof.reason.startswith("equal over the reals, not proved bit for bit: output 'y'")
    assert prove(before, before, equality="reals").equality == "bits"


def test_an_overflow_does_not_refute_equality_over_the_reals():
    signature = "(float[3] x) => (float[3] y)"
    before = model(signature, "a = Mul (x, big) y = Div (a, big)", "<float big = {1e38}>")
    proof = prove(before, model(signature, "y = Identity (x)", "<float big = {1e38}>"))
    assert proof.status == "open" and proof.equality == "reals"
    assert proof.reason.startswith("equal over the reals, not bit for bit: y")
    assert proof.feeds is not None


@pytest.mark.parametrize("opset", [7, 9, 13])
def test_outputs_that_nobody_reads_make_a_normalization_train(opset):
    text = f"""<ir_version: 7, opset_import: ["" : {opset}]>
        g (float[2, 6, 5] x, float[6] s, float[6] v) => (float[2, 6, 5] y) {{
            y = BatchNormalization (x, s, s, s, v) }}"""
    inference = onnx.parser.parse_model(text)
    training = onnx.parser.parse_model(text.replace("y =", "y, a, b, c, d ="))
    assert not prove(training, inference, equality="reals", search=False)


BOUNDS = (
    "(float[n] x) => (float[n] y) <float a = {-1}, float b = {2}, float c = {0.5}, float d = {3},"
    " float z = {0}, float two = {2}, float four = {4}, float e = {2.5}>"
)


@table(
    ("t = Clip (x, a, b) y = Clip (t, c, d)", "y = Clip (x, c, b)", True),
    ("t = Relu (x) y = Clip (t, a, b)", "y = Clip (x, z, b)", True),
    ("t = Clip (x, a, b) y = Relu (t)", "y = Clip (x, z, b)", True),
    ("t = Relu (x) u = Mul (t, two) y = Clip (u, a, four)", "t = Clip (x, z, two) y = Mul (t, two)",
     True),
    ("t = Mul (x, two) y = Relu (t)", "t = Relu (x) y = Mul (t, two)", True),
    ("t = Mul (x, a) y = Relu (t)", "t = Relu (x) y = Mul (t, a)", False),
    ("t = Clip (x, a, b) y = Clip (t, c, d)", "y = Clip (x, a, b)", False),
    ("t = Clip (x, a, b) y = Clip (t, e, d)", "y = Clip (x, e, b)", False),
    ("t = Clip (x, b, a) y = Clip (t, c, d)", "y = Clip (x, b, a)", False))  # fmt: skip
def test_bounds_of_bounds(one, other, is_equal):
    head = f'<ir_version: 8, opset_import: ["" : 17]> g {BOUNDS}'
    models = [onnx.parser.parse_model(f"{head} {{ {each} }}") for each in (one, other)]
    assert over_reals(*models) is is_equal
