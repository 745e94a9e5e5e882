"""Last states of s' = a * s + b against sums weighted by powers of a."""

import numpy as np
import onnx
import pytest
from straightline.reference import run
from straightline.verification.proof import prove

TEXT = """<ir_version: 8, opset_import: ["" : 18]>
    g (float[n, 2, 2] x, float[2, 2] h, float[2] a, float[2, 1] c) => (float[2, 2] y)
    <int64[1] axis = {0}, int64 zero = {0}, int64 one = {1}, int64[2] last = {1, 2}, float f = {1}>
    { NODES }"""
LOOP = """y = Scan <num_scan_inputs = 1, body = step (float[2, 2] s, float[2, 2] e)
    => (float[2, 2] s_next) { k = Exp (e) p = Mul (s, a) s_next = Add (k, p) }> (h, x)"""
SUM = """b = Exp (x) shape = Shape (x) n = Gather <axis = 0> (shape, zero)
    t = Range (zero, n, one) m = Sub (n, one) e = Sub (m, t) g = Cast <to = 1> (e)
    u = Unsqueeze (g, last) q = Pow (a, u) w = Mul (q, b)
    total = ReduceSum <keepdims = 0> (w, axis)
    z = Cast <to = 1> (n) r = Pow (a, z) i = Mul (r, h) y = Add (i, total)"""


def model(nodes):
    return onnx.parser.parse_model(TEXT.replace("NODES", nodes))


def outputs(proto, n):
    draw = np.random.default_rng(n)
    shapes = {"x": (n, 2, 2), "h": (2, 2), "a": (2,), "c": (2, 1)}
    return run(proto, {k: draw.standard_normal(s).astype("float32") for k, s in shapes.items()})[0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Mul (q, b)", "Mul (b, q)"),
        ("Add (i, total)", "Add (total, i)"),
        ("Mul (r, h)", "Mul (h, r)"),
        ("ReduceSum <keepdims = 0> (w, axis)", "ReduceSum <keepdims = 1> (w, axis)"),
    ],
)
def test_a_last_state_is_a_weighted_sum_over_the_reals(old, new):
    nodes = SUM.replace(old, new)
    nodes = (
        nodes.replace("y = Add", "v = Add") + " y = Squeeze (v, axis)" if "= 1>" in new else nodes
    )
    one, other = model(LOOP), model(nodes)
    for n in (1, 2, 5):
        np.testing.assert_allclose(outputs(one, n), outputs(other, n), rtol=1e-4, atol=1e-5)
    proof = prove(one, other, equality="reals")
    assert proof.proved, proof.reason
    assert not prove(one, other).proved


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("e = Sub (m, t)", "e = Sub (n, t)"),
        ("e = Sub (m, t)", "e = Identity (t)"),
        ("z = Cast <to = 1> (n)", "z = Cast <to = 1> (m)"),
        ("r = Pow (a, z)", "r = Pow (c, z)"),
        ("q = Pow (a, u)", "q = Pow (c, u)"),
        ("q = Pow (a, u)", "q = Pow (u, a)"),
        ("i = Mul (r, h)", "i = Mul (r, r)"),
        ("i = Mul (r, h)", "i = Add (r, h)"),
        ("w = Mul (q, b)", "w = Mul (q, x)"),
        ("w = Mul (q, b)", "w = Add (q, b)"),
        ("(w, axis)", "(w, k)"),
        ("g = Cast <to = 1> (e)", "d = Cast <to = 3> (e) g = Cast <to = 1> (d)"),
        ("y = Add", "y = Sub"),
        ("b = Exp (x)", "v = Exp (x) b = Transpose <perm = [0, 2, 1]> (v)"),
        ("b = Exp (x)", "v = Transpose <perm = [0, 2, 1]> (x) b = Exp (v)"),
        ("b = Exp (x)", "v = Exp (x) b = Slice (v, back, first, axis, back)"),
    ],
)
def test_other_sums_are_open(old, new):
    assert old in SUM
    nodes = SUM.replace(old, new)
    text = TEXT.replace("f = {1}", "f = {1}, int64[1] k = {1}, int64[1] back = {-1}")
    text = text.replace("f = {1}", "f = {1}, int64[1] first = {-9999}").replace("NODES", nodes)
    assert not prove(model(LOOP), onnx.parser.parse_model(text), equality="reals").proved


@pytest.mark.parametrize("shape", ["{2, 1}", "{1, 2}"])
def test_factors_along_another_axis_are_open(shape):
    """A vector along columns in the sum, and along rows before the initial state."""
    nodes = SUM.replace("r = Pow (a, z)", "v = Reshape (a, way) r = Pow (v, z)")
    text = TEXT.replace("f = {1}", f"f = {{1}}, int64[2] way = {shape}").replace("NODES", nodes)
    proof = prove(model(LOOP), onnx.parser.parse_model(text), equality="reals")
    assert proof.proved is (shape == "{1, 2}")
