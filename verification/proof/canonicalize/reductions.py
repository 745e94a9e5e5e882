"""Reductions: axes that are an attribute or an input, and what no axes mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ....ir import Operator
from .registry import spelling

if TYPE_CHECKING:
    from ..function_symbols import Head
    from ..term_manager import Terms
    from ..terms import Args, Term

_AXES_ARE_INPUT = {
    "ReduceL1": 18,
    "ReduceL2": 18,
    "ReduceLogSum": 18,
    "ReduceLogSumExp": 18,
    "ReduceMax": 18,
    "ReduceMean": 18,
    "ReduceMin": 18,
    "ReduceProd": 18,
    "ReduceSum": 13,
    "ReduceSumSquare": 18,
}
"""Since which opset."""

_PLAIN = frozenset(["ReduceMax", "ReduceMin", "ReduceProd"])
"""Over no axes these give their input back; where -0 is added to 0, sums do not."""


@spelling(*_AXES_ARE_INPUT)
def reduction(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Axes that are known are an attribute, as before they became an input (13 and 18); none are
    all of them or, with noop_with_empty_axes, none."""
    since = _AXES_ARE_INPUT[head.name]
    if head.opset < since:
        return None
    x, given = args if len(args) > 1 else (args[0], None)
    axes = [] if given is None else terms.numbers(given)
    if axes is None:
        return None
    if not axes and head.attribute("noop_with_empty_axes"):
        return _over_none(terms, head, x)
    said: dict[str, Any] = {"axes": axes} if axes else {}
    op = Operator.make(head.name, keepdims=head.attribute("keepdims"), **said)
    return terms.apply(terms.heads.of(op, {"": since - 1}), (x,))


def _over_none(terms: Terms, head: Head, x: Term | None) -> Sequence[Term | None] | None:
    if head.name in _PLAIN:
        return [x]
    if head.name == "ReduceSumSquare":
        return [terms.op("Mul", head, x, x)]
    return None
