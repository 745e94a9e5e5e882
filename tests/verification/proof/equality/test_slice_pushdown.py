import random

import numpy as np
import onnx
import proof_mutants
import pytest
from proofs import assert_open, assert_proved, model, over_reals
from straightline.facts.polynomial import Dimension
from straightline.verification.proof.equality.slice_pushdown import SlicePushdown
from straightline.verification.proof.terms.budget import OpenError
from straightline.verification.proof.terms.term import descendants
from tables import table
from term_values import Values, fed, terms_of


def assert_parts(proto, feeds, dice, tries=20, *, exact=True):
    """Check parts of all that the outputs are made of; how many were moved inward."""
    terms, outputs = terms_of(proto)
    values, pushdown, moved = Values(terms, fed(proto, feeds)), SlicePushdown(terms), 0
    found = [t for t in descendants(outputs) if t.fact.shape and t.fact.other is None]
    found = [t for t in found if not terms.symbols.free(t)]
    for term in dice.sample(found, min(tries, len(found))):
        shape = [dim.value for dim in term.fact.shape]
        axis = dice.randrange(len(shape))
        if not shape[axis]:
            continue
        start = dice.randrange(shape[axis])
        size = dice.randint(1, shape[axis] - start)
        part = pushdown.of(term, axis, Dimension.constant(start), Dimension.constant(size))
        moved += part.head.name != "narrow"
        expected = np.take(values.of(term), range(start, start + size), axis)
        got = values.of(part)
        if exact and not pushdown.chosen:
            assert proof_mutants.bits(got) == proof_mutants.bits(expected), term.head
        else:
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
    return moved


@pytest.mark.sample(1)
@pytest.mark.parametrize("number", (42, 44))
def test_parts_of_what_random_models_compute(number):
    dice, moved = random.Random(number), 0
    for origin in proof_mutants.origins(number, 1):
        for proto in (origin.model, origin.rewritten):
            try:
                moved += assert_parts(proto, origin.feeds[-1], dice)
            except OpenError:
                continue
    assert moved


@pytest.mark.sample(11)
@table(
    "Transpose <perm = [1, 2, 0]> (x)",
    "Reshape (x, joined)",
    "Reshape (x, split)",
    "Expand (x, wide)",
    "Add (x, v)",
    "Where (b, x, v)",
    "Concat <axis = 1> (x, x)",
    "Softmax <axis = 1> (x)",
    "ReduceMax <keepdims = 0> (x, one)",
    "ReduceMax (x, one)",
    "Gather <axis = 1> (x, places)",
    "Gather <axis = 2> (x, places)",
    "CumSum (x, zero)",
    "ArgMax <axis = 1, keepdims = 0> (x)",
    "ArgMax <axis = 1> (x)",
    "MatMul (x, m)",
    "MatMul (x, row)",
    "Slice (x, last, low, zeros, back)",
    "Clip (x, v0)",
    "LayerNormalization (x, row)",
    "Unsqueeze (x, one)",
    "Neg (x)",
)
def test_parts_of_each_kind_of_operator(node):
    proto = model(f"""g (float[2, 3, 4] x, float[3, 1] v, bool[4] b, float v0) => (float[r] z)
        <int64[2] joined = {{6, 4}}, int64[4] split = {{2, 3, 2, 2}},
         int64[4] wide = {{2, 1, 3, 4}},
        int64[1] one = {{1}}, int64[1] zeros = {{0}}, int64 zero = {{0}},
        int64[2] places = {{2, 0}}, int64[1] last = {{-1}},
        int64[1] low = {{-9223372036854775807}}, int64[1] back = {{-1}},
        float[4, 2] m = {{1, 2, 3, 4, 5, 6, 7, 8}}, float[4] row = {{1, 2, 3, 4}}> {{
        z = {node} }}""")
    del proto.graph.output[0].type.tensor_type.shape.dim[:]
    if node.startswith("Arg"):
        proto.graph.output[0].type.tensor_type.elem_type = onnx.TensorProto.INT64
    rng = np.random.default_rng(0)
    feeds = {
        "x": rng.normal(size=(2, 3, 4)).astype(np.float32),
        "v": rng.normal(size=(3, 1)).astype(np.float32),
        "b": rng.random(4) < 0.5,
        "v0": np.float32(-0.5),
    }
    assert sum(assert_parts(proto, feeds, random.Random(seed)) for seed in range(12))


def test_a_part_of_a_part_is_moved_inward():
    proto = model("g (float[4, 3] x) => (float[4, 3] z) { a = Neg (x) b = Add (a, x) z = Abs (b) }")
    terms, (z,) = terms_of(proto)
    pushdown, one = SlicePushdown(terms), Dimension.constant(1)
    inner = terms.narrow(z, 0, 1, 2)
    assert pushdown.of(inner, 0, one, one) is pushdown.of(z, 0, one + 1, one)
    assert pushdown.of(inner, 0, one, one).is_op("Abs")


HEADS = """g (float[M, 96] x, float[B, T] w) => (float[b, t, 4, 8] y)
    <int64[1] last = {96}, int64[3] thirds = {32, 32, 32}, int64[3] fours = {4, 4, 4},
     int64[4] four = {0, 0, 4, 8}, int64[4] twelve = {0, 0, 12, 8}, int64[4] turned = {0, 0, 8, 4},
     int64[4] eight = {0, 0, 8, 12}> {
    s = Shape (w) sizes = Concat <axis = 0> (s, last) a = Reshape (x, sizes) %s }"""
"""The sizes of `a` may be others than those of w: a size of 0 copies an axis of x."""


def test_a_part_of_a_view_whose_leading_sizes_have_no_common_name():
    parts = "p, q, r = Split <axis = 2> (a, thirds) y = Reshape ({}, {})"
    heads = "c = Reshape (a, twelve) {} = Split <axis = 2> (c, fours)"
    assert_proved(HEADS % parts.format("p", "four"), HEADS % heads.format("y, q, r"))
    assert_proved(HEADS % parts.format("r", "four"), HEADS % heads.format("p, q, y"))
    assert_open(HEADS % parts.format("p", "four"), HEADS % heads.format("p, y, r"))
    assert_open(HEADS % parts.format("p", "turned"), HEADS % heads.format("y, q, r"))
    across = "c = Reshape (a, eight) p, q, r = Split <axis = 3> (c, fours) y = Reshape (p, four)"
    assert_open(HEADS % parts.format("p", "four"), HEADS % across)


ROWS = """g (float[7, 3] x) => (float[7, 3] y) <bool yes = {1}, int64 n = {7}> {
    y = Loop (n, yes) <body = b (int64 i, bool c) => (bool d, float[3] r) {
        d = Identity (c) e = Gather (x, i) r = Exp (e) }> }"""
BLOCKS = """g (float[7, 3] x) => (float[7, 3] y) <bool yes = {1}, int64 blocks = {3}, int64 k = {3},
    int64[3] offsets = {0, 1, 2}, int64[1] last = {6}, int64[2] flat = {-1, 3}, int64[1] no = {0},
    int64[1] seven = {7}> {
    b = Loop (blocks, yes) <body = b (int64 i, bool c) => (bool d, float[3, 3] r) {
        d = Identity (c) s = Mul (i, k) p = Add (s, offsets) q = Min (p, last) e = Gather (x, q)
        r = Exp (e) }>
    f = Reshape (b, flat) y = Slice (f, no, seven, no) }"""


def test_a_part_of_merged_axes_within_a_row():
    assert_proved(ROWS, BLOCKS)
    assert_open(ROWS, BLOCKS.replace("offsets = {0, 1, 2}", "offsets = {0, 2, 1}"))
    assert_open(ROWS, BLOCKS.replace("last = {6}", "last = {5}"))
    shifted = BLOCKS.replace("no = {0}", "no = {0}, int64[1] one = {1}, int64[1] eight = {8}")
    assert_open(ROWS, shifted.replace("(f, no, seven, no)", "(f, one, eight, no)"))


def test_an_element_of_merged_axes_at_an_unknown_position():
    many = (("[7, 3]", "[5000, 3]"), ("n = {7}", "n = {5000}"), ("last = {6}", "last = {4999}"))
    more = ("seven = {7}", "seven = {5000}"), ("blocks = {3}", "blocks = {1667}")
    rows, blocks = ROWS, BLOCKS
    for old, new in (*many, *more):
        rows, blocks = rows.replace(old, new), blocks.replace(old, new)
    assert_proved(rows, blocks)


def test_a_part_that_crosses_rows_of_merged_axes_stays():
    proto = model("""g (float[4, 3, 2] x) => (float[12, 2] z) <int64[2] s = {12, 2}> {
        z = Reshape (x, s) }""")
    terms, (z,) = terms_of(proto)
    pushdown, two = SlicePushdown(terms), Dimension.constant(2)
    assert pushdown.of(z, 0, Dimension.constant(4), two).head.name == "view"
    assert pushdown.of(z, 0, two, two).head.name == "narrow"


@table(
    ("ends = Add (numbers, one)", True),
    ("ends = Add (numbers, zero)", False),
    ("last = Neg (numbers) ends = Add (last, one)", False),
)
def test_positions_that_come_from_rows_are_read_in_their_normal_form(rows, equal):
    prefixes = """g (float[5] x, int64 n, float[M] y) => (float[K, 1] z)
        <int64 zero = {0}, int64 one = {1}, int64[1] none = {0}, bool yes = {1}> {
        numbers = Range (zero, n, one) %s
        z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[1] r) {
            c2 = Identity (c) %s
            part = Slice (x, none, end) r = ReduceSum <keepdims = 1> (part) }> }"""
    after = prefixes % (rows, "e = Gather <axis = 0> (ends, i) end = Unsqueeze (e, none)")
    inside = "m = Add (i, one) end = Unsqueeze (m, none)"
    (assert_proved if equal else assert_open)(prefixes % ("", inside), after)


ONLINE = """<ir_version: 8, opset_import: ["" : 18]>
    g (float[n, 3] x, float[3] low) => (float[3] y) <float[3] none = {0, 0, 0}> {
    m, y = Scan <num_scan_inputs = 1, body = step (float[3] m, float[3] s, float[3] e)
        => (float[3] m_next, float[3] s_next) { m_next = Max (m, e) d = Sub (m, m_next)
        f = Exp (d) t = Mul (s, f) u = Sub (e, m_next) v = Exp (u) s_next = Add (t, v)
    }> (low, none, x) }"""
STATE_BY_STATE = """<ir_version: 8, opset_import: ["" : 18]>
    g (float[n, 3] x, float[3] low) => (float[3] y)
    <float[3] none = {0, 0, 0}, int64[1] zero = {0}, int64[1] one = {1}, int64[1] back = {-1}> {
    m, every = Scan <num_scan_inputs = 1, body = step (float[3] m, float[3] e)
        => (float[3] m_next, float[3] out) { m_next = Max (m, e) out = Identity (m_next) }>
        (low, x)
    first = Unsqueeze (low, zero)
    states = Concat <axis = 0> (first, every)
    before = Slice (states, zero, back, zero)
    d = Sub (before, every)
    f = Exp (d)
    u = Sub (x, every)
    v = Exp (u)
    y = Scan <num_scan_inputs = 2, body = step (float[3] s, float[3] a, float[3] b)
        => (float[3] s_next) { t = Mul (a, s) s_next = Add (t, b) }> (none, f, v) }"""


def test_the_row_before_states_after_each_iteration_is_the_state_before():
    one = onnx.parser.parse_model(ONLINE)
    assert over_reals(one, onnx.parser.parse_model(STATE_BY_STATE))


@table(
    ("first = Unsqueeze (low", "first = Unsqueeze (none"),
    ("Concat <axis = 0> (first, every)", "Concat <axis = 0> (every, first)"),
    ("(states, zero, back, zero)", "(states, one, e, zero)"),
    ("Identity (m_next)", "Identity (m)"),
)
def test_the_row_before_other_states_is_open(old, new):
    text = STATE_BY_STATE.replace(old, new).replace("{-1}", "{-1}, int64[1] e = {9999}")
    assert old in STATE_BY_STATE
    one = onnx.parser.parse_model(ONLINE)
    assert not over_reals(one, onnx.parser.parse_model(text))


ROW_BY_ROW = """g (float[n, 200, 4] x, float[4, 4] w, float[n, 4] h)
    => (float[n, 4] y, float[n, 200, 4] z)
    <int64 zero = {0}, int64[1] axis = {0}, bool yes = {1}> {
    size = Shape (x) count = Gather <axis = 0> (size, zero)
    y, z = Loop (count, yes) <body = row (int64 i, bool c)
        => (bool c2, float[4] last, float[200, 4] all) {
        c2 = Identity (c) e = Gather <axis = 0> (x, i) s0 = Gather <axis = 0> (h, i)
        last, all = Scan <num_scan_inputs = 1, body = step (float[4] s, float[4] v)
            => (float[4] s_next, float[4] o) { p = MatMul (s, w) q = Add (p, v)
            s_next = Tanh (q) o = Neg (s_next) }> (s0, e) }> }"""
ALL_ROWS = """g (float[n, 200, 4] x, float[4, 4] w, float[n, 4] h)
    => (float[n, 4] y, float[n, 200, 4] z)
    <int64[1] axis = {0}> {
    r = Transpose <perm = [1, 0, 2]> (x)
    y, all = Scan <num_scan_inputs = 1, body = step (float[n, 4] s, float[n, 4] v)
        => (float[n, 4] s_next, float[n, 4] o) { p = MatMul (s, w) q = Add (p, v)
        s_next = Tanh (q) o = Neg (s_next) }> (h, r)
    z = Transpose <perm = [1, 0, 2]> (all) }"""


def test_rows_of_the_states_of_a_loop_are_those_of_a_loop_over_rows():
    assert_proved(ROW_BY_ROW, ALL_ROWS)


@pytest.mark.sample(1)
@table(
    ("q = Add (p, v)", "k = ReduceMax <keepdims = 1> (p, axis) q = Add (k, v)"),
    ("q = Add (p, v)", "k = Softmax <axis = 0> (p) q = Add (k, v)"),
    ("q = Add (p, v)", "q = Sub (p, v)"),
    ("s_next = Tanh (q)", "k = Reverse (q) s_next = Tanh (k)"),
    ("s_next = Tanh (q)", "k = CumSum (q, first) s_next = Tanh (k)"),
    ("o = Neg (s_next)", "o = Neg (s)"),
    ("(h, r)", "(x0, r)"),
)
def test_rows_that_others_change_are_open(old, new):
    assert old in ALL_ROWS
    text = ALL_ROWS.replace("r = ", "x0 = Mul (h, h) r = ").replace(
        "{0}>", "{0}, int64 first = {0}, int64[1] back = {-1}, int64[1] far = {-99}>"
    )
    text = text.replace(old, new.replace("Reverse (q)", "Slice (q, back, far, axis, back)"))
    assert_open(ROW_BY_ROW, text)


WITH_A_POWER = """g (float[n, T, 4] x, float[4] w, float[4] p0) => (float[n, 4] y)
    <int64 zero = {0}, bool yes = {1}, float[1] half = {0.5}> {
    size = Shape (x) count = Gather <axis = 0> (size, zero)
    y = Loop (count, yes) <body = row (int64 i, bool c) => (bool c2, float[4] last) {
        c2 = Identity (c) e = Gather <axis = 0> (x, i)
        last, unread = Scan <num_scan_inputs = 1, body = step (float[4] s, float[4] p, float[4] v)
            => (float[4] s_next, float[4] p_next) { p_next = Mul (p, w) q = Mul (p, v)
            s_next = Add (s, q) }> (w, p0, e) }> }"""
POWER_ONCE = """g (float[n, T, 4] x, float[4] w, float[4] p0) => (float[n, 4] y)
    <int64 zero = {0}, int64[1] first = {0}, int64[1] four = {4}> {
    size = Shape (x) count = Gather <axis = 0> (size, first)
    whole = Concat <axis = 0> (count, four) s0 = Expand (w, whole)
    r = Transpose <perm = [1, 0, 2]> (x)
    y, unread = Scan <num_scan_inputs = 1, body = step (float[n, 4] s, float[4] p, float[n, 4] v)
        => (float[n, 4] s_next, float[4] p_next) { p_next = Mul (p, w) q = Mul (p, v)
        s_next = Add (s, q) }> (s0, p0, r) }"""


def test_a_state_without_rows_is_the_same_for_all_rows():
    assert_proved(WITH_A_POWER, POWER_ONCE)


@table(
    ("q = Mul (p, v)", "q = Mul (p_next, v)"),
    ("p_next = Mul (p, w)", "t = ReduceMax <keepdims = 0> (s, first) p_next = Mul (p, t)"),
    ("(s0, p0, r)", "(s0, w, r)"),
    ("p_next = Mul (p, w)", "p_next = Add (p, w)"),
)
def test_a_state_without_rows_that_differs_is_open(old, new):
    assert old in POWER_ONCE
    assert_open(WITH_A_POWER, POWER_ONCE.replace(old, new))


EACH_PRODUCT = """g (float[1, 9, 1] x) => (float[2, 9, 9] y)
    <int64[3] heads = {9, 2, 2}, float[1, 4] u = {1, 2, 3, 4}, float[1, 4] v = {5, 6, 7, 8}> {
    p = MatMul (x, u) q = MatMul (x, v) r = Reshape (p, heads) s = Reshape (q, heads)
    a = Transpose <perm = [1, 0, 2]> (r) b = Transpose <perm = [1, 2, 0]> (s)
    y = MatMul (a, b) }"""
HEADS_OF_ONE = """g (float[1, 9, 1] x) => (float[2, 9, 9] y)
    <int64[4] heads = {1, 9, 4, 2}, int64[2] both = {2, 2}, int64[3] head = {2, 9, 2},
     float[1, 8] w = {1, 2, 3, 4, 5, 6, 7, 8}> {
    p = MatMul (x, w) r = Reshape (p, heads) t = Transpose <perm = [0, 2, 1, 3]> (r)
    c, d = Split <axis = 1> (t, both) a = Reshape (c, head) f = Reshape (d, head)
    b = Transpose <perm = [0, 2, 1]> (f) y = MatMul (a, b) }"""


def test_transposed_parts_of_one_product_are_products():
    assert_proved(EACH_PRODUCT, HEADS_OF_ONE)


@table(
    ("{1, 2, 3, 4, 5, 6, 7, 8}", "{1, 2, 3, 4, 5, 6, 8, 7}"),
    ("f = Reshape (d, head)", "f = Reshape (c, head)"),
)
def test_transposed_parts_of_other_columns_are_open(old, new):
    assert old in HEADS_OF_ONE
    assert_open(EACH_PRODUCT, HEADS_OF_ONE.replace(old, new))
