"""Slices whose length only run time tells, for operators that add them up.

Sums of prefixes and suffixes are running sums. Those of windows of one length B join two running
sums within blocks of B rows, so that no window holds an element of another one:

    x[i : i + B]  =  the rest of the block of row i, and the start of the block of row i + B

Extremes of windows of one length B join those of two windows of 2^j <= B rows, which may overlap.
Windows that a limit cuts reach into neutral elements around the rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx

from ..facts.fact import Fact
from ..facts.magnitudes import LAST_OF_32_BITS
from ..facts.polynomial import Dimension, product
from ..facts.types import PLAIN_FLOATS, PLAIN_INTEGERS
from ..ir import Value
from .batching import DIFFERING, REORDERED, Batch, Bounds, Kind, Ragged, Unbatchable
from .schema_queries import ALLOWZERO, MIN_OF_INTEGERS
from .sliding_windows import OVERLAPPING

_SUMMED = (*PLAIN_FLOATS, *PLAIN_INTEGERS)
"""The element types of which onnxruntime has running sums."""
_JOINS = {"ReduceMax": "Max", "ReduceMin": "Min", "ReduceProd": "Mul"}
"""The operator that joins two parts."""
_POWERS = tuple([1 << digit for digit in range(62)])
_WINDOWS = (Kind.WINDOW, Kind.CUT_WINDOW)
_TERMS = {"ReduceSum": None, "ReduceMean": None, "ReduceSumSquare": "Mul", "ReduceL1": "Abs"}
"""The operator that computes the terms of a sum."""
ORDERED = (*_TERMS, "ReduceProd")
"""The reductions of which each order of floats gives other bits."""


def bounded(batch: Batch, data: Value, ends: tuple[Value, Value], axis: int, kind: Kind) -> Value:
    """Mark loop-invariant rows as cut by the bounds of a Slice.

    Args:
        batch: the Slice.
        data: the rows.
        ends: the start and the end in each iteration, of shape [iterations, 1].
        axis: the axis in one iteration.
        kind: the elements that the bounds leave.
    """
    emit, label = batch.emit, batch.label("_bound")
    if emit.opset < MIN_OF_INTEGERS or batch.require(0).fact.elem_type not in _SUMMED:
        raise Unbatchable(DIFFERING)
    sizes = emit.add("Shape", [data], label)
    size = emit.add("Gather", [sizes, batch.vector(axis)], label, axis=0)
    start, end = (_inside(batch, emit.squeeze(bound, 1, label), size) for bound in ends)
    bounds = Bounds(start, end, kind, batch.shape(0)[axis].value)
    rows, bounds = _within_reach(batch, data, bounds, size, axis)
    return batch.unvarying(
        batch.ragged(rows, Ragged(axis - batch.rank(0), 0, None, False, None, bounds))
    )


def _within_reach(
    batch: Batch, data: Value, bounds: Bounds, size: Value, axis: int
) -> tuple[Value, Bounds]:
    """The rows that some iteration reads, and the bounds within these."""
    emit, label, kind = batch.emit, batch.label("_rows"), bounds.kind
    first, last = batch.vector(0), size
    if kind is not Kind.PREFIX:
        starts = emit.concat([size, bounds.start], 0, label)
        first = emit.reduce("ReduceMin", starts, (0,), label, 1)
    if kind is not Kind.SUFFIX:
        ends = emit.concat([first, bounds.end], 0, label)
        last = emit.reduce("ReduceMax", ends, (0,), label, 1)
    rows = emit.add("Slice", [data, first, last, batch.vector(axis)], label)
    if kind is Kind.PREFIX:
        return rows, bounds
    start, end = (emit.add("Sub", [end, first], label) for end in (bounds.start, bounds.end))
    if kind in _WINDOWS:  # an empty one may be beyond the others
        start = emit.add("Min", [start, emit.add("Sub", [last, first], label)], label)
    return rows, Bounds(start, end, kind, bounds.most)


def _inside(batch: Batch, bound: Value, size: Value) -> Value:
    """A bound of a Slice as the position from the first element on."""
    emit, label, zero = batch.emit, batch.label("_bound"), batch.vector(0)
    negative = emit.add("Less", [bound, zero], label)
    back = emit.add("Add", [bound, size], label)
    bound = emit.add("Where", [negative, back, bound], label)
    return emit.add("Min", [emit.add("Max", [bound, zero], label), size], label)


def reduced_between(batch: Batch, ragged: Ragged, axes: Sequence[int]) -> Value:
    """The result of a Reduce operator on rows cut by bounds.

    Raises:
        Unbatchable: no running reduction serves it.
    """
    bounds, rank, op_type = ragged.bounds, batch.rank(0), batch.node.op_type
    if bounds is None or batch.require(0).batched or op_type not in (*_TERMS, *_JOINS):
        raise Unbatchable(DIFFERING)
    if op_type in ORDERED and batch.keeps_order:
        raise Unbatchable(REORDERED)
    axis, places = rank + ragged.axis, {axis % rank for axis in axes}
    beside = tuple(sorted(places - {axis}))
    others = product([batch.shape(0)[place] for place in beside]).value
    if not others and op_type == "ReduceMean":
        raise Unbatchable(DIFFERING)
    rows = _terms(batch)
    if beside:
        kind = "ReduceSum" if op_type in _TERMS else op_type
        rows = batch.emit.reduce(kind, rows, beside, batch.label("_beside"), keepdims=1)
    front = [axis, *(other for other in range(rank) if other != axis)]
    rows = batch.emit.transpose(rows, front, batch.label("_rows"))
    rest = [Dimension.constant(1) if at in beside else batch.shape(0)[at] for at in front[1:]]
    if bounds.kind in _WINDOWS:
        total = _in_windows(batch, rows, bounds, rest)
    elif op_type in _TERMS:
        total = _sums(batch, rows, bounds)
    else:
        total = _extremes(batch, rows, bounds, rest)
    if batch.node.attribute("keepdims", 1):
        total = batch.emit.unsqueeze(total, axis + 1, batch.label("_kept"))
    elif beside:
        dropped = tuple(place + (place < axis) for place in beside)
        total = batch.emit.squeeze(total, dropped, batch.label("_sum"))
    if op_type != "ReduceMean":
        return total
    return _mean(batch, total, bounds, others or 0, len(places))


def _terms(batch: Batch) -> Value:
    """The terms of the sum."""
    value, op_type = batch.require(0).value, _TERMS.get(batch.node.op_type)
    if op_type is None:
        return value
    return batch.emit.add(op_type, [value] * (2 if op_type == "Mul" else 1), batch.label("_terms"))


def _sums(batch: Batch, rows: Value, bounds: Bounds) -> Value:
    """The sums of rows, which come first, in a prefix or suffix."""
    emit, label = batch.emit, batch.label("_sums")
    is_prefix = bounds.kind is Kind.PREFIX
    sums = _running_sum(batch, rows, 0, backward=not is_prefix)
    rank, place = batch.rank(0), bounds.end if is_prefix else bounds.start
    nothing = 0 if is_prefix else rank  # where the sum of no rows stands
    pads = [int(index == nothing) for index in range(2 * rank)]
    sums = emit.add("Pad", [sums, batch.vector(*pads)], label)
    return emit.add("Gather", [sums, place], label)


def _extremes(batch: Batch, rows: Value, bounds: Bounds, rest: Sequence[Dimension]) -> Value:
    """The extremes or products of rows, which come first, in a prefix or suffix."""
    emit, label = batch.emit, batch.label("_all")
    place, sizes = bounds.end, emit.add("Shape", [rows], label)
    if bounds.kind is Kind.SUFFIX:
        size = emit.add("Slice", [sizes, *map(batch.vector, _CUTS[0])], label)
        place = emit.add("Sub", [size, bounds.start], label)
        ends = [batch.vector(number) for number in (-1, np.iinfo(np.int64).min, 0, -1)]
        rows = emit.add("Slice", [rows, *ends], label)
    padded = _pad(batch, rows, batch.vector(1), in_front=True)
    most = None if bounds.most is None else bounds.most + 1
    return emit.add("Gather", [_join_all(batch, padded, rest, most, None), place], label)


def _join_all(
    batch: Batch, rows: Value, rest: Sequence[Dimension], most: int | None, reach: Value | None
) -> Value:
    """Join the rows up to each one: all of them, or the last `reach`."""
    if batch.running is None:
        raise Unbatchable(DIFFERING)
    fact = Fact(batch.require(0).fact.elem_type, tuple(rest))
    return batch.running(_JOINS[batch.node.op_type], rows, fact, most, reach)


def _neutral(batch: Batch) -> Value:
    """The element that changes no result."""
    dtype, op_type = batch.require(0).fact.elem_type, batch.node.op_type
    kind = onnx.helper.tensor_dtype_to_np_dtype(dtype)
    number: float = 1 if op_type == "ReduceProd" else 0
    if op_type in OVERLAPPING:
        info = np.iinfo(kind) if np.issubdtype(kind, np.integer) else None
        low, high = (-np.inf, np.inf) if info is None else (info.min, info.max)
        number = low if op_type == "ReduceMax" else high
    return batch.emit.constant(np.array(number, kind), batch.label("_fill"))


def _pad(batch: Batch, rows: Value, more: Value, in_front: bool = False) -> Value:
    """Rows with neutral ones in front or behind."""
    emit, label, rank = batch.emit, batch.label("_padded"), batch.rank(0)
    front = [] if in_front else [batch.vector(*[0] * rank)]
    behind = 2 * rank - 1 if in_front else rank - 1
    parts = [*front, more, *([batch.vector(*[0] * behind)] if behind else [])]
    return emit.add("Pad", [rows, emit.concat(parts, 0, label), _neutral(batch)], label)


def _in_windows(batch: Batch, rows: Value, bounds: Bounds, rest: Sequence[Dimension]) -> Value:
    """The reductions of windows of one length, of which limits may cut some."""
    emit, label, start = batch.emit, batch.label("_windows"), bounds.start
    lengths = emit.add("Sub", [bounds.end, start], label)
    longest = emit.concat([batch.vector(1), lengths], 0, label)
    longest = emit.reduce("ReduceMax", longest, (0,), label, 1)
    if bounds.kind is Kind.CUT_WINDOW:
        rows = _pad(batch, rows, longest, in_front=True)
        zero = batch.vector(0)
        at_first = emit.add("Equal", [start, zero], label)
        behind = emit.add("Add", [start, longest], label)
        end = emit.add("Max", [bounds.end, zero], label)
        start = emit.add("Where", [at_first, end, behind], label)
    if batch.node.op_type in _TERMS:
        total = _in_blocks(batch, rows, start, longest, rest)
    else:
        total = _of_two(batch, rows, start, longest, rest)
    some = emit.add("Greater", [lengths, batch.vector(0)], label)
    if batch.rank(0) > 1:
        some = emit.unsqueeze(some, tuple(range(1, batch.rank(0))), label)
    return emit.add("Where", [some, total, _neutral(batch)], label)


def _of_two(
    batch: Batch, rows: Value, start: Value, longest: Value, rest: Sequence[Dimension]
) -> Value:
    """The extremes of windows, by those of two windows of a power of 2."""
    if batch.node.op_type not in OVERLAPPING:
        raise Unbatchable(DIFFERING)
    emit, label, one = batch.emit, batch.label("_windows"), batch.vector(1)
    powers = batch.vector(*_POWERS)
    larger = emit.add("Greater", [powers, longest], label)
    fitting = emit.add("Where", [larger, one, powers], label)
    width = emit.reduce("ReduceMax", fitting, (0,), label, 1)
    joined = _join_all(batch, _pad(batch, rows, longest), rest, None, width)
    before = emit.add("Sub", [start, one], label)
    ends = [emit.add("Add", [before, size], label) for size in (width, longest)]
    parts = [emit.add("Gather", [joined, end], label) for end in ends]
    return emit.add(_JOINS[batch.node.op_type], parts, label)


def _running_sum(
    batch: Batch, rows: Value, axis: int, backward: bool = False, exclusive: bool = False
) -> Value:
    at = batch.emit.constant(np.array(axis, np.int64), batch.label("_axis"))
    flags = {"exclusive": int(exclusive), "reverse": int(backward)}
    return batch.emit.add("CumSum", [rows, at], batch.label("_sums"), **flags)


def _in_blocks(
    batch: Batch, rows: Value, start: Value, longest: Value, rest: Sequence[Dimension]
) -> Value:
    """The sums of windows, by running sums in blocks of their length."""
    emit, label = batch.emit, batch.label("_blocks")
    if emit.opset < ALLOWZERO and not all(dim.value for dim in rest):
        raise Unbatchable(DIFFERING)
    allow = {"allowzero": 1} if emit.opset >= ALLOWZERO else {}
    sizes, one = emit.add("Shape", [rows], label), batch.vector(1)
    size, others = (emit.add("Slice", [sizes, *map(batch.vector, cut)], label) for cut in _CUTS)
    reach = emit.add("Div", [emit.add("Add", [size, longest], label), longest], label)
    count = emit.add("Add", [reach, one], label)
    whole = emit.add("Mul", [count, longest], label)
    padded = _pad(batch, rows, emit.add("Sub", [whole, size], label))
    apart = emit.concat([count, longest, others], 0, label)
    blocks = emit.add("Reshape", [padded, apart], label, **allow)
    together = emit.concat([whole, others], 0, label)
    ends = _running_sum(batch, blocks, 1, backward=True)
    starts = _running_sum(batch, blocks, 1, exclusive=True)
    ends, starts = (emit.add("Reshape", [v, together], label, **allow) for v in (ends, starts))
    behind = emit.add("Add", [start, longest], label)
    parts = [(ends, start), (starts, behind)]
    return emit.add("Add", [emit.add("Gather", [v, at], label) for v, at in parts], label)


_CUTS = ((0, 1), (1, LAST_OF_32_BITS))
"""The first size of a shape, and the others."""


def _mean(batch: Batch, total: Value, bounds: Bounds, others: int, reduced: int) -> Value:
    """Divide sums by the number of elements; the mean of nothing is 0, as in onnxruntime."""
    emit, label, elem_type = batch.emit, batch.label("_count"), batch.require(0).fact.elem_type
    count = emit.add("Sub", [bounds.end, bounds.start], label)
    count = emit.add("Max", [count, batch.vector(1)], label)
    if others != 1:
        count = emit.add("Mul", [count, batch.vector(others)], label)
    count = emit.add("Cast", [count], label, to=elem_type)
    rank = batch.rank(0) - (0 if batch.node.attribute("keepdims", 1) else reduced)
    if rank:
        count = emit.unsqueeze(count, tuple(range(1, 1 + rank)), label)
    return emit.add("Div", [total, count], batch.label())
