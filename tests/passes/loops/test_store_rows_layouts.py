"""States carried with the axis first that a body writes."""

import numpy as np
from harness import as_model, assert_equal_outputs, run_passes
from loops import op_types
from straightline import rewrite
from straightline.passes import StoreRows
from tables import table

LOOP = """g (float[2, N, 3] x, int64 n) => (float[2, N, 3] y{more}) <bool yes = {{1}},
        int64[1] z = {{0}}, int64[1] o = {{1}}, int64[1] far = {{9223372036854775807}},
        int64[2] one_place = {{1, 1}}, int64 zero = {{0}}, int64[1] below = {{-2}},
        int64[2, 1] numbers = {{0, 1}}, int64[2] column = {{2, 1}}> {{
    sh = Shape (x) m = Gather (sh, o) iterations = Squeeze (m, z) y0 = ConstantOfShape (sh)
    y{rows} = Loop (iterations, yes, y0) <body = b (int64 i, bool c, float[2, N, 3] s)
            => (bool c2, float[2, N, 3] t{out}) {{
        c2 = Identity (c) e = Gather <axis = 1> (x, i) g = Tanh (e)
        i1 = Unsqueeze (i, z) j1 = Add (i1, o) u = Unsqueeze (g, o) {body} }}> }}"""
SLICES = """a = Slice (s, z, i1, o) b = Slice (s, j1, far, o)
    t = Concat <axis = 1> (a, u, b)"""


def model_of(body, rows="", out="", more=""):
    return as_model(LOOP.format(body=body, rows=rows, out=out, more=more))


def assert_same(before, after, length):
    x = np.random.default_rng(length).normal(size=(2, length, 3)).astype(np.float32)
    feed = {"x": x, "n": np.array(length)}
    assert_equal_outputs(before, after, feed)


@table(
    ("slices", SLICES),
    ("a negative axis", SLICES.replace("axis = 1", "axis = -2").replace(", o) b", ", below) b")),
    ("slices and a row that is read", "r = Gather <axis = 1> (s, i) q = Add (r, e)"
    f" v = Unsqueeze (q, o) {SLICES}".replace("(a, u, b)", "(a, v, b)")),
    ("pairs of indices", """r = Gather <axis = 1> (s, i) q = Add (r, e) j = Reshape (i, one_place)
        down = Expand (j, column) pairs = Concat <axis = 1> (numbers, down)
        t = ScatterND (s, pairs, q)"""),
    ("transposed", """w = Transpose <perm = [1, 0, 2]> (s) at = Reshape (i, one_place)
        v = Transpose <perm = [1, 0, 2]> (u) p = ScatterND (w, at, v)
        t = Transpose <perm = [1, 0, 2]> (p)"""))  # fmt: skip
def test_no_loop_is_left(case, given):
    model = model_of(given)
    result = run_passes(model, StoreRows())
    assert result.changed
    fast = rewrite(model, "accelerate", verify=False)
    assert "Loop" not in op_types(fast.graph)
    for length in (0, 1, 2, 5):
        for after in (result.model, fast):
            assert_same(model, after, length)


def test_a_state_that_is_read_as_a_whole():
    """Such a read gets the state with its axes in their order, in each iteration."""
    body = f"{SLICES} w = Exp (s)"
    model = model_of(body, ", rows", ", float[2, N, 3] w", ", float[K, 2, N, 3] rows")
    result = run_passes(model, StoreRows())
    assert result.changed
    for length in (0, 1, 3):
        assert_same(model, result.model, length)


@table(
    ("rows", "t = Identity (s)"),
    ("a join of no slices", "v = Concat <axis = 1> (u, u, s) t = Slice (v, z, m, o)"),
    ("pairs in another order", """r = Gather <axis = 1> (s, i) q = Add (r, e)
        j = Reshape (i, one_place) down = Expand (j, column) back = Sub (o, numbers)
        pairs = Concat <axis = 1> (back, down) t = ScatterND (s, pairs, q)"""),
    ("turned differently", """w = Transpose <perm = [2, 1, 0]> (s) p = Exp (w)
        q = Transpose <perm = [2, 1, 0]> (p) t = Max (q, s)"""))  # fmt: skip
def test_near_misses(case, text):
    assert not run_passes(model_of(text), StoreRows()).changed
