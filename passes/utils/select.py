"""Selects between two tensors of one shape by a run-time condition."""

import contextlib
from collections.abc import Callable

import numpy as np

from ...facts.fact import Shape
from ...ir import Node, Value
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


def as_select(
    node: Node, source: Callable[[Value], tuple[Value, object] | None] = lambda value: None
) -> tuple[Value, Value, Value] | None:
    """Condition and both values of a select, in each form of `select` without Casts.

    Max (Where (not c, -inf, one), Where (c, -inf, other))
    Or (And (c, one), And (not c, other))

    Args:
        node: the last node of the form.
        source: the value of which an input of a body is a part, and which part; None for others.
    """
    if node.is_op("Where"):
        return node.operand(0), node.operand(1), node.operand(2)
    if len(node.inputs) != 2 or not node.is_op("Max", "Or"):
        return None
    first, second = (None if value is None else value.producer for value in node.inputs)
    if first is None or second is None:
        return None
    if node.is_op("Max"):
        if not all(each.is_op("Where") and _is_least(each.inputs[1]) for each in (first, second)):
            return None
        condition, opposite = second.inputs[0], first.inputs[0]
        one, other = first.inputs[2], second.inputs[2]
    else:
        if not (first.is_op("And") and second.is_op("And")):
            return None
        condition, opposite = first.inputs[0], second.inputs[0]
        one, other = first.inputs[1], second.inputs[1]
    if condition is None or one is None or other is None or opposite is None:
        return None
    return (condition, one, other) if _is_opposite(opposite, condition, source) else None


def _is_least(value: Value | None) -> bool:
    array = None if value is None else value.array
    return array is not None and array.dtype.kind == "f" and bool(np.all(np.isneginf(array)))


def _is_opposite(
    value: Value, condition: Value, source: Callable[[Value], tuple[Value, object] | None]
) -> bool:
    """Test for the opposite of a condition, by Not or Xor."""
    while True:
        node, other = value.producer, condition.producer
        if node is not None and node.is_op("Not", "Xor") and node.inputs[0] is condition:
            return node.is_op("Not") or _is_true(node.inputs[1])
        one, another = source(value), source(condition)
        if one is not None and another is not None and one[1] == another[1]:
            value, condition = one[0], another[0]
        elif node is not None and other is not None and _are_parts(node, other):
            assert node.inputs[0] is not None and other.inputs[0] is not None
            value, condition = node.inputs[0], other.inputs[0]
        else:
            return False


def _are_parts(node: Node, other: Node) -> bool:
    """Test for the same part of two values."""
    if not node.is_op("Gather", "Identity", "Squeeze", "Unsqueeze") or not other.is_op(
        node.op_type
    ):
        return False
    return node.op.attributes == other.op.attributes and node.inputs[1:] == other.inputs[1:]


def _is_true(value: Value | None) -> bool:
    array = None if value is None else value.array
    return array is not None and bool(np.all(array))


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
