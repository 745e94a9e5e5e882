"""Reductions: over which axes, said in one way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .registry import rule

if TYPE_CHECKING:
    from ..algebra import Terms
    from ..heads import Head
    from ..terms import Args, Term

AXES_ARE_INPUTS = {"ReduceSum": 13}
"""From this opset on axes are an input; 18 for all others."""


@rule(
    *[
        "ReduceL1",
        "ReduceL2",
        "ReduceLogSum",
        "ReduceLogSumExp",
        "ReduceMax",
        "ReduceMean",
        "ReduceMin",
        "ReduceProd",
        "ReduceSum",
        "ReduceSumSquare",
    ]
)
def reduction(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """All axes are told, counted from the front and in order, if none or some are."""
    known = terms.folded(head, args)
    if known is not None:
        return known
    x = args[0]
    assert x is not None
    if x.fact.shape is None:
        return None
    rank = len(x.fact.shape)
    told = head.attribute("axes")
    if len(args) > 1 and args[1] is not None:
        told = terms.numbers(args[1])
        if told is None:
            return None
    if not told and head.attribute("noop_with_empty_axes", 0):
        return None
    axes = sorted(axis % rank for axis in told) if told else list(range(rank))
    if head.opset >= AXES_ARE_INPUTS.get(head.name, 18):
        given = terms.sizes(axes)
        if len(args) < 2 or args[1] is not given:
            return terms.apply(head, (x, given))
    elif axes != told:
        return [terms.with_attributes(head, x, axes=axes)]
    return None
