import pytest
from depth import DEEP
from sample_rules import DoubleNeg, Joined, Scaled, WrongSub
from straightline.definitions.pattern import RuleError
from straightline.passes.simplify.library import SHIPPED
from straightline.passes.simplify.rules.rule import Rule
from straightline.passes.simplify.rules.rule_proof import prove_rule, require_proof


@pytest.mark.parametrize("rule", [DoubleNeg, Joined, Scaled])
def test_right_rules_are_proved(rule):
    proof = prove_rule(rule(), 60)
    assert proof.proved, proof
    assert proof.cases > 3 and "is proved in" in str(proof)


def test_the_texts_of_all_rules_of_ours_are_checked():
    for rule in SHIPPED:
        rule.check()


def test_a_wrong_rule_is_refuted_with_an_input():
    proof = prove_rule(WrongSub(), 4)
    assert not proof.proved and proof.proof.status == "refuted" and proof.proof.feeds
    with pytest.raises(RuleError) as error:
        require_proof(WrongSub(), 4)
    assert str(error.value).startswith("rule 'wrong-sub' is refuted: ")
    assert "\n" not in str(error.value) and ", on x = float32[" in str(error.value)


def test_a_rule_without_its_condition_is_not_proved():
    class AnyShape(Rule):
        before = "(x) => (y) { y = Mul (x, 1) }"
        after = "(x) => (x)"

    assert not prove_rule(AnyShape(), 200).proved


def test_a_rule_that_claims_too_much_exactness_is_not_proved():
    class Zero(Rule):
        before = "(float x[*S]) => (y[*S]) { y = Add (x, 0.0) }"
        after = "(x) => (x)"

    proof = prove_rule(Zero(), 8)
    assert not proof.proved and proof.proof.equality == "values"


def test_a_rule_that_never_applies():
    class Never(Rule):
        before = "(x) => (y) { t = Exp (x)  y = Not (t) }"
        after = "(x) => (x)"

    with pytest.raises(RuleError, match="applies to none of the cases"):
        require_proof(Never())


@pytest.mark.sample(5)
@pytest.mark.parametrize("rule", SHIPPED, ids=lambda rule: rule.name)
def test_every_shipped_rule_is_proved(rule):
    proof = prove_rule(rule, None if DEEP else 25)
    assert proof.proved, proof
