import numpy as np
import pytest
from harness import as_model, run_in_onnxruntime, run_passes
from sessions import by_reference
from straightline import reference, rewrite
from straightline.passes import EliminateDeadNodes, MergeStates
from tables import table

TEXT = """g (float[N, 2] x, int64 n, float[4] s0) => (float[4] y, float[N, 4] z)
    <bool yes = {1}, int64[1] from = {0}, int64[1] mid = {2}, int64[1] end = {4},
    int64[1] far = {9223372036854775807}, int64[1] minus = {-2}, int64[2] sizes = {2, 2},
    int64 one = {1}, int64 nil = {0}, float half = {0.5}> {
    y, z = Loop (n, yes, s0) <body = b (int64 i, bool c, float[4] s)
        => (bool c2, float[4] t, float[4] r) {
        c2 = Identity (c) e = Gather (x, i) BODY r = Identity (t) }> }"""
SLICES = "a = Slice (s, from, mid) b = Slice (s, mid, end) "
STEP = "d = Add (a, e) h = Mul (b, half) k = Max (h, e) t = Concat <axis = 0> (d, k)"
SPLIT = {
    "slices": SLICES + STEP,
    "a slice to the end": "a = Slice (s, from, minus) b = Slice (s, minus, far) " + STEP,
    "a split": "a, b = Split (s, sizes) " + STEP,
    "crosswise": "b, a = Split (s, sizes) " + STEP,
    "one part twice": "a, b = Split (s, sizes) d = Add (a, e) t = Concat <axis = 0> (d, d)",
    "a part that stays": "a, b = Split (s, sizes) d = Add (a, b) t = Concat <axis = 0> (d, b)",
    "a row of the loop": "a, b = Split (s, sizes) d = Add (a, b) t = Concat <axis = 0> (d, e)",
    "both parts at once": "a, b = Split (s, sizes) w = Slice (s, from, end)"
    " m = ReduceMax <keepdims = 0> (w) d = Add (a, m) t = Concat <axis = 0> (d, b)",
}
ELEMENTS = (
    TEXT.replace("s0", "p0")
    .replace("float[4]", "float[2]")
    .replace("float[N, 4]", "float[N, 2]")
    .replace(
        "BODY",
        """a = Gather (s, nil) b = Gather (s, one) f = Gather (e, nil) d = Min (a, f) k = Max (b, f)
        u = Unsqueeze (d, from) v = Unsqueeze (k, from) READS t = Concat <axis = 0> (u, v)""",
    )
)


def feeds(length):
    rng = np.random.default_rng(length)
    x = rng.normal(size=(length, 2)).astype(np.float32)
    x[1:2, 0], x[3:4, 1] = np.nan, -0.0
    given = {"x": x, "n": np.array(length)}
    return given | {"s0": rng.normal(size=4).astype(np.float32), "p0": np.array([0.5, np.inf], "f")}


def body_of(model):
    (loop,) = (node for node in model.graph.node if node.op_type == "Loop")
    return next(a.g for a in loop.attribute if a.name == "body")


def assert_same(before, after):
    names = {value.name for value in before.graph.input}
    for length in (0, 1, 2, 7, 37):
        feed = {name: array for name, array in feeds(length).items() if name in names}
        for run in (reference.run, run_in_onnxruntime):
            for one, other in zip(run(after, feed), run(before, feed), strict=True):
                np.testing.assert_array_equal(one, other)


def split(text):
    before = as_model(text)
    after = run_passes(before, MergeStates(), EliminateDeadNodes()).model
    assert_same(before, after)
    return before, after


@pytest.mark.parametrize("what", SPLIT)
def test_parts_are_states(what):
    before, after = split(TEXT.replace("BODY", SPLIT[what]))
    read = {name for node in body_of(after).node for name in node.input}
    assert "s" in {name for node in body_of(before).node for name in node.input}
    assert "s" not in read
    assert "Split" not in {node.op_type for node in body_of(after).node}


@pytest.mark.parametrize("has_axis", [False, True])
def test_elements_are_scalars(has_axis):
    """An axis of size 1 that nothing reads is not carried."""
    reads = "w = Slice (s, from, far) q = ReduceSum <keepdims = 0> (w)" if has_axis else ""
    reads += " k2 = Add (k, q)" if has_axis else " k2 = Identity (k)"
    text = ELEMENTS.replace("READS", reads).replace("(k, from)", "(k2, from)")
    text = text.replace("v = Unsqueeze", "").replace("(k2, from)", "", 1)
    text = text.replace("t = Concat", "v = Unsqueeze (k2, from) t = Concat")
    _, after = split(text)
    added = {value.name: value for value in body_of(after).input}
    kinds = [len(v.type.tensor_type.shape.dim) for name, v in added.items() if "part" in name]
    assert kinds == [has_axis, has_axis]


@table(
    "t = Tanh (s)",
    SLICES + STEP.replace("(d, k)", "(k, d, m)").replace("t =", "m = Slice (e, end, far) t ="),
    "a = Slice (s, from, one_v) b = Slice (s, mid, end) " + STEP.replace("(a, e)", "(b, e)"),
    SLICES + "w = Exp (s) v = Slice (w, from, mid) " + STEP.replace("(b, half)", "(v, b)"),
    "a = Gather (s, sizes) b = Slice (s, mid, end) " + STEP,
)
def test_other_states_stay(body):
    text = TEXT.replace("BODY", body).replace("int64 one =", "int64[1] one_v = {1}, int64 one =")
    before = as_model(text)
    assert not run_passes(before, MergeStates()).changed


def test_a_packed_state_of_an_lstm_is_raised():
    """Output and cell in one tensor, as some exporters carry them."""
    text = """g (float[T, 2, 3] x, int64 n, float[3, 16] w, float[4, 16] u, float[2, 8] s0)
        => (float[2, 8] y, float[T, 2, 4] z) <bool yes = {1}, int64[2] sizes = {4, 4}> {
        y, z = Loop (n, yes, s0) <body = b (int64 i, bool c, float[2, 8] s)
            => (bool c2, float[2, 8] t, float[2, 4] r) {
            c2 = Identity (c) e = Gather (x, i) h, k = Split <axis = 1> (s, sizes)
            p = MatMul (e, w) q = MatMul (h, u) g = Add (p, q) gi, gf, gg, go = Split <axis = 1> (g)
            a = Sigmoid (gi) b = Sigmoid (gf) d = Tanh (gg) o = Sigmoid (go)
            m = Mul (b, k) v = Mul (a, d) l = Add (m, v) th = Tanh (l) r = Mul (o, th)
            t = Concat <axis = 1> (r, l) }> }"""
    before = as_model(text)
    after = rewrite(before, "accelerate", verify=False)
    kinds = {node.op_type for node in after.graph.node}
    assert "LSTM" in kinds and "Loop" not in kinds
    rng = np.random.default_rng(1)
    for length in (0, 1, 9):
        shapes = {"x": (length, 2, 3), "w": (3, 16), "u": (4, 16), "s0": (2, 8)}
        feed = {k: rng.normal(size=v).astype(np.float32) / 2 for k, v in shapes.items()}
        feed["n"] = np.array(length)
        for one, other in zip(
            run_in_onnxruntime(after, feed), by_reference(before, feed), strict=True
        ):
            np.testing.assert_allclose(one, other, atol=1e-5)
