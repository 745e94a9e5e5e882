"""What two terms are that could not be shown to be equal."""

from proofs import assert_open
from straightline.facts.fact import Fact
from straightline.verification.proof.budget import Budget, OpenError
from straightline.verification.proof.mismatch import Difference
from straightline.verification.proof.term_manager import Terms


def test_the_first_terms_that_differ_are_told_with_the_reason():
    text = "g (float[2] x) => (float[2] z) { a = %s (x) z = Exp (a) }"
    proof = assert_open(
        text % "Abs", text % "Neg", "output 'z': Abs and, in the rewrite, Neg are not proved equal"
    )
    assert [side.split(" = ")[1] for side in proof.first] == ["Abs (x)", "Neg (x)"]


def test_an_output_that_one_model_leaves_out_is_absent_there():
    text = """g (float[2] x, float l) => (float[2] z) { z = Clip (x%s) }"""
    assert_open(text % ", l", text % ", , l")


def test_a_difference_leaves_a_proof_open():
    terms = Terms(Budget())
    one, other = (terms.leaf("input", name, Fact(1)) for name in "xy")
    difference = Difference("why", one, other)
    assert isinstance(difference, OpenError) and str(difference) == "why"
    assert (difference.before, difference.after) == (one, other)
    assert Difference("absent", None, other).before is None
