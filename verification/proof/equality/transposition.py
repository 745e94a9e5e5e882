"""Transposed rows: Softmax and the like along an axis, and along another one of the transposed."""

from __future__ import annotations

from ..terms.term import Term
from ..terms.term_manager import Terms
from .slice_pushdown import SlicePushdown

ALONG_AN_AXIS = ("Softmax", "LogSoftmax", "Hardmax")
"""Operators that map each row along `axis` by itself, to a row."""


def without_transposition(terms: Terms, pushdown: SlicePushdown, term: Term) -> Term | None:
    """Transpose of an operator along an axis, as the operator on the transposed operand; None for
    any other term."""
    below = term.args[0] if term.is_op("Transpose") else None
    inner = None if below is None else pushdown.settled(below)
    if inner is None or not inner.is_op(*ALONG_AN_AXIS):
        return None
    (x,), axis, perm = inner.args, inner.head.attribute("axis"), term.head.attribute("perm")
    if x is None or x.fact.shape is None or perm is None:
        return None
    rank = len(x.fact.shape)
    if not -rank <= axis < rank or sorted(perm) != list(range(rank)):
        return None
    moved = terms.op("Transpose", term.head, x, perm=list(perm))
    return terms.with_attributes(inner.head, moved, axis=list(perm).index(axis % rank))
