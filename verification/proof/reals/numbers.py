"""Numbers that models multiply by, up to powers of two: scaling by these is exact."""

import math
from bisect import bisect_left, insort
from collections.abc import Hashable
from fractions import Fraction

import numpy as np

from ....ir import Array
from .constant_values import ELEMENTS_OF_STEP
from .field import Field, Real

_LEAST = 2.0**-100
"""Least number, and inverse of the largest one."""
_MOST_FACTORS = 64
"""Limit of numbers whose products are compared with a number."""

_Table = tuple[dict[float, Real], list[float]]
"""Functions of numbers from 1 to 2, and these numbers in order."""


class Numbers:
    """Positive numbers of both models, their inverses and products."""

    def __init__(self, field: Field) -> None:
        self.field = field
        self._all: _Table = ({}, [])
        self._computed: _Table = ({}, [])
        self._constants: set[Hashable] = set()
        self._products: tuple[Array, Array] | None = None
        self.add(1.0, field.one)

    def add(self, value: float, real: Real, is_computed: bool = False) -> None:
        """Register a number and its inverse.

        Args:
            value: the number as a float.
            is_computed: whether a model computes it of others.
        """
        if not _LEAST < abs(value) < 1 / _LEAST or not real.monomials:
            return
        mantissa, power = _normal(abs(value))
        real = self.field.scale(real, Fraction(math.copysign(1.0, value)) / power)
        if is_computed and _up_to_powers(real) in self._constants:
            return
        if not is_computed:
            self._constants.add(_up_to_powers(real))
        self._insert(mantissa, real, is_computed)
        mantissa, power = _normal(1 / mantissa)
        self._insert(mantissa, self.field.scale(self.field.power(real, -1), 1 / power), True)

    def _insert(self, mantissa: float, real: Real, is_computed: bool) -> None:
        is_computed &= mantissa != 1.0  # which nothing rounds
        for reals, mantissas in (self._all, self._computed)[: 1 + is_computed]:
            if mantissa not in reals:
                self._products = None
                reals[mantissa] = real
                insort(mantissas, mantissa)

    def exact(self, value: float) -> Real | None:
        """Number of a value."""
        if not _LEAST < value < 1 / _LEAST:
            return None
        mantissa, power = _normal(value)
        real = self._all[0].get(mantissa)
        return None if real is None else self.field.scale(real, power)

    def near(self, least: float, largest: float) -> Real | None:
        """Number in a short interval of positive numbers, the nearest to its middle."""
        return self._nearest(self._all, least, largest)

    def computed(self, least: float, largest: float) -> Real | None:
        """Number that a model computes in a short interval of positive numbers."""
        return self._nearest(self._computed, least, largest)

    def _nearest(self, table: _Table, least: float, largest: float) -> Real | None:
        reals, mantissas = table
        middle = (least + largest) / 2
        if not mantissas or not _LEAST < middle < 1 / _LEAST:
            return None
        mantissa, power = _normal(middle)
        distance = (largest - least) / 2 / float(power)
        index = bisect_left(mantissas, mantissa)
        choices = [(each, power) for each in mantissas[max(index - 1, 0) : index + 1]]
        # Numbers just above 1 and just below 2 are neighbours, by other powers of two.
        choices += [(mantissas[0], 2 * power), (mantissas[-1], power / 2)]
        distances = [abs(each * float(scale / power) - mantissa) for each, scale in choices]
        nearest = min(range(len(choices)), key=distances.__getitem__)
        if distances[nearest] > distance:
            return None
        each, scale = choices[nearest]
        return self.field.scale(reals[each], scale)

    def product(self, least: float, largest: float) -> Real | None:
        """Product of two numbers in a short interval of positive numbers."""
        reals, mantissas = self._all
        if self._products is None:
            factors = np.array(mantissas[:_MOST_FACTORS])
            factors = factors[factors != 1]
            rows, columns = np.triu_indices(factors.size)
            self.field.budget.step(1 + rows.size // ELEMENTS_OF_STEP)
            self._products = factors[rows], factors[columns]
        mantissa, power = _normal((least + largest) / 2)
        products = self._products[0] * self._products[1]
        if not products.size:
            return None
        distances = np.abs(np.where(products < 2, products, products / 2) - mantissa)
        nearest = int(np.argmin(distances))
        if distances[nearest] > (largest - least) / 2 / float(power):
            return None
        real = self.field.multiply(*[reals[float(each[nearest])] for each in self._products])
        return self.field.scale(real, power if products[nearest] < 2 else power / 2)


def is_power_of_two(real: Real) -> bool:
    """Test for a power of two, or its negative: scaling by it rounds nothing."""
    return real.number is not None and abs(_odd(real.number)) == 1


def _up_to_powers(real: Real) -> Hashable:
    """Key of a number, which its products with powers of two share."""
    return frozenset([(monomial, _odd(c)) for monomial, c in real.monomials.items()])


def _odd(number: Fraction) -> Fraction:
    """Fraction without factors of two."""
    numerator, denominator = number.numerator, number.denominator
    return Fraction(
        numerator // (numerator & -numerator), denominator // (denominator & -denominator)
    )


def _normal(value: float) -> tuple[float, Fraction]:
    """Positive number as one from 1 to 2, and a power of two."""
    mantissa, exponent = math.frexp(value)
    return 2 * mantissa, Fraction(2) ** (exponent - 1)
