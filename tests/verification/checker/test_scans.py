"""Scans by rows: operators that move out of bodies, and what stays in them."""

import pytest
import straightline as sl
from certificates import assert_none, certificate, of_text
from straightline.verification.certificate_check import check

ROW = """{ y = Scan (x) <num_scan_inputs = 1, body = b (float[2, 3] e) => (float[%s] r) { %s }> }"""
OPERATORS = {
    "softmax": ("2, 3", "r = Softmax <axis = 0> (e)", "y = Softmax <axis = 1> (x)"),
    "a largest one": (
        "2",
        "r = ReduceMax <keepdims = 0> (e, a)",
        "y = ReduceMax <keepdims = 0> (x, b)",
    ),
    "transposition": ("3, 2", "r = Transpose (e)", "y = Transpose <perm = [0, 2, 1]> (x)"),
    "product": ("2, 2", "r = MatMul (e, w)", "y = MatMul (x, w)"),
    "a product on the left": ("4, 3", "r = MatMul (v, e)", "y = MatMul (v, x)"),
    "more axes": ("4, 2, 3", "r = Add (e, k)", "u = Unsqueeze (x, a) y = Add (u, k)"),
}


@pytest.mark.parametrize("size", ["t", "5", "1"])
@pytest.mark.parametrize("case", OPERATORS)
def test_an_operator_moves_out_of_a_scan(case, size):
    shape, inside, outside = OPERATORS[case]
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
