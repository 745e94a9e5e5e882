import numpy as np
import onnx
import pytest
import zeros
from sessions import by_reference
from straightline import prove
from straightline.verification.proof.equality.zero_signs import _COMPARISONS, _FORGETFUL

SIGNATURE = "(float[n, 3] x, float[n, 3] z) => (float[n, 3] y)"
CONSTANTS = (
    "<float zero = {0.0}, float minus = {-0.0}, float one = {1.0}, float[1, 3] row = {0, 0, 0},"
    " float[3] ones = {1, 1, 1}, float three = {3.0}, float minus_one = {-1.0}, int64[1] first ="
    " {0}>"
)
ZEROS = np.array([[0.0, -0.0, 1.0], [-0.0, 0.0, -2.0]], np.float32)

PAIRS = {
    "sum": ("y = Add (x, zero)", "y = Identity (x)"),
    "sum with a row": ("y = Add (row, x)", "y = Identity (x)"),
    "sum of one": ("t = Unsqueeze (x, first) y = ReduceSum <keepdims = 0> (t, first)",
     "y = Identity (x)"),
    "difference": ("y = Sub (zero, x)", "y = Neg (x)"),
    "swapped": ("t = Sub (x, z) y = Neg (t)", "y = Sub (z, x)"),
    "below": ("t = Add (x, zero) u = Mul (t, z) y = Tanh (u)", "u = Mul (x, z) y = Tanh (u)"),
    "moved": ("t = Add (x, zero) y = Transpose (t)", "y = Transpose (x)"),
    "dividend": ("t = Add (x, zero) y = Div (t, z)", "y = Div (x, z)"),
    "extremes": ("t = Max (x, z) y = Min (t, x)", "t = Max (z, x) y = Min (x, t, x)"),
    "chosen": ("t = Add (x, zero) c = Less (t, z) y = Where (c, t, z)",
     "c = Less (x, z) y = Where (c, x, z)"),
    "constants": ("y = Max (x, minus)", "y = Max (x, zero)"),
    "forgotten in a product": ("t = Add (x, zero) u = Mul (t, t) y = Div (z, u)",
     "u = Mul (x, x) y = Div (z, u)"),
    "forgotten in a sum": ("t = Add (x, zero) s = Tanh (t) u = Add (s, one) y = Div (z, u)",
     "s = Tanh (x) u = Add (s, one) y = Div (z, u)"),
    "forgotten in a normalization": (
        "t = Add (x, zero) u = LayerNormalization (t, ones) y = Mul (u, z)",
        "u = LayerNormalization (x, ones) y = Mul (u, z)",
    ),
    "power": ("t = Add (x, zero) y = Pow (t, three)", "y = Pow (x, three)"),
    "exponent": ("t = Add (x, zero) u = Pow (z, t) y = Reciprocal (u)",
     "u = Pow (z, x) y = Reciprocal (u)"),
    "sizes": ("t = Add (x, zero) s = Shape (t) c = Expand (one, s) y = Add (t, c)",
     "s = Shape (x) c = Expand (one, s) y = Add (x, c)"),
    "a node that may fail": ("t = Add (x, zero) i = Cast <to = 7> (z) y = Gather (t, i)",
     "i = Cast <to = 7> (z) y = Gather (x, i)"),
    "a node whose failures are unknown": (
        "t = Add (x, zero) u = Unsqueeze (t, first) y = LpPool <kernel_shape = [2]> (u)",
        "u = Unsqueeze (x, first) y = LpPool <kernel_shape = [2]> (u)",
    ),
    "bias": ("s = Concat <axis = 0> (row, row, row) y = Gemm (x, s, row)",
     "s = Concat <axis = 0> (row, row, row) y = Gemm (x, s)"),
}  # fmt: skip

MISSES = {
    "divisor": ("t = Add (z, zero) y = Div (x, t)", "y = Div (x, z)"),
    "reciprocal": ("t = Add (x, zero) y = Reciprocal (t)", "y = Reciprocal (x)"),
    "power": ("t = Add (x, zero) y = Pow (t, z)", "y = Pow (x, z)"),
    "below a divisor": ("t = Add (z, zero) u = Tanh (t) y = Div (x, u)",
     "u = Tanh (z) y = Div (x, u)"),
    "remembered by a product": ("t = Add (x, zero) u = Mul (t, z) y = Div (x, u)",
     "u = Mul (x, z) y = Div (x, u)"),
    "remembered by a sum": ("t = Add (x, zero) u = Add (t, row) y = Div (z, u)",
     "u = Add (x, minus) y = Div (z, u)"),
    "root": ("t = Add (x, zero) y = Pow (t, minus_one)", "y = Pow (x, minus_one)"),
    "a number of elements": (
        "s = ReduceSum <keepdims = 0> (x) t = Add (s, zero) y = Range (zero, one, t)",
        "s = ReduceSum <keepdims = 0> (x) y = Range (zero, one, s)",
    ),
    "a node that fails": ("t = Add (x, zero) i = Cast <to = 7> (z) y = Gather (t, i)",
     "i = Cast <to = 7> (x) y = Gather (x, i)"),
    "one": ("y = Add (x, one)", "y = Identity (x)"),
    "sign": ("y = Sub (x, z)", "y = Sub (z, x)"),
    "growing": ("t = ReduceSum (x) y = Add (t, row)", "y = ReduceSum (x)"),
    "text": ("t = Add (x, zero) s = Cast <to = 8> (t) e = Equal (s, s) y = Cast <to = 1> (e)",
     "s = Cast <to = 8> (x) t = Cast <to = 8> (z) e = Equal (s, t) y = Cast <to = 1> (e)"),
}  # fmt: skip


def model(nodes):
    text = f'<ir_version: 10, opset_import: ["" : 19]> g {SIGNATURE} {CONSTANTS} {{ {nodes} }}'
    proto = onnx.parser.parse_model(text)
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    return proto


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("backwards", [False, True])
def test_signs_of_zeros_are_alike(name, backwards):
    before, after = (model(nodes) for nodes in PAIRS[name][:: -1 if backwards else 1])
    proof = prove(before, after, equality="values", search=False)
    assert proof and proof.equality in ("values", "bits"), proof
    feeds = {"x": ZEROS, "z": ZEROS[::-1].copy()}
    (one,), (other,) = (by_reference(m, feeds) for m in (before, after))
    np.testing.assert_array_equal(one, other)


@pytest.mark.sample(10)
@pytest.mark.parametrize("name", PAIRS)
def test_bits_tell_signs_apart(name):
    before, after = (model(nodes) for nodes in PAIRS[name])
    proof = prove(before, after, search=False)
    assert (proof.status, proof.equality) == ("open", "values")
    assert proof.reason.startswith("equal up to the signs of zeros, not proved bit for bit: ")
    assert str(prove(before, after, equality="reals")).startswith(
        "proved: equal up to the signs of zeros for every input"
    )


def test_operators_forget_the_sign_of_a_zero_bit_for_bit():
    places = {name: range(2 if name in _COMPARISONS else 1) for name in _FORGETFUL}
    assert {"Exp", "Equal"} <= places.keys()
    for case, (one, other) in zeros.twins(4, 2, {**places, "Pow": range(1, 2)}):
        assert (one is None) == (other is None), case
        for a, b in zip(one or (), other or (), strict=True):
            assert np.asarray(a).tobytes() == np.asarray(b).tobytes(), case


@pytest.mark.parametrize("name", MISSES)
def test_other_values_are_not(name):
    before, after = (model(nodes) for nodes in MISSES[name])
    assert prove(before, after, equality="values", search=False).status == "open"


@pytest.mark.parametrize(("number", "status"), [(0.0, "proved"), (1.0, "open")])
def test_a_loop_that_a_rewrite_writes_out(number, status):
    count = 40
    head = '<ir_version: 10, opset_import: ["" : 19]> g (float[2] x) => (float[2] y)'
    loop = f"""{head} <int64 n = {{{count}}}, float c = {{{number}}}> {{
        y = Loop (n, , x) <body = b (int64 i, bool k, float[2] s) => (bool k2, float[2] t) {{
            k2 = Identity (k) u = Sin (s) v = Add (u, c) t = Cos (v) }}> }}"""
    steps = [f"u{k} = Sin (v{k}) v{k + 1} = Cos (u{k})" for k in range(count)]
    written = f"{head} {{ v0 = Identity (x) {' '.join(steps)} y = Identity (v{count}) }}"
    before, after = onnx.parser.parse_model(loop), onnx.parser.parse_model(written)
    assert prove(before, after, equality="values", search=False).status == status
