"""Selects between two tensors of one shape by a run-time condition."""

from __future__ import annotations

import numpy as np
import onnx

from ...facts.fact import Shape
from ...ir import Value
from ...ops.builder import Builder
from ...ops.element_types import ElementTypes
from ...ops.operand_view import ValueOperand, may_hold_negative_zero
from .zero_signs import tells_signs

_BOOL = onnx.TensorProto.BOOL


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

    onnxruntime's Where makes 0.0 of a -0.0 of its first value (`ops.departures`), never of a second
    value of the shape of the result. So a value that may hold -0.0 is the second one. If both may,
    and a reader divides by the result, say, the greater of two selects with -inf keeps both signs.

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
    if elem_type == _BOOL:
        # Where supports booleans, but onnxruntime has no kernel for them.
        yes = emitter.add("And", [condition, one], f"{label}_taken")
        no = emitter.add("Not", [condition], f"{label}_not")
        return emitter.add("Or", [yes, emitter.add("And", [no, other], f"{label}_else")], label)
    if not _may_hold(one):
        return emitter.add("Where", [condition, one, other], label)
    if not _may_hold(other):
        return emitter.add("Where", [_negated(emitter, condition), other, one], label)
    if old is not None and not tells_signs(old):
        return emitter.add("Where", [condition, one, other], label)
    dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
    least = emitter.constant(np.array(-np.inf, dtype), "least")
    first = emitter.add("Where", [_negated(emitter, condition), least, one], f"{label}_taken")
    second = emitter.add("Where", [condition, least, other], f"{label}_else")
    return emitter.add("Max", [first, second], label)


def _may_hold(value: Value) -> bool:
    return may_hold_negative_zero(ValueOperand(value, ElementTypes()))


def _negated(emitter: Builder, condition: Value) -> Value:
    """Emit the opposite of a condition, not by Not: onnxruntime swaps the values of its Where."""
    yes = emitter.constant(np.array(True), "yes")
    return emitter.add("Xor", [condition, yes], f"{condition.name}_not")


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
