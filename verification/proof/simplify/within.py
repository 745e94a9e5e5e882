"""Whether places lie in a tensor, where they depend on sizes or on the trip of a loop."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....facts.polynomial import Dimension

if TYPE_CHECKING:
    from ..term_manager import Terms


def is_index(terms: Terms, place: Dimension, size: Dimension) -> bool:
    """Whether a place is in an axis, or a node that reads there fails: not below 0 for certain.

    A place behind the end is an error at run time, so it need not be excluded; a node that fails
    for certain is no part of anything.
    """
    return place.less(size) is not False and _never_negative(terms, place)


def is_part(terms: Terms, start: Dimension, length: Dimension, size: Dimension) -> bool:
    """Whether so many elements from a start on are in an axis of a size, on every trip."""
    inside = (start, length, size - start - length)
    return all(_never_negative(terms, number) for number in inside)


def _never_negative(terms: Terms, number: Dimension) -> bool:
    """Whether it is at least 0, with the trips of loops anywhere from 0 to the last one."""
    for symbol in sorted(number.symbols & terms.limits.keys()):
        factor = number.terms.get((symbol,), 0)
        if any(symbol in monomial and monomial != (symbol,) for monomial in number.terms):
            return False
        if factor < 0:
            number = number.replaced({symbol: terms.limits[symbol] - 1})
    return number.less(0) is False
