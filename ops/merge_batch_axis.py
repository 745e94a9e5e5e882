"""Batching rule of operators with a batch axis: iterations and batch become one axis.

An image of each iteration [N, C, H, W] is for all iterations one batch of [iterations * N, C, H,
W].
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..ir import Value
from .batching import Batch, Unbatchable
from .dynamic_shape_batching import axis_size, numbered, reshaped


def joined(batch: Batch, index: int) -> Value:
    """An input for all iterations, with the batch axis merged into its first axis."""
    shape = batch.shape(index)
    value, label = batch.spread(index), batch.label("_joined")
    if not shape:
        raise Unbatchable("reads a scalar where a batch is required")
    # With a batch of 1 no other size is needed.
    if shape[0] == 1:
        return batch.emit.squeeze(value, 1, label)
    rest = [axis_size(batch, index, axis) for axis in range(1, len(shape))]
    # Beside a size of 0, a -1 could be any number.
    if all(isinstance(one, int) and one for one in rest):
        return batch.emit.add("Reshape", [value, numbered(batch, [-1, *rest])], label)
    first = numbered(batch, [axis_size(batch, index, 0)])
    rows = batch.emit.add("Mul", [batch.iterations, first], label)
    return reshaped(batch, value, [rows, *rest])


def parted(batch: Batch, value: Value) -> Value:
    """Split the first axis of the output into iterations and the input's first axis."""
    shape = batch.shape(0)
    if shape[0] == 1:
        return batch.emit.unsqueeze(value, 1, batch.label())
    result = batch.results[0].shape
    if result is None:
        raise Unbatchable("returns a result of unknown rank")
    numbers = [dim.value for dim in result[1:]]
    sizes = batch.emit.add("Shape", [value], batch.label("_sizes"))
    rest = [
        batch.emit.add("Gather", [sizes, batch.vector(axis)], batch.label("_size"))
        if number is None
        else number
        for axis, number in enumerate(numbers, 1)
    ]
    return reshaped(batch, value, [batch.iterations, axis_size(batch, 0, 0), *rest])


def by_rows(batch: Batch, batches: Collection[int], **changed: int) -> Sequence[Value]:
    """Batching rule of an operator that works on each row of some inputs.

    Other inputs must be the same in every iteration.

    Args:
        batch: the node; no output but the first may be asked for.
        batches: those inputs.
        **changed: attributes that are others than those of the node.
    """
    if any(value is not None for value in batch.node.outputs[1:]):
        raise Unbatchable("has an output that is not made row by row")
    inputs = [
        None
        if batch.operand(index) is None
        else (joined(batch, index) if index in batches else batch.fixed(index))
        for index in range(len(batch.operands))
    ]
    result = batch.same(inputs, **changed)[0]
    return [parted(batch, result)]
