"""Partial slices at the end of an axis, which may fail where they are used.

part = Slice (x, i, i + 4)      w: float[4]        fails in Mul where part has 2 or 3 elements, and
r = Mul (part, w)                                  repeats the one where it has but that
"""

from __future__ import annotations

import enum

from ..ir import Graph, Node, Value
from .batching import Batch

_BROADCASTING = ("Add", "Sub", "Mul", "Div", "Pow", "Equal", "Less", "Greater")


class Short(enum.Enum):
    """Effect of a slice that is too short on its iteration."""

    RUNS = "it may run"
    FAILS = "it fails"
    REPEATS = "it fails, but where there is one element, which is repeated"


def where_short(batch: Batch, axis: int, length: int) -> Short:
    """The effect of fewer elements of a slice along an axis in one iteration.

    Args:
        batch: the Slice.
        axis: the axis on one iteration.
        length: how many elements it has on the others.
    """
    body = batch.node.graph
    assert body is not None
    users = body.users(batch.node.output())
    effects = [_of_user(user, batch, axis, length) for user in users]
    if Short.FAILS in effects:
        return Short.FAILS
    return Short.REPEATS if effects and Short.RUNS not in effects and length > 1 else Short.RUNS


def _of_user(user: Node | Graph, batch: Batch, axis: int, length: int) -> Short:
    part, rank = batch.node.output(), batch.rank(0)
    if not isinstance(user, Node) or not user.is_op("MatMul", *_BROADCASTING):
        return Short.RUNS
    one, other = user.inputs
    if (one is part) == (other is part):
        return Short.RUNS
    second = other is part
    constant = getattr(one if second else other, "constant", None)
    sizes = [] if constant is None else list(constant.dims)
    if user.is_op("MatMul"):
        # The axes that are multiplied are never repeated.
        at = axis - max(rank - 2, 0) if second else axis - (rank - 1)
        against = sizes[-1:] if second else sizes[-2:][:1]
        return Short.FAILS if at == 0 and against == [length] else Short.RUNS
    place = axis - rank
    repeats = len(sizes) >= -place and sizes[place] == length
    return Short.REPEATS if repeats else Short.RUNS


def repeated(batch: Batch, start: Value, steps: Value, axis: int) -> Value:
    """Offsets of the elements from the start in each iteration; 0 for a single one.

    Args:
        batch: the Slice.
        start: where it begins on each iteration, of shape [iterations, 1].
        steps: how far from there the elements are on other iterations.
        axis: the axis on one iteration.
    """
    emit, label, data = batch.emit, batch.label("_last"), batch.require(0)
    size = emit.size(data.value, axis + data.batched, label)
    last = emit.add("Sub", [size, batch.vector(1)], label)
    alone = emit.add("Equal", [start, last], label)
    return emit.add("Where", [alone, batch.vector(0), steps], label)
