from itertools import product

import numpy as np
import pytest
import straightline as sl
from certificates import assert_none, certificate, of_text
from harness import run_in_onnxruntime
from straightline.verification.certificate_check import check, replayed
from straightline.verification.derivation import Search, derive
from tables import table

ROW = """{ y = Scan (x) <num_scan_inputs = 1, body = b (float[2, 3] e) => (float[%s] r) { %s }> }"""


@pytest.mark.parametrize("size", ["t", "5", "1"])
@table(
    ("softmax", "2, 3", "r = Softmax <axis = 0> (e)", "y = Softmax <axis = 1> (x)"),
    (
        "a largest one",
        "2",
        "r = ReduceMax <keepdims = 0> (e, a)",
        "y = ReduceMax <keepdims = 0> (x, b)",
    ),
    ("transposition", "3, 2", "r = Transpose (e)", "y = Transpose <perm = [0, 2, 1]> (x)"),
    ("product", "2, 2", "r = MatMul (e, w)", "y = MatMul (x, w)"),
    ("a product on the left", "4, 3", "r = MatMul (v, e)", "y = MatMul (v, x)"),
    ("more axes", "4, 2, 3", "r = Add (e, k)", "u = Unsqueeze (x, a) y = Add (u, k)"),
)
def test_an_operator_moves_out_of_a_scan(case, shape, inside, outside, size):
    inputs = f"float[{size}, 2, 3] x, float[3, 2] w, float[4, 2] v, float[4, 1, 1] k"
    constants = "<int64[1] a = {1}, int64[1] b = {2}>"
    pair = [
        of_text(f"g ({inputs}) => (y) {constants} {body}", 18)
        for body in (ROW % (shape, inside), f"{{ {outside} }}")
    ]
    assert check(certificate(*pair), *pair).rules
    assert sl.verify(*pair, prove=False).equal


SUMS = """g (float[2] x, float[t, 2] w, float k) => (y) { z, %s = Scan (x, w)
    <num_scan_inputs = 1, body = b (float[2] s, float[2] e) => (float[2] u, float[%s] r) {
    u = Add (s, e) r = %s }> %s }"""


def test_rows_that_no_iteration_changes_are_one_row():
    loop = """n = Gather (k, z) y = Loop (n, c) <body = b (int64 i, bool d) => (bool e,
        float[2] r) { e = Identity (d) r = Identity (x) }>"""
    text = f"""g (float[2] x, float[t] w) => (y) <int64 z = {{0}}, int64[1] o = {{1}},
        bool c = {{1}}> {{ k = Shape (w) {loop} }}"""
    plain = text.replace(loop, "s = Concat <axis = 0> (k, o) y = Expand (x, s)")
    pair = of_text(text, 18), of_text(plain, 18)
    assert "row-by-row" in check(certificate(*pair), *pair).rules
    assert sl.verify(*pair, prove=False).equal


def test_a_state_that_no_iteration_changes_has_its_first_value():
    body = """{ d = Less (i, k) r = Identity (p) }"""
    loop = f"""g (float[2] x, int64 k, bool t) => (float[2] y) {{ y = Loop (k, t, x) <body = b
        (int64 i, bool c, float[2] p) => (bool d, float[2] r) {body}> }}"""
    plain = "g (float[2] x, int64 k, bool t) => (float[2] y) { y = Identity (x) }"
    pair = of_text(loop, 18), of_text(plain, 18)
    assert "states" in check(certificate(*pair), *pair).rules
    assert_none(of_text(loop.replace("Identity (p)", "Neg (p)"), 18), pair[1])


def test_a_function_of_states_moves_out():
    pair = (
        of_text(SUMS % ("y", "2", "Mul (u, k)", ""), 18),
        of_text(SUMS % ("r0", "2", "Identity (u)", "y = Mul (r0, k)"), 18),
    )
    assert "row-by-row" in check(certificate(*pair), *pair).rules
    assert sl.verify(*pair, prove=False).equal


@table(("", 0), ("", 1), ("", -1), ("", -2), ("float[k] ", 1), ("float[2] ", 1))
def test_rows_of_a_scan_have_their_own_sizes(declared, axis):
    """Runtimes fail without an iteration, whatever the body declares."""
    scan = f"""g (float[t, 2] x) => (float[a, b] y) {{ y = Scan (x) <num_scan_inputs = 1,
        scan_output_axes = [{axis}], body = b (e) => ({declared}r) {{ r = Tanh (e) }}> }}"""
    end = "Transpose (z)" if axis % 2 else "Identity (z)"
    flat = f"g (float[t, 2] x) => (float[a, b] y) {{ z = Tanh (x) y = {end} }}"
    pair = of_text(scan, 18), of_text(flat, 18)
    assert "row-by-row" in check(certificate(*pair), *pair).rules
    assert sl.verify(*pair, prove=False).equal


@table(
    ("axis = 0", "y = Reshape (r, two)"),
    ("axis = 1", "p = Transpose <perm = [1, 0, 2]> (r) y = Reshape (p, one)"),
    ("axis = 0, new_axis = 1", "y = Identity (r)"),
    ("axis = 2, new_axis = 1", "y = Transpose <perm = [1, 2, 0]> (r)"),
)
def test_a_list_to_which_iterations_append_is_a_scan_output(read, scanned):
    """Beside a state that iterations change; the list is no state any more."""
    appended = """g (float[t, 1, 2] x, float[2, 2] h) => (y, s) <int64 z = {0}, bool c = {1}> {
        a = Shape (x) n = Gather (a, z) q = SequenceEmpty () s, l = Loop (n, c, h, q) <body = b
        (int64 i, bool d, float[2, 2] k, seq(float[1, 2]) l) => (bool f, float[2, 2] m,
        seq(float[1, 2]) u) { f = Identity (c) m = Tanh (k) e = Gather (x, i) o = MatMul (e, m)
        u = SequenceInsert (l, o) } > y = ConcatFromSequence <READ> (l) }"""
    text = """g (float[t, 1, 2] x, float[2, 2] h) => (y, s)
        <int64 z = {0}, bool c = {1}, int64[2] two = {-1, 2}, int64[2] one = {1, -1}> {
        a = Shape (x) n = Gather (a, z) s, r = Loop (n, c, h) <body = b (int64 i, bool d,
        float[2, 2] k) => (bool f, float[2, 2] m, float[1, 2] o) { f = Identity (c) m = Tanh (k)
        e = Gather (x, i) o = MatMul (e, m) }> READ }"""
    before, after = appended.replace("READ", read), text.replace("READ", scanned)
    pair = of_text(before, 18), of_text(after, 18)
    assert {"elements-of-list", "row-alone"} <= {*check(certificate(*pair), *pair).rules}
    assert sl.verify(*pair, prove=False).equal
    assert_none(pair[0], of_text(after.replace("MatMul (e, m)", "MatMul (e, k)"), 18))


def test_columns_of_iterations_are_rows_of_a_transposition():
    column = """g (float[2, t] x) => (y) <int64 o = {1}, bool c = {1}> { a = Shape (x)
        n = Gather (a, o) y = Loop (n, c) <body = b (int64 i, bool d) => (bool f, float[2] r) {
        f = Identity (c) e = Gather <axis = 1> (x, i) r = Tanh (e) }> }"""
    whole = "g (float[2, t] x) => (y) { k = Transpose (x) y = Tanh (k) }"
    pair = of_text(column, 18), of_text(whole, 18)
    assert "row-by-row" in check(certificate(*pair), *pair).rules
    assert sl.verify(*pair, prove=False).equal


def test_users_of_a_draw_move_out_of_a_scan():
    """The draw stays, of which there is one an iteration."""
    draw = "q = RandomNormalLike <scale = 0.1> (e)"
    before = of_text(
        "g (float[t, 2] x) => (y) { y = Scan (x) <num_scan_inputs = 1, body = b (float[2] e) =>"
        f" (float[2] r) {{ {draw} s = Add (e, q) r = Tanh (s) }}> }}",
        18,
    )
    after = (
        "g (float[t, 2] x) => (y) {{ d = Scan (x) <num_scan_inputs = 1, body = b (float[2] e) =>"
        f" (float[2] q) {{{{ {draw} }}}}> {{}} y = Tanh (s) }}}}"
    )
    pair = before, of_text(after.format("s = Add (x, d)"), 18)
    assert "row-by-row" in check(certificate(*pair), *pair).rules
    assert isinstance(derive(before, of_text(after.format("s = Add (d, d)"), 18), {}), str)


LOOP = """g (%s) => (y) <int64 n = {%d}, bool t = {1}, int64 f = {%d}, int64[1] a = {0}> {
    y = Loop (n, t) <body = b (int64 i, bool c) => (bool d, %s r) { d = Identity (c) %s
    s = Unsqueeze (k, a) m = Add (k, f) e = Unsqueeze (m, a) w = Slice (x, s, e, a)
    r = ReduceMax <keepdims = 0> (w%s) }> }"""


@table(
    (("float[12] x", 3, 4, "float", "k = Mul (i, f)", ""), "w = Reshape (x, q)", "3,4"),
    (("float[5] x", 3, 3, "float", "k = Identity (i)", ""), "w = Gather (x, p)", "3,3"),
    (("float[6, t] x", 3, 2, "float[t]", "k = Mul (i, f)", ", a"), "w = Reshape (x, u)", "3,2"),
)
def test_slices_of_a_fixed_number_of_iterations_are_rows(loop, whole, sizes):
    """Blocks, windows that overlap, and blocks beside another axis."""
    before = of_text(LOOP % loop, 18)
    after = f"""g ({loop[0]}) => (y) <int64[2] q = {{{sizes}}}, int64[3] u = {{{sizes},-1}},
        int64[3,3] p = {{0,1,2,1,2,3,2,3,4}}, int64[1] a = {{1}}> {{ {whole}
        y = ReduceMax <keepdims = 0> (w, a) }}"""
    pair = before, of_text(after, 18)
    assert "known-variables" in check(certificate(*pair), *pair).rules
    assert sl.verify(*pair, prove=False).equal
    shifted = loop[4] + " k0 = Sub (k, f)"
    assert_none(of_text(LOOP.replace("(k,", "(k0,") % (*loop[:4], shifted, loop[5]), 18), pair[1])


@table(
    ("y = SequenceAt (q, i)", "y = Gather (x, i)", 0),
    (
        "p = SequenceAt (q, i) y = Tanh (p)",
        "e = Unsqueeze (x, o) u = Gather (e, i) y = Tanh (u)",
        1,
    ),
    (
        "m = SequenceMap (q) <body = b (float[3] e) => (float[3] r) { r = Softmax (e) }>"
        " y = ConcatFromSequence <axis = 1, new_axis = 1> (m)",
        "k = Softmax (x) y = Transpose (k)",
        0,
    ),
    (
        "m = SequenceMap (q, q) <body = b (float[1, 3] e, float[1, 3] h) => (float[1, 3] r) {"
        " k = Neg (h) r = Mul (e, k) }> y = ConcatFromSequence <axis = 0> (m)",
        "k = Neg (x) y = Mul (x, k)",
        1,
    ),
)
def test_a_list_of_the_rows_of_a_tensor_is_the_tensor(listed, whole, kept):
    text = "g (float[4, 3] x, int64 i) => (y) <int64[1] o = {1}> { %s }"
    split = f"q = SplitToSequence <keepdims = {kept}> (x) "
    pair = of_text(text % (split + listed), 18), of_text(text % whole, 18)
    assert "elements-of-list" in check(certificate(*pair), *pair).rules
    assert sl.verify(*pair, prove=False).equal
    other = split.replace("keepdims", "axis = 1, keepdims").replace("[1, 3]", "[1, 4]")
    assert_none(of_text(text % (other + listed.replace("3]", "4]")), 18), pair[1])


def test_flags_are_true_from_the_first_true_one_on():
    before = """g (float[n, 2] x, float[2] a, bool[2] b) => (y) <bool c = {1}, int64 z = {0}> {
        h = Shape (x) t = Gather (h, z) v, y = Loop (t, c, b) <body = l (int64 i, bool d, bool[2] s)
        => (bool e, bool[2] u, bool[2] r) { e = Identity (d) k = Gather (x, i) g = Greater (k, a)
        u = %s (g, s) r = Not (u) }> }"""
    after = """g (float[n, 2] x, float[2] a, bool[2] b) => (y) <int64[1] o = {0}, int64[1] m = {1},
        int64 z = {0}, int64[1] l = {9223372036854775807}> { h = Unsqueeze (b, o) r = Greater (x, a)
        q = Concat <axis = 0> (h, r) k = Cast <to = 7> (q) c = CumSum (k, z) d = Cast <to = 9> (c)
        e = Slice (d, m, l, o) y = Not (e) }"""
    pair = of_text(before % "Or", 18), of_text(after, 18)
    assert "sums" in check(certificate(*pair), *pair).rules
    assert sl.verify(*pair, prove=False).equal
    assert_none(of_text(before % "And", 18), pair[1])


def test_a_loop_up_to_a_hit_is_a_search_for_all_hits():
    before = """g (bool[n] x, int64 t) => (y) <bool c = {1}> { y = Loop (t, c) <body = b (int64 i,
        bool d) => (bool e, int64 r) { h = Gather (x, i) e = Not (h) r = Identity (i) }> }"""
    after = """g (bool[n] x, int64 t) => (y) <int64 z = {0}, int64 o = {1}, int32[1] b = {1},
        int64 l = {9223372036854775807}> { m = Max (t, z) j = Range (z, m, o) h = Gather (x, j)
        k = Cast <to = 6> (h) q = Concat <axis = 0> (k, b) f = ArgMax <axis = 0, keepdims = 0> (q)
        u = Size (h) g = Less (f, u) w = Add (f, o) p = Where (g, w, l) s = Min (t, p)
        a = Max (s, z) y = Range (z, a, o) }"""
    pair = of_text(before, 18), of_text(after, 18)
    run = replayed(*pair, {})
    assert not Search(run).run()  # rows behind a hit may not be there
    assert not [*run.unequal_outputs()]
    for size in range(5):
        for hits in product((False, True), repeat=size):
            for count in range(-1, size + 1):
                feeds = {"x": np.array(hits, bool), "t": np.array(count)}
                one, other = (run_in_onnxruntime(each, feeds)[0] for each in pair)
                np.testing.assert_array_equal(one, other)


ROWS = """g (float[n, k, 2] x) => (y) <int64 z = {0}, bool t = {1}> { s = Shape (x)
    l = Gather (s, z) y = Loop (l, t) <body = b (int64 i, bool c) => (bool d, float[k, %s] r) {
    d = Identity (c) e = Gather (x, i) r = Tanh (e) }> }"""
CUT = """g (float[n, k, 2] x) => (y) <int64 z = {0}, int64[1] a = {0}, int64[1] o = {1}> {
    s = Shape (x) l = Gather (s, z) v = Unsqueeze (l, a) b = Cast <to = 9> (v)
    c = Cast <to = 7> (b) h = Tanh (x) q = Shape (h) f = Gather (q, o) e = Mul (f, c)
    y = Slice (h, a, e, o) }"""


def test_rows_of_no_iteration_have_size_0_where_inputs_decide_on_it():
    pair = of_text(ROWS % 2, 18), of_text(CUT, 18)
    assert "rows-that-run" in check(certificate(*pair), *pair).rules
    for size in (0, 1, 3):
        feeds = {"x": np.ones((size, 5, 2), np.float32)}
        one, other = (run_in_onnxruntime(each, feeds)[0] for each in pair)
        assert one.shape == other.shape == (size, 5 * bool(size), 2)
    assert sl.verify(*pair, prove=False).equal
    assert_none(of_text(ROWS % "m", 18), pair[1])


def test_rows_of_a_scan_have_other_sizes_than_the_numbers_that_its_body_declares():
    text = """g (float[n, k] x, float[m] w) => (y) { y = Scan (x) <num_scan_inputs = 1, body = b
        (float[k] e) => (float[%s] r) { r = Tanh (e) }> }"""
    pair = (
        of_text(text % "k", 18),
        of_text("g (float[n, k] x, float[m] w) => (y) { y = Tanh (x) }", 18),
    )
    assert "row-by-row" in check(certificate(*pair), *pair).rules
    assert sl.verify(*pair, prove=False).equal
    assert_none(of_text(text % "3", 18), pair[1])
