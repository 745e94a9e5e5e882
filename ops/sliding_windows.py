"""Windows that move by a fixed number of rows, whose reductions need no windows.

Steps of doubling length join neighbours, so two steps reduce windows of 4 rows, three those of 5:

    pairs = Add (x[:-1], x[1:])        fours = Add (pairs[:-2], pairs[2:])
"""

from __future__ import annotations

import dataclasses

import numpy as np
import onnx

from ..facts.magnitudes import LAST_OF_64_BITS
from ..facts.polynomial import Dimension
from ..facts.types import PLAIN_FLOATS
from ..ir import Value
from .batching import Batch, Window
from .dynamic_shape_batching import counted

NEUTRAL = {
    **dict.fromkeys(("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceSumSquare"), 0.0),
    # added to what has a sign even where it is 0, it changes nothing
    **dict.fromkeys(("ReduceSum", "ReduceMean"), -0.0),
    "ReduceProd": 1.0,
    "ReduceMin": np.inf,
    **dict.fromkeys(("ReduceMax", "ReduceLogSumExp"), -np.inf),
}
"""Neutral element: one more of it leaves the result unchanged."""
JOINS = {"ReduceMax": "Max", "ReduceMin": "Min", "ReduceProd": "Mul"}
"""The operator that joins two parts, unless they are sums."""
OVERLAPPING = ("ReduceMax", "ReduceMin")
"""The reductions to which neither order nor a repeated element makes a difference."""


def neutral(batch: Batch) -> Value:
    """Emit the neutral element of a reduction."""
    number = NEUTRAL[batch.node.op_type]
    kind = onnx.helper.tensor_dtype_to_np_dtype(batch.require(0).fact.elem_type)
    # Integers have no infinity; their limits are neutral as well.
    if kind.kind != "f" and not np.isfinite(number):
        number = np.iinfo(kind).max if number > 0 else np.iinfo(kind).min
    return batch.number(number, "_fill")


def pad_rows(batch: Batch, rows: Value, more: Value, in_front: bool = False) -> Value:
    """Rows with neutral ones in front or behind."""
    emit, label, rank = batch.emit, batch.label("_padded"), batch.rank(0)
    front = [] if in_front else [batch.vector(*[0] * rank)]
    behind = 2 * rank - 1 if in_front else rank - 1
    parts = [*front, more, *([batch.vector(*[0] * behind)] if behind else [])]
    return emit.add("Pad", [rows, emit.concat(parts, 0, label), neutral(batch)], label)


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


def joined_windows(batch: Batch, window: Window, rows: Value) -> Value:
    """The reductions of windows of rows, which come first."""
    if not window.whole:
        rows = pad_rows(batch, rows, _lacking(batch, window))
    # As for powers by squaring: 16 rows take four steps.
    powers, size = {1: rows}, 1
    while 2 * size <= window.size:
        powers[2 * size] = _step(batch, powers[size], powers[size], size, size)
        size *= 2
    result, reduced = powers[size], size
    for power in sorted(powers, reverse=True):
        if window.size - reduced >= power:
            result = _step(batch, result, powers[power], reduced, power)
            reduced += power
    if window.stride == 1:
        return result
    bounds = [batch.vector(n) for n in (0, LAST_OF_64_BITS, 0, window.stride)]
    return batch.emit.add("Slice", [result, *bounds], batch.label("_joined"))


def _step(batch: Batch, early: Value, late: Value, first: int, second: int) -> Value:
    """Join the reductions of `first` elements with those of the next `second` ones."""
    zero, label = batch.vector(0), batch.label("_part")
    before = batch.emit.add("Slice", [early, zero, batch.vector(-second), zero], label)
    end = batch.vector(LAST_OF_64_BITS)
    after = batch.emit.add("Slice", [late, batch.vector(first), end, zero], label)
    kind = JOINS.get(batch.node.op_type, "Add")
    return batch.emit.add(kind, [before, after], batch.label("_joined"))


def _lacking(batch: Batch, window: Window) -> Value:
    """The number of rows that make all windows whole."""
    emit, label = batch.emit, batch.label("_pads")
    moved = emit.add("Mul", [batch.iterations, batch.vector(window.stride)], label)
    needed = emit.add("Add", [moved, batch.vector(window.size - window.stride)], label)
    return emit.add("Sub", [needed, emit.size(window.rows, window.axis, label)], label)


def remaining(batch: Batch, window: Window) -> Value:
    """The number of elements from the start of each window on; negative beyond the end."""
    emit, label = batch.emit, batch.label("_count")
    starts = emit.add("Mul", [counted(batch), batch.vector(window.stride)], label)
    return emit.add("Sub", [emit.size(window.rows, window.axis, label), starts], label)
