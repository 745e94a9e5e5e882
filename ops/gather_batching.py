"""Reads and writes at positions that differ from trip to trip."""

from __future__ import annotations

import onnx

from ..facts.polynomial import Dimension
from ..ir import Node, Value
from ..limits import allowed, limit
from .batching import DIFFERING, Batch, Unbatchable
from .dynamic_shape_batching import counted
from .partial_windows import Short, repeated, where_short
from .ragged import PAST_THE_END, window

_INT64 = onnx.TensorProto.INT64
BATCH_DIMS = 12
"""From this opset on, GatherND has batch axes."""


def gathered(given: Batch, data: Value, indices: Value, axis: int) -> Value:
    """What Gather takes along an axis of the first input, each trip at indices of its own.

    Args:
        given: the node; its inputs tell the ranks.
        data: its first input for all trips.
        indices: where each trip reads.
        axis: the axis on one trip.
    """
    if given.given(1).fact.elem_type != _INT64:  # GatherND takes no others
        indices = given.emit.add("Cast", [indices], given.label("_places"), to=_INT64)
    return taken(given, data, indices, axis, given.rank(1))


def taken(given: Batch, data: Value, indices: Value, axis: int, count: int) -> Value:
    """The same for indices of `count` axes on one trip."""
    rank = given.rank(0)
    front = [0, axis + 1, *(other for other in range(1, rank + 1) if other != axis + 1)]
    moved = given.emit.transpose(data, front, given.label("_moved"))
    label = given.label("_places")
    tuples = given.emit.unsqueeze(indices, 1 + count, label)
    if given.emit.opset < BATCH_DIMS:
        tuples = after_trips(given, tuples, 1 + count)
        found = given.emit.add("GatherND", [moved, tuples], given.label())
    else:
        found = given.emit.add("GatherND", [moved, tuples], given.label(), batch_dims=1)
    before, inside = range(1 + count, 1 + count + axis), range(1, 1 + count)
    perm = [0, *before, *inside, *range(1 + count + axis, rank + count)]
    return given.emit.transpose(found, perm, given.label())


def after_trips(given: Batch, tuples: Value, rank: int) -> Value:
    """Tuples of indices of all trips, each behind the number of its trip.

    Args:
        given: the node.
        tuples: one along the last axis.
        rank: of the tuples on one trip.
    """
    emit, label = given.emit, given.label("_trip")
    numbers = emit.unsqueeze(counted(given), tuple(range(1, 1 + rank)), label)
    sizes = emit.add("Shape", [tuples], label)
    sizes = emit.add("Slice", [sizes, given.vector(0), given.vector(rank)], label)
    whole = emit.concat([sizes, given.vector(1)], 0, label)
    return emit.concat([emit.add("Expand", [numbers, whole], label), tuples], rank, label)


def moving_slice(given: Batch) -> Value:
    """What Slice takes from starts that differ from trip to trip, always so many elements.

    Where the end of its axis may cut one short, it is known that no trip gets that far, or else the
    result is ragged.
    """
    starts, ends = (given.given(index).fact.content for index in (1, 2))
    if starts is None or ends is None or starts.ndim != 1:
        raise Unbatchable(DIFFERING)
    axes = range(len(starts)) if given.operand(3) is None else given.numbers(3)
    steps = [1] * len(starts) if given.operand(4) is None else given.numbers(4)
    if not ends.shape == starts.shape == (len(axes),) == (len(steps),):
        raise Unbatchable("has bounds, axes and steps that differ in number")
    data = given.given(0)
    value, batched, ragged = data.value, data.batched, None
    for position, (start, end, step) in enumerate(zip(starts, ends, steps, strict=True)):
        axis = given.axis(axes[position], given.rank(0)) - 1
        if (
            start is not None
            and end is not None
            and start.value is not None
            and end.value is not None
        ):
            bounds = [given.vector(n) for n in (start.value, end.value, axis + batched, step)]
            value = given.emit.add("Slice", [value, *bounds], given.label("_fixed"))
            continue
        if step < 1:
            raise Unbatchable("moves backward")
        length, short = _length(given, start, end, axis)
        first, offsets = _start(given, position), range(0, length, step)
        if len(offsets) > limit("window_elements"):
            raise Unbatchable(f"takes more elements than {allowed('window_elements')}")
        if short is Short.RUNS:
            if batched:
                raise Unbatchable(PAST_THE_END)
            value, places, ragged = window(given, value, first, offsets, axis)
        else:
            places = _places(given, first, offsets, axis, short)
        value = (taken if batched else _read)(given, value, places, axis, 1)
        batched = True
    if not batched:  # the number of the iteration cancels out in all places
        return given.unvarying(value)
    return value if ragged is None else given.ragged(value, ragged)


def _start(given: Batch, position: int) -> Value:
    """Where one of the axes of a slice begins on each trip, of shape [trips, 1]."""
    start, label = given.spread(1), given.label("_places")
    if [dim.value for dim in given.shape(1)] != [1]:
        start = given.emit.add("Gather", [start, given.vector(position)], label, axis=1)
    if given.given(1).fact.elem_type != _INT64:
        start = given.emit.add("Cast", [start], label, to=onnx.TensorProto.INT64)
    return start


def _places(given: Batch, start: Value, steps: range, axis: int, short: Short) -> Value:
    """Where one of the axes of a slice is read on each trip."""
    offsets = given.vector(*steps)
    if short is Short.REPEATS:
        if steps.step > 1:
            raise Unbatchable(PAST_THE_END)
        offsets = repeated(given, start, offsets, axis)
    return given.emit.add("Add", [start, offsets], given.label("_places"))


def _read(given: Batch, data: Value, places: Value, axis: int, count: int) -> Value:
    """The same of data that are the same on every trip."""
    found = given.emit.add("Gather", [data, places], given.label(), axis=axis)
    rank = given.rank(0) + count
    others = [other for other in range(rank) if other != axis]
    return given.emit.transpose(found, [axis, *others], given.label())


def _length(
    given: Batch, start: Dimension | None, end: Dimension | None, axis: int
) -> tuple[int, Short]:
    """How many elements a slice spans on every trip, and what becomes of one where it has fewer."""
    length = None if start is None or end is None else (end - start).value
    if start is None or end is None or length is None or length < 1:
        raise Unbatchable(DIFFERING)
    size = given.shape(0)[axis]
    ahead = given.extent.never_negative(start)
    inside = ahead and given.extent.never_negative(size - end)
    if inside or (length == 1 and _must_be_there(given, axis)):
        return length, Short.FAILS
    if not ahead:
        raise Unbatchable(PAST_THE_END)
    return length, where_short(given, axis, length)


def _must_be_there(given: Batch, axis: int) -> bool:
    """Whether all that reads a slice of one element fails if there is none: it drops the axis."""
    result, body = given.node.output(), given.node.graph
    assert body is not None
    return all(
        isinstance(user, Node) and user.is_op("Squeeze") and axis in _dropped(user, given.rank(0))
        for user in body.users(result)
    )


def _dropped(node: Node, rank: int) -> list[int]:
    """The axes that Squeeze names."""
    axes, named = node.attribute("axes"), node.input(1)
    if axes is None and named is not None and named.constant is not None:
        axes = named.constant.numpy().reshape(-1).tolist()
    return [axis % rank for axis in axes or ()]
