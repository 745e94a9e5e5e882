import math
import warnings

import numpy as np
import pytest
from straightline.verification.proof.reals.constants import last_place, simplest
from straightline.verification.proof.reals.field import Field
from straightline.verification.proof.terms.budget import Budget
from tables import table


@table(
    (1.4142135, 2**0.5),
    (0.70710677, 0.5**0.5),
    (0.7978846, (2 / math.pi) ** 0.5),
    (1e-5, 1e-5),
    (-0.33333334, -1 / 3),
    (0.59460354, 8**-0.25),
    (-0.29730177, -(128**-0.25)),
    (0.1234567, np.float32(0.1234567)),
)
def test_a_constant_is_the_simplest_number_that_rounds_to_it(number, same):
    field = Field(Budget())
    simple = simplest(field, np.float32(number))
    pi = field.atoms[field._numbers["pi", ()]] if ("pi", ()) in field._numbers else None
    if pi is not None:
        pi.value = complex(math.pi)
    assert field.value(simple).number.real == pytest.approx(float(same), rel=1e-12)


@pytest.mark.parametrize("number", [1, 0.5, 2, 0.1, 2**0.5, 1 / 3])
def test_different_floats_are_different_numbers(number):
    """Neighbors of a float may cancel it: (1.0000001 - 1) * 10000000 is not 0."""
    field, middle = Field(Budget()), np.float32(number)
    floats = [middle, np.nextafter(middle, np.float32(9)), np.nextafter(middle, np.float32(-9))]
    assert len({field.value(simplest(field, each)).number for each in floats}) == 3


@pytest.mark.parametrize("number", [1.0000001, 0.99999994, 0.50000006, 1.9999999])
def test_a_number_that_floats_hold_is_not_rounded(number):
    field = Field(Budget())
    assert simplest(field, np.float32(number)).number == float(np.float32(number))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_largest_float_has_a_last_place(dtype):
    largest = np.finfo(dtype).max
    below = np.nextafter(largest, dtype(0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        units = last_place(np.array([-largest, below, 1, 0], dtype))
    np.testing.assert_array_equal(units[:2], [largest - below] * 2)
    np.testing.assert_array_equal(units[2:], np.spacing(np.array([1, 0], dtype)))
