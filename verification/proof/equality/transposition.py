"""Transposed sums: CumSum along an axis, and along another one of the transposed."""

import numpy as np

from ..simplify.slices import backward
from ..terms.term import Pair, Term, rank_of
from ..terms.term_manager import Terms


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
