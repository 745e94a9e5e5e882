"""Reductions of windows that move by a fixed number of rows, without the windows themselves.

Steps of doubling length join neighbours, so two steps reduce windows of 4 rows, three those of 5:

    pairs = Add (x[:-1], x[1:])        fours = Add (pairs[:-2], pairs[2:])
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
import onnx

from ..facts.polynomial import Dimension, product
from ..facts.types import PLAIN_FLOATS, PLAIN_INTEGERS
from ..ir import Value
from .batching import Batch, Window
from .dynamic_shape_batching import counted
from .ragged import zero_of_nothing
from .schema_queries import MIN_OF_INTEGERS

_END = np.iinfo(np.int64).max
_JOINS = {
    "ReduceSum": ("Add", -0.0),
    "ReduceMean": ("Add", 0.0),  # the mean of nothing is 0, and not -0
    "ReduceMax": ("Max", -np.inf),
    "ReduceMin": ("Min", np.inf),
    "ReduceProd": ("Mul", 1.0),
}
"""The operator that joins two parts of a window, and its neutral element."""
OVERLAPPING = ("ReduceMax", "ReduceMin")
"""The reductions to which neither order nor a repeated element makes a difference."""


def window_at(
    batch: Batch,
    data: Value,
    start: Dimension | None,
    size: int,
    axis: int,
    whole: tuple[bool, bool],
) -> Window | None:
    """The windows that a Slice reads; None where they do not overlap.

    Args:
        batch: the Slice.
        data: the tensor, the same in every iteration.
        start: where the window begins, by the number of the iteration; never negative.
        size: the number of elements of a window.
        axis: the axis in one iteration.
        whole: true if no window ends early, and true if none is empty.
    """
    number = batch.extent.number
    (symbol,) = number.symbols
    if start is None:
        return None
    first = start.replaced({symbol: Dimension.constant(0)}).value
    stride = (start.replaced({symbol: number + 1}) - start).value
    if first is None or stride is None or not 0 < stride < size:
        return None
    moved = batch.emit.add("Mul", [batch.iterations, batch.vector(stride)], batch.label("_end"))
    end = batch.emit.add("Add", [moved, batch.vector(first + size - stride)], batch.label("_end"))
    bounds = [batch.vector(first), end, batch.vector(axis)]
    rows = batch.emit.add("Slice", [data, *bounds], batch.label("_rows"))
    return Window(rows, axis, stride, size, *whole)


def window_of_function(batch: Batch) -> Window | None:
    """Windows of a function of each element; None for operands that are no such windows."""
    indices = [index for index, operand in enumerate(batch.operands) if operand is not None]
    windows = {i: batch.windows.get(batch.require(i).value) for i in indices}
    one = next((window for window in windows.values() if window is not None), None)
    if one is None:
        return None
    inputs: list[Value | None] = [None] * len(batch.operands)
    for index, window in windows.items():
        if window is None and not _repeats(batch, index, one.axis):
            return None
        if window is not None and window.places != one.places:
            return None
        if batch.require(index).fact.elem_type not in PLAIN_FLOATS:
            return None  # others may fail on elements of no window
        inputs[index] = batch.require(index).value if window is None else window.rows
    rows = batch.emit.apply(batch.node.op, inputs, batch.label("_rows"))
    return dataclasses.replace(one, rows=rows)


def _repeats(batch: Batch, index: int, axis: int) -> bool:
    """Test for an invariant operand that broadcasts along the axis of windows."""
    rank = max(batch.rank(other) for other, item in enumerate(batch.operands) if item is not None)
    own = batch.rank(index)
    if batch.require(index).batched:
        return False
    return own < rank - axis or batch.shape(index)[axis - rank].value == 1


def reduced_windows(batch: Batch, axes: Sequence[int]) -> Value | None:
    """The result of a Reduce operator on windows; None for other operands."""
    operand, op_type = batch.require(0), batch.node.op_type
    window = batch.windows.get(operand.value)
    if window is None or op_type not in _JOINS or batch.emit.opset < MIN_OF_INTEGERS:
        return None
    places = {axis % batch.rank(0) for axis in axes}
    others = product([batch.shape(0)[place] for place in places - {window.axis}]).value
    if window.axis not in places or not _is_joined(batch, window) or not others:
        return None
    value = _joined(batch, window)
    front = [window.axis, *(a for a in range(batch.rank(0)) if a != window.axis)]
    value = batch.emit.transpose(value, front, batch.label("_joined"))
    keepdims = batch.node.attribute("keepdims", 1)
    beside = tuple(sorted(place + 1 for place in places - {window.axis}))
    if keepdims or beside:
        value = batch.emit.unsqueeze(value, window.axis + 1, batch.label("_kept"))
    if beside:
        over = beside if keepdims else tuple(sorted((*beside, window.axis + 1)))
        kind = "ReduceSum" if op_type == "ReduceMean" else op_type
        value = batch.emit.reduce(kind, value, over, batch.label("_reduced"), keepdims)
    if op_type == "ReduceMean":
        value = _mean(batch, window, value, places, others)
    if window.occupied or op_type not in ("ReduceSum", "ReduceMean"):
        return value
    zero = batch.vector(0)
    some = batch.emit.add("Greater", [_remaining(batch, window), zero], batch.label("_some"))
    return zero_of_nothing(batch, value, some, _rank_of(batch, places))


def _is_joined(batch: Batch, window: Window) -> bool:
    """Test for an element type whose reductions join."""
    elem_type, op_type = batch.require(0).fact.elem_type, batch.node.op_type
    if op_type not in OVERLAPPING and batch.keeps_order:
        return False
    is_integer = elem_type in PLAIN_INTEGERS and window.whole and op_type != "ReduceMean"
    return is_integer or elem_type in PLAIN_FLOATS


def _joined(batch: Batch, window: Window) -> Value:
    """The reductions along the axis of the windows, in its place."""
    kind, neutral = _JOINS[batch.node.op_type]
    rows = window.rows
    if not window.whole:
        dtype = onnx.helper.tensor_dtype_to_np_dtype(batch.require(0).fact.elem_type)
        fill = batch.emit.constant(np.array(neutral, dtype), batch.label("_fill"))
        rows = batch.emit.add("Pad", [rows, _lacking(batch, window), fill], batch.label("_padded"))
    powers, size = {1: rows}, 1
    while 2 * size <= window.size:
        powers[2 * size] = _step(batch, kind, powers[size], powers[size], size, size, window.axis)
        size *= 2
    result, reduced = powers[size], size
    for power in sorted(powers, reverse=True):
        if window.size - reduced >= power:
            result = _step(batch, kind, result, powers[power], reduced, power, window.axis)
            reduced += power
    if window.stride == 1:
        return result
    bounds = [batch.vector(n) for n in (0, _END, window.axis, window.stride)]
    return batch.emit.add("Slice", [result, *bounds], batch.label("_joined"))


def _step(
    batch: Batch, kind: str, early: Value, late: Value, first: int, second: int, axis: int
) -> Value:
    """Join the reductions of `first` elements with those of the next `second` ones."""
    zero, at, label = batch.vector(0), batch.vector(axis), batch.label("_part")
    before = batch.emit.add("Slice", [early, zero, batch.vector(-second), at], label)
    after = batch.emit.add("Slice", [late, batch.vector(first), batch.vector(_END), at], label)
    return batch.emit.add(kind, [before, after], batch.label("_joined"))


def _size(batch: Batch, window: Window) -> Value:
    sizes = batch.emit.add("Shape", [window.rows], batch.label("_size"))
    return batch.emit.add("Gather", [sizes, batch.vector(window.axis)], batch.label("_size"))


def _lacking(batch: Batch, window: Window) -> Value:
    """The pads that make all windows whole."""
    emit, label, rank = batch.emit, batch.label("_pads"), batch.rank(0)
    moved = emit.add("Mul", [batch.iterations, batch.vector(window.stride)], label)
    needed = emit.add("Add", [moved, batch.vector(window.size - window.stride)], label)
    amount = emit.add("Sub", [needed, _size(batch, window)], label)
    behind = rank - window.axis - 1
    pads = [batch.vector(*[0] * (rank + window.axis)), amount]
    return emit.concat([*pads, *([batch.vector(*[0] * behind)] if behind else [])], 0, label)


def _remaining(batch: Batch, window: Window) -> Value:
    """The number of elements from the start of each window on; negative beyond the end."""
    label = batch.label("_count")
    starts = batch.emit.add("Mul", [counted(batch), batch.vector(window.stride)], label)
    return batch.emit.add("Sub", [_size(batch, window), starts], label)


def _rank_of(batch: Batch, axes: set[int]) -> int:
    return batch.rank(0) if batch.node.attribute("keepdims", 1) else batch.rank(0) - len(axes)


def _mean(batch: Batch, window: Window, total: Value, axes: set[int], others: int) -> Value:
    """Divide sums by the number of elements, `others` for each one of a window.

    The mean of nothing is undefined; it is 0, as in onnxruntime.
    """
    emit, label, elem_type = batch.emit, batch.label("_count"), batch.require(0).fact.elem_type
    if window.whole:
        dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
        count = emit.constant(np.array(others * window.size, dtype), label)
        return emit.add("Div", [total, count], batch.label())
    rest = emit.add("Max", [_remaining(batch, window), batch.vector(1)], label)
    count = emit.add("Min", [rest, batch.vector(window.size)], label)
    if others != 1:
        count = emit.add("Mul", [count, batch.vector(others)], label)
    count = emit.add("Cast", [count], label, to=elem_type)
    rank = _rank_of(batch, axes)
    if rank:
        count = emit.unsqueeze(count, tuple(range(1, 1 + rank)), label)
    return emit.add("Div", [total, count], batch.label())
