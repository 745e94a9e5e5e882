import pytest
import straightline as sl
from proofs import model
from straightline.verification.proof import prove
from tables import table

SCAN = """g (float[T, 4] x, float[4, 3] w, float[T, 3] z) => (float[3] y) <int64[1] zero = {0}> {
    rows = Scan <num_scan_inputs = 1, body = b (float[4] e) => (float[3] o) {
        u = Unsqueeze (e, none) p = MatMul (u, w) q = ROW (p) o = Squeeze (q, none) }> (x)
    l = Transpose <perm = [1, 0]> (rows) m = MatMul (l, z)
    y = ReduceMax <axes = [0], keepdims = 0> (m) }""".replace("zero = {0}", "none = {0}")
FLAT = """g (float[T, 4] x, float[4, 3] w, float[T, 3] z) => (float[3] y) {
    p = MatMul (x, w) rows = ROW (p)
    l = Transpose <perm = [1, 0]> (rows) m = MatMul (l, z)
    y = ReduceMax <axes = [0], keepdims = 0> (m) }"""


def is_proved(before, after):
    proof = prove(model(before, 17), model(after, 17), equality="reals")
    assert "valid" not in proof.reason
    return proof.proved


@pytest.mark.parametrize("row", ["Tanh", "Softmax <axis = 1>", "ReduceMax <axes = [1]>"])
def test_a_map_is_its_operators_on_all_rows(row):
    before, after = (text.replace("ROW", row) for text in (SCAN, FLAT))
    if "Reduce" in row:
        before, after = (text.replace("[3] o", "[1] o") for text in (before, after))
    assert is_proved(before, after)


@table(("Softmax <axis = 1>", "Softmax <axis = 0>"), ("Tanh", "Sigmoid"), ("CumSum", "Tanh"))
def test_operators_across_rows_are_no_map(row, other):
    before, after = SCAN.replace("ROW", row), FLAT.replace("ROW", other)
    if row == "CumSum":
        before = before.replace("CumSum (p)", "CumSum (p, axis)").replace(
            "none = {0}", "none = {0}, int64 axis = {1}"
        )
    assert not is_proved(before, after)


def test_rows_read_backward_are_other_rows():
    text = SCAN.replace("ROW", "Tanh")
    turned = text.replace("num_scan_inputs = 1", "num_scan_inputs = 1, scan_input_directions = [1]")
    assert not is_proved(turned, FLAT.replace("ROW", "Tanh"))


def test_an_absent_operand_leaves_the_scan_output_as_it_is():
    resized = """g (float[N, 3, 4, 5] x) => (float[N, 3, 8, 10] y)
        <bool t = {1}, int64 z = {0}, float[0] roi = {}, float[3] scales = {1, 2, 2}> {
        s = Shape (x) n = Gather <axis = 0> (s, z)
        y = Loop (n, t) <body = b (int64 i, bool c) => (bool d, float[3, 8, 10] o) {
            d = Identity (c) e = Gather <axis = 0> (x, i)
            o = Resize <mode = "nearest"> (e, roi, scales) }> }"""
    loop = model(resized, 11)
    assert "internal" not in prove(loop, sl.rewrite(loop, verify=False), equality="reals").reason
