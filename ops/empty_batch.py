"""A spare row for an empty batch, on which onnxruntime cannot run some operators."""

from __future__ import annotations

import onnx

from ..facts.magnitudes import LAST_OF_64_BITS
from ..ir import Value
from .batching import Batch, Unbatchable


def with_a_row(batch: Batch, value: Value, elem_type: int) -> Value:
    """A value with a row of zeros appended if it has none."""
    if batch.extent.certain:
        return value
    if not elem_type:
        raise Unbatchable("has an input of unknown type")
    emit, label = batch.emit, batch.label("_row")
    sizes = emit.add("Shape", [value], label)
    rest = emit.slice(sizes, 1, LAST_OF_64_BITS, label)
    some = emit.add("Cast", [emit.size(value, 0, label)], label, to=onnx.TensorProto.BOOL)
    none = emit.add("Cast", [emit.add("Not", [some], label)], label, to=onnx.TensorProto.INT64)
    zero = onnx.helper.make_tensor("zero", elem_type, [1], [0])
    row = emit.add("ConstantOfShape", [emit.concat([none, rest], 0, label)], label, value=zero)
    return emit.concat([value, row], 0, label)


def without_it(batch: Batch, result: Value, value: Value) -> Value:
    """A result without the row that `with_a_row` appended.

    Args:
        batch: the node.
        result: an output of the node.
        value: the operand before `with_a_row`.
    """
    if batch.extent.certain:
        return result
    rows = batch.emit.size(value, 0, batch.label("_rows"))
    bounds = [batch.vector(0), rows, batch.vector(0)]
    return batch.emit.add("Slice", [result, *bounds], batch.label())
