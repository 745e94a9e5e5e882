"""Transposed rows: Softmax and the like along an axis, and along another one of the transposed."""

from __future__ import annotations

import numpy as np

from ..simplify.slices import backward
from ..terms.term import Pair, Term, rank_of
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


def transposed_sums(terms: Terms, one: Term, other: Term) -> list[Pair] | None:
    """CumSum along any axis, and a Transpose: the sums of the transposed values."""
    for total, transposed in ((one, other), (other, one)):
        values = transposed.args[0] if transposed.is_op("Transpose") else None
        sums = None if values is None else _turned(terms, total, transposed)
        if sums is not None and values is not None:
            return [(sums, values) if total is one else (values, sums)]
    return None


def _turned(terms: Terms, whole: Term, transposed: Term) -> Term | None:
    """CumSum that a Transpose turns into another one; None for other terms."""
    total = whole.operands[0] if whole.head.name == "reversed" else whole
    rank, axes = rank_of(whole), terms.numbers(total.args[1]) if total.is_op("CumSum") else None
    if rank is None or axes is None:
        return None
    perm = list(transposed.head.attribute("perm", range(rank)[::-1]))
    back, values = [perm.index(axis) for axis in range(rank)], total.args[0]
    turned = terms.op("Transpose", transposed.head, values, perm=back)
    axis = terms.constant(np.array(perm[axes[0] % rank]))
    sums = terms.with_attributes(total.head, turned, axis)
    return sums if total is whole else backward(terms, sums, perm[whole.head.key])
