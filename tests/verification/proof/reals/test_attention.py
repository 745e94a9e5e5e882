import numpy as np
import pytest
from proofs import over_reals
from raising import text
from sessions import by_reference
from straightline import ir, prove
from tables import table

HEADS = "(float[2, 6, 4, 8] q, float[2, 6, 5, 8] k, float[2, 6, 5, 8] v, float[4, 5] m)"
GROUPS = HEADS.replace("6, 5", "3, 5")
ROWS = "(float[2, 4, 48] q, float[2, 5, 48] k, float[2, 5, 48] v, float[4, 5] m)"
CONSTANTS = """<float c = {0.25}, float h = {0.5}, float root = {0.35355338},
    float fourth = {0.59460354}, int64[1] two = {2}, int64[5] times = {1, 1, 2, 1, 1},
    int64[4] all = {2, 6, 5, 8}, int64[4] split = {0, 0, 6, 8}, int64[3] join = {0, 0, 48},
    int64 i = {1}>"""
TURN = "t = Transpose <perm = [0, 1, 3, 2]> (k) s = MatMul (q, t) "
REST = "w = Softmax (d) y = MatMul (w, v)"
REPEAT = "a = Unsqueeze ({0}, two) b = Expand (a, times) {1} = Reshape (b, all) "

FORMS = [
    (HEADS, TURN + "d = Mul (s, c) " + REST, "y = Attention <scale = 0.25> (q, k, v)"),
    (HEADS, TURN + "a = Div (s, c) d = Add (m, a) " + REST,
     "y = Attention <scale = 4.0> (q, k, v, m)"),
    (HEADS, "p = Mul (q, h) t = Transpose <perm = [0, 1, 3, 2]> (k) u = Mul (h, t) "
     "d = MatMul (p, u) " + REST, "y = Attention <scale = 0.25> (q, k, v)"),
    (HEADS, "p = Mul (q, fourth) t = Transpose <perm = [0, 1, 3, 2]> (k) u = Mul (fourth, t) "
     "d = MatMul (p, u) " + REST, "y = Attention (q, k, v)"),
    (HEADS, TURN + "d = Mul (s, root) " + REST, "y = Attention (q, k, v)"),
    (GROUPS, REPEAT.format("k", "g") + REPEAT.format("v", "z").replace("a ", "a1 ")
     .replace("(a", "(a1").replace("b ", "b1 ").replace("(b", "(b1")
     + (TURN + "d = Mul (s, c) " + REST).replace("(k)", "(g)").replace(", v)", ", z)"),
     "y = Attention <scale = 0.25> (q, k, v)"),
    (ROWS, "a = Reshape (q, split) o = Transpose <perm = [0, 2, 1, 3]> (a) b = Reshape (k, split) "
     "t = Transpose <perm = [0, 2, 3, 1]> (b) e = Reshape (v, split) "
     "f = Transpose <perm = [0, 2, 1, 3]> (e) s = MatMul (o, t) g = Mul (s, c) d = Add (g, m) "
     "w = Softmax (d) n = MatMul (w, f) r = Transpose <perm = [0, 2, 1, 3]> (n) "
     "y = Reshape (r, join)",
     "y = Attention <scale = 0.25, q_num_heads = 6, kv_num_heads = 6> (q, k, v, m)"),
]  # fmt: skip


def models(signature, *bodies):
    output = "float[2, 4, 48] y" if signature is ROWS else "float[2, 6, 4, 8] y"
    return [ir.parse(text(b, f"{signature} => ({output})", CONSTANTS, 23)) for b in bodies]


@pytest.mark.parametrize(("signature", "longer", "shorter"), FORMS)
def test_longer_forms(signature, longer, shorter):
    before, after = models(signature, longer, shorter)
    proof = prove(before, after, equality="reals")
    assert proof.proved, str(proof)
    random = np.random.default_rng(0)
    feeds = {
        value.name: random.standard_normal(value.shape).astype(np.float32)
        for value in before.graph.inputs
    }
    one, other = (by_reference(model, feeds)[0] for model in (before, after))
    np.testing.assert_allclose(one, other, 1e-5, 1e-5)


@table(("Mul (s, c)", "Mul (s, h)"), ("[0, 1, 3, 2]> (k)", "[0, 1, 3, 2]> (v)"),
     ("(w, v)", "(w, k)"), ("Softmax", "LogSoftmax"))  # fmt: skip
def test_near_misses(old, new):
    signature, longer, shorter = FORMS[0]
    assert old in longer
    before, after = models(signature, longer.replace(old, new), shorter)
    assert not over_reals(before, after)


def test_causality_is_another_function():
    signature, longer, shorter = FORMS[0]
    before, after = models(signature, longer, shorter.replace("scale", "is_causal = 1, scale"))
    assert not over_reals(before, after)


def test_onnxruntime_takes_no_mask_that_broadcasts_along_the_queries():
    signature, longer, shorter = FORMS[1]
    signature = signature.replace("float[4, 5] m", "float[1, 5] m")
    before, after = models(signature, longer, shorter)
    assert not over_reals(before, after)


def test_a_guard_against_rows_that_are_masked_whole():
    signature, longer, shorter = FORMS[0]
    guard = "w1 = IsNaN (w) w2 = Where (w1, zero, w) y = MatMul (w2, v)"
    constants = CONSTANTS[:-1] + ", float zero = {0.0}>"
    bodies = longer.replace("y = MatMul (w, v)", guard), shorter
    head = f"{signature} => (float[2, 6, 4, 8] y)"
    before, after = (ir.parse(text(b, head, constants, 23)) for b in bodies)
    assert over_reals(before, after)


def test_rows_that_are_turned_without_their_axis_of_heads():
    signature, longer, shorter = FORMS[0]
    rows = "k1 = Reshape (k, rows) k2 = Transpose <perm = [0, 2, 1]> (k1) t = Reshape (k2, columns)"
    constants = CONSTANTS[:-1] + ", int64[3] rows = {12, 5, 8}, int64[4] columns = {2, 6, 8, 5}>"
    bodies = longer.replace("t = Transpose <perm = [0, 1, 3, 2]> (k)", rows), shorter
    head = f"{signature} => (float[2, 6, 4, 8] y)"
    before, after = (ir.parse(text(b, head, constants, 23)) for b in bodies)
    assert over_reals(before, after)


def test_a_slice_of_an_attention():
    signature, longer, shorter = FORMS[0]
    rows = " z = Gather <axis = 2> (n, i)"
    bodies = [body.replace("y =", "n =") + rows for body in (longer, shorter)]
    before, after = (
        ir.parse(text(b, f"{signature} => (float[2, 6, 8] z)", CONSTANTS, 23)) for b in bodies
    )
    assert over_reals(before, after)


def test_open_sizes_may_be_empty():
    """The kernel of onnxruntime fails for an empty batch, where the longer form does not."""
    signature, longer, shorter = FORMS[0]
    head = signature.replace("[2,", "[n,") + " => (float[n, 6, 4, 8] y)"
    before, after = (ir.parse(text(b, head, CONSTANTS, 23)) for b in (longer, shorter))
    assert not over_reals(before, after)
