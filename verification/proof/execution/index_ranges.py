"""Demands of nodes that take positions along an axis: all indices lie in it."""

from __future__ import annotations

from ..terms.term import Args, Head, Term
from ..terms.term_manager import Terms

_BY_TUPLES = ("GatherND", "ScatterND")
_INDEXED = ("Gather", "GatherElements", "Scatter", "ScatterElements", *_BY_TUPLES)
"""Operators whose second operand holds positions along an axis of the first one."""


def index_range(terms: Terms, head: Head, args: Args) -> list[tuple[Head, tuple[Term]]]:
    """Demand that all indices are positions in an axis of a size, whatever its place."""
    shape = None if not args or args[0] is None else args[0].fact.shape
    index = args[1] if len(args) > 1 else None
    if not shape or index is None or head.name not in _INDEXED:
        return []
    axis = head.attribute("axis", 0)
    if head.name in _BY_TUPLES:
        width = index.fact.shape[-1].value if index.fact.shape else None
        axis = 0 if width == 1 and not head.attribute("batch_dims", 0) else len(shape)
    if not -len(shape) <= axis < len(shape):
        return []
    return [(terms.heads.own("indices", shape[axis]), (bare(terms, index),))]


def bare(terms: Terms, term: Term) -> Term:
    """Single number as a scalar, and other terms without a view."""
    if is_one(term):
        return terms.view(term, ())
    return term.operands[0] if term.head.name == "view" else term


def is_one(term: Term | None) -> bool:
    """Test whether a tensor has one element."""
    shape = None if term is None else term.fact.shape
    return shape is not None and all(dim.value == 1 for dim in shape)
