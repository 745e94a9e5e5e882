"""What rule is needed where a question stays open, in words."""

import pytest
from proofs import proof_of

NODES = "g (float[2] x, float[2] w) => ({}[2] y) {{ {} }}"


def needed(before, after, kind="float"):
    proof = proof_of(NODES.format(kind, before), NODES.format(kind, after))
    assert proof.status == "open"
    return proof.needed


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            "y = Sub (x, w)",
            "y = Sub (w, x)",
            "nothing makes input x equal input w; so a rule that Sub (x, w) equals Sub (w, x);"
            " the same operator, the same operands in another order",
        ),
        (
            "y = Max (x, w)",
            "y = Mul (x, w)",
            "a rule that Max (x, w) equals Mul (x, w); other operators, the same operands",
        ),
        (
            "y = Sub (x, w)",
            "y = Div (x, x)",
            "a rule that Sub (x, w) equals Div (x, x);"
            " other operators, with x among the operands of both",
        ),
        (
            "y = Identity (x)",
            "y = Identity (w)",
            "nothing makes input x equal input w",
        ),
        (
            "y = Elu <alpha = 1.0> (x)",
            "y = Elu <alpha = 2.0> (x)",
            "a rule that Elu <alpha = 1.0> (x) equals Elu <alpha = 2.0> (x);"
            " other attributes or another version, the same operands",
        ),
        (
            "y = Abs (x)",
            "y = Neg (w)",
            "a rule that Abs (x) equals Neg (w); other operators, no operand the same",
        ),
    ],
)
def test_both_sides_are_written_and_what_they_share_is_said(before, after, said):
    assert needed(before, after) == said


def test_of_states_an_invariant_is_needed():
    loop = """g (float[2] x, int64 m) => (float[2] y) {
        y = Loop (m, , x) <body = b (int64 i, bool c, float[2] s) => (bool c2, float[2] t) {
            c2 = Identity (c) t = Sin (s) }> }"""
    proof = proof_of(loop, "g (float[2] x, int64 m) => (float[2] y) { y = Sin (x) }")
    assert proof.needed.startswith("an invariant that final <0>")
