"""Loops that append rows to states and attend to these."""

import numpy as np

HEAD = '<ir_version: 8, opset_import: ["" : 18]>\n'
STATES = "float[L, 2] s, float[L, 2] z"


def loop(body, more="", count="n", last="t"):
    """A Loop that appends rows to s and z, whose next values are t and u."""
    return f"""{HEAD}g (float[N, 2] x, float[P, 2] past, float[3, 9] bias)
            => (float[N, 2] y, float[Q, 2] rows)
            <int64 zero = {{0}}, int64 one = {{1}}, bool yes = {{1}}, int64[1] k0 = {{0}},
             int64[1] k1 = {{1}}, int64[1] end = {{-1}}, float low = {{-inf}}> {{
        sh = Shape (x) n = Gather (sh, zero)
        rows, other, y = Loop ({count}, yes, past, past) <body = b (int64 i, bool c, {STATES})
                => (bool d, float[M, 2] t, float[M, 2] u, float[2] r) {{
            d = Identity (c) e = Gather (x, i) q = Unsqueeze (e, k0) {more} {body}
            r = Squeeze (o, k0) }}> }}"""


ROWS = "v = Exp (q) t = Concat <axis = 0> (s, v) u = Concat <axis = -2> (z, q) "
SCORES = "k = Transpose <perm = [1, 0]> (t) p = MatMul (q, k) "
SOFT = "w = Softmax <axis = -1> (a) o = MatMul (w, u)"
PLAIN = ROWS + SCORES + "a = Identity (p) " + SOFT


def feeds(special=0.0):
    for iterations, past in ((0, 0), (0, 2), (1, 0), (4, 0), (5, 3)):
        numbers = np.random.default_rng(iterations).standard_normal((9, 9)).astype(np.float32)
        x = numbers[:iterations, :2].copy()
        x[2:3, 1] = special
        yield {"x": x, "past": numbers[:past, 3:5], "bias": numbers[:3]}
