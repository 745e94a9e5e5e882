"""Terms: equal ones are one object."""

import numpy as np
from straightline.facts.fact import Fact
from straightline.verification.proof.budget import Budget
from straightline.verification.proof.term_manager import Terms
from straightline.verification.proof.terms import descendants


def test_arguments_come_first_and_each_once():
    terms = Terms(Budget())
    x = terms.leaf("input", "x", Fact(1))
    pair = terms.keep(terms.heads.own("pair"), (x, x), Fact(1))
    both = terms.keep(terms.heads.own("pair"), (pair, x), Fact(1))
    assert list(descendants([both, pair])) == [x, pair, both]
    assert terms.keep(terms.heads.own("pair"), (x, x), Fact(1)) is pair


def test_a_long_chain_needs_no_recursion():
    terms = Terms(Budget())
    term = terms.leaf("input", "x", Fact(1))
    for _ in range(20_000):
        term = terms.keep(terms.heads.own("next"), (term,), Fact(1))
    assert sum(1 for _ in descendants([term])) == 20_001


def test_constants_are_one_only_with_the_same_bits():
    terms = Terms(Budget())
    zero = terms.constant(np.array(0.0, np.float32))
    assert terms.constant(np.array(0.0, np.float32)) is zero
    assert terms.constant(np.array(-0.0, np.float32)) is not zero
    assert terms.constant(np.array(0.0, np.float64)) is not zero
    assert terms.constant(np.array([0.0], np.float32)) is not zero
    assert terms.constant(np.array(["a", "b"])) is not terms.constant(np.array(["ab"]))
