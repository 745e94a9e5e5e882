"""The rule of operators that take a batch already: the trips and the batch become one axis.

An image of each trip [N, C, H, W] is for all trips one batch of [trips * N, C, H, W].
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..ir import Value
from .batching import Batch, Unbatchable
from .dynamic_shape_batching import axis_size, numbered, reshaped


def joined(given: Batch, index: int) -> Value:
    """An input for all trips, with the trips and its first axis as one axis."""
    shape = given.shape(index)
    value, label = given.spread(index), given.label("_joined")
    if not shape:
        raise Unbatchable("takes a scalar where a batch is wanted")
    if shape[0] == 1:
        return given.emit.squeeze(value, 1, label)
    rest = [axis_size(given, index, axis) for axis in range(1, len(shape))]
    if all(isinstance(one, int) and one for one in rest):
        return given.emit.add("Reshape", [value, numbered(given, [-1, *rest])], label)
    rows = given.emit.add("Mul", [given.trips, _first(given, index)], label)
    return reshaped(given, value, [rows, *rest])


def _first(given: Batch, index: int) -> Value:
    return numbered(given, [axis_size(given, index, 0)])


def parted(given: Batch, value: Value, position: int, index: int) -> Value:
    """A result of the node whose first axis is made of the trips and of the first axis of an
    input, with both of them.

    Args:
        given: the node.
        value: what it gives.
        position: which of its outputs that is.
        index: the input.
    """
    shape = given.shape(index)
    if shape[0] == 1:
        return given.emit.unsqueeze(value, 1, given.label())
    result = given.results[position].shape
    if result is None:
        raise Unbatchable("gives a result of unknown rank")
    known = [dim.value for dim in result[1:]]
    sizes = given.emit.add("Shape", [value], given.label("_sizes"))
    rest = [
        given.emit.add("Gather", [sizes, given.vector(axis)], given.label("_size"))
        if number is None
        else number
        for axis, number in enumerate(known, 1)
    ]
    return reshaped(given, value, [given.trips, axis_size(given, index, 0), *rest])


def by_rows(
    given: Batch, batches: Collection[int] = (0,), outputs: int = 1, **changed: int
) -> Sequence[Value]:
    """The rule of an operator that takes the rows of some inputs each by itself; what else it takes
    is the same on every trip.

    Args:
        given: the node.
        batches: those inputs.
        outputs: how many outputs are made of rows; no more may be asked for.
        **changed: attributes that are others than those of the node.
    """
    if any(value is not None for value in given.node.outputs[outputs:]):
        raise Unbatchable("has an output that is not made row by row")
    inputs = [
        None
        if given.operand(index) is None
        else (joined(given, index) if index in batches else given.fixed(index))
        for index in range(len(given.operands))
    ]
    first = min(batches)
    made = given.same(inputs, **changed)
    return [parted(given, value, position, first) for position, value in enumerate(made[:outputs])]
