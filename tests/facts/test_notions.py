import itertools

from straightline.facts.notions import EQUAL, NOTIONS, weakest


def test_the_weakest_of_some_notions():
    assert NOTIONS == ("bits", "values", "reals") == tuple(EQUAL)
    assert weakest([]) == "bits"
    for one, other in itertools.combinations(NOTIONS, 2):
        assert weakest([one, other]) == weakest([other, one]) == other
