"""Softmax, LogSoftmax and Hardmax: along one axis, or over several at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....facts.polynomial import product
from .axes import axis_from_front, rank_of
from .registry import spelling

if TYPE_CHECKING:
    from ..function_symbols import Head
    from ..term_manager import Terms
    from ..terms import Args, Term

_ALONG_ONE_AXIS = 13


@spelling("Softmax", "LogSoftmax", "Hardmax")
def softmax(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Below 13 the axes from `axis` on are one: rows of a matrix (operator specification)."""
    (x,) = args
    assert x is not None
    rank, shape = rank_of(x), x.fact.shape
    axis = axis_from_front(head, args)
    axis = head.attribute("axis") if axis is None else axis
    if head.opset >= _ALONG_ONE_AXIS:
        given = head.attribute("axis")
        return None if given == axis else [terms.with_attributes(head, x, axis=axis)]
    if rank is None or shape is None or not 0 <= axis < rank:
        return None
    if axis == rank - 1:
        return [_along(terms, head, x, axis)]
    matrix = terms.view(x, (product(shape[:axis]), product(shape[axis:])))
    return [terms.view(_along(terms, head, matrix, 1), shape)]


def _along(terms: Terms, head: Head, x: Term, axis: int) -> Term:
    made = terms.heads.of(head.op.with_attributes(()), {"": _ALONG_ONE_AXIS})  # type: ignore[union-attr]
    return terms.with_attributes(made, x, axis=axis)
