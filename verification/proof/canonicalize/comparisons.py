"""Comparisons composed of others, where versions lack an operator or a type.

64-bit integers compare as doubles in two halves: x is high * unit + low, with high = x / unit and
low = x - high * unit. The lesser number has the lesser high half or, where these are equal, the
lesser low half. Quotients of both numbers round toward 0 (Div, operator specification); the halves
are exact as doubles where the unit is neither too small nor too large.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx

from ....ir import Operator
from ..terms.term import Args, Head, Term
from ..terms.term_manager import Terms, canonical_form

_FLOATS = frozenset([onnx.TensorProto.FLOAT16, onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE])
_OR_EQUAL = {"Less": "LessOrEqual", "Greater": "GreaterOrEqual"}
_ORDER = ("Less", "Greater")


@canonical_form("Or")
def or_equal(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Fold Or(less, equal) to LessOrEqual, as the function in onnx (12). The same for int64 that is
    compared in two halves."""
    for one, other in (args, args[::-1]):
        name = None if one is None else _OR_EQUAL.get(one.head.name)
        if one is None or name is None or other is None or not other.is_op("Equal"):
            continue
        if other.args in (one.args, one.args[::-1]):
            return terms.apply(terms.heads.of(Operator(name), {"": 16}), one.args)
    return by_halves(terms, args)


@canonical_form("Not")
def equal(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Fold Not(less or greater or NaN) of floats to Equal. A NaN is neither below a number nor
    above a smaller one."""
    parts = _parts(args[0])
    ordered = [p for p in parts if p.head.name in _ORDER]
    if len(ordered) != 2 or ordered[0].head is ordered[1].head:
        return None
    less, greater = sorted(ordered, key=lambda term: _ORDER.index(term.head.name))
    one, other = less.args
    if one is None or other is None or one.fact.elem_type not in _FLOATS:
        return None
    rest = [p for p in parts if p not in ordered and not _is_never(terms, p, less.args)]
    if not rest:
        return _nan(terms, one, other, greater)
    if greater.args != less.args or any(not p.is_op("IsNaN") for p in rest):
        return None
    if {p.args[0] for p in rest} != {
        term for term in (one, other) if not _is_a_number(terms, term)
    }:
        return None
    return terms.apply(terms.heads.of(Operator("Equal"), {"": 11}), (one, other))


def _is_a_number(terms: Terms, term: Term) -> bool:
    """Test whether a term is constant without NaN, so that no model tests for one."""
    tensor = terms.tensor(term)
    return tensor is not None and tensor.is_readable and not np.isnan(tensor.numpy()).any()


def _is_never(terms: Terms, term: Term, operands: Args) -> bool:
    """Test whether a term is false everywhere, and no larger than the operands broadcast to."""
    tensor = terms.tensor(term)
    if tensor is None or not tensor.is_readable or tensor.numpy().any():
        return False
    constants = [terms.tensor(operand) for operand in operands]
    return not tensor.dims or any(c is not None and c.dims == tensor.dims for c in constants)


def _nan(terms: Terms, x: Term, high: Term, greater: Term) -> Sequence[Term | None] | None:
    """Operand of Not(x < 1 or x > 0), which holds for NaN only."""
    below, above = terms.tensor(high), terms.tensor(greater.args[1])
    if greater.args[0] is not x or below is None or above is None:
        return None
    if below.size != 1 or above.size != 1 or not (above.numpy() < below.numpy()).all():
        return None
    rank = len(x.fact.shape or ())
    if len(below.dims) > rank or len(above.dims) > rank:
        return None
    return terms.apply(terms.heads.of(Operator("IsNaN"), {"": 20}), (x,))


def _parts(term: Term | None) -> list[Term]:
    """Operands of nested Or, down to a few levels."""
    if term is None:
        return []
    operands: list[Term] = []
    waiting = [term]
    while waiting and len(operands) + len(waiting) <= _MOST_PARTS:
        part = waiting.pop()
        if part.is_op("Or"):
            waiting.extend([arg for arg in part.args if arg is not None])
        else:
            operands.append(part)
    return [] if waiting else operands


_MOST_PARTS = 4

_WIDE = frozenset([onnx.TensorProto.INT64, onnx.TensorProto.UINT64])
_LEAST_UNIT, _MOST_UNIT = 1 << 11, 1 << 53


def by_halves(terms: Terms, args: Args) -> Sequence[Term | None] | None:
    """Fold the comparison of two halves to one. It reads Or(a > b, And(Not(b > a), c > d)), with a
    and b the high and c and d the low halves."""
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
    """Integers of which these are the halves."""
    parted = [_integer_of_halves(terms, *pair) for pair in zip(highs, lows, strict=True)]
    number_and_unit = next((numbers for numbers in parted if numbers is not None), None)
    if number_and_unit is None:
        return None
    number, unit = number_and_unit
    numbers: list[Term | None] = []
    for own, high, low in zip(parted, highs, lows, strict=True):
        if own is not None and own[1] == unit:
            numbers.append(own[0])
        else:
            numbers.append(_join_halves(terms, high, low, unit, number))
    return None if None in numbers else tuple(numbers)


def _integer_of_halves(
    terms: Terms, high: Term | None, low: Term | None
) -> tuple[Term, int] | None:
    """Integer of two halves, and the unit."""
    quotient, rest = _before_cast(high), _before_cast(low)
    if quotient is None or rest is None or not quotient.is_op("Div") or not rest.is_op("Sub"):
        return None
    number, divisor = quotient.args
    tensor = terms.tensor(divisor)
    if number is None or number.fact.elem_type not in _WIDE or tensor is None or tensor.dims:
        return None
    whole, unit = rest.args[1], int(tensor.numpy())
    if rest.args[0] is not number or whole is None or not whole.is_op("Mul"):
        return None
    if set(whole.args) != {quotient, divisor} or not _LEAST_UNIT <= unit <= _MOST_UNIT:
        return None
    return number, unit


def _before_cast(term: Term | None) -> Term | None:
    """Operand of a cast to double. A comparison with a constant may have lost it (`casts.py`)."""
    if term is not None and term.is_op("Cast") and term.fact.elem_type == onnx.TensorProto.DOUBLE:
        return term.args[0]
    return term


def _join_halves(
    terms: Terms, high: Term | None, low: Term | None, unit: int, like: Term
) -> Term | None:
    """Constant of two constant halves; None if they are none."""
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
