"""Reductions of windows that move over rows, without the windows.

Windows that move by a fixed number of rows: steps of doubling length join neighbours, so two steps
reduce windows of 4 rows, three those of 5:

    pairs = Add (x[:-1], x[1:])        fours = Add (pairs[:-2], pairs[2:])

Windows whose bounds only run time tells: sums of prefixes and suffixes are running sums. Those of
windows of one length B join two running sums within blocks of B rows, so that no window holds an
element of another one:

    x[i : i + B]  =  the rest of the block of row i, and the start of the block of row i + B

Extremes of windows of one length B join those of two windows of 2^j <= B rows, which may overlap.
Windows that a limit cuts reach into neutral elements around the rows.
"""

import dataclasses
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import onnx

from ..facts.fact import Fact
from ..facts.magnitudes import LAST_OF_32_BITS, LAST_OF_64_BITS
from ..facts.polynomial import Dimension
from ..facts.types import PLAIN_FLOATS, PLAIN_NUMBERS
from ..ir import Value
from .batch_axis import counted
from .batching import DIFFERING, Batch, Bounds, Kind, Partial, Unbatchable, Window
from .schema_queries import ALLOWZERO, MIN_OF_INTEGERS

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
    rows = batch.emit.cut(data, first, end, axis, batch.label("_rows"))
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
    label = batch.label("_part")
    before = batch.emit.cut(early, 0, -second, 0, label)
    after = batch.emit.cut(late, first, LAST_OF_64_BITS, 0, label)
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


_POWERS = tuple([1 << digit for digit in range(62)])
_WINDOWS = (Kind.WINDOW, Kind.CUT_WINDOW)


class Bound(NamedTuple):
    """A bound of a Slice along one axis.

    Attributes:
        value: its value in each iteration, of shape [iterations, 1].
        formula: its value in an iteration; None if known only at run time.
    """

    value: Value
    formula: Dimension | None = None


def bounded(
    batch: Batch,
    data: Value,
    ends: Sequence[Bound],
    axis: int,
    kind: Kind,
    longest: int | None = None,
) -> Value:
    """Mark loop-invariant rows as cut by the bounds of a Slice.

    Args:
        data: the rows.
        ends: the start and the end.
        axis: the axis in one iteration.
        longest: the length of a window that no limit cuts; None if known only at run time.
    """
    emit, label = batch.emit, batch.label("_bound")
    if emit.opset < MIN_OF_INTEGERS or batch.require(0).fact.elem_type not in PLAIN_NUMBERS:
        raise Unbatchable(DIFFERING)
    size, count = emit.size(data, axis, label), batch.shape(0)[axis]
    start, end = (
        batch.vector(0)
        if each.formula == 0
        else inside(batch, each._replace(value=emit.squeeze(each.value, 1, label)), size, count)
        for each in ends
    )
    bounds = Bounds(start, end, kind, count.value, longest)
    rows = data
    if not (kind is Kind.PREFIX and _ends_at(batch, ends[1], count)):
        rows, bounds = _within_reach(batch, data, bounds, size, axis)
    how = Partial(axis - batch.rank(0), 0, None, False, bounds=bounds, varies=False)
    return batch.unvarying(batch.partial(rows, how))


def _ends_at(batch: Batch, end: Bound, size: Dimension) -> bool:
    """Test for an end that is the size of the axis in the last iteration."""
    (name,), most = batch.extent.number.symbols, batch.extent.most
    return (
        most is not None
        and end.formula is not None
        and end.formula.replaced({name: most - 1}) == size
    )


def _within_reach(
    batch: Batch, data: Value, bounds: Bounds, size: Value, axis: int
) -> tuple[Value, Bounds]:
    """The rows that some iteration reads, and the bounds within these."""
    emit, label, kind = batch.emit, batch.label("_rows"), bounds.kind
    first, last = batch.vector(0), size
    if kind is not Kind.PREFIX:
        # The size joins them so that there is a least one at zero iterations.
        starts = emit.concat([size, bounds.start], 0, label)
        first = emit.reduce("ReduceMin", starts, (0,), label, 1)
    if kind is not Kind.SUFFIX:
        ends = emit.concat([first, bounds.end], 0, label)
        last = emit.reduce("ReduceMax", ends, (0,), label, 1)
    rows = emit.cut(data, first, last, axis, label)
    if kind is Kind.PREFIX:
        return rows, bounds
    start, end = (emit.add("Sub", [end, first], label) for end in (bounds.start, bounds.end))
    if kind in _WINDOWS:  # an empty one may be beyond the others
        start = emit.add("Min", [start, emit.add("Sub", [last, first], label)], label)
    return rows, dataclasses.replace(bounds, start=start, end=end)


def inside(batch: Batch, bound: Bound, size: Value, count: Dimension) -> Value:
    """A bound of a Slice as the position from the first element on.

    Args:
        size: the size of the axis, an emitted vector.
        count: the same, as known before run time.
    """
    emit, label = batch.emit, batch.label("_bound")
    value, formula, never_negative = bound.value, bound.formula, batch.extent.never_negative
    if formula is not None and never_negative(formula):
        is_within = never_negative(count - formula)
        return value if is_within else emit.add("Min", [value, size], label)
    return emit.place(value, size, label)


def joined_between(batch: Batch, bounds: Bounds, rows: Value, rest: Sequence[Dimension]) -> Value:
    """The reductions of rows, which come first, between bounds.

    Raises:
        Unbatchable: no running reduction serves it.
    """
    if bounds.kind in _WINDOWS:
        return _in_windows(batch, rows, bounds, rest)
    if batch.node.op_type in JOINS:
        return _extremes(batch, rows, bounds, rest)
    return _sums(batch, rows, bounds)


def _sums(batch: Batch, rows: Value, bounds: Bounds) -> Value:
    """The sums of rows, which come first, in a prefix or suffix."""
    emit, label = batch.emit, batch.label("_sums")
    is_prefix = bounds.kind is Kind.PREFIX
    sums = emit.running_sum(rows, label, reverse=int(not is_prefix))
    rank, place = batch.rank(0), bounds.end if is_prefix else bounds.start
    nothing = 0 if is_prefix else rank  # where the sum of no rows stands
    pads = [int(index == nothing) for index in range(2 * rank)]
    sums = emit.add("Pad", [sums, batch.vector(*pads)], label)
    return emit.add("Gather", [sums, place], label)


def _extremes(batch: Batch, rows: Value, bounds: Bounds, rest: Sequence[Dimension]) -> Value:
    """The extremes or products of rows, which come first, in a prefix or suffix."""
    emit, label = batch.emit, batch.label("_all")
    place = bounds.end
    if bounds.kind is Kind.SUFFIX:
        place = emit.add("Sub", [emit.size(rows, 0, label), bounds.start], label)
        rows = emit.reverse(rows, label)
    # The neutral row in front is the result for no rows, and counts among the most.
    padded = pad_rows(batch, rows, batch.vector(1), in_front=True)
    most = None if bounds.most is None else bounds.most + 1
    return emit.add("Gather", [_join_all(batch, padded, rest, most, None), place], label)


def _join_all(
    batch: Batch, rows: Value, rest: Sequence[Dimension], most: int | None, reach: Value | None
) -> Value:
    """Join the rows up to each one: all of them, or the last `reach`."""
    if batch.running is None:
        raise Unbatchable(DIFFERING)
    fact = Fact(batch.require(0).fact.elem_type, tuple(rest))
    return batch.running(JOINS[batch.node.op_type], rows, fact, most, reach)


def _in_windows(batch: Batch, rows: Value, bounds: Bounds, rest: Sequence[Dimension]) -> Value:
    """The reductions of windows of one length, of which limits may cut some."""
    emit, label, start = batch.emit, batch.label("_windows"), bounds.start
    lengths = emit.add("Sub", [bounds.end, start], label)
    if bounds.longest is not None and bounds.longest > 0:
        longest = batch.vector(bounds.longest)
    else:
        # At least 1, since it divides: all windows may be empty, and there may be no iterations.
        longest = emit.concat([batch.vector(1), lengths], 0, label)
        longest = emit.reduce("ReduceMax", longest, (0,), label, 1)
    if bounds.kind is Kind.CUT_WINDOW:
        rows = pad_rows(batch, rows, longest, in_front=True)
        zero = batch.vector(0)
        # A window that the front cuts is placed by its end, and so begins in the padding.
        at_first = emit.add("Equal", [start, zero], label)
        behind = emit.add("Add", [start, longest], label)
        end = emit.add("Max", [bounds.end, zero], label)
        start = emit.add("Where", [at_first, end, behind], label)
    if batch.node.op_type not in JOINS:
        total = _in_blocks(batch, rows, start, longest, rest)
    else:
        total = _of_two(batch, rows, start, longest, rest)
    # An empty window stands over rows of others, whose reduction must not show.
    some = emit.add("Greater", [lengths, batch.vector(0)], label)
    some = emit.lift(some, batch.rank(0) - 1, label)
    nothing = neutral(batch) if batch.node.op_type in JOINS else batch.number(0)
    return emit.add("Where", [some, total, nothing], label)


def _of_two(
    batch: Batch, rows: Value, start: Value, longest: Value, rest: Sequence[Dimension]
) -> Value:
    """The extremes of windows, by those of two windows of a power of 2."""
    if batch.node.op_type not in OVERLAPPING:
        raise Unbatchable(DIFFERING)
    emit, label, one = batch.emit, batch.label("_windows"), batch.vector(1)
    powers = batch.vector(*_POWERS)
    # The largest power of 2 up to the length, by a table: ONNX has no integer logarithm.
    larger = emit.add("Greater", [powers, longest], label)
    fitting = emit.add("Where", [larger, one, powers], label)
    width = emit.reduce("ReduceMax", fitting, (0,), label, 1)
    joined = _join_all(batch, pad_rows(batch, rows, longest), rest, None, width)
    # `joined` has the last `width` rows up to each place, so a window is found by its end.
    before = emit.add("Sub", [start, one], label)
    ends = [emit.add("Add", [before, size], label) for size in (width, longest)]
    parts = [emit.add("Gather", [joined, end], label) for end in ends]
    return emit.add(JOINS[batch.node.op_type], parts, label)


def _in_blocks(
    batch: Batch, rows: Value, start: Value, longest: Value, rest: Sequence[Dimension]
) -> Value:
    """The sums of windows, by running sums in blocks of their length."""
    emit, label = batch.emit, batch.label("_blocks")
    # A Reshape takes a size of 0 for that of its operand, unless there is `allowzero`.
    if emit.opset < ALLOWZERO and not all(dim.value for dim in rest):
        raise Unbatchable(DIFFERING)
    allow = {"allowzero": 1} if emit.opset >= ALLOWZERO else {}
    sizes, one = emit.add("Shape", [rows], label), batch.vector(1)
    size, others = (emit.slice(sizes, *cut, label) for cut in ((0, 1), (1, LAST_OF_32_BITS)))
    # One block more than the rows fill: there is a row behind the last window then.
    reach = emit.add("Div", [emit.add("Add", [size, longest], label), longest], label)
    count = emit.add("Add", [reach, one], label)
    whole = emit.add("Mul", [count, longest], label)
    padded = pad_rows(batch, rows, emit.add("Sub", [whole, size], label))
    apart = emit.concat([count, longest, others], 0, label)
    blocks = emit.add("Reshape", [padded, apart], label, **allow)
    together = emit.concat([whole, others], 0, label)
    ends = emit.running_sum(blocks, label, 1, reverse=1)
    starts = emit.running_sum(blocks, label, 1, exclusive=1)
    ends, starts = (emit.add("Reshape", [v, together], label, **allow) for v in (ends, starts))
    behind = emit.add("Add", [start, longest], label)
    parts = [(ends, start), (starts, behind)]
    return emit.add("Add", [emit.add("Gather", [v, at], label) for v, at in parts], label)
