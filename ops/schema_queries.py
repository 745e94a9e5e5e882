"""Element types that the operators of an opset take."""

from __future__ import annotations

import functools
from collections.abc import Iterable

import onnx

from .schemas import schema_at, tensor_text, types_of

NEGATIVE_AXES = 11
"""From this opset on, axes may be counted from the end."""
MIN_OF_INTEGERS = 12
"""From this opset on, Min and Max take integers."""
ALLOWZERO = 14
"""From this opset on, Reshape can make an axis of size 0."""


def type_obstacle(
    op_types: Iterable[str], elem_type: int | None, opset: int, holder: str
) -> str | None:
    """Why a tensor cannot go through some operators that move tensors; None if it can.

    The answer continues a sentence that begins with the tensor: "'y' is of type int4, which ...".

    Args:
        op_types: the operators.
        elem_type: that of the tensor; None (or 0) where it is not known.
        opset: the version to write for.
        holder: an operator that the tensor goes through as it is, so that its types are those that
            the tensor may have.
    """
    for op_type in op_types:
        types = data_types(op_type, opset)
        if not elem_type and not data_types(holder, opset) <= types:
            return (
                f"is of unknown type, and {op_type} does not support all types in opset"
                f" {opset}; declare it"
            )
        if elem_type and tensor_text(elem_type) not in types:
            name = onnx.TensorProto.DataType.Name(elem_type).lower()
            return f"is of type {name}, which {op_type} does not support in opset {opset}"
    return None


@functools.cache
def data_types(op_type: str, opset: int) -> frozenset[str]:
    """The output types of an operator of the default domain.

    An operator that moves tensors takes them, too. Empty where the opset does not have it.
    """
    schema = schema_at(op_type, opset)
    types = () if schema is None else types_of(schema, schema.outputs[0])
    return frozenset(text for text in types if text.startswith("tensor("))


@functools.cache
def formal_inputs(op_type: str, opset: int) -> int | None:
    """The number of formal inputs of an operator; None if the opset does not have it."""
    schema = schema_at(op_type, opset)
    return None if schema is None else len(schema.inputs)


@functools.cache
def takes(op_type: str, position: int, elem_type: int, opset: int) -> bool:
    """Test that an operator of the default domain takes an element type at an input."""
    schema = schema_at(op_type, opset)
    return schema is not None and tensor_text(elem_type) in types_of(
        schema, schema.inputs[position]
    )


@functools.cache
def takes_all(op_type: str, opset: int) -> bool:
    """Test that an operator moves tensors of all types of an opset."""
    return data_types("Identity", opset) <= data_types(op_type, opset)
