"""Reductions: axes that are an attribute or an input, and what no axes mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...ir import Operator
from .axes import rank_of
from .registry import spelling

if TYPE_CHECKING:
    from ..algebra import Terms
    from ..heads import Head
    from ..terms import Args, Term

_OTHERS = tuple(f"Reduce{n}" for n in "L1 L2 LogSum LogSumExp Max Mean Min Prod SumSquare".split())

_AXES_ARE_INPUT = {"ReduceSum": 13, **dict.fromkeys(_OTHERS, 18)}
"""Since which opset."""

_PLAIN = frozenset(["ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd", "ReduceSum"])
"""Over no axes these give their input back."""


@spelling("ReduceSum", *_OTHERS)
def reduction(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Axes that are known are an attribute that counts from the front, as before they became an
    input (13 and 18); none are all of them or, with noop_with_empty_axes, none."""
    (x, *more), since = args, _AXES_ARE_INPUT[head.name]
    assert x is not None
    if head.opset < since:
        axes, counted = head.attribute("axes"), _from_front(head.attribute("axes"), x)
        if axes == []:
            counted = None
        return None if axes == counted else [_reduced(terms, head, x, since, counted)]
    given = more[0] if more else None
    axes = [] if given is None else terms.numbers(given)
    if axes is None:
        return None
    if not axes and head.attribute("noop_with_empty_axes"):
        return [x] if head.name in _PLAIN else None
    return [_reduced(terms, head, x, since, _from_front(axes or None, x))]


def _from_front(axes: list[int] | None, x: Term) -> list[int] | None:
    rank = rank_of(x)
    if axes is None or rank is None or any(not -rank <= axis < rank for axis in axes):
        return axes
    return [axis % rank for axis in axes]


def _reduced(terms: Terms, head: Head, x: Term, since: int, axes: list[int] | None) -> Term:
    given = {} if axes is None else {"axes": axes}
    op = Operator.make(head.name, keepdims=head.attribute("keepdims", 1), **given)
    result = terms.apply(terms.heads.of(op, {"": since - 1}), (x,))[0]
    assert result is not None
    return result
