from fractions import Fraction

import pytest
from straightline.verification.proof.reals.field import Field
from straightline.verification.proof.reals.numbers import Numbers
from straightline.verification.proof.terms.budget import Budget
from tables import table

THIRD = Fraction(1, 3)


@pytest.fixture
def numbers():
    result = Numbers(Field(Budget()))
    for number in (THIRD, Fraction(7), Fraction(-11, 10)):
        result.add(float(number), result.field.number(number))
    return result


@table(THIRD, 8 * THIRD, 1 / THIRD, Fraction(7, 1024), Fraction(11, 20))
def test_numbers_are_found_with_inverses_and_powers_of_two(number, numbers):
    assert numbers.exact(float(number)).number == number
    near = float(number) * (1 + 1e-7)
    assert numbers.near(near * (1 - 2e-7), near * (1 + 2e-7)).number == number
    assert numbers.near(near, near * (1 + 1e-8)) is None


@table(7 * THIRD, Fraction(77, 10), Fraction(70, 11), 49, 8 * THIRD**2)
def test_products_are_found(number, numbers):
    least, largest = float(number) * (1 - 1e-7), float(number) * (1 + 1e-7)
    assert numbers.near(least, largest) is None
    assert numbers.product(least, largest).number == number
    assert numbers.product(largest, largest * (1 + 1e-8)) is None


def test_numbers_beside_a_power_of_two_are_found(numbers):
    numbers.add(2 - 2**-30, numbers.field.number(Fraction(2 - 2**-30)))
    assert numbers.near(2 - 2**-40, 2 + 2**-40).number == 2
    assert numbers.near(4 - 2**-28, 4 - 2**-29).number == 4 - Fraction(2) ** -29
