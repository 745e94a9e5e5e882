"""Sequences whose elements are known one by one."""

from straightline.facts.fact import Fact
from straightline.verification.proof.budget import Budget
from straightline.verification.proof.sequence_terms import appended, empty_chain, is_chain
from straightline.verification.proof.term_manager import Terms


def test_elements_are_those_that_were_appended():
    terms = Terms(Budget())
    x, y = terms.leaf("input", "x", Fact(1)), terms.leaf("input", "y", Fact(1))
    chain = empty_chain(terms, 1)
    assert terms.elements_of(chain) == ()
    chain = appended(terms, appended(terms, chain, x), y)
    assert terms.elements_of(chain) == (x, y)
    assert chain.fact.count == 2
    assert appended(terms, appended(terms, empty_chain(terms, 1), x), y) is chain
    assert empty_chain(terms, 7) is not empty_chain(terms, 1)


def test_other_terms_are_no_chains():
    terms = Terms(Budget())
    x = terms.leaf("input", "x", Fact(1))
    assert not is_chain(x)
    assert not is_chain(None)
    assert terms.elements_of(x) is None
