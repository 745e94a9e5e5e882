import numpy as np
from attention_loops import HEAD
from harness import assert_equal_outputs, run_passes
from straightline.passes import MaskPrefixes
from tables import table


def loop(body):
    """Attention with two heads and two rows an iteration; keys are [heads, rows, 2]."""
    return f"""{HEAD}g (float[N, 2, 4] x, float[2, P, 2] past) => (float[N, 2, 4] y)
            <int64 zero = {{0}}, bool yes = {{1}}, int64[3] split = {{2, 2, 2}},
             int64[2] flat = {{2, 4}}, int64[4] more = {{1, 3, 1, 1}}, int64[3] six = {{6, -1, 2}},
             int64[1] k0 = {{0}}, int64[1] k1 = {{1}}, int64[3] back = {{3, 2, 2}}> {{
        sh = Shape (x) n = Gather (sh, zero)
        rows, y = Loop (n, yes, past) <body = b (int64 i, bool c, float[2, L, 2] s)
                => (bool d, float[2, M, 2] t, float[2, 4] r) {{
            d = Identity (c) e = Gather (x, i) f = Reshape (e, split)
            q = Transpose <perm = [1, 0, 2]> (f) t = Concat <axis = 1> (s, q) {body}
            h = Transpose <perm = [1, 0, 2]> (o) r = Reshape (h, flat) }}> }}"""


SOFT = "k = Transpose <perm = [0, 2, 1]> (t) p = MatMul (q, k) w = Softmax <axis = -1> (p) "


@table(
    (SOFT + "o = MatMul (w, t)", 0),
    (SOFT + "g = Relu (t) j = Add (g, g) o = MatMul (w, j)", 0),
    (SOFT + "g = Unsqueeze (t, k0) j = Squeeze (g, k0) o = MatMul (w, j)", 0),
    ("g = Unsqueeze (t, k1) m = Expand (g, more) u = Reshape (m, six) k = Transpose"
     " <perm = [0, 2, 1]> (u) a = Unsqueeze (q, k1) b = Expand (a, more)"
     " j = Reshape (b, six) p = MatMul (j, k) w = Softmax <axis = -1> (p)"
     " v = MatMul (w, u) z = ReduceMax <keepdims = 0> (v, k0)"
     " a2 = Unsqueeze (z, k0) o = Concat <axis = 0> (a2, a2)", 0),
    (SOFT + "m = MatMul (w, t) g = CumSum (t, one) j = ReduceMax <keepdims = 1> (g, k1)"
     " o = Add (m, j)", 1))  # fmt: skip
def test_operators(body, slices):
    text = loop(body).replace("int64 zero = {0}", "int64 zero = {0}, int64 one = {1}")
    made = run_passes(text, MaskPrefixes())
    bodies = [node.attribute[0].g for node in made.model.graph.node if "y" in node.output]
    kinds = [node.op_type for node in bodies[0].node]
    assert "Concat" not in kinds or "a2" in body
    assert kinds.count("Slice") == slices
    numbers = np.random.default_rng(0).standard_normal((4, 8)).astype(np.float32)
    for iterations, past in ((0, 0), (1, 0), (4, 3)):
        feed = {
            "x": numbers[:iterations].reshape(iterations, 2, 4),
            "past": numbers[:past, :4].reshape(2, past, 2),
        }
        assert_equal_outputs(text, made.model, feed)
