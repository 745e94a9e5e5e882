from fractions import Fraction

import numpy as np
import pytest
from straightline.facts.polynomial import Dimension
from straightline.verification.proof.reals.constant_values import Permutation
from straightline.verification.proof.reals.field import HALF
from straightline.verification.proof.reals.real_terms import RealTerms
from straightline.verification.proof.terms.budget import Budget
from straightline.verification.proof.terms.term_manager import Terms
from tables import table

RANDOM = np.random.default_rng(1)
A = RANDOM.normal(size=(5, 7)).astype(np.float32)
V = np.abs(RANDOM.normal(size=7)).astype(np.float32)
SHAPE = tuple([Dimension.constant(size) for size in A.shape])


@table(
    ("a product", lambda r, a, v: r.field.multiply(a, v), A * V),
    ("a root", lambda r, a, v: r.field.multiply(a, r.field.power(v, -HALF)), A / np.sqrt(V)),
    ("a sum", lambda r, a, v: r.field.add(a, v), A + V),
    ("a number", lambda r, a, v: r.field.scale(a, Fraction(1, 7)), A / np.float32(7)),
    ("a mean", lambda r, a, v: r.mean_over(a, SHAPE, [1]), A.mean(1, keepdims=True)),
    ("a transposed sum", lambda r, a, v: r.transposed(r.field.add(a, v), SHAPE, [1, 0]), (A + V).T),
)
def test_floats_are_within_the_bound_of_the_value(name, function, computed):
    terms = Terms(Budget())
    reals = RealTerms(terms)
    value = reals.values.of(function(reals, *[reals.of(terms.constant(array)) for array in (A, V)]))
    bound = value.error * 2.0**-24
    assert value.array.shape == computed.shape
    assert (np.abs(value.array - computed) <= bound).all()
    assert bound.max() <= 8 * 2.0**-24 * np.abs(value.array).max()


def test_only_functions_of_constants_have_values():
    terms = Terms(Budget())
    reals = RealTerms(terms)
    constant, free = reals.of(terms.constant(A)), reals.field.atom("x", SHAPE)
    assert reals.values.of(reals.field.multiply(constant, free)) is None
    assert reals.values.of(reals.field.power(reals.field.subtract(constant, constant), -1)) is None


@pytest.mark.parametrize("perm", [(1, 0), (2, 0, 1), (0, 2, 1), (1, 2, 0)])
def test_arrays_are_permuted_as_axes_are(perm):
    array = RANDOM.normal(size=range(2, 2 + len(perm)))
    assert (Permutation.of(perm).of_array(array) == array.transpose(perm)).all()
