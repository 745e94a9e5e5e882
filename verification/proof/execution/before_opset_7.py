"""Operators before opset 7 as operators of opset 7, on other operands.

Where only attributes differ, `terms/op_semantics.py` brings an operator there. An operator that
neither does has a name of its own, so that no rule takes it for its newer form.
"""

import functools
from collections.abc import Callable

import numpy as np

from ....ops.axes import ONE
from ....records import entry
from ..terms.op_semantics import FIRST_PLAIN, with_changes
from ..terms.term import Args, Head, rank_of
from ..terms.term_manager import Terms

Lift = Callable[[Terms, Head, Args], "Args | None"]
"""Operands of opset 7; None where they are unknown."""

_LIFTS: dict[str, Lift] = {}
_lifts = functools.partial(entry, _LIFTS)


def lifted(terms: Terms, head: Head, args: Args) -> tuple[Head, Args]:
    """Head and operands of opset 7; unchanged where they are unknown."""
    lift = None if head.op is None or head.opset >= FIRST_PLAIN else _LIFTS.get(head.op.op_type)
    new = None if lift is None else lift(terms, head, args)
    if new is None or head.op is None:
        return head, args
    op = with_changes(head.op, broadcast=None, axis=None, shape=None, consumed_inputs=None)
    return terms.heads.of(op, {**head.imports, "": FIRST_PLAIN}, head.outputs), new


@_lifts("Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Greater", "Less")
def _aligned(terms: Terms, head: Head, args: Args) -> Args | None:
    """The second operand with axes of length 1 after its own; without `broadcast` as it is."""
    first, second = args
    axis = head.attribute("axis", -1)
    if not head.attribute("broadcast", 0) or axis == -1:
        return args
    rank, own = rank_of(first), rank_of(second)
    if second is None or rank is None or own is None:
        return None
    if own <= rank and all(size == ONE for size in second.fact.shape or ()):
        return args
    return _with_ones(terms, args, rank - axis - own)


@_lifts("PRelu")
def _of_channels(terms: Terms, head: Head, args: Args) -> Args | None:
    """Slopes of channels with axes of length 1 after their own."""
    rank, own = rank_of(args[0]), rank_of(args[1])
    if own != 1 or rank is None:
        return args if own == 0 else None
    return _with_ones(terms, args, max(rank - 2, 0))


def _with_ones(terms: Terms, args: Args, count: int) -> Args | None:
    first, second = args
    if second is None or second.fact.shape is None or count < 0:
        return None
    return first, terms.view(second, (*second.fact.shape, *[ONE] * count))


@_lifts("Reshape")
def _with_shape(terms: Terms, head: Head, args: Args) -> Args | None:
    """The target shape of Reshape as an operand."""
    shape = head.attribute("shape")
    return None if shape is None else (args[0], terms.constant(np.array(shape, np.int64)))
