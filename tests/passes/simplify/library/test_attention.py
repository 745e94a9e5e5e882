import pytest
from straightline.passes.simplify.library import RAISED
from straightline.passes.simplify.rules.rule_proof import prove_rule


@pytest.mark.sample(2)
@pytest.mark.parametrize("rule", RAISED, ids=lambda rule: rule.name)
def test_every_rule_that_raises_is_proved(rule):
    rule.check()
    proof = prove_rule(rule, 4)
    assert proof.proved and rule.exactness == "reals", proof
