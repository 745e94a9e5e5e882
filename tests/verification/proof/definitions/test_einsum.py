import re

import pytest
from proofs import assert_open, assert_proved

SCORES = "g (float[b, h, q, 8] x, float[b, h, k, 8] z) => (float[b, h, q, k] y) {{ {} }}"
LAYER = "g (float[b, n, 8] x, float[8, 3] z) => (float[b, n, 3] y) {{ {} }}"
PAIRS = {
    "scores": (SCORES.format('y = Einsum <equation = "bhqd,bhkd->bhqk"> (x, z)'),
     SCORES.format("t = Transpose <perm = [0, 1, 3, 2]> (z) y = MatMul (x, t)"), ("bhqk", "bhkq")),
    "layer": (LAYER.format('y = Einsum <equation = "bnd, de -> bne"> (x, z)'),
     LAYER.format("y = MatMul (x, z)"), ("bnd,", "nbd,")),
    "rows": ("g (float[n, 8] x, float[n, 8] z) => (float[n] y) {"
     ' y = Einsum <equation = "ij,ij->i"> (x, z) }',
     "g (float[n, 8] x, float[n, 8] z) => (float[n] y) <int64[1] one = {1}, int64[1] two = {2},"
     " int64[2] both = {1, 2}> { a = Unsqueeze (x, one) b = Unsqueeze (z, two) p = MatMul (a, b)"
     " y = Squeeze (p, both) }", ("ij->i", "ij->j"))}  # fmt: skip


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
    assert assert_open(*pair, weaker=True).equality == "reals"
    assert_proved(*[text.replace("float", "int32") for text in pair])


FORMS = {
    "ellipsis": ("float[b, n, 8] x, float[b, 8, m] z",
     'y = Einsum <equation = "...ij,...jk->...ik"> (x, z)', "y = MatMul (x, z)"),
    "two summed": ("float[2, 3, 5] x, float[3, 5, 4] z",
     'y = Einsum <equation = "abc,bcd->ad"> (x, z)',
     "p = Reshape (x, <[2, 15]>) q = Reshape (z, <[15, 4]>) y = MatMul (p, q)"),
    "two free": ("float[b, n, m, 8] x, float[b, k, 8] z",
     'y = Einsum <equation = "bnmi,bki->bnmk"> (x, z)',
     "t = Transpose <perm = [0, 2, 1]> (z) u = Unsqueeze (t, <[1]>) y = MatMul (x, u)"),
}  # fmt: skip
NEAR = {"ellipsis": ("jk->", "kj->"), "two summed": ("bcd", "cbd"), "two free": ("bki", "kbi")}


@pytest.mark.parametrize("name", FORMS)
def test_other_products(name):
    signature, before, after = FORMS[name]
    for number, shape in enumerate(re.findall(r"<(\[[\d, ]+\])>", after)):
        held = f"c{number} = Constant <value_ints = {shape}> ()"
        after = f"{held} {after.replace(f'<{shape}>', f'c{number}')}"
    ranks = {"ellipsis": "[b, n, m]", "two summed": "[2, 4]", "two free": "[b, n, m, k]"}
    head = f"g ({signature}) => (float{ranks[name]} y)"
    one, other = (f"{head} {{ {body} }}" for body in (before, after))
    assert_proved(one, other)
    assert_open(one.replace(*NEAR[name]), other)


def test_one_product_after_the_other():
    head = "g (int64[2, 3] x, int64[3, 4] z, int64[4, 5] w) => (int64[2, 5] y)"
    before = f'{head} {{ y = Einsum <equation = "ab,bc,cd->ad"> (x, z, w) }}'
    after = f"{head} {{ p = MatMul (x, z) y = MatMul (p, w) }}"
    assert_proved(before, after)
    assert_open(before.replace("->ad", "->da"), after)
    floats = [text.replace("int64", "float") for text in (before, after)]
    assert assert_open(*floats, weaker=True).equality == "reals"
