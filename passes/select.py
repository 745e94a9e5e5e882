"""Choosing between two tensors of one shape by a condition that only run time tells."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.defs

from ..ir import Value
from .analysis.facts import Fact, Shape, is_named
from .emit import Emitter

OLDEST_OPSET = 9
"""Where exists from this opset on."""

_BOOL = onnx.TensorProto.BOOL


def select(
    emitter: Emitter, condition: Value, one: Value, other: Value, elem_type: int, label: str
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


def scalar(emitter: Emitter, condition: Value, shape: Shape | None, label: str) -> Value:
    """A condition of one element, in whatever rank, as a scalar, which broadcasts to anything.

    Args:
        emitter: adds a node where one is needed.
        condition: the condition; one of more elements fails here at run time, as in an If.
        shape: its shape, None where it is not known.
        label: for the result.
    """
    if shape == ():
        return condition
    return emitter.add("Reshape", [condition, emitter.constant(_SCALAR, f"{label}_shape")], label)


_SCALAR = np.empty(0, np.int64)


def unselectable(one: Fact, other: Fact, opset: int) -> str | None:
    """Why no select can choose between two values with these facts; None if one can.

    The answer continues a sentence that begins with the value: "'y' differs in shape: ...".
    """
    if one.other is not None or other.other is not None:
        return "is a sequence or optional, which no operator selects"
    if not one.elem_type or one.elem_type != other.elem_type:
        return "is of a type that is not known"
    if not _takes(one.elem_type, opset):
        return f"is of a type that Where does not take in opset {opset}"
    if one.shape is None or other.shape is None:
        return "is of a shape that is not known; give the shapes of inputs with --shape"
    if one.shape != other.shape:
        return f"differs in shape, or may: {shown(one.shape)} and {shown(other.shape)}"
    return None


def shown(shape: Shape) -> str:
    """A shape as messages show it."""
    return f"[{', '.join(str(dim) if is_named(dim) else '?' for dim in shape)}]"


def _takes(elem_type: int, opset: int) -> bool:
    schema = onnx.defs.get_schema("Where", opset)
    name = onnx.TensorProto.DataType.Name(elem_type).lower()
    (allowed,) = [c for c in schema.type_constraints if c.type_param_str == "T"]
    return f"tensor({name})" in allowed.allowed_type_strs
