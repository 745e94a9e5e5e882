import numpy as np
import pytest
from attention_loops import HEAD, PLAIN, ROWS, SCORES, SOFT, feeds, loop
from harness import assert_equal_outputs, assert_rewrites, run_passes
from straightline.passes import HoistInvariants, MaskPrefixes, VectorizeLoops
from tables import table


def test_attention():
    before = loop(
        ROWS.replace("u = Concat <axis = -2> (z, q) ", "u = Identity (z) ")
        + SCORES
        + "a = Identity (p) w = Softmax <axis = -1> (a) m = MatMul (w, t) o = Neg (m)"
    )
    after = f"""{HEAD}g (float[N, 2] x, float[P, 2] past, float[3, 9] bias)
            => (float[N, 2] y, float[Q, 2] rows)
            <int64 zero = {{0}}, int64 one = {{1}}, bool yes = {{1}}, int64[1] k0 = {{0}},
             int64[1] k1 = {{1}}, int64[1] end = {{-1}}, float low = {{-inf}},
             int64[1] axes = {{0}}, int64[1] axes_1 = {{1}}, int64 k = {{0}}, int64 k_1 = {{1}}> {{
        sh = Shape (x) n = Gather (sh, zero) shape = Shape (past) start = Gather (shape, axes)
        v = Loop (n, yes) <body = b (int64 i_1, bool c_1) => (bool c_1, float[1, 2] v_1) {{
            e_1 = Gather (x, i_1) q_1 = Unsqueeze (e_1, k0) v_1 = Exp (q_1) }}>
        v_joined = Squeeze (v, axes_1) rows = Concat <axis = 0> (past, v_joined)
        shape_1 = Shape (rows) total = Gather (shape_1, axes) limit = Squeeze (total, axes)
        numbers = Range (k, limit, k_1)
        other, y = Loop (n, yes, past) <body = b (int64 i, bool c, float[L, 2] z)
                => (bool d, float[M, 2] u, float[2] r)
                <int64[1] axes_2 = {{0}}, int64[1] first = {{1}}, float w_fill = {{-inf}},
                 float m_number = {{0}}, float m_number_1 = {{inf}}, int64 axis = {{0}},
                 int64[4] pads = {{1, 0, 0, 0}}> {{
            d = Identity (c) e = Gather (x, i) q = Unsqueeze (e, k0) u = Identity (z)
            number = Unsqueeze (i, axes_2) end_1 = Add (number, start) end_2 = Add (end_1, first)
            present = Less (numbers, end_2)
            k_2 = Transpose <perm = [1, 0]> (rows) p = MatMul (q, k_2) a = Identity (p)
            w_filled = Where (present, a, w_fill) w = Softmax <axis = -1> (w_filled)
            size = Abs (rows) finite = Less (size, m_number_1)
            numbers_1 = Where (finite, rows, m_number) m = MatMul (w, numbers_1)
            others = Where (finite, m_number, rows)
            sums = CumSum <exclusive = 0, reverse = 0> (others, axis)
            sums_1 = Pad (sums, pads) lost = Gather <axis = 0> (sums_1, end_2)
            m_1 = Add (m, lost) o = Neg (m_1) r = Squeeze (o, k0) }}> }}"""
    assert_rewrites(MaskPrefixes(), before, after, list(feeds()))


LENGTH = "h = Shape (t) l = Gather (h, zero) lv = Unsqueeze (l, k0) "
FORMS = {
    "plain": PLAIN,
    "before": PLAIN.replace("(t) p", "(s) p").replace("(w, u)", "(w, z)"),
    "bias": ROWS + SCORES + LENGTH + "f = Gather (bias, k1) g = Slice (f, k0, lv, k1)"
    " a = Add (p, g) " + SOFT,
    "mask": ROWS + SCORES + LENGTH + "f = Gather (bias, k1) g = Slice (f, k0, lv, k1)"
    " b = Less (g, q0) a = Where (b, p, low) " + SOFT.replace("(a)", "(p)"),
    "distance": ROWS + SCORES + LENGTH + "f = Range (zero, l, one) g = Sub (f, l)"
    " j = Cast <to = 1> (g) a = Add (p, j) " + SOFT,
    "by hand": ROWS + SCORES + "f = ReduceMax <keepdims = 1> (p, k1) a = Sub (p, f) b = Exp (a)"
    " g = ReduceSum <keepdims = 1> (b, k1) w = Div (b, g) o = MatMul (w, u)",
    "linear": ROWS + SCORES + "o = MatMul (p, u)",
    "mean of products": ROWS + SCORES + "f = ReduceMean <keepdims = 1> (p, k1) o = Mul (f, q)",
    "last row": ROWS + SCORES + "a = Identity (p) w = Softmax <axis = -1> (a) m = MatMul (w, u)"
    " f = Gather (t, end) o = Add (m, f)",
    "mean of rows": ROWS
    + "f = ReduceMean <keepdims = 1> (t, k0) g = ReduceMax (u, k0) o = Add (f, g)",
}


@pytest.mark.sample(5)
@pytest.mark.parametrize("name", FORMS)
def test_forms(name):
    text = loop(FORMS[name], more="q0 = ReduceMax <keepdims = 1> (q) " if name == "mask" else "")
    result = run_passes(text, MaskPrefixes())
    assert result.changed
    (node,) = [n for n in result.model.graph.node if "y" in n.output]
    only_written = name == "mean of products"  # vectorize-loops collects these rows
    assert len(node.input) == 2 + only_written
    for feed in feeds():
        if name != "by hand" or feed["past"].size or feed["x"].size:
            assert_equal_outputs(text, result.model, feed)


@table(("plain", np.nan), ("by hand", np.nan), ("linear", np.inf), ("linear", -np.inf))
def test_later_rows_spread_no_nan(name, special):
    """Rows that are not yet there do not count, whatever they hold."""
    text = loop(FORMS[name])
    result = run_passes(text, MaskPrefixes())
    (*_, feed) = feeds(special)
    assert_equal_outputs(text, result.model, feed)


def test_no_loop_is_left():
    text = loop(PLAIN, count="six").replace("sh = ", "six = Add (five, one) sh = ")
    text = text.replace("int64 zero = {0}", "int64 zero = {0}, int64 five = {5}")
    text = text.replace("float[N, 2]", "float[6, 2]").replace("float[P, 2]", "float[3, 2]")
    result = run_passes(text, MaskPrefixes(), HoistInvariants(), VectorizeLoops()).model
    assert not {"Loop", "Scan"} & {node.op_type for node in result.graph.node}
    numbers = np.random.default_rng(0).standard_normal((9, 9)).astype(np.float32)
    feed = {"x": numbers[:6, :2], "past": numbers[:3, :2], "bias": numbers[:3]}
    assert_equal_outputs(text, result, feed)


FIRST_ROWS = """<ir_version: 8, opset_import: ["" : 17]> g (float[N, 2] x, float[K, 2] k)
    => (float[N, 2] y)
    <bool yes = {1}, int64 zero = {0}, int64 one = {1}, int64[1] k0 = {0}> {
    sh = Shape (x) n = Gather (sh, zero)
    y = Loop (n, yes) <body = b (int64 i, bool c) => (bool d, float[2] r) {
        d = Identity (c) e = Gather (x, i) j = Add (i, one) u = Unsqueeze (j, k0)
        s = Slice (k, k0, u, k0) p = MatMul (s, e) w = Softmax <axis = 0> (p)
        t = Slice (k, k0, u, k0) r = MatMul (w, t) }> }"""


def first_rows_feeds():
    numbers = np.random.default_rng(0).standard_normal((9, 4)).astype(np.float32)
    for iterations, rows in ((0, 0), (0, 3), (1, 0), (1, 1), (4, 4), (5, 3), (3, 5)):
        yield {"x": numbers[:iterations, :2], "k": numbers[:rows, 2:].copy()}
    # Rows that no iteration reads count for nothing.
    yield {"x": numbers[:2, :2], "k": np.where(np.arange(6)[:, None] < 4, numbers[:6, 2:], np.inf)}


def test_first_rows():
    head, _ = FIRST_ROWS.split("{\n        d = ")
    after = (
        head
        + """
            <int64[1] k_1 = {0}, int64[1] sizes = {1}, int64 k_2 = {0}, int64 k_3 = {1},
             float w_fill = {-inf}, float r_fill = {0}, float r_number = {0},
             float r_number_1 = {inf}, int64 axis = {0}, int64[4] pads = {1, 0, 0, 0}> {
        d = Identity (c) e = Gather (x, i) j = Add (i, one) u = Unsqueeze (j, k0)
        shape = Shape (k) total = Gather (shape, k_1)
        trips = Reshape (n, sizes) most = Mul (trips, sizes) most_1 = Add (most, k_1)
        total_1 = Min (total, most_1) total_2 = Squeeze (total_1, k_1)
        places = Range (k_2, total_2, k_3) end = Min (u, total_1) present = Less (places, end)
        k_4 = Slice (k, k_1, total_1, k_1) p = MatMul (k_4, e)
        w_filled = Where (present, p, w_fill) w = Softmax <axis = 0> (w_filled)
        k_5 = Slice (k, k_1, total_1, k_1) r_filled = Where (present, w, r_fill)
        size = Abs (k_5) finite = Less (size, r_number_1)
        numbers = Where (finite, k_5, r_number) others = Where (finite, r_number, k_5)
        sums = CumSum <exclusive = 0, reverse = 0> (others, axis) sums_1 = Pad (sums, pads)
        lost = Gather <axis = 0> (sums_1, end) r_lost = Squeeze (lost, k_1)
        r_1 = MatMul (r_filled, numbers) r = Add (r_1, r_lost) }> }"""
    )
    assert_rewrites(MaskPrefixes(), FIRST_ROWS, after, list(first_rows_feeds()))


@table(
    ("one = {1}", "one = {0}"),  # no rows in the first iteration
    ("one = {1}", "one = {3}"),
    (
        "p = MatMul (s, e)",
        "v = Unsqueeze (e, k0) o = Mul (s, v) p = ReduceSum <keepdims = 0> (o, l)",
    ),
)
def test_first_rows_of_other_lengths(old, new):
    text = FIRST_ROWS.replace(old, new).replace("k0 = {0}", "k0 = {0}, int64[1] l = {1}")
    result = run_passes(text, MaskPrefixes())
    assert result.changed
    for feed in first_rows_feeds():
        assert_equal_outputs(text, result.model, feed)


@table(
    ("w = Softmax <axis = 0> (p)", "w = Relu (p)"),  # running sums serve it
    ("j = Add (i, one)", "j = Sub (one, i)"),
    ("one = {1}", "one = {-1}"),  # counted from the end
    ("s = Slice (k,", "v = Neg (k) o = Add (v, e) s = Slice (o,"),
    ("s = Slice (k, k0, u, k0)", "s = Slice (k, k1, u, k0)"),
)
def test_first_rows_that_stay(old, new):
    text = FIRST_ROWS.replace("t = Slice (k, k0, u, k0)", "t = Identity (s)").replace(old, new)
    text = text.replace("k0 = {0}", "k0 = {0}, int64[1] k1 = {1}")
    assert not run_passes(text, MaskPrefixes()).changed


@table(
    loop(
        PLAIN.replace("v = Exp (q)", "v = ReduceMax <keepdims = 1> (z, k0)").replace(
            "(z, q)", "(z, v)"
        )
    ),  # rows of rows
    loop(PLAIN.replace("(s, v)", "(v, s)").replace("(z, q)", "(q, z)")),
    loop(PLAIN.replace("(s, v)", "(s, v, v)").replace("(z, q)", "(z, q, q)")),
    loop(ROWS + "o = Neg (q)"),  # only written: vectorize-loops
)
def test_near_misses(text):
    assert not run_passes(text, MaskPrefixes()).changed
