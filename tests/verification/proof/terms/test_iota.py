import numpy as np
from straightline.facts.polynomial import Dimension
from straightline.verification.proof.terms.budget import Budget
from straightline.verification.proof.terms.iota import counts, single_number
from straightline.verification.proof.terms.term_manager import Terms
from tables import table

N = Dimension.symbol("n")


@table(([0, 1, 2], True), ([[0, 1], [2, 3]], True), ([1, 2], False), ([0, 2, 1], False))
def test_constants_count(numbers, expected):
    terms = Terms(Budget())
    assert counts(terms, terms.constant(np.array(numbers))) is expected


def test_ranges_count_from_0_by_1():
    terms = Terms(Budget())
    for start, step, expected in ((0, 1, True), (1, 1, False), (0, 2, False)):
        numbers = terms.op("Range", 18, terms.size(start), terms.size(N), terms.size(step))
        assert counts(terms, numbers) is expected
        assert (
            counts(terms, terms.view(numbers, (*numbers.shape, Dimension.constant(1)))) is expected
        )


def test_a_single_number():
    terms = Terms(Budget())
    assert single_number(terms, terms.size(N)) == single_number(terms, terms.sizes([N])) == N
    assert single_number(terms, terms.sizes([N, N])) is None
    assert single_number(terms, None) is None
