"""Operators that certainly fail on their operands, by the specification and in all runtimes."""

from ....ops import rules_of
from ..terms.term import Args, Head

_OF_ELEMENTS = ("ConcatFromSequence", "SequenceAt")
"""Operators that need an element of their sequence."""


def must_fail(head: Head, args: Args) -> bool:
    """Test for a sequence without the element that is needed, and for ranks that misfit."""
    if head.name in _OF_ELEMENTS:
        return args[0] is not None and args[0].fact.count == 0
    if head.op is None:
        return False
    shapes = [None if arg is None else arg.fact.shape for arg in args]
    return rules_of(head.op).refuses(head.op, [None if s is None else len(s) for s in shapes])
