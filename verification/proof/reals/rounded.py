"""Constants of a rewrite as products of constants of the original, up to their rounding.

A rewrite that folds a factor into weights holds `w * s`, rounded to its type. Such a constant is
the exact product if each element is within some units in the last place of it: that of `w * s`, of
`s`, and of a reciprocal in between. A quotient of constants is not one number then, but an
interval, and the factor must lie in it.
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ....ir import Array
from .constants import simple_near
from .field import Field, Real

ROUNDED = (
    "a constant that the rewrite holds is rounded from the product of constants that the original"
    " computes, by at most two units in the last place"
)

_UNITS = 2
"""Largest distance of a constant from the product: each of four roundings is half a unit."""
_LEAST = 2.0**-100
"""Least factor, and inverse of the largest one."""
_BUCKETS = 1 << 12
"""Buckets of quotients that differ by the factor e."""
_MOST_CANDIDATES = 8
"""Limit of constants with which one is compared."""
_ELEMENTS_OF_STEP = 256
"""Elements of constants that are compared in a step."""


_Key = tuple[str, int, int]
"""Kind, number of elements, and logarithm of a quotient."""


class Product(NamedTuple):
    """Constant as a product.

    Attributes:
        base: the constant that is multiplied, as a function of its flat elements.
        number: a number that is a factor.
        vector: a factor that varies along an axis; None for none.
        axis: this axis.
    """

    base: Real
    number: Real
    vector: Real | None = None
    axis: int = 0


class _Base(NamedTuple):
    array: Array
    real: Real


class RoundedConstants:
    """Constants of both models by their quotients.

    Args:
        field: the field of functions.
    """

    def __init__(self, field: Field) -> None:
        self.field = field
        self.is_used = False
        self._values: list[float] = []
        self._numbers: dict[float, Real] = {}
        self._bases: dict[_Key, list[_Base]] = defaultdict(list)
        self.add_number(1.0, field.one)

    def add_number(self, value: float, real: Real) -> None:
        """Register a number that a model may multiply or divide by."""
        size, sign = abs(value), math.copysign(1.0, value)
        if _LEAST < size < 1 / _LEAST and size not in self._numbers:
            real = self.field.scale(real, Fraction(sign))
            for each, function in ((size, real), (1 / size, self.field.power(real, -1))):
                if each not in self._numbers:
                    self._numbers[each] = function
                    insort(self._values, each)

    def add(self, array: Array, real: Real) -> None:
        """Register a finite constant, and its function as a vector of all elements."""
        for key in _keys(array):
            if key is not None:
                self._bases[key].append(_Base(array, real))

    def product(self, array: Array) -> Product | None:
        """Find constants of which a finite constant is the product, rounded to its type.

        The constant is another one times a number, or times a vector along its first or last axis
        and a number.
        """
        result = self._times_number(array) or self._times_vector(array)
        self.is_used |= result is not None
        return result

    def _times_number(self, array: Array) -> Product | None:
        """A constant times a number."""
        flat = array.reshape(-1)
        for base in self._near(_keys(array)[0]):
            number = self._number_in(*_quotients(flat, base.array.reshape(-1), (0,)))
            if number is not None and number.number != 1:  # a factor of 1 rounds nothing
                return Product(base.real, number)
        return None

    def _times_vector(self, array: Array) -> Product | None:
        """A constant times a vector and a number."""
        for base in self._near(_keys(array)[1]):
            if base.array.shape != array.shape:
                continue
            for axis in (0, array.ndim - 1):
                others = tuple([a for a in range(array.ndim) if a != axis])
                factors = self._vector_in(*_quotients(array, base.array, others))
                if factors is not None:
                    return Product(base.real, *factors, axis)
        return None

    def _near(self, key: _Key | None) -> Iterator[_Base]:
        """Constants whose quotients are near."""
        if key is None:
            return
        kind, size, bucket = key
        for near in (bucket, bucket - 1, bucket + 1):
            for base in self._bases.get((kind, size, near), ())[:_MOST_CANDIDATES]:
                self.field.budget.step(1 + size // _ELEMENTS_OF_STEP)
                yield base

    def _number_in(self, low: Array, high: Array) -> Real | None:
        """A number of the models, or a simple one, in an interval."""
        least, largest = float(low), float(high)
        if not (math.isfinite(least) and least <= largest and least * largest > 0):
            return None
        sign = Fraction(1 if least > 0 else -1)
        least, largest = sorted((abs(least), abs(largest)))
        index = bisect_left(self._values, least)
        if index < len(self._values) and self._values[index] <= largest:
            return self.field.scale(self._numbers[self._values[index]], sign)
        middle = np.float32((least + largest) / 2)
        real = simple_near(self.field, middle)
        value = _value(self.field, real)
        if real.number == Fraction(float(middle)) or value is None:
            return None
        return self.field.scale(real, sign) if least <= value <= largest else None

    def _vector_in(self, low: Array, high: Array) -> tuple[Real, Real] | None:
        """A number and a vector of the models whose product is in intervals."""
        if not (np.isfinite(low) & np.isfinite(high) & (low <= high)).all():
            return None
        of_number, _ = _keys((low + high) / 2)
        for base in self._near(of_number):
            vector = base.array.reshape(-1).astype(np.float64)
            with np.errstate(all="ignore"):
                ends = low / vector, high / vector
            number = self._number_in(np.minimum(*ends).max(), np.maximum(*ends).min())
            if number is not None:
                return number, base.real
        return None


def _quotients(array: Array, base: Array, axes: tuple[int, ...]) -> tuple[Array, Array]:
    """Intervals of the factors, equal along axes, by which a constant becomes another one.

    They are empty where one of the constants is 0 and the other is not.
    """
    value, divisor = array.astype(np.float64), base.astype(np.float64)
    distance = _UNITS * np.spacing(np.abs(array)).astype(np.float64)
    with np.errstate(all="ignore"):
        ends = (value - distance) / divisor, (value + distance) / divisor
    low, high = np.minimum(*ends), np.maximum(*ends)
    is_zero = divisor == 0
    low[is_zero], high[is_zero] = -np.inf, np.inf
    is_wrong = is_zero != (value == 0)
    low[is_wrong], high[is_wrong] = np.inf, -np.inf
    return low.max(axis=axes), high.min(axis=axes)


def _keys(array: Array) -> tuple[_Key | None, _Key | None]:
    """Keys that a constant nearly shares with products of it.

    The first is for products with a number, the second for those with a vector along the first or
    the last axis.
    """
    flat = array.reshape(-1)
    (places,) = np.nonzero(flat)
    if not places.size:
        return None, None
    of_number = _key("number", array.size, [flat[places[-1]]], [flat[places[0]]])
    if array.ndim < 2 or 1 in (array.shape[0], array.shape[-1]):
        return of_number, None
    first, last = (array[end].reshape(-1, array.shape[-1])[0] for end in (0, -1))
    return of_number, _key("vector", array.size, [first[0], last[-1]], [first[-1], last[0]])


def _key(kind: str, size: int, above: Sequence[Any], below: Sequence[Any]) -> _Key | None:
    """Key of a quotient of products of elements."""
    elements = [abs(float(each)) for each in (*above, *below)]
    if not all(elements):
        return None
    logarithms = [math.log(each) for each in elements]
    quotient = sum(logarithms[: len(above)]) - sum(logarithms[len(above) :])
    return kind, size, round(quotient * _BUCKETS)


def _value(field: Field, real: Real) -> float | None:
    """Value of a function of numbers, their roots and powers of pi only."""
    total = 0.0
    for monomial, coefficient in real.monomials.items():
        part = float(coefficient)
        for number, exponent in monomial:
            atom = field.atoms[number]
            constant = None if atom.root is None else atom.root.number
            if constant is None and atom.key != "pi":
                return None
            part *= (math.pi if constant is None else float(constant)) ** float(exponent)
        total += part
    return total
