"""Einsum and products of matrices; near misses."""

import pytest
from proofs import assert_open, assert_proved

SCORES = "g (float[b, h, q, 8] x, float[b, h, k, 8] z) => (float[b, h, q, k] y) {{ {} }}"
LAYER = "g (float[b, n, 8] x, float[8, 3] z) => (float[b, n, 3] y) {{ {} }}"
PAIRS = {
    "scores": (
        SCORES.format('y = Einsum <equation = "bhqd,bhkd->bhqk"> (x, z)'),
        SCORES.format("t = Transpose <perm = [0, 1, 3, 2]> (z) y = MatMul (x, t)"),
        ("bhqk", "bhkq"),
    ),
    "layer": (
        LAYER.format('y = Einsum <equation = "bnd, de -> bne"> (x, z)'),
        LAYER.format("y = MatMul (x, z)"),
        ("bnd,", "nbd,"),
    ),
    "rows": (
        "g (float[n, 8] x, float[n, 8] z) => (float[n] y) {"
        ' y = Einsum <equation = "ij,ij->i"> (x, z) }',
        "g (float[n, 8] x, float[n, 8] z) => (float[n] y) <int64[1] one = {1}, int64[1] two = {2},"
        " int64[2] both = {1, 2}> { a = Unsqueeze (x, one) b = Unsqueeze (z, two) p = MatMul (a, b)"
        " y = Squeeze (p, both) }",
        ("ij->i", "ij->j"),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_sum_over_one_label_is_a_product_of_matrices(name):
    before, after, (old, new) = PAIRS[name]
    assumptions = assert_proved(before, after).assumptions
    assert "Einsum gives the same bits as its definition" in assumptions
    assert_open(before.replace(old, new), after)


def test_a_sum_of_integers_needs_no_assumption():
    before, after, _ = PAIRS["layer"]
    before, after = (text.replace("float", "int32") for text in (before, after))
    assert assert_proved(before, after).assumptions == ()


@pytest.mark.parametrize("size", ["1", "m"])
def test_one_product_may_be_a_negative_zero(size):
    before, after, _ = PAIRS["layer"]
    pair = [text.replace("8", size) for text in (before, after)]
    assert assert_open(*pair).equality == "reals"
    assert_proved(*[text.replace("float", "int32") for text in pair])
