"""What the pass leaves alone, whatever the operators."""

import pytest
from harness import assert_keeps
from loops import HEAD
from straightline.passes import RaiseRecurrences

KEPT = {
    "carries nothing that is a recurrence": """
        g (float[N, 3] s) => (float[N, 3] z) { z = Scan <num_scan_inputs = 1,
            body = f (float[3] e) => (float[3] r) { r = Tanh (e) }> (s) }""",
    "its body decides when it ends": """
        g (int64 n, int64 k) => (int64[?] z) <bool yes = {1}> {
            z = Loop (n, yes) <body = b (int64 i, bool c) => (bool c2, int64 r) {
                c2 = Less (i, k) r = Mul (i, i) }> }""",
    "draws random numbers": """
        g (float[3] x, float[N, 3] s, float[3, 3] u) => (float[3] z) {
            z = Scan <num_scan_inputs = 1,
            body = f (float[3] a, float[3] e) => (float[3] b) {
                q = RandomNormalLike (e) m = MatMul (a, u) b = Add (m, q) }> (x, s) }""",
}


@pytest.mark.parametrize("reason", KEPT)
def test_what_is_kept(reason):
    assert_keeps(RaiseRecurrences(), HEAD + KEPT[reason], reason)
