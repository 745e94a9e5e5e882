"""Axes count from the front."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....ir import Operator
from .registry import spelling

if TYPE_CHECKING:
    from ..function_symbols import Head
    from ..term_manager import Terms
    from ..terms import Args, Term

_NOT_PART_OF_INPUT = {"OneHot": 1}
"""Operators whose axis is one of a result of more axes than their first input has."""


@spelling(
    "ArgMax",
    "ArgMin",
    "Compress",
    "DequantizeLinear",
    "GatherElements",
    "LpNormalization",
    "OneHot",
    "QuantizeLinear",
    "ScatterElements",
    "SplitToSequence",
)
def one_axis(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """An axis counts from the front where the rank is known: -1 is the last one (since 11)."""
    changed = axis_from_front(head, args)
    return None if changed is None else terms.apply(_with(terms, head, changed), args, count)


@spelling("Scatter")
def scatter(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """The name of ScatterElements before 11."""
    made = terms.heads.of(Operator.make("ScatterElements", axis=head.attribute("axis")), {"": 11})
    return terms.apply(made, args, count)


_SPEAK_OF_THE_FIRST = frozenset(
    {
        *("ArgMax", "ArgMin", "Concat", "Flatten", "Gather", "Hardmax", "LayerNormalization"),
        *("LogSoftmax", "RMSNormalization", "Softmax", "Split", "SplitToSequence", "TopK"),
        *("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean"),
        *("ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"),
    }
)
"""Operators whose attributes `axis` and `axes` speak of the axes of their first input."""


def speaks_of_no_axis(head: Head, args: Args) -> bool:
    """Whether an attribute of a head names an axis that its first input does not have: its nodes
    fail, and nothing that holds of another axis holds of them."""
    if head.name not in _SPEAK_OF_THE_FIRST or not args:
        return False
    rank = rank_of(args[0])
    if rank is None:
        return False
    axis = head.attribute("axis")
    axes = [*(head.attribute("axes") or ()), *([] if axis is None else [axis])]
    most = rank + 1 if head.name == "Flatten" else rank
    return not all(-rank <= axis < most for axis in axes)


def axis_from_front(head: Head, args: Args) -> int | None:
    """The axis that a head speaks of; None where that is what it says."""
    axis, rank = head.attribute("axis"), rank_of(args[0])
    if axis is None or rank is None:
        return None
    rank += _NOT_PART_OF_INPUT.get(head.name, 0)
    return axis + rank if -rank <= axis < 0 else None


def _with(terms: Terms, head: Head, axis: int) -> Head:
    return terms.heads.with_attributes(head, axis=axis)


def rank_of(term: Term | None) -> int | None:
    """How many axes a term has, where that is known."""
    return None if term is None or term.fact.shape is None else len(term.fact.shape)
