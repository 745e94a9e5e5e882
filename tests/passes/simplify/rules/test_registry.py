import pytest
import straightline as sl
from sample_rules import WrongSub
from spelled import model
from straightline.passes.simplify.rules import registry
from straightline.passes.simplify.rules.rule import Rule


@pytest.fixture(autouse=True)
def nothing_is_left():
    before = dict(registry._registered)
    yield
    registry._registered.clear()
    registry._registered.update(before)


def test_a_rule_is_proved_and_then_used():
    @sl.rule
    class SquareOfNeg(sl.Rule):
        """Square a number instead of its negation."""

        before = "(floats x) => (y) { t = Neg (x)  y = Mul (t, t) }"
        after = "(x) => (y) { y = Mul (x, x) }"

    (proof,) = [proof for rule, proof in registry.registered() if rule.name == "square-of-neg"]
    assert proof.proved and SquareOfNeg().summary.startswith("Square")


def test_the_result_of_a_rewrite():
    @sl.rule(exactness="reals")
    class SqrtOfSquare(sl.Rule):
        before = "(floats x) => (y) { t = Mul (x, x)  u = Sqrt (t)  y = Mul (u, u) }"
        after = "(x) => (y) { y = Mul (x, x) }"

    before = model(
        "{ t = Mul (x, x) u = Sqrt (t) y = Mul (u, u) }", 17, "(float[3] x) => (float[3] y)"
    )
    outcome = sl.transform(before, "simplify", exactness="reals", verify=False)
    assert [node.op_type for node in outcome.model.graph.node] == ["Mul"]
    assert any("sqrt-of-square" in remark.reason for remark in outcome.remarks)
    assert len(sl.rewrite(before, "simplify", verify=False).graph.node) == 3


def test_a_wrong_rule_is_refused_unless_it_is_trusted():
    with pytest.raises(sl.RuleError, match="is refuted"):
        sl.rule(WrongSub)
    trusted = type("TrustedSub", (WrongSub,), {})
    sl.rule(trusted=True)(trusted)
    assert [proof for rule, proof in registry.registered() if rule.name == "trusted-sub"] == [None]


def test_claims_and_names_are_checked():
    with pytest.raises(sl.RuleError, match="a rule must be a subclass"):
        sl.rule(WrongSub.before)
    for texts in ({}, {"before": 5, "after": "(x) => (x)"}, {"before": WrongSub.before}):
        with pytest.raises(sl.RuleError, match="'untold' needs the texts"):
            sl.rule(type("Untold", (Rule,), texts))
    with pytest.raises(sl.RuleError, match="claims no 'exact'"):
        sl.rule(exact=True)(WrongSub)
    with pytest.raises(sl.RuleError, match="is a rule of straightline"):
        sl.rule(type("MulByOne", (Rule,), {"before": WrongSub.before, "after": WrongSub.after}))
    with pytest.raises(sl.RuleError, match="the same number of outputs"):
        type("Odd", (Rule,), {"before": WrongSub.before, "after": "(x) => (x, x)"})()
