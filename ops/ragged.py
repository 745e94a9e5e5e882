"""Values that have fewer elements on some trips than on others: windows that the end of their axis
cuts short. They are padded to one size, and the padding goes where an operator reduces them.

part = Slice (x, i, i + 4)         places = i + [0, 1, 2, 3]
r = ReduceMax <axes = [0]> (part)  present = places < size of x
                                   r = ReduceMax (Where (present, x[places], -inf))
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import onnx

from ..facts.fact import Fact
from ..facts.polynomial import Dimension
from ..ir import Value
from .batching import DIFFERING, Batch, Operand, Ragged, Unbatchable

_FLOATS = (onnx.TensorProto.FLOAT16, onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE)
"""What padding is computed with, as no operation fails on any of their numbers."""


_HAS_MIN = 12
"""The first opset whose Min takes integers."""

PAST_THE_END = "takes elements of which some may lie past the end on some trips"
"""Why a Slice is computed trip by trip that is not padded."""


def padded(fact: Fact, ragged: Ragged) -> Fact:
    """The fact of a padded value in one iteration."""
    if fact.shape is None or ragged.bounds is not None:
        return fact
    shape = list(fact.shape)
    shape[ragged.axis] = Dimension.constant(ragged.size)
    return dataclasses.replace(fact, shape=tuple(shape))


def is_paddable(elem_type: int) -> bool:
    """Test for an element type of which padding can be computed with."""
    return elem_type in _FLOATS or elem_type == onnx.TensorProto.BOOL


def of_each(
    batch: Batch, ragged: Sequence[Ragged | None], rule: Callable[[Batch], Sequence[Value]]
) -> Sequence[Value]:
    """The rule of an operator that takes each element by itself: its padding is the result's.

    Args:
        batch: the node.
        ragged: which elements its inputs have.
        rule: the rule where all have all.
    """
    (one, *others) = {item for item in ragged if item is not None}
    if others:
        raise Unbatchable("takes elements of which some trips lack others than they lack elsewhere")
    for index, item in enumerate(ragged):
        operand = batch.operand(index)
        if operand is None:
            continue
        if item is not None and not is_paddable(operand.fact.elem_type):
            raise Unbatchable("takes padding of a type with which it may fail")
        if one.bounds is not None and operand.batched:
            raise Unbatchable(DIFFERING)
        if item is None and not _repeats(batch, index, one.axis):
            raise Unbatchable("takes elements of which some trips lack some beside others")
    if one.bounds is None:
        return [batch.ragged(result, one) for result in rule(batch)]
    values = [None if operand is None else operand.value for operand in batch.operands]
    return [batch.unvarying(batch.ragged(result, one)) for result in batch.same(values)]


def _repeats(batch: Batch, index: int, axis: int) -> bool:
    """Test for an input that is broadcast along an axis."""
    shape = batch.shape(index)
    return len(shape) < -axis or shape[axis] == 1


def reduced_away(batch: Batch, ragged: Ragged, axes: Sequence[int]) -> None:
    """Check that an operator reduces the padded axis.

    Args:
        batch: the node.
        ragged: which elements its first input has.
        axes: those that it reduces.
    """
    rank = batch.rank(0)
    places = [batch.axis(axis, rank) - 1 for axis in axes]
    if rank + ragged.axis not in places:
        raise Unbatchable("takes elements of which some trips lack some, and keeps their axis")


def filled(batch: Batch, ragged: Ragged, neutral: float) -> Batch:
    """The node with a number in the place of the padding of its first input.

    Args:
        batch: the node.
        ragged: which elements its first input has.
        neutral: a number that does not change the result.
    """
    operand = batch.require(0)
    if operand.fact.elem_type not in _FLOATS:
        raise Unbatchable(DIFFERING)
    dtype = onnx.helper.tensor_dtype_to_np_dtype(operand.fact.elem_type)
    number = batch.emit.constant(np.array(neutral, dtype), batch.label("_fill"))
    value = _read_past_the_end(batch, operand.value, ragged, number)
    if value is not None:
        return batch.replaced(0, Operand(value, True, operand.fact))
    present = _in_place(batch, ragged)
    value = batch.emit.add("Where", [present, operand.value, number], batch.label("_filled"))
    return batch.replaced(0, Operand(value, True, operand.fact))


def _read_past_the_end(batch: Batch, value: Value, ragged: Ragged, number: Value) -> Value | None:
    """Emit a window again, with a number past the end; None for other values."""
    node, data = value.producer, ragged.data
    if data is None or node is None or not node.is_op("Gather") or node.input(0) is not data:
        return None
    pad = data.producer
    if pad is None or len(pad.inputs) != 2:
        return None
    whole = batch.emit.apply(pad.op, [*pad.inputs, number], batch.label("_padded"))
    return batch.emit.apply(node.op, [whole, node.input(1)], batch.label("_filled"))


def _in_place(batch: Batch, ragged: Ragged) -> Value:
    """The mask of present elements, of a shape that broadcasts to the batched first input."""
    rank = batch.rank(0)
    place = rank + ragged.axis + 1
    axes = tuple(axis for axis in range(1, rank + 1) if axis != place)
    if ragged.present is None:
        raise Unbatchable(DIFFERING)
    present, label = ragged.present, batch.label("_present")
    return batch.emit.unsqueeze(present, axes, label) if axes else present


def counted_elements(batch: Batch, ragged: Ragged, each: int, axes: tuple[int, ...]) -> Value:
    """The number of elements in each iteration, at least one, as the first input.

    Args:
        batch: the node.
        ragged: which elements its first input has.
        each: what each of them counts as.
        axes: axes of length 1 behind the trips.
    """
    emit, elem_type, label = batch.emit, batch.require(0).fact.elem_type, batch.label("_count")
    if ragged.present is None:
        raise Unbatchable(DIFFERING)
    numbers = emit.add("Cast", [ragged.present], label, to=elem_type)
    count = emit.reduce("ReduceSum", numbers, (1,), label)
    dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
    count = emit.add("Max", [count, emit.constant(np.array(1, dtype), label)], label)
    if each != 1:
        count = emit.add("Mul", [count, emit.constant(np.array(each, dtype), label)], label)
    return emit.unsqueeze(count, axes, label) if axes else count


def zero_of_nothing(batch: Batch, result: Value, some: Value, rank: int) -> Value:
    """Emit a 0 for iterations without an element.

    A sum of padding is -0, and its mean NaN. ONNX leaves the mean of nothing open; onnxruntime and
    the reference compute 0.

    Args:
        batch: the node.
        result: the sum or mean of each iteration.
        some: truth values of shape [trips], true if there is an element.
        rank: the rank of the result on one trip.
    """
    dtype = onnx.helper.tensor_dtype_to_np_dtype(batch.require(0).fact.elem_type)
    zero = batch.emit.constant(np.array(0, dtype), batch.label("_zero"))
    if rank:
        some = batch.emit.unsqueeze(some, tuple(range(1, 1 + rank)), batch.label("_some"))
    return batch.emit.add("Where", [some, result, zero], batch.label())


def of_present(batch: Batch, ragged: Ragged, result: Value, rank: int) -> Value:
    """The sum or mean of elements, 0 in iterations without any."""
    if ragged.occupied or ragged.present is None:
        return result
    first = batch.emit.constant(np.array(0, np.int64), batch.label("_first"))
    some = batch.emit.add("Gather", [ragged.present, first], batch.label("_some"), axis=1)
    return zero_of_nothing(batch, result, some, rank)


def window(
    batch: Batch, data: Value, start: Value, steps: range, axis: int, occupied: bool
) -> tuple[Value, Value, Ragged]:
    """Positions that a Slice reads in each iteration, some of them past the end.

    Args:
        batch: the Slice.
        data: what it reads, the same on every trip.
        start: where it begins on each trip, not before the first element: [trips, 1].
        steps: how far from there its elements are.
        axis: the axis on one trip.
        occupied: true if each trip certainly has an element.

    Returns:
        the data to read, with one element more where a trip may have none; the places to read; and
        which elements there are.
    """
    emit, label = batch.emit, batch.label("_size")
    if not is_paddable(batch.require(0).fact.elem_type):
        raise Unbatchable(PAST_THE_END)
    sizes = emit.add("Shape", [data], label)
    size = emit.add("Gather", [sizes, batch.vector(axis)], label, axis=0)
    places = emit.add("Add", [start, batch.vector(*steps)], batch.label("_places"))
    present = emit.add("Less", [places, size], batch.label("_present"))
    padded_data = None
    if batch.extent.never_negative(batch.shape(0)[axis] - 1):  # no trip has an empty axis
        spare = emit.add("Sub", [size, batch.vector(1)], batch.label("_last"))
    else:
        data = padded_data = _with_one_more(batch, data, axis)
        spare = size
    read = batch.label("_places")
    if emit.opset >= _HAS_MIN:
        places = emit.add("Min", [places, spare], read)
    else:
        places = emit.add("Where", [present, places, spare], read)
    ragged = Ragged(axis - batch.rank(0), len(steps), present, occupied, padded_data)
    return data, places, ragged


def _with_one_more(batch: Batch, data: Value, axis: int) -> Value:
    """Data with one more element of zeros along an axis."""
    rank, label = batch.rank(0), batch.label("_padded")
    pads = [0] * 2 * rank
    pads[rank + axis] = 1
    if batch.emit.opset < 11:
        return batch.emit.add("Pad", [data], label, pads=pads)
    return batch.emit.add("Pad", [data, batch.vector(*pads)], label)
