import numpy as np
import pytest
from straightline.verification.checker.terms import (
    ABSENT,
    CertificateError,
    Fact,
    Head,
    Terms,
    is_own,
)

ADD, SUB, ABS = Head("Add", 14), Head("Sub", 14), Head("Abs", 13)


@pytest.fixture
def terms():
    return Terms()


def leaf(terms, name, *shape):
    return terms.add(Head("input", key=name), fact=Fact(1, shape))


def test_congruence_reaches_all_users(terms):
    x, y, z = (leaf(terms, name, "n") for name in "xyz")
    towers = []
    for term in (x, y):
        for _ in range(100):
            term = terms.add(ABS, (terms.add(SUB, (term, z)),))
        towers.append(term)
    assert terms.find(towers[0]) != terms.find(towers[1])
    terms.merge(y, x)
    assert terms.find(towers[0]) == terms.find(towers[1])
    assert terms.add(SUB, (x, z)) == terms.add(SUB, (y, z))


def test_operands_of_commutative_operators_alone_are_in_any_order(terms):
    x, y = leaf(terms, "x"), leaf(terms, "y")
    assert terms.add(ADD, (x, y)) == terms.add(ADD, (y, x))
    assert terms.add(SUB, (x, y)) != terms.add(SUB, (y, x))
    old = Head("Add", 1)  # which may broadcast the second operand
    assert terms.add(old, (x, y)) != terms.add(old, (y, x))


def test_outputs_attributes_and_absent_arguments_differ(terms):
    x = leaf(terms, "x")
    head = Head("Split", 18, outputs=2)
    numbers = {terms.add(head, (x,), output=n) for n in (0, 1)}
    numbers |= {terms.add(head.changed(axis=1), (x,)), terms.add(head, (ABSENT, x))}
    assert len(numbers) == 4
    assert terms.add(head, (x, ABSENT)) in numbers


def test_constants_are_equal_by_type_shape_and_bits(terms):
    arrays = [np.array(0, np.float32), np.array(-0.0, np.float32), np.array(0, np.int32)]
    arrays += [np.zeros(1, np.float32), np.array(0, np.float32)]
    numbers = [terms.constant(array) for array in arrays]
    assert numbers[0] == numbers[-1] and len(set(numbers)) == 4


def test_facts_of_a_class_are_those_of_its_terms(terms):
    x, y = leaf(terms, "x", "n", None), leaf(terms, "y", "m", 3)
    own = leaf(terms, "v", terms.fact(x).shape[1])
    terms.merge(x, y)
    assert terms.fact(x) == terms.fact(y)
    assert terms.fact(x).shape[1] == 3 and terms.fact(own).shape == (3,)
    other = leaf(terms, "z", "n", "m")
    assert terms.fact(other).shape == ("n", "m"), "a branch that never runs may hold both"


def test_an_unknown_size_is_that_of_one_term(terms):
    x, y = leaf(terms, "x", None, 2), leaf(terms, "y", None, 2)
    assert terms.fact(x) != terms.fact(y) and is_own(terms.fact(x).shape[0])
    assert leaf(terms, "x", None, 2) == x


@pytest.mark.parametrize("shape", [(2,), (3, 3)])
def test_contradictions_are_refused(terms, shape):
    x, y = leaf(terms, "x", 3), leaf(terms, "y", *shape)
    with pytest.raises(CertificateError, match="would be equal"):
        terms.merge(x, y)


def test_two_constants_are_never_equal(terms):
    with pytest.raises(CertificateError, match="two different constants"):
        terms.merge(terms.constant(np.array(1)), terms.constant(np.array(2)))


def test_texts_name_types_and_sizes():
    assert Fact(1, ("n", None, 3)).text() == "float[n,?,3]"
