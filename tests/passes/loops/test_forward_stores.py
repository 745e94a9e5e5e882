import numpy as np
import pytest
from harness import as_model, assert_equal_outputs, run_passes
from loops import op_types
from straightline import rewrite
from straightline.passes import ForwardStores
from tables import table

LOOP = """g (float[N, 2] x, float[N, 2] y0, int64 n) => (float[N, 2] y)
        <bool yes = {{1}}, int64[1] z = {{0}}, int64 zero = {{0}}, int64 one = {{1}},
        int64 two = {{2}}> {{
    sh = Shape (x) m = Gather (sh, zero) last = Sub (m, one)
    y = Loop ({iterations}, yes, {start}) <body = b (int64 i, bool c, float[?, 2] s)
            => (bool c2, float[?, 2] t) {{
        c2 = Identity (c) {index} {body} at0 = Unsqueeze (w, z) at = Unsqueeze (at0, z)
        u = Unsqueeze (v, z) t = ScatterND (s, at, u) }}> }}"""
BEFORE = "i2 = Add (i, one) w = Identity (i2)"


def model_of(index, body, iterations="m", start="y0"):
    return as_model(LOOP.format(index=index, body=body, iterations=iterations, start=start))


def assert_same(before, after, length, iterations=None):
    rng = np.random.default_rng(length)
    x, y0 = (rng.normal(size=(length, 2)).astype(np.float32) for _ in range(2))
    feed = {"x": x, "y0": y0, "n": np.array(length if iterations is None else iterations)}
    assert_equal_outputs(before, after, feed)


@table(
    ("its own place", ("w = Identity (i)", "e = Gather (s, i) v = Exp (e)")),
    ("its own place from the end", ("w = Sub (last, i)", "e = Gather (s, w) v = Exp (e)")),
    ("twice", ("w = Identity (i)", "e = Gather (s, i) f = Gather (s, i) v = Mul (e, f)")),
    ("a row", ("w = Identity (i)", "k = Unsqueeze (i, z) e = Gather (s, k) f = Squeeze (e, z)"
        " v = Neg (f)")))  # fmt: skip
def test_places_that_are_not_written_yet(case, given):
    model = model_of(*given)
    result = run_passes(model, ForwardStores())
    assert result.changed
    assert not run_passes(result.model, ForwardStores()).changed
    fast = rewrite(model, "accelerate", verify=False)
    assert "Loop" not in op_types(fast.graph)
    for length in (0, 1, 2, 5):
        for after in (result.model, fast):
            assert_same(model, after, length)


LONGER = "g0 = Gather (x, zero) g1 = Unsqueeze (g0, z) longer = Concat <axis = 0> (g1, x)"


def longer(index, body):
    text = LOOP.format(index=index, body=body, iterations="m", start="longer")
    return as_model(
        text.replace("last = Sub", f"{LONGER} last = Sub").replace(
            "float[N, 2] y)", "float[M, 2] y)"
        )
    )


def test_the_place_that_the_iteration_before_wrote():
    running = (
        "i1 = Add (i, one) w = Identity (i1)",
        "r = Gather (s, i) e = Gather (x, i) v = Add (r, e)",
    )
    model = longer(*running)
    result = run_passes(model, ForwardStores())
    assert result.changed
    fast = rewrite(model, "accelerate", verify=False)
    assert "CumSum" in op_types(fast.graph) and "Loop" not in op_types(fast.graph)
    for length in (1, 2, 5):
        for after in (result.model, fast):
            assert_same(model, after, length)


def test_the_last_row_before_the_first_one():
    """Index -1 is the last row, which the first iteration reads as it was."""
    index, body = (
        "w = Identity (i)",
        "k = Sub (i, one) r = Gather (s, k) e = Gather (x, i) v = Add (r, e)",
    )
    model = longer(index, body)
    result = run_passes(model, ForwardStores())
    assert result.changed
    for length in (1, 2, 5):
        assert_same(model, result.model, length)


@table(
    ("two iterations before, from the end", ("w = Sub (i, two)",
     "k = Sub (w, two) r = Gather (s, k) v = Exp (r)", "n", "y0")),
    ("the first row", ("w = Identity (i)", "r = Gather (s, zero) v = Exp (r)", "m", "y0")),
    ("all rows", ("w = Identity (i)", "v = ReduceSum <keepdims = 0> (s, z)", "m", "y0")),
    ("every second", ("w = Mul (i, two)", "r = Gather (s, i) v = Exp (r)", "n", "y0")),
    ("its own first place, or two before", ("w = Identity (i)",
     "h = Sub (i, two) k = Max (h, zero) r = Gather (s, k) v = Exp (r)", "m", "y0")),
    ("the row before, or the first and the last one", ("w = Identity (i)",
     "h = Sub (i, one) k = Max (h, zero) r = Gather (s, k) q = Gather (s, h) v = Mul (r, q)", "m",
     "y0")),
    ("through 0", ("w = Sub (i, two)", "k = Sub (i, one) r = Gather (s, k) v = Exp (r)", "m",
     "y0")))  # fmt: skip
def test_near_misses(case, given):
    assert not run_passes(model_of(*given), ForwardStores()).changed


ROWS = """g (float[N, 2] x, float[N, 2] y0, int64 n) => (float[M, 2] y)
        <bool yes = {1}, int64[1] z = {0}, int64[1] end = {-1}, int64[1] o = {1}, int64[1] w2 = {2},
        int64[1] far = {9223372036854775807}, int64 zero = {0}, int64 one = {1}, int64 two = {2},
        int64[2] row = {1, 2}, int64[1] wide = {2}, int64 last = {-1},
        int64[2] one_place = {1, 1}> {
    sh = Shape (x) m = Gather (sh, zero) double = Mul (m, two) t1 = Unsqueeze (double, z)
    sh2 = Concat <axis = 0> (t1, wide) nothing = ConstantOfShape (sh2)
    t2 = Add (m, two) t3 = Unsqueeze (t2, z) sh3 = Concat <axis = 0> (t3, wide)
    longer = ConstantOfShape (sh3) y0f = ConstantOfShape (row) first = ConstantOfShape (wide)
    %s }"""
BODY = """y = Loop (m, yes, %s) <body = b (int64 i, bool c, float[?, 2] s)
    => (bool c2, float[?, 2] t) { c2 = Identity (c) e = Gather (x, i) %s }>"""
LIST = """start = SequenceConstruct (first)
    list = Loop (m, yes, start) <body = b (int64 i, bool c, seq(float[2]) s)
    => (bool c2, seq(float[2]) t) { c2 = Identity (c) e = Gather (x, i) %s
        t = SequenceInsert (s, v) }>
    y = ConcatFromSequence <axis = 0, new_axis = 1> (list)"""
READS = {
    "a buffer that may be empty": BODY % ("x", """p = Sub (i, one) r = Gather (s, p) v = Add (r, e)
        at = Reshape (i, one_place) u = Unsqueeze (v, z) t = ScatterND (s, at, u)"""),
    "two iterations before": BODY % ("longer", """j = Add (i, two) r = Gather (s, i)
        h = Add (i, one)
        q = Gather (s, h) rq = Max (r, q) v = Add (rq, e) at = Reshape (j, one_place)
        u = Unsqueeze (v, z) t = ScatterND (s, at, u)"""),
    "a row beyond, in no iteration": BODY % ("longer", """j = Add (i, two) r = Gather (s, i)
        v = Add (r, e) at = Reshape (j, one_place) u = Unsqueeze (v, z)
        t = ScatterND (s, at, u)"""),
    "in a branch": BODY % ("x", """q = Greater (i, zero)
        v = If (q) <then_branch = a () => (float[2] f) { p = Sub (i, one) r = Gather (s, p)
                f = Add (r, e) },
            else_branch = b () => (float[2] h) { h = Identity (e) }>
        at = Reshape (i, one_place) u = Unsqueeze (v, z) t = ScatterND (s, at, u)"""),
    "a slice": BODY % ("y0f", """r = Slice (s, end, far, z) v = Add (r, e)
        t = Concat <axis = 0> (s, v)"""),
    "the last row": BODY % ("y0f", """r = Gather (s, last) v = Add (r, e) u = Unsqueeze (v, z)
        t = Concat <axis = 0> (s, u)"""),
    "row i of one more": BODY % ("y0f", """r = Gather (s, i) v = Add (r, e) u = Unsqueeze (v, z)
        t = Concat <axis = 0> (s, u)"""),
    "the last element": LIST % "r = SequenceAt (s, last) v = Add (r, e)",
    "element i of one more": LIST % "r = SequenceAt (s, i) v = Add (r, e)",
    "an index alone": BODY % ("x", """p = Sub (i, one) r = Gather (s, p) v = Add (r, e)
        at = Unsqueeze (i, z) t = ScatterND (s, at, v)"""),
    "pairs of rows": BODY % ("nothing", """a = Mul (i, two) b = Add (a, one) p = Sub (a, one)
        r = Gather (s, p) v = Add (r, e) w = Add (v, e) at = Reshape (a, one_place)
        at2 = Reshape (b, one_place) ats = Concat <axis = 0> (at, at2) u = Unsqueeze (v, z)
        uu = Unsqueeze (w, z) us = Concat <axis = 0> (u, uu) t = ScatterND (s, ats, us)"""),
}  # fmt: skip


@pytest.mark.sample(5)
@pytest.mark.parametrize("case", READS)
def test_rows_that_iterations_before_wrote(case):
    model = as_model(ROWS % READS[case])
    result = run_passes(model, ForwardStores())
    assert result.changed
    fast = rewrite(model, "accelerate", verify=False)
    for length in (0, 1, 2, 7):
        for after in (result.model, fast):
            assert_same(model, after, length)
