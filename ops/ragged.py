"""Values that have fewer elements on some iterations than on others: windows that the end of their
axis cuts short. They are padded to one size, and the padding goes where an operator reduces them.

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
from .builder import Builder
from .schema_queries import MIN_OF_INTEGERS

_FLOATS = (onnx.TensorProto.FLOAT16, onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE)
"""What padding is computed with, as no operation fails on any of their numbers."""


PAST_THE_END = "takes elements of which some may lie past the end on some iterations"
"""Why a Slice is computed iteration by iteration that is not padded."""


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
    if any(_is_whole(batch, index, ragged) for index in range(len(ragged))):
        return rule(_with_all(batch, ragged, repeats=True))
    (one, *others) = {item for item in ragged if item is not None}
    if others:
        raise Unbatchable(
            "takes elements of which some iterations lack others than they lack elsewhere"
        )
    for index, item in enumerate(ragged):
        operand = batch.operand(index)
        if operand is None:
            continue
        if item is not None and not is_paddable(operand.fact.elem_type):
            raise Unbatchable("takes padding of a type with which it may fail")
        if one.bounds is not None and operand.batched:
            raise Unbatchable(DIFFERING)
        if item is None and not _repeats(batch, index, one.axis):
            raise Unbatchable("takes elements of which some iterations lack some beside others")
    if one.bounds is None:
        return [batch.ragged(result, one) for result in rule(batch)]
    values = [None if operand is None else operand.value for operand in batch.operands]
    return [batch.unvarying(batch.ragged(result, one)) for result in batch.same(values)]


def _is_whole(batch: Batch, index: int, ragged: Sequence[Ragged | None]) -> bool:
    """Test for an input with all elements of ragged ones, more than one."""
    if ragged[index] is not None or batch.operand(index) is None:
        return False
    shape, one = batch.shape(index), next(item for item in ragged if item is not None)
    size = shape[one.axis].value if len(shape) >= -one.axis else None
    return one.bounds is None and size is not None and 1 < size == one.size


def _with_all(batch: Batch, ragged: Sequence[Ragged | None], repeats: bool) -> Batch:
    """The node with all elements of each input in each iteration; it fails without them.

    Args:
        batch: the node.
        ragged: which elements its inputs have.
        repeats: true if a single element is repeated.
    """
    for index, item in enumerate(ragged):
        if item is None:
            continue
        operand, emit = batch.require(index), batch.emit
        counts, size = _counts(emit, item), batch.vector(item.size)
        fit, label = emit.add("Equal", [counts, size], "is_whole"), batch.label("_whole")
        single = emit.add("Equal", [counts, batch.vector(1)], "is_single")
        zero = _zero_if(emit, emit.add("Or", [fit, single], "fits") if repeats else fit)
        axis = batch.vector(batch.rank(index) + item.axis + 1)
        end = emit.add("Add", [size, zero], label)
        value = emit.add("Slice", [operand.value, batch.vector(0), end, axis], label)
        if repeats:
            first = emit.add("Slice", [value, batch.vector(0), batch.vector(1), axis], label)
            single = emit.unsqueeze(single, tuple(range(1, 1 + batch.rank(index))), label)
            value = emit.add("Where", [single, first, value], label)
        batch = batch.replaced(index, Operand(value, True, operand.fact))
    return batch


def of_products(
    batch: Batch, ragged: Sequence[Ragged | None], rule: Callable[[Batch], Sequence[Value]]
) -> Sequence[Value]:
    """The rule of a product of matrices, which fails without some elements."""
    for index, item in enumerate(ragged[:2]):
        if item is None:
            continue
        own, other = batch.rank(index), batch.shape(1 - index)
        summed = -1 if index == 0 or own == 1 else -2
        against = other[-1] if index == 1 or len(other) == 1 else other[-2]
        if item.bounds is not None or item.axis != summed or ragged[1 - index] is not None:
            raise Unbatchable(DIFFERING)
        if against.value != item.size:
            raise Unbatchable(DIFFERING)
    return rule(_with_all(batch, ragged, repeats=False))


def _counts(emit: Builder, ragged: Ragged) -> Value:
    """The number of elements in each iteration."""
    if ragged.present is None:
        raise Unbatchable(DIFFERING)
    return _total(emit, ragged.present, 1, keepdims=False)


def _total(emit: Builder, flags: Value, axis: int, keepdims: bool) -> Value:
    """Count flags; sums of integers are those of doubles in onnxruntime."""
    numbers = emit.once("Cast", [flags], "numbers", to=onnx.TensorProto.FLOAT)
    total = emit.reduce("ReduceSum", numbers, (axis,), "total", int(keepdims))
    return emit.add("Cast", [total], "total", to=onnx.TensorProto.INT64)


def _zero_if(emit: Builder, holds: Value) -> Value:
    """Emit a zero, [1], by nodes that fail where a condition does not hold."""
    failures = _total(emit, emit.add("Not", [holds], "fails"), 0, keepdims=True)
    return emit.add("Gather", [emit.vector((0,), "zero"), failures], "zero", axis=0)


def common_length(emit: Builder, ragged: Ragged) -> Value:
    """Emit the length of all iterations, [1], 0 without iterations.

    The nodes fail if they differ, as a Loop does where it stacks such values.
    """
    counts, zero = _counts(emit, ragged), emit.vector((0,), "zero")
    spare = emit.concat([counts, zero], 0, "counts")
    first = emit.add("Slice", [spare, zero, emit.vector((1,), "one")], "first")
    alike = _zero_if(emit, emit.add("Equal", [counts, first], "same"))
    return emit.add("Add", [first, alike], "length")


def part_of(batch: Batch, ragged: Ragged) -> Value:
    """The result of a Slice along the axis of which iterations lack elements.

    Raises:
        Unbatchable: elements that are counted from the end, or others.
    """
    axes = [0] if batch.operand(3) is None else batch.numbers(3)
    steps = [1] if batch.operand(4) is None else batch.numbers(4)
    starts, ends, rank = batch.numbers(1), batch.numbers(2), batch.rank(0)
    if ragged.present is None or [axis % rank - rank for axis in axes] != [ragged.axis]:
        raise Unbatchable(DIFFERING)
    size, lacking = ragged.size, max(-ends[0], 0)
    end = size - lacking if lacking else min(ends[0], size)
    if steps != [1] or starts[0] < 0 or starts[0] >= end:
        raise Unbatchable(DIFFERING)
    emit, start = batch.emit, batch.vector(starts[0])
    value, place = batch.require(0).value, batch.vector(rank + ragged.axis + 1)
    part = emit.add("Slice", [value, start, batch.vector(end), place], batch.label())
    ahead = [batch.vector(starts[0] + lacking), batch.vector(end + lacking), batch.vector(1)]
    present = emit.once("Slice", [ragged.present, *ahead], "present")
    return batch.ragged(part, Ragged(ragged.axis, end - starts[0], present, False))


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
        raise Unbatchable("takes elements of which some iterations lack some, and keeps their axis")


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
        axes: axes of length 1 behind the iterations.
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
        some: truth values of shape [iterations], true if there is an element.
        rank: the rank of the result on one iteration.
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
        data: what it reads, the same on every iteration.
        start: where it begins on each iteration, not before the first element: [iterations, 1].
        steps: how far from there its elements are.
        axis: the axis on one iteration.
        occupied: true if each iteration certainly has an element.

    Returns:
        the data to read, with one element more where an iteration may have none; the places to
        read; and which elements there are.
    """
    emit, label = batch.emit, batch.label("_size")
    if not is_paddable(batch.require(0).fact.elem_type):
        raise Unbatchable(PAST_THE_END)
    sizes = emit.add("Shape", [data], label)
    size = emit.add("Gather", [sizes, batch.vector(axis)], label, axis=0)
    places = emit.add("Add", [start, batch.vector(*steps)], batch.label("_places"))
    present = emit.add("Less", [places, size], batch.label("_present"))
    padded_data = None
    if batch.extent.never_negative(batch.shape(0)[axis] - 1):  # no iteration has an empty axis
        spare = emit.add("Sub", [size, batch.vector(1)], batch.label("_last"))
    else:
        data = padded_data = _with_one_more(batch, data, axis)
        spare = size
    read = batch.label("_places")
    if emit.opset >= MIN_OF_INTEGERS:
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
