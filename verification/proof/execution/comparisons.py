"""Operators on integers whose bounds decide what they compute."""

from collections.abc import Sequence

from ....facts.bounds import Bounds
from ....facts.types import INTEGER_BITS
from ..terms.term import Args, Head, Operands, Term
from ..terms.term_manager import Terms, late_rule, rule
from .safety import Safety


@late_rule("choose")
def choice(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Drop a choice by a comparison of single integers that always holds, or never."""
    condition, one, other = args
    holds = None if condition is None else _holds(terms, condition)
    return None if holds is None else [one if holds else other]


def _holds(terms: Terms, condition: Term) -> bool | None:
    """Truth of all elements of a comparison of integers; None if it is not known."""
    if condition.head.name not in ("Less", "LessOrEqual"):
        return None
    safety, sides = Safety(terms), condition.operands
    if any(side.fact.elem_type not in INTEGER_BITS for side in sides):
        return None
    one, other = (safety.known(side).bounds for side in sides)
    if one is None or other is None:
        return None
    if condition.is_op("Less"):
        return _is_less(one, other)
    greater = _is_less(other, one)
    return None if greater is None else not greater


@rule("OneHot", constants=True)
def one_hot(terms: Terms, head: Head, args: Operands) -> Sequence[Term | None] | None:
    """Take OneHot below opset 11 to later versions, where negative indices count from the back."""
    if head.opset >= 11 or not Safety(terms).is_size(args[0]):
        return None
    return [terms.op("OneHot", 11, *args, axis=head.attribute("axis", -1))]


def _is_less(one: Bounds, other: Bounds) -> bool | None:
    """Test whether all numbers of the one are below all of the other; None if some may be."""
    if (other.low - one.high).less(1) is False:
        return True
    return False if (one.low - other.high).less(0) is False else None
