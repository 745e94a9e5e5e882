"""A row more where there are no trips: onnxruntime cannot run some operators on an empty batch."""

from __future__ import annotations

import numpy as np
import onnx

from ..ir import Value
from .batching import Batch, Unbatchable


def with_a_row(given: Batch, value: Value, elem_type: int) -> Value:
    """A value with a row of zeros behind it if it has none; itself where there are trips."""
    if given.extent.certain:
        return value
    if not elem_type:
        raise Unbatchable("has an input of unknown type")
    emit, label = given.emit, given.label("_row")
    sizes = emit.add("Shape", [value], label)
    rest = emit.add("Slice", [sizes, given.vector(1), given.vector(np.iinfo(np.int64).max)], label)
    some = emit.add("Cast", [rows_of(given, value)], label, to=onnx.TensorProto.BOOL)
    none = emit.add("Cast", [emit.add("Not", [some], label)], label, to=onnx.TensorProto.INT64)
    zero = onnx.helper.make_tensor("zero", elem_type, [1], [0])
    row = emit.add("ConstantOfShape", [emit.concat([none, rest], 0, label)], label, value=zero)
    return emit.concat([value, row], 0, label)


def rows_of(given: Batch, value: Value) -> Value:
    """How many rows a value has, a vector of one int64."""
    sizes = given.emit.add("Shape", [value], given.label("_rows"))
    return given.emit.add("Gather", [sizes, given.vector(0)], given.label("_rows"))


def without_it(given: Batch, result: Value, value: Value) -> Value:
    """A result without the row that `with_a_row` put behind a value.

    Args:
        given: the node.
        result: what it made.
        value: what it would have been given, as it was.
    """
    if given.extent.certain:
        return result
    bounds = [given.vector(0), rows_of(given, value), given.vector(0)]
    return given.emit.add("Slice", [result, *bounds], given.label())
