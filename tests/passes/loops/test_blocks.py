import dataclasses
import random

import numpy as np
import pytest
from depth import examples
from fuzz_loops import differences, draw
from harness import (
    HEAD,
    as_model,
    assert_equal_outputs,
    assert_keeps,
    assert_rewrites,
    run_in_onnxruntime,
    run_passes,
)
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from loops import op_types
from row_pairs import MANY, PAIRS, pairs
from straightline import reference, rewrite
from straightline.passes import BlockLoops, LoopsToScans, VectorizeLoops
from tables import table
from vectorized import numbers


@pytest.mark.sample(8)
@pytest.mark.parametrize("opset", [13, 18])
@pytest.mark.parametrize("length", [0, 1, 3, 4, 5, 8, 9, 21])
def test_rows_of_open_size(length, opset):
    text = HEAD.replace('"" : 17', f'"" : {opset}') + PAIRS
    result = run_passes(text, MANY)
    (loop,) = (node for node in result.model.graph.node if node.op_type == "Loop")
    assert "Gather" in [node.op_type for node in loop.attribute[0].g.node]
    for feed in (pairs(length), pairs(length, 40), pairs(length, 3, 1)):
        assert_equal_outputs(text, result.model, feed, rtol=0)


@table(
    ("r = Add (w, e)", "float[2, 3]"),
    ("r = Add (w, e)", "float[2, ?]"),
    ("f = Add (w, e) r = Identity (w)", "float[2, 3]"),
    ("j = Cast <to = 1> (i) r = Mul (w, j)", "float[2, 3]"),
    ("f = Add (w, e) t = Transpose (f) r = MatMul (f, t)", "float[2, 2]"),
)
def test_iterations_by_number(body, type_):
    rows = """g (float[N, 3] x, float[2, 3] w, int64 n, bool go) => (y) {
        y = Loop (n, go) <body = b (int64 i, bool c) => (bool c2, TYPE r) {
            c2 = Identity (c) e = Gather (x, i) BODY }> }"""
    text = rows.replace("TYPE", type_).replace("BODY", body)
    shape = type_.replace("[", "[N, ")
    before = as_model(text.replace("=> (y)", f"=> ({shape.replace('?', 'K')} y)"))
    result = run_passes(before, MANY)
    assert result.changed, result.remarks
    for n, go in ((0, True), (-3, True), (5, False), (1, True), (4, True), (5, True), (10, True)):
        feed = {"x": numbers(10, 3), "w": numbers(2, 3), "n": np.array(n), "go": np.array(go)}
        assert_equal_outputs(before, result.model, feed, rtol=1e-5 if "MatMul" in text else 0)


@pytest.mark.parametrize("back", [0, 1])
def test_a_scan_of_any_axis_and_direction(back):
    text = f"""g (float[3, N] x, float[N, 3] z, float[2, 3] w) => (float[2, N, 3] y, float[N] q) {{
        y, q = Scan <num_scan_inputs = 2, scan_input_axes = [1, 0],
            scan_input_directions = [{back}, 0], scan_output_axes = [1, 0],
            scan_output_directions = [0, {back}], body = b (float[3] e, float[3] f)
            => (float[2, 3] r, float p) {{
            g = Sub (e, f) r = Add (w, g) p = ReduceMax <keepdims = 0> (g) }}> (x, z) }}"""
    result = run_passes(text, MANY)
    assert "Loop" in op_types(result.model.graph)
    for n in (1, 4, 5, 9):
        feed = {"x": numbers(3, n), "z": numbers(n, 3), "w": numbers(2, 3)}
        assert_equal_outputs(text, result.model, feed, rtol=0)


def test_an_inner_loop_runs_for_a_block():
    text = """g (float[N, 3] x, float[2, 3] w, int64 n) => (float[N, 3] y) <bool yes = {1}> {
        y = Scan <num_scan_inputs = 1, body = b (float[3] e) => (float[3] r) {
            r = Loop (n, yes, e) <body = d (int64 j, bool c, float[3] a) => (bool c2, float[3] t) {
                c2 = Identity (c) s = Add (w, a) t = ReduceMax <axes = [0], keepdims = 0> (s) }>
        }> (x) }"""
    result = run_passes(text, MANY)
    assert result.changed
    feed = {"x": numbers(6, 3), "w": numbers(2, 3), "n": np.array(3)}
    assert_equal_outputs(text, result.model, feed, rtol=0)


STEPS = (
    "{0} = Add ({1}, {2})",
    "{0} = Max ({1}, {2})",
    "{0} = Gather (x, i)",
    "{0}j = Sub (four, i) {0} = Gather (x, {0}j)",
    "{0}m = Mod (i, two) {0}p = Equal ({0}m, two) {0} = If ({0}p) <then_branch = {0}t ()"
    " => (float[3] {0}a) {{ {0}a = Neg ({1}) }}, else_branch = {0}e () => (float[3] {0}b)"
    " {{ {0}b = Abs ({2}) }}>",
    "{0} = Loop (two, yes, {1}) <body = {0}l (int64 {0}i, bool {0}c, float[3] {0}s)"
    " => (bool {0}d, float[3] {0}r) {{ {0}d = Identity ({0}c) {0}r = Add ({0}s, {2}) }}>",
)


@settings(max_examples=examples(8), phases=[Phase.generate], deadline=None)
@given(st.data())
def test_random_bodies(data):
    rows, lines = ["y", "e"], []
    for number, step in enumerate(data.draw(st.lists(st.sampled_from(STEPS), max_size=6))):
        chosen = [data.draw(st.sampled_from(rows)) for _ in range(2)]
        lines.append(step.format(f"v{number}", *chosen))
        rows.append(f"v{number}")
    text = f"""g (float[5, 3] x, float[3] y, int64 n) => (float[M, 3] z)
        <bool yes = {{1}}, int64 four = {{4}}, int64 two = {{2}}> {{
        z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[3] r) {{
            c2 = Identity (c) e = Gather (x, i) {" ".join(lines)} r = Neg ({rows[-1]}) }}> }}"""
    model = as_model(text)
    result = run_passes(model, BlockLoops(block_bytes=48))
    assert result.changed, result.remarks
    for n in (0, 1, 2, 5):
        feed = {"x": numbers(5, 3), "y": numbers(3), "n": np.array(n)}
        assert_equal_outputs(model, result.model, feed, rtol=0)


STATE = """g (float[N, 3] x, float[2, 3] w, float[2, 3] s0, int64 n) => (float[2, 3] y, float[M] z)
    <bool yes = {1}> {
    y, z = Loop (n, yes, s0) <body = b (int64 i, bool c, float[2, 3] s)
        => (bool c2, float[2, 3] t, float r) {
        c2 = Identity (c) e = Gather (x, i) v = Mul (w, e) a = Abs (v) u = Sub (a, s)
        t = Tanh (u) r = ReduceMax <keepdims = 0> (t) }> }"""
FOUR = BlockLoops(block_bytes=8 * 24)
"""Blocks of four iterations of two rows of three floats."""
LENGTHS = (0, 1, 3, 4, 5, 14)


def feeds(model, n):
    rng = np.random.default_rng(n)  # of its own: rounding adds up in a state that grows

    def numbers(*shape):
        return np.asarray(rng.normal(size=shape), np.float32)

    given = {"x": numbers(max(n, 1), 3), "w": numbers(2, 3), "s0": numbers(2, 3), "n": np.array(n)}
    given |= {"k0": np.array(7), "past": numbers(1, 3), "scanned": numbers(3, n)}
    return {value.name: given[value.name] for value in model.graph.input}


def assert_blocks(text, *inner, lengths=LENGTHS, pass_=FOUR):
    """Check the operators of a new Loop's body, and outputs for numbers of iterations."""
    model = as_model(text)
    result = run_passes(model, pass_)
    (loop,) = (node for node in result.model.graph.node if node.op_type == "Loop")
    holders = [kind for kind in op_types(loop.attribute[0].g) if kind in ("Loop", "Scan")]
    assert holders == list(inner), result.remarks
    for n in lengths:
        assert_equal_outputs(model, result.model, feeds(model, n))
    return result.model


def test_a_state_beside_rows():
    before = STATE.replace("a = Abs (v) u = Sub (a, s)", "u = Sub (v, s)")
    assert_blocks(before, "Loop")
    assert_rewrites(
        FOUR,
        before,
        """g (float[N, 3] x, float[2, 3] w, float[2, 3] s0, int64 n)
            => (float[2, 3] y, float[M] z) <bool yes = {1}, int64[1] axes = {0}, int64 k = {1},
            int64 k_1 = {4}, bool holds = {1}, int64 k_2 = {0}, int64 k_3 = {1},
            int64[1] k_4 = {-1}> {
            vector = Unsqueeze (n, axes) iterations = Max (vector, axes)
            count = Squeeze (iterations, axes) last = Sub (count, k) padded = Add (last, k_1)
            blocks = Div (padded, k_1) some = Max (blocks, k) full = Div (last, some)
            block = Add (full, k) block_1 = Max (block, k) numbers = Range (k_2, block_1, k_3)
            y, z_blocks = Loop (blocks, holds, s0) <body = b (int64 block_number, bool holds_1,
                float[2, 3] s) => (bool holds_2, float[2, 3] y_1, float[?] z_1)
                <int64[1] axes_1 = {1}> {
                start = Mul (block_number, block_1) stop = Add (start, block_1)
                end = Min (stop, count) length = Sub (end, start) places = Range (start, end, k)
                e = Gather <axis = 0> (x, places) e_lifted = Unsqueeze (e, axes_1)
                v = Mul (w, e_lifted) last_row = Sub (length, k)
                row_places = Min (numbers, last_row)
                y_1, z_2 = Loop (length, holds, s) <body = b (int64 number, bool c,
                    float[2, 3] s_1) => (bool c, float[2, 3] t, float r) {
                    v_1 = Gather <axis = 0> (v, number) u = Sub (v_1, s_1) t = Tanh (u)
                    r = ReduceMax <keepdims = 0> (t) }>
                z_1 = Gather <axis = 0> (z_2, row_places) holds_2 = Identity (holds_1) }>
            z_blocks_1 = Reshape (z_blocks, k_4) z = Slice (z_blocks_1, axes, iterations, axes)
        }""",
    )


def test_small_values_of_states_are_read_after_the_inner_loop():
    text = STATE.replace(
        "r = ReduceMax <keepdims = 0> (t)", "h = Exp (t) r = ReduceMax <keepdims = 0> (h)"
    )
    model = assert_blocks(text, "Loop", pass_=BlockLoops(block_bytes=24 << 12))
    (loop,) = (node for node in model.graph.node if node.op_type == "Loop")
    assert "Exp" in [node.op_type for node in loop.attribute[0].g.node]
    model = assert_blocks(text, "Loop")
    (loop,) = (node for node in model.graph.node if node.op_type == "Loop")
    assert "Exp" not in [node.op_type for node in loop.attribute[0].g.node]


def test_sizes_without_iterations_are_the_declared_ones():
    text = STATE.replace("ReduceMax <keepdims = 0> (t)", "Exp (t)")
    for declared in ("float[2, 3] r", "float[?, 3] r"):
        typed = text.replace("float r)", f"{declared})").replace("float[M] z", "float[M, P, 3] z")
        assert_blocks(typed, "Loop", lengths=(0, 1, 9))


def test_counters_earlier_rows_and_sums_beside_a_recurrence():
    counted = """g (float[N, 3] x, float[2, 3] w, float[2, 3] s0, int64 n, int64 k0)
        => (int64 k, float[2, 3] p, float[2, 3] total, float[2, 3] y, float[M, 2, 3] z,
        float[M, 3] q) <bool yes = {1}, int64 two = {2}> {
        k, p, total, y, z, q = Loop (n, yes, k0, s0, s0, s0) <body = b (int64 i, bool c, int64 k_1,
            float[2, 3] before, float[2, 3] s, float[2, 3] t)
            => (bool c2, int64 k_2, float[2, 3] v, float[2, 3] s_2, float[2, 3] u, float[2, 3] r,
            float[3] o) {
            c2 = Identity (c) e = Gather (x, i) f = Cast <to = 1> (k_1) d = Add (e, f)
            v = Mul (w, d) k_2 = Sub (k_1, two) a = Sub (v, before) s_2 = Add (s, a)
            m = Sub (a, t) u = Tanh (m) r = Mul (t, u)
            o = ReduceMax <axes = [0], keepdims = 0> (v) }> }"""
    assert_blocks(counted, "Loop", lengths=(0, 1, 63, 64, 65, 200), pass_=BlockLoops(3072))
    assert_blocks(counted, "Loop", pass_=BlockLoops(32 * 24, exact=True))


GROWING = """g (float[N, 3] x, float[2, 3] w, int64 n, float[P, 3] past)
    => (float[Q, 3] rows, float[M, 3] z) <bool yes = {1}, int64[1] first = {0}> {
    rows, z = Loop (n, yes, past) <body = b (int64 i, bool c, float[L, 3] s)
        => (bool c2, float[L2, 3] t, float[3] r) {
        c2 = Identity (c) e = Gather (x, i) v = Mul (w, e) a = Tanh (v)
        q = ReduceMax <axes = [0], keepdims = 0> (a) m = ReduceSum <keepdims = 0> (s, first)
        r = Add (q, m) o = Unsqueeze (r, first) t = Concat <axis = 0> (s, o) }> }"""


def test_a_state_that_grows():
    assert_blocks(GROWING, "Loop")


def test_a_list_that_grows():
    text = GROWING.replace("float[L, 3] s", "seq(float[3]) s").replace("L2, 3", "L2")
    text = text.replace("float[L2] t", "seq(float[3]) t").replace(", float[P, 3] past", "")
    text = text.replace("float[Q, 3] rows, ", "").replace("rows, z = Loop (n, yes, past)", START)
    text = text.replace("m = ReduceSum <keepdims = 0> (s, first)", "m = SequenceAt (s, last)")
    text = text.replace("o = Unsqueeze (r, first) t = Concat <axis = 0> (s, o)", "")
    text = text.replace("r = Add (q, m)", "r = Sub (q, m) t = SequenceInsert (s, r)")
    assert_blocks(text.replace("int64[1] first", "int64 last = {-1}, int64[1] first"), "Loop")


START = """zero = Sub (w, w) row = ReduceSum <keepdims = 0> (zero, first)
    l = SequenceConstruct (row) rows, z = Loop (n, yes, l)"""


@pytest.mark.parametrize("back", [0, 1])
def test_a_scan(back):
    text = f"""g (float[3, N] scanned, float[2, 3] w, float[2, 3] s0)
        => (float[2, 3] y, float[2, N, 3] z) {{
        y, z = Scan <num_scan_inputs = 1, scan_input_axes = [1], scan_input_directions = [{back}],
            scan_output_axes = [1], scan_output_directions = [{back}],
            body = b (float[2, 3] s, float[3] e) => (float[2, 3] t, float[2, 3] r) {{
            v = Mul (w, e) a = Abs (v) u = Sub (a, s) t = Tanh (u) r = Add (s, v) }}>
        (s0, scanned) }}"""
    model = assert_blocks(text, "Scan", lengths=LENGTHS[1:])
    assert reference.run(model, feeds(as_model(text), 0))[1].shape == (2, 0, 3)


def test_an_inner_recurrence_runs_for_a_block_of_the_outer_loop():
    text = """g (float[N, 3] x, float[2, 3] w, int64 n) => (float[M, 3] z) <bool yes = {1}> {
        z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float[3] r) {
            c2 = Identity (c) e = Gather (x, i) two = Size (c)
            r = Loop (two, yes, e) <body = d (int64 j, bool o, float[3] s)
                => (bool o2, float[3] t) {
                o2 = Identity (o) f = Gather (w, j) v = Mul (w, f) a = Abs (v)
                q = ReduceMax <axes = [0], keepdims = 0> (a) u = Sub (q, s) t = Tanh (u) }> }> }"""
    assert_blocks(text, "Loop")


def test_draws_stay_in_their_order():
    text = """g (float[N, 3] x, float[2, 3] w, int64 n) => (float[M] z) <bool yes = {1}> {
        z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, float r) {
            c2 = Identity (c) e = Gather (x, i) v = Mul (w, e) a = Abs (v)
            d = RandomNormalLike (a) r = ReduceMax <keepdims = 0> (d) }> }"""
    (loop,) = (node for node in run_passes(text, FOUR).model.graph.node if node.op_type == "Loop")
    (inner,) = (node for node in loop.attribute[0].g.node if node.op_type == "Loop")
    assert "RandomNormalLike" in op_types(inner.attribute[0].g)


def test_an_inner_loop_as_a_scan():
    result = run_passes(STATE, FOUR, LoopsToScans(costs="onnxruntime"), VectorizeLoops())
    (loop,) = (node for node in result.model.graph.node if node.op_type == "Loop")
    assert "If" in op_types(loop.attribute[0].g), "for a runtime that refuses empty Scans"


SUPPRESSION = """g (float[N, 4] x) => (bool[N] kept)
    <bool yes = {1}, float most = {0.5}, int64[1] axis = {0}> {
    all = Shape <end = 1> (x) n = Squeeze (all, axis)
    always = ConstantOfShape <value = bool[1] {1}> (all)
    kept = Loop (n, yes, always) <body = b (int64 i, bool c, bool[N] s) => (bool c2, bool[N] t) {
        c2 = Identity (c) e = Gather (x, i) d = Sub (x, e) q = Abs (d)
        near = ReduceMax <axes = [1], keepdims = 0> (q) hits = Less (near, most) own = Gather (s, i)
        gone = And (hits, own) stays = Not (gone) t = And (s, stays) }> }"""


def test_accelerate_bounds_memory():
    model = as_model(SUPPRESSION)
    after = rewrite(model, "accelerate", verify=False)
    (loop,) = (node for node in after.graph.node if node.op_type == "Loop")
    assert {"Range", "If"} <= set(op_types(loop.attribute[0].g))
    for n in (0, 1, 40, 400):
        feed = {"x": numbers(n, 4)}
        (one,), (other,) = run_in_onnxruntime(model, feed), run_in_onnxruntime(after, feed)
        assert (one == other).all()


@pytest.mark.parametrize("number", range(examples(8)))
def test_random_loops(number):
    model, inputs = draw(number)
    size = random.Random(number).choice((48, 100, 200, 800))
    after = run_passes(model, BlockLoops(block_bytes=size)).model
    assert not sorted(differences(model, after, inputs))


SUMS = """g (float[N, 3] x, float[2, 3] w, float[2, 3] s0, int64 n) => (float[2, 3] y)
    <bool yes = {1}> {
    y = Loop (n, yes, s0) <body = b (int64 i, bool c, float[2, 3] s)
        => (bool c2, float[2, 3] t) {
        c2 = Identity (c) e = Gather (x, i) v = Mul (w, e) t = Add (s, v) }> }"""
MANY_ROWS = BlockLoops(block_bytes=32 * 48)
"""At least 32 rows of integers, 64 of floats."""


def assert_sums(text, *ns, exact=False):
    model = as_model(text)
    result = run_passes(model, dataclasses.replace(MANY_ROWS, exact=exact))
    assert result.changed, result.remarks
    for n in ns:
        feed = {"x": numbers(80, 3), "w": numbers(2, 3), "s0": numbers(2, 3), "n": np.array(n)}
        feed |= {"u0": np.arange(6).reshape(2, 3)}
        feed = {value.name: feed[value.name] for value in model.graph.input}
        tolerance = 0 if exact else 1e-4
        assert_equal_outputs(model, result.model, feed, rtol=tolerance, atol=1e-4)


def test_a_sum():
    assert_rewrites(
        BlockLoops(block_bytes=32 * 24),
        SUMS,
        """g (float[N, 3] x, float[2, 3] w, float[2, 3] s0, int64 n) => (float[2, 3] y)
            <bool yes = {1}, int64[1] axes = {0}, int64 k = {1}, int64 k_1 = {32},
            bool holds = {1}> {
            vector = Unsqueeze (n, axes) iterations = Max (vector, axes)
            count = Squeeze (iterations, axes) last = Sub (count, k) padded = Add (last, k_1)
            blocks = Div (padded, k_1) some = Max (blocks, k) full = Div (last, some)
            block = Add (full, k) block_1 = Max (block, k)
            y = Loop (blocks, holds, s0) <body = b (int64 block_number, bool holds_1,
                float[2, 3] s) => (bool holds_2, float[2, 3] t)
                <int64[1] axes_1 = {0}, int64[1] axes_2 = {1}> {
                start = Mul (block_number, block_1) stop = Add (start, block_1)
                end = Min (stop, count) places = Range (start, end, k)
                e = Gather <axis = 0> (x, places) e_lifted = Unsqueeze (e, axes_2)
                v = Mul (w, e_lifted) v_1 = ReduceSum <keepdims = 0> (v, axes_1)
                t = Add (s, v_1) holds_2 = Identity (holds_1) }> }""",
    )


@pytest.mark.parametrize("body", ["t = Add (s, v)", "t = Add (v, s)", "t = Sub (s, v)"])
def test_numbers_of_iterations(body):
    assert_sums(SUMS.replace("t = Add (s, v)", body), 0, -2, 1, 63, 64, 65, 80)


def test_several_sums_of_which_one_is_read():
    text = SUMS.replace("float[2, 3] s0, ", "float[2, 3] s0, int64[2, 3] u0, ")
    text = text.replace("=> (float[2, 3] y)", "=> (float[2, 3] y, int64[2, 3] z)")
    text = text.replace("y = Loop (n, yes, s0)", "unread, z, y = Loop (n, yes, s0, u0, s0)")
    text = text.replace("bool c, float[2, 3] s)", "bool c, float[2, 3] q, int64[2, 3] u, P s)")
    text = text.replace("(bool c2, ", "(bool c2, P p, int64[2, 3] o, ").replace("P", "float[2, 3]")
    assert_sums(text.replace("t = Add", "p = Sub (q, v) o = Sub (u, i) t = Add"), 0, 7, 40, 80)


def test_sums_that_round_or_do_not_pay():
    reason = "it adds up values that are too large for a block of many"
    assert_keeps(BlockLoops(block_bytes=31 * 24), SUMS, reason)


def test_a_sum_beside_rows():
    rows = SUMS.replace("float[2, 3] y)", "float[2, 3] y, float[M, 2, 3] z)")
    rows = rows.replace("y = Loop", "y, z = Loop").replace("3] t)", "3] t, float[2, 3] r)")
    assert_sums(rows.replace("t = Add", "r = Neg (v) t = Add"), 0, 1, 63, 64, 65, 80)


def test_an_exact_sum_of_floats_stays_in_an_inner_loop():
    text = SUMS.replace("v = Mul", "q = Exp (e) v = Mul").replace("(w, e)", "(w, q)")
    assert_sums(text, 0, 7, 64, 80, exact=True)


def test_integers_keep_their_order():
    text = SUMS.replace("t = Add (s, v)", "q = Cast <to = 7> (v) t = Add (s, q)")
    text = text.replace("float[2, 3] s0", "int64[2, 3] u0").replace("yes, s0)", "yes, u0)")
    text = text.replace("=> (float[2, 3] y)", "=> (int64[2, 3] y)").replace("c, float", "c, int64")
    text = text.replace("c2, float", "c2, int64")
    assert run_passes(as_model(text), BlockLoops(block_bytes=32 * 48, exact=True)).changed
