"""Selects between two tensors of one shape by a run-time condition."""

from __future__ import annotations

import onnx

from ...facts.fact import Shape
from ...ir import Value
from ...ops.builder import Builder

_BOOL = onnx.TensorProto.BOOL


def select(
    emitter: Builder, condition: Value, one: Value, other: Value, elem_type: int, label: str
) -> Value:
    """Emit a select: `one` where the condition holds, else `other`.

    Args:
        emitter: the builder of the nodes.
        condition: a boolean that broadcasts to the two without raising their rank.
        one: a tensor.
        other: a tensor of the same type and shape.
        elem_type: their element type.
        label: for the result.
    """
    if one is other:
        return one
    if elem_type != _BOOL:
        return emitter.add("Where", [condition, one, other], label)
    # Where supports booleans, but onnxruntime has no kernel for them.
    yes = emitter.add("And", [condition, one], f"{label}_taken")
    no = emitter.add("Not", [condition], f"{label}_not")
    return emitter.add("Or", [yes, emitter.add("And", [no, other], f"{label}_else")], label)


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
