"""Comparisons said by other ones, where versions lack an operator or a type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import onnx

from ....ir import Operator
from .halves import by_halves
from .registry import spelling

if TYPE_CHECKING:
    from ..function_symbols import Head
    from ..term_manager import Terms
    from ..terms import Args, Term

_FLOATS = frozenset([onnx.TensorProto.FLOAT16, onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE])
_OR_EQUAL = {"Less": "LessOrEqual", "Greater": "GreaterOrEqual"}
_ORDER = ("Less", "Greater")


@spelling("Or")
def or_equal(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Less or equal, as its function in onnx has it (LessOrEqual 12, GreaterOrEqual 12); integers
    of 64 bits that are compared in two halves."""
    for one, other in (args, args[::-1]):
        name = None if one is None else _OR_EQUAL.get(one.head.name)
        if one is None or name is None or other is None or not other.is_op("Equal"):
            continue
        if other.args in (one.args, one.args[::-1]):
            return terms.apply(terms.heads.of(Operator(name), {"": 16}), one.args)
    return by_halves(terms, args)


@spelling("Not")
def equal(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Floats are equal that are neither less nor greater, nor NaN; NaN is neither below a number
    nor above a smaller one."""
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
    """Whether it is constant and has no NaN, so that nobody asks for one."""
    tensor = terms.tensor(term)
    return tensor is not None and tensor.is_readable and not np.isnan(tensor.numpy()).any()


def _is_never(terms: Terms, term: Term, operands: Args) -> bool:
    """Whether it is false everywhere, and broadcasts to what operands broadcast to: it has the
    shape of a constant one of them, or none."""
    tensor = terms.tensor(term)
    if tensor is None or not tensor.is_readable or tensor.numpy().any():
        return False
    constants = [terms.tensor(operand) for operand in operands]
    return not tensor.dims or any(c is not None and c.dims == tensor.dims for c in constants)


def _nan(terms: Terms, x: Term, high: Term, greater: Term) -> Sequence[Term | None] | None:
    """Not (x < 1 or x > 0) holds of NaN only."""
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
    """What stands on both sides of Or, inside each other up to a few levels."""
    if term is None:
        return []
    found: list[Term] = []
    waiting = [term]
    while waiting and len(found) + len(waiting) <= _MOST_PARTS:
        part = waiting.pop()
        if part.is_op("Or"):
            waiting.extend([arg for arg in part.args if arg is not None])
        else:
            found.append(part)
    return [] if waiting else found


_MOST_PARTS = 4
