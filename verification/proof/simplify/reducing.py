"""Reductions: over which axes, said in one way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....ops.axes import REDUCTIONS
from .registry import rule

if TYPE_CHECKING:
    from ..function_symbols import Head
    from ..term_manager import Terms
    from ..terms import Args, Term


@rule(*REDUCTIONS, constants=True)
def reduction(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """All axes are told, counted from the front and in order, if none or some are."""
    x = args[0]
    assert x is not None
    if x.fact.shape is None:
        return None
    rank = len(x.fact.shape)
    told = head.attribute("axes")
    if (len(args) > 1 and args[1] is not None) or head.attribute("noop_with_empty_axes", 0):
        return None  # only run time tells them; those that are known are an attribute by now
    axes = sorted(axis % rank for axis in told) if told else list(range(rank))
    return None if axes == told else [terms.with_attributes(head, x, axes=axes)]
