"""Constants of a rewrite as functions of the original's constants, up to their rounding.

A rewrite that folds constants holds `w * s`, or `b @ w + c`, rounded to its type. Such a constant
counts as the exact function if each element is within the error of computing it in this type
(`constant_values`). The original may have the function but for a factor, a number or a vector along
an axis. A quotient of constants is an interval then, and the factor must lie in it.
"""

import hashlib
import math
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ....ir import Array
from .constant_values import ELEMENTS_OF_STEP, ConstantValues, Value
from .constants import is_short, last_place, simple_near
from .field import Field, Real
from .numbers import Numbers, is_power_of_two

ROUNDED = (
    "a constant that the rewrite holds is rounded from a function of constants that the original"
    " computes, within the error of computing it in the constant's type"
)

_UNITS = 2
"""Largest distance of a constant from a product in units in the last place: each of four roundings
is half a unit."""
_BUCKETS = 1 << 12
"""Buckets of quotients of products that differ by the factor e."""
_ROUNDOFFS = 16
"""Width of a bucket of norms, in units of the roundoff."""
_MOST_ROUNDINGS = 4
"""Largest relative error, in units of the roundoff, of a function whose norms are known."""
_LARGEST_RELATIVE = 2.0**-4
"""Largest relative error of an element whose quotient counts."""
_MINUS = Fraction(-1)
_MOST_CANDIDATES = 8
"""Limit of constants with which one is compared."""

_Key = tuple[str, int, int]
"""Kind, number of elements, and logarithm of a quotient."""


class Base(NamedTuple):
    """Constant, or function of constants.

    Attributes:
        array: its elements; None if they are computed anew.
    """

    real: Real
    shape: tuple[int, ...]
    array: Array | None = None


class Product(NamedTuple):
    """Constant as a product.

    Attributes:
        base: the constant that is multiplied.
        number: a number that is a factor.
        vector: a factor that varies along an axis; None for none.
    """

    base: Base
    number: Real
    vector: Base | None = None
    axis: int = 0


def assumptions(all_constants: "Iterable[RoundedConstants]") -> set[str]:
    """Assumptions about constants of a rewrite that count as functions of others."""
    accepted = [constants.accepted for constants in all_constants if constants.accepted]
    distances = {
        f"{name} of the rewrite is within {distance:.1e} of such a function"
        for each in accepted
        for name, distance in each.items()
    }
    return {ROUNDED, *distances} if accepted else distances


class RoundedConstants:
    """Constants of both models by their quotients.

    Args:
        floats: constants that count as functions, by the values of these.
    """

    def __init__(self, field: Field, values: ConstantValues, floats: dict[Hashable, bytes]) -> None:
        self.field = field
        self.accepted: dict[str, float] = {}
        self._floats = floats
        self._of_functions = values
        self.numbers = Numbers(field)
        self._bases: dict[_Key, list[Base]] = defaultdict(list)
        self._roundoffs: set[float] = set()
        self._pending: list[Real] = []
        self._observed: set[Hashable] = set()

    def add(self, array: Array, real: Real) -> None:
        """Register a finite constant, and its function."""
        roundoff = _roundoff(array)
        self._roundoffs.add(roundoff)
        self._register(Base(real, array.shape, array), array, [roundoff])

    def observe(self, real: Real) -> None:
        """Register functions of constants in a function of the original."""
        for part in self._of_functions.parts(real):
            key = _key_of_real(part)
            if key not in self._observed:
                self._observed.add(key)
                self._pending.append(part)

    def _register_observed(self) -> None:
        """Compute the functions that were observed, once a constant may be one of them."""
        pending, self._pending = self._pending, []
        for real in pending:
            value = self._of_functions.of(real)
            if value is None:
                continue
            if value.array.size == 1:
                self.numbers.add(float(value.array.reshape(())), real, is_computed=True)
            elif value.error.any():  # otherwise nothing rounds it
                base = Base(real, value.array.shape)
                self._register(base, value.array, sorted(self._roundoffs))
                if value.error.sum() > _MOST_ROUNDINGS * np.abs(value.array).sum():
                    self._bases[_key_of_cancelled(value.array)].append(base)

    def _register(self, base: Base, array: Array, roundoffs: Sequence[float]) -> None:
        keys = [_key_of_norms(array, roundoff) for roundoff in roundoffs]
        for key in (*keys, *[_key_of_corners(array, axis) for axis in range(array.ndim)]):
            if key is not None:
                self._bases[key].append(base)

    def number(self, number: Any) -> Real | None:
        """Find numbers of the original whose product is a number, up to its rounding.

        Args:
            number: a finite numpy float.
        """
        self._register_observed()
        value, sign = abs(float(number)), Fraction(-1 if number < 0 else 1)
        real = self.numbers.exact(value)
        if real is None and not is_short(number):
            distance = _UNITS * float(last_place(number))
            ends = value - distance, value + distance
            real = self.numbers.computed(*ends) or self.numbers.product(*ends)
            exact = None if real is None else self._float(real)
            if real is None or exact is None or float(type(number)(exact)) == exact:
                return None  # which nothing rounds
            if not self._is_only(np.abs(number), np.array(exact)):
                return None
            self._accept("number", abs(1 - exact / value))
        return None if real is None else self.field.scale(real, sign)

    def product(self, array: Array) -> Product | None:
        """Find a function of constants of which a finite constant is the rounded value.

        The constant is the value, times a number, or times a vector along an axis and a number.
        """
        self._register_observed()
        product = self._times_number(array) or self._times_vector(array)
        return product or self._times_sign(array)

    def _is_only(self, constant: Array, exact: Array) -> bool:
        """Test whether no other constant counts as a value: different floats are different."""
        digests = [
            hashlib.blake2b(np.ascontiguousarray(each).tobytes(), digest_size=20).digest()
            for each in (exact.astype(constant.dtype), constant)
        ]
        key = constant.dtype, constant.size, digests[0]
        return self._floats.setdefault(key, digests[1]) == digests[1]

    def _times_number(self, array: Array) -> Product | None:
        """A function of constants times a number."""
        flat, one = array.reshape(-1), self.field.one
        for base in self._near(_key_of_norms(array, _roundoff(array))):
            value = self._value_of(base, flat.shape)
            if value is None:
                continue
            rounds = bool(value.error.any())
            for number in (one, self.field.scale(one, _MINUS)) if rounds else ():
                if self._counts_as(array, [value], number, base.real):
                    return Product(base, number)
            factor = self._number_in(*_quotients(flat, value, (0,)))
            if factor is None or (not rounds and is_power_of_two(factor)):  # which rounds nothing
                continue
            if self._counts_as(array, [value], factor):
                return Product(base, factor)
        return None

    def _times_sign(self, array: Array) -> Product | None:
        """A sum of constants that nearly cancel, or its negative: its norms are hardly known."""
        one = self.field.one
        for base in self._near(_key_of_cancelled(array)):
            value = self._value_of(base, (array.size,))
            for sign in (one, self.field.scale(one, _MINUS)):
                if value is not None and self._counts_as(array, [value], sign, base.real):
                    return Product(base, sign)
        return None

    def _times_vector(self, array: Array) -> Product | None:
        """A function of constants times a vector and a number."""
        for axis in range(array.ndim):
            others = tuple([a for a in range(array.ndim) if a != axis])
            along = tuple([-1 if a == axis else 1 for a in range(array.ndim)])
            for base in self._near(_key_of_corners(array, axis)):
                if [size for size in base.shape if size != 1] != [n for n in array.shape if n != 1]:
                    continue
                value = self._value_of(base, array.shape)
                if value is None:
                    continue
                ends = _quotients(array, value, others)
                for number, vector in self._vectors_in(*ends, _roundoff(array)):
                    factor = self._value_of(vector, along)
                    if factor is not None and self._counts_as(array, [value, factor], number):
                        return Product(base, number, vector, axis)
        return None

    def _counts_as(
        self, array: Array, factors: Sequence[Value], number: Real, total: Real | None = None
    ) -> bool:
        """Test whether a constant is a product within the error of computing it.

        Args:
            number: a number that is a factor.
            total: the only function, whose partial sums may be rounded although it is a float.
        """
        scale = self._float(number)
        if scale is None:
            return False
        exact, error = np.array(scale), np.zeros(())
        for value in factors:
            whole = value.array.reshape(-1) if len(factors) == 1 else value.array
            bound = value.error.reshape(whole.shape)
            error = np.abs(exact) * bound + error * np.abs(whole)
            exact = exact * whole
        difference = np.abs(array.astype(np.float64).reshape(exact.shape) - exact)
        bound = _distance(array).reshape(exact.shape) + _roundoff(array) * error
        if (exact.astype(array.dtype) == exact).all():
            rounds = total and self._of_functions.rounded_sums(total, _roundoff(array))
            bound = bound * (0 if rounds is None else rounds.reshape(-1))
        if not (difference <= bound).all() or not self._is_only(array, exact):
            return False
        self._accept(_name_of(array), float(difference.max() / np.abs(exact).max()))
        return True

    def _float(self, real: Real) -> float | None:
        """Value of a number."""
        value = self._of_functions.of(real)
        return float(value.array.reshape(())) if value and value.array.size == 1 else None

    def _accept(self, name: str, distance: float) -> None:
        """Record a constant that counts as a function, and its largest relative distance."""
        self.accepted[name] = max(self.accepted.get(name, 0.0), distance)

    def _value_of(self, base: Base, shape: tuple[int, ...]) -> Value | None:
        if base.array is not None:
            array = base.array.reshape(shape).astype(np.float64)
            return Value(array, np.zeros(array.shape))
        value = self._of_functions.of(base.real)
        return value and Value(value.array.reshape(shape), value.error.reshape(shape))

    def _near(self, key: _Key | None) -> Iterator[Base]:
        """Constants whose quotients are near."""
        if key is None:
            return
        kind, size, bucket = key
        # Rounding may move a quotient across the border of a bucket.
        for near in (bucket, bucket - 1, bucket + 1):
            for base in self._bases.get((kind, size, near), ())[:_MOST_CANDIDATES]:
                self.field.budget.step(1 + size // ELEMENTS_OF_STEP)
                yield base

    def _number_in(self, low: Array, high: Array) -> Real | None:
        """A number of the models, or a simple one, in an interval."""
        least, largest = float(low), float(high)
        if not (math.isfinite(least) and least <= largest and least * largest > 0):
            return None
        sign = Fraction(1 if least > 0 else -1)
        least, largest = sorted((abs(least), abs(largest)))
        number = self.numbers.near(least, largest)
        if number is not None:
            return self.field.scale(number, sign)
        middle = np.float32((least + largest) / 2)
        real = simple_near(self.field, middle)
        value = self._float(real)
        if real.number == Fraction(float(middle)) or value is None:
            return None
        return self.field.scale(real, sign) if least <= value <= largest else None

    def _vectors_in(self, low: Array, high: Array, roundoff: float) -> Iterator[tuple[Real, Base]]:
        """Numbers and vectors of the models whose products are in intervals."""
        if not (np.isfinite(low) & np.isfinite(high) & (low <= high)).all():
            return
        for base in self._near(_key_of_norms((low + high) / 2, roundoff)):
            vector = self._value_of(base, low.shape)
            if vector is None:
                continue
            with np.errstate(all="ignore"):
                ends = np.array([low / vector.array, high / vector.array])
                width = np.abs(ends).max(axis=0) * _relative(vector, roundoff)
            low_ends, high_ends = ends.min(axis=0) - width, ends.max(axis=0) + width
            number = self._number_in(low_ends.max(), high_ends.min())
            if number is not None:
                yield number, base


def _key_of_real(real: Real) -> Hashable:
    items = real.monomials.items()
    return frozenset([(m, c.numerator, c.denominator) for m, c in items])


def _roundoff(array: Array) -> float:
    """Largest relative rounding of one operation in the type of an array."""
    return float(np.finfo(array.dtype).eps) / 2


def _name_of(array: Array) -> str:
    return f"{array.dtype}{list(array.shape)}"


def _distance(array: Array) -> Array:
    """Distance within which a constant is a product."""
    return np.asarray(_UNITS * last_place(array).astype(np.float64))


def _relative(value: Value, roundoff: float) -> Array:
    """Relative error of a value, with room for that of quotients."""
    return (1 + _LARGEST_RELATIVE) * roundoff * value.error / np.abs(value.array)


def _quotients(array: Array, base: Value, axes: tuple[int, ...]) -> tuple[Array, Array]:
    """Intervals of the factors, equal along axes, by which a value becomes a constant.

    They are empty where the constant or the value is 0 and the other is not.
    """
    number, divisor = array.astype(np.float64), base.array
    with np.errstate(all="ignore"):
        relative = _relative(base, _roundoff(array))
        distance = _distance(array) + np.abs(number) * relative
        ends = (number - distance) / divisor, (number + distance) / divisor
    low, high = np.minimum(*ends), np.maximum(*ends)
    is_unsure = relative > _LARGEST_RELATIVE
    # A sum that nearly cancels may be off by any factor.
    low[is_unsure], high[is_unsure] = -np.inf, np.inf
    is_zero = divisor == 0
    low[is_zero], high[is_zero] = -np.inf, np.inf
    is_wrong = is_zero != (number == 0)
    low[is_wrong], high[is_wrong] = np.inf, -np.inf
    return low.max(axis=axes), high.min(axis=axes)


def _key_of_norms(array: Array, roundoff: float) -> _Key | None:
    """Key that a constant nearly shares with products with numbers: the quotient of its norms."""
    sizes = np.abs(array.reshape(-1).astype(np.float64))
    largest = float(sizes.max())
    if not largest or not math.isfinite(largest):
        return None
    sizes /= largest
    total = float(sizes.sum())
    squares = np.square(sizes, out=sizes)  # a product of vectors would wait for threads
    quotient = math.log(total / math.sqrt(float(squares.sum())))
    return "norms", array.size, round(quotient / (_ROUNDOFFS * roundoff))


def _key_of_cancelled(array: Array) -> _Key:
    """Key of functions whose rounding may change the quotient of their norms."""
    return "cancelled", array.size, 0


def _key_of_corners(array: Array, axis: int) -> _Key | None:
    """Key that a constant nearly shares with its products with vectors along an axis."""
    if array.shape[axis] in (1, array.size):
        return None
    rows = np.moveaxis(array, axis, 0)
    # In the quotient of these four, the factors of both rows cancel.
    corners = [abs(float(rows[a].flat[b])) for a, b in ((0, 0), (-1, -1), (0, -1), (-1, 0))]
    if not all(corners):
        return None
    logarithms = [math.log(each) for each in corners]
    quotient = sum(logarithms[:2]) - sum(logarithms[2:])
    place = sum(size != 1 for size in array.shape[:axis])
    return f"corners {place}", array.size, round(quotient * _BUCKETS)
