import pytest
from proofs import is_proved, model
from straightline.facts.fact import Fact
from straightline.facts.polynomial import Dimension
from straightline.verification.proof import prove
from straightline.verification.proof.terms.budget import Budget, OpenError


def test_a_budget_ends():
    budget = Budget(terms=1, steps=2)
    budget.make_terms(1)
    budget.step(2)
    with pytest.raises(OpenError, match=r"too many terms.*: more than proof_terms=1 allows"):
        budget.make_terms(1)
    with pytest.raises(OpenError, match="too many steps: more than proof_steps=2 allows"):
        budget.step()


def test_many_operands_are_counted():
    budget = Budget(steps=75)
    budget.take(8)
    budget.take(9)
    with pytest.raises(OpenError, match="too many steps"):
        budget.take(10)


def test_terms_of_long_sizes_are_counted():
    short, long = Dimension.constant(1), Dimension.constant(1)
    for index in range(20):
        long = long + Dimension.symbol(f"n{index}")
    budget = Budget(steps=1000)
    for _ in range(100):
        budget.take_sizes([Fact(1, (short, Dimension.symbol("n")))])
    budget.take_sizes([Fact(1, (long,))])
    with pytest.raises(OpenError, match="too many steps"):
        for _ in range(10):
            budget.take_sizes([Fact(1, (long,))])


@pytest.mark.parametrize("limits", [{"terms": 2}, {"steps": 2}])
def test_a_proof_that_costs_too_much_is_open(limits):
    text = "g (float[2] x) => (float[2] z) { a = Neg (x) b = Sin (a) z = Tanh (b) }"
    assert is_proved(text, text)
    proof = prove(model(text), model(text), budget=Budget(**limits))
    assert proof.status == "open"
    assert "too many" in proof.reason
