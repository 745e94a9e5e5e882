import pytest
import straightline as sl
from certificates import assert_none, certificate, of_text
from straightline.verification.certificate_check import check
from straightline.verification.derivation import derive
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


def test_a_function_of_states_moves_out():
    pair = (
        of_text(SUMS % ("y", "2", "Mul (u, k)", ""), 18),
        of_text(SUMS % ("r0", "2", "Identity (u)", "y = Mul (r0, k)"), 18),
    )
    assert "row-by-row" in check(certificate(*pair), *pair).rules
    assert sl.verify(*pair, prove=False).equal


def test_rows_of_no_iteration_have_the_sizes_that_are_declared():
    assert_none(
        of_text(SUMS % ("y", "m", "Mul (u, k)", ""), 18),
        of_text(SUMS % ("r0", "2", "Identity (u)", "y = Mul (r0, k)"), 18),
    )


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


def test_what_uses_a_draw_moves_out_of_a_scan():
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
