"""Float constants as the numbers that they round."""

import math
from fractions import Fraction
from typing import Any

import numpy as np

from .field import HALF, Field, Real

SIMPLE_CONSTANTS = "float constants are the simplest numbers within a unit in the last place"

_DIGITS = 6
_DENOMINATOR = 64
"""Most decimal digits, and largest denominator, of a simple number."""
_FEW_DIGITS = 4
"""Most decimal digits of a number that is hardly rounded by chance."""
_LARGEST_SIZE = 4096
"""Largest size of a head, by whose fourth root queries and keys are divided each."""


def simplest(field: Field, number: Any) -> Real:
    """Simplest number within a unit in the last place: a short decimal, a fraction, a root of a
    fraction, such a number times a root of pi, or the fourth root of a size's inverse; otherwise
    the float itself. Different floats of a type are different numbers.

    Args:
        number: a finite numpy float of the constant's type.
    """
    value = float(number)
    real = simple_near(field, number, is_constant=True)
    key = str(getattr(number, "dtype", float)), frozenset(real.monomials.items())
    if field.floats.setdefault(key, value) != value:
        return field.number(Fraction(value))
    return real


def last_place(numbers: Any) -> Any:
    """Units in the last place of finite floats, of the largest float, too."""
    sizes = np.abs(numbers)
    with np.errstate(over="ignore"):
        units = np.spacing(sizes)
    return np.where(np.isfinite(units), units, 2 * np.spacing(sizes / 2))


def simple_near(field: Field, number: Any, is_constant: bool = False) -> Real:
    """Simple number within a unit in the last place of a float; otherwise the float.

    Args:
        number: a finite numpy float.
        is_constant: whether the simple number must be one that is rounded to a float.
    """
    value, near = float(number), _is_rounded if is_constant else _is_near
    text, digits = _decimal(number)
    if value == 0 or digits <= _DIGITS:
        return field.number(Fraction(text))
    unit = float(last_place(number))
    sign = -1 if value < 0 else 1
    for pi_power in (0, -1, 1):
        scaled = value * value * math.pi**-pi_power
        plain = Fraction(abs(value)).limit_denominator(_DENOMINATOR)
        if not pi_power and near(float(plain), number, unit):
            return field.number(sign * plain)
        square = Fraction(scaled).limit_denominator(_DENOMINATOR)
        if square and near(math.sqrt(float(square) * math.pi**pi_power), number, unit):
            root = field.power(field.number(square), HALF)
            power = field.power(pi(field), HALF * pi_power) if pi_power else field.one
            return field.scale(field.multiply(root, power), Fraction(sign))
    size = round(abs(value) ** -4) if _LARGEST_SIZE**-0.25 <= abs(value) < 1 else 0
    if size and near(size**-0.25, number, unit):
        return field.scale(field.power(field.number(size), Fraction(-1, 4)), Fraction(sign))
    return field.number(Fraction(value))


def _is_near(size: float, number: Any, unit: float) -> bool:
    return abs(size - abs(float(number))) <= unit


def _is_rounded(size: float, number: Any, unit: float) -> bool:
    """Test whether a constant may be a number of some size, rounded. A number that its type holds
    is not rounded."""
    is_held = float(type(number)(size)) == size
    return abs(float(number)) == size if is_held else _is_near(size, number, unit)


def is_short(number: Any) -> bool:
    """Test whether a float is a decimal of few digits."""
    return _decimal(number)[1] <= _FEW_DIGITS


def _decimal(number: Any) -> tuple[str, int]:
    """Shortest decimal that rounds to a float, and its digits."""
    is_numpy = hasattr(number, "dtype")
    text = np.format_float_scientific(number, trim="-") if is_numpy else repr(float(number))
    return text, len(text.split("e")[0].strip("-").replace(".", ""))


def pi(field: Field) -> Real:
    """Ratio of a circle's circumference to its diameter."""
    return field.atom("pi", (), is_positive=True)
