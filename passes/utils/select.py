"""Choosing between two tensors of one shape by a condition that only run time tells."""

from __future__ import annotations

import onnx

from ...facts.fact import Shape
from ...ir import Value
from ...ops.builder import Builder

_BOOL = onnx.TensorProto.BOOL


def select(
    emitter: Builder, condition: Value, one: Value, other: Value, elem_type: int, label: str
) -> Value:
    """`one` where the condition holds, else `other`.

    Args:
        emitter: adds the nodes.
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
    # The operator takes booleans, but onnxruntime has no kernel for them.
    taken = emitter.add("And", [condition, one], f"{label}_taken")
    opposite = emitter.add("Not", [condition], f"{label}_not")
    return emitter.add("Or", [taken, emitter.add("And", [opposite, other], f"{label}_else")], label)


def broadcasting(
    emitter: Builder, condition: Value, shape: Shape | None, rank: int, label: str
) -> Value:
    """A condition of one element in a form that broadcasts without raising a rank.

    Args:
        emitter: adds a node where one is needed.
        condition: the condition; one of more elements fails here at run time, as in an If.
        shape: its shape, None where it is not known.
        rank: that of what is to be selected, the lowest if they differ.
        label: for the result.
    """
    if shape is not None and len(shape) <= rank and all(dim == 1 for dim in shape):
        return condition
    return emitter.scalar(condition, label)
