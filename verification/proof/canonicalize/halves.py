"""Integers of 64 bits that are compared as doubles, in two halves, where versions lack the type.

x is high * unit + low, with high = x / unit and low = x - high * unit. Of two such numbers the one
is less whose high part is or, where those are equal, whose low part is. Quotients of integers are
rounded toward 0 (Div, operator specification), those of both numbers; the halves are exact as
doubles where the unit is neither too small nor too large.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import onnx

from ....ir import Operator

if TYPE_CHECKING:
    from ..term_manager import Terms
    from ..terms import Args, Term

_WIDE = frozenset([onnx.TensorProto.INT64, onnx.TensorProto.UINT64])
_LEAST_UNIT, _MOST_UNIT = 1 << 11, 1 << 53


def by_halves(terms: Terms, args: Args) -> Sequence[Term | None] | None:
    """Or(a > b, And(Not(b > a), c > d)), with a and b the high, c and d the low parts, as one
    comparison."""
    for decided, rest in (args, args[::-1]):
        if decided is None or rest is None or decided.head.name not in ("Less", "Greater"):
            continue
        for undecided, low in (rest.args, rest.args[::-1]) if rest.is_op("And") else ():
            against = (
                undecided.args[0] if undecided is not None and undecided.is_op("Not") else None
            )
            if against is None or low is None or low.head.name != decided.head.name:
                continue
            if against.head is not decided.head or against.args != decided.args[::-1]:
                continue
            pair = _whole(terms, decided.args, low.args)
            if pair is not None:
                return terms.apply(terms.heads.of(Operator(decided.head.name), {"": 16}), pair)
    return None


def _whole(terms: Terms, highs: Args, lows: Args) -> Args | None:
    """The numbers of which these are the halves."""
    parted = [_parted(terms, *pair) for pair in zip(highs, lows, strict=True)]
    known = next((found for found in parted if found is not None), None)
    if known is None:
        return None
    number, unit = known
    found: list[Term | None] = []
    for own, high, low in zip(parted, highs, lows, strict=True):
        if own is not None and own[1] == unit:
            found.append(own[0])
        else:
            found.append(_joined(terms, high, low, unit, number))
    return None if None in found else tuple(found)


def _parted(terms: Terms, high: Term | None, low: Term | None) -> tuple[Term, int] | None:
    """What is parted, and by which unit."""
    quotient, rest = _before_cast(high), _before_cast(low)
    if quotient is None or rest is None or not quotient.is_op("Div") or not rest.is_op("Sub"):
        return None
    number, divisor = quotient.args
    told = terms.tensor(divisor)
    if number is None or number.fact.elem_type not in _WIDE or told is None or told.dims:
        return None
    whole, unit = rest.args[1], int(told.numpy())
    if rest.args[0] is not number or whole is None or not whole.is_op("Mul"):
        return None
    if set(whole.args) != {quotient, divisor} or not _LEAST_UNIT <= unit <= _MOST_UNIT:
        return None
    return number, unit


def _before_cast(term: Term | None) -> Term | None:
    """What is compared as doubles; beside a constant that may be said already (`casts.py`)."""
    if term is not None and term.is_op("Cast") and term.fact.elem_type == onnx.TensorProto.DOUBLE:
        return term.args[0]
    return term


def _joined(
    terms: Terms, high: Term | None, low: Term | None, unit: int, like: Term
) -> Term | None:
    """A constant of which these are the halves; None where they are no such."""
    parts = [terms.tensor(term) for term in (high, low)]
    unread = any(part is None or not part.is_readable for part in parts)
    if unread or parts[0] is None or not like.fact.elem_type:
        return None
    highs, lows = ([int(n) for n in p.numpy().reshape(-1)] for p in parts if p is not None)
    numbers = [h * unit + n for h, n in zip(highs, lows, strict=True)]
    dtype = onnx.helper.tensor_dtype_to_np_dtype(like.fact.elem_type)
    limits = np.iinfo(dtype)
    for number, h in zip(numbers, highs, strict=True):
        quotient = abs(number) // unit if number >= 0 else -(abs(number) // unit)
        if not limits.min <= number <= limits.max or h != quotient:
            return None
    return terms.constant(np.array(numbers, dtype).reshape(parts[0].dims))
