"""Selects between two tensors of one shape by a run-time condition."""

from __future__ import annotations

import contextlib

from ...facts.fact import Shape
from ...ir import Value
from ...ops.builder import Builder
from .zero_signs import readers_of


def select(
    emitter: Builder,
    condition: Value,
    one: Value,
    other: Value,
    elem_type: int,
    label: str,
    old: Value | None = None,
) -> Value:
    """Emit a select: `one` where the condition holds, else `other`.

    Args:
        emitter: the builder of the nodes.
        condition: a boolean that broadcasts to the two without raising their rank.
        one: a tensor.
        other: a tensor of the same type and shape.
        elem_type: their element type.
        label: for the result.
        old: the value that the result replaces; None if its readers are unknown.
    """
    if one is other:
        return one
    with contextlib.nullcontext() if old is None else readers_of(emitter, [old]):
        return emitter.select(condition, one, other, label, elem_type, whole=True)


def broadcasting(
    emitter: Builder, condition: Value, shape: Shape | None, rank: int, label: str
) -> Value:
    """Reshape a condition of one element to broadcast without raising a rank.

    Args:
        emitter: the builder of the node, if any.
        condition: the condition; one of more elements fails here at run time, as in an If.
        shape: its shape; None if unknown.
        rank: the rank of the operands, the lowest if they differ.
        label: for the result.
    """
    if shape is not None and len(shape) <= rank and all(dim == 1 for dim in shape):
        return condition
    return emitter.scalar(condition, label)
