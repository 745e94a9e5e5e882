import pytest
from straightline.facts.polynomial import Dimension
from straightline.verification.proof.equality.places import Iteration, are_distinct

T, N = Dimension.symbol("t"), Dimension.symbol("n")
EVERY = Iteration(T, N)


def number(value):
    return Dimension.constant(value)


@pytest.mark.parametrize("rows", [[(T,)], [(T * 3 + 1,)], [(N - 1 - T,)], [(T - N,)], [(T, T * T)]])
def test_other_places_on_each_iteration(rows):
    assert are_distinct(rows, EVERY)


@pytest.mark.parametrize("rows", [[(T * T,)], [(N,)], [(T - 1,)], [(T * 2 - N,)], [], [()]])
def test_places_that_may_repeat_on_another_iteration(rows):
    assert not are_distinct(rows, EVERY)


def test_places_of_one_iteration():
    assert are_distinct([(number(0),), (number(2),)])
    assert not are_distinct([(number(0),), (number(0),)])
    assert not are_distinct([(number(-1),), (number(2),)]), "-1 may be 2"
    assert are_distinct([(number(-1),), (number(-2),)])
    assert not are_distinct([(T,), (N,)])
    assert not are_distinct([(T,), (number(1),)])
    assert are_distinct([(T,), (T + 1,)])
    assert not are_distinct([(T,), (T + 1,)], EVERY), "that is the next iteration's"
    pairs = [(T, number(0)), (T, number(1))]
    assert are_distinct(pairs, EVERY)
    assert not are_distinct([pair[::-1] for pair in pairs[:1]] * 2, EVERY)
    assert not are_distinct([(T, number(0)), (T,)], EVERY)
