"""Single integers: what they are but for axes and casts, and how large they may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...facts.types import INTEGER_BITS
from .canonicalize.casts import SIGNED, holds

if TYPE_CHECKING:
    from .term_manager import Terms
    from .terms import Term


def is_one_integer(term: Term | None) -> bool:
    """Whether a term certainly is one integer."""
    if term is None or term.fact.shape is None or term.fact.elem_type not in INTEGER_BITS:
        return False
    return all(dim.value == 1 for dim in term.fact.shape)


def bare(terms: Terms, term: Term) -> Term:
    """One integer without axes, as it was before casts to types that hold it."""
    below: Term | None = term
    while below is not None:
        term, below = below, _below(below)
    return terms.view(term, ())


def _below(term: Term) -> Term | None:
    below = term.args[0] if term.head.name in ("view", "Cast") else None
    if below is None or not is_one_integer(below):
        return None
    if term.is_op("Cast") and not holds(below.fact.elem_type, term.fact.elem_type):
        return None
    return below


def range_of(elem_type: int) -> tuple[int, int]:
    """The least and the largest integer of a type."""
    bits = INTEGER_BITS[elem_type]
    if elem_type in SIGNED:
        return -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    return 0, (1 << bits) - 1
