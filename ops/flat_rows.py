"""Flat operands: blocks whose sizes differ between iterations, one after the other.

part = Slice (x, s[i], e[i])        counts = e - s = [2, 0, 3]     owners = [0, 0, 2, 2, 2]
r = ReduceSum <axes = [0]> (part)   rows = x[s[owners] + [0, 1, 0, 1, 2]]
                                    r = ScatterElements <add> (zeros, owners, rows)

A row is a block of length 1, so the rule of an operator that works position by position along the
axis serves with rows for iterations. A reduction is that of each row, then of the rows of an
iteration. The work is linear in the rows, all of which the loop computes as well.
"""

import dataclasses
import functools
from typing import Any

import numpy as np
import onnx

from ..facts.attribute_or_input import listed
from ..facts.fact import Fact, Shape, is_named
from ..facts.polynomial import Dimension, product
from ..facts.types import PLAIN_FLOATS, PLAIN_INTEGERS, PLAIN_NUMBERS
from ..ir import Value
from .batching import DIFFERING, REORDERED, Batch, Extent, Flat, Operand, Partial, Unbatchable
from .builder import Builder

SCATTERS = {"add": 16, "mul": 16, "max": 18, "min": 18}
"""The first opset of each reduction of a ScatterElements."""
COMBINED = "combined"
"""The key of blocks that may be long, and of which the rows of an iteration are combined."""
SHORT = 128
"""The mean length of blocks up to which that pays: a row takes 16 ns, an iteration 2,300 ns."""
_ONE = Dimension.constant(1)


def flat_of(emit: Builder, counts: Value, most: int | None = None) -> Flat:
    """Emit the owners of rows, of which each iteration has some.

    Args:
        counts: the number of rows in each iteration, int64 [iterations]; none if negative.
        most: the largest number; None if known only at run time.
    """
    zero = emit.integer(0, "k")
    some = emit.add("Greater", [counts, zero], "some")
    counts = emit.add("Where", [some, counts, zero], "counts")
    starts = emit.running_sum(counts, "starts", exclusive=1)
    total = emit.reduce("ReduceSum", counts, (0,), "total", keepdims=1, small=True)
    # Without the iterations that have no rows, the places where rows begin are distinct.
    numbers = emit.numbers(emit.add("Size", [counts], "end"), "numbers")
    owners, places = (
        emit.add("Compress", [each, some], "kept", axis=0) for each in (numbers, starts)
    )
    earlier = emit.concat([emit.vector((0,), "k"), emit.cut(owners, 0, -1, 0, "cut")], 0, "earlier")
    steps = emit.add("Sub", [owners, earlier], "steps")
    zeros = emit.add("Expand", [zero, total], "zeros")
    marks = emit.add("ScatterElements", [zeros, places, steps], "marks")
    return Flat(counts, starts, emit.running_sum(marks, "owners"), total, most)


def places_of(emit: Builder, flat: Flat, firsts: Value, step: int | Value = 1) -> Value:
    """Emit a number for each row, from `firsts` on by steps in each iteration."""
    starts, numbers = flat.starts, emit.numbers(emit.scalar(flat.total, "end"), "numbers")
    if step != 1:
        by = emit.integer(step, "step") if isinstance(step, int) else step
        starts, numbers = (emit.add("Mul", [each, by], "steps") for each in (starts, numbers))
    ahead = emit.add("Sub", [firsts, starts], "ahead")
    return emit.add("Add", [emit.add("Gather", [ahead, flat.owners], "ahead"), numbers], "places")


def _counted(batch: Batch, size: Dimension, counts: Value, most: int | None = None) -> Flat:
    """The rows of blocks of a size; none where a count is negative."""
    # A symbol of the body stands for one size in each iteration.
    if size not in batch.shared or is_named(size):
        batch.shared[size] = flat_of(batch.emit, counts, most)
    flat: Flat = batch.shared[size]
    return flat


def _by_steps(emit: Builder, length: Value, step: int | Value) -> Value:
    """The number of steps, above 0, in a length."""
    if step == 1:
        return length
    by = emit.integer(step, "step") if isinstance(step, int) else step
    less = emit.add("Sub", [by, emit.integer(1, "k")], "less")
    return emit.add("Div", [emit.add("Add", [length, less], "length"), by], "steps")


def _mark(batch: Batch, rows: Value, flat: Flat, axis: int, rank: int) -> Value:
    """Mark rows as a flat result."""
    return batch.partial(rows, _part(axis - rank, flat))


def _part(axis: int, flat: Flat) -> Partial:
    return Partial(axis, 0, None, False, flat=flat)


# Position by position ----------------------------------------------------------------------------


def row_shape(shape: Shape, axis: int) -> Shape:
    """The shape of a row of blocks."""
    return (*shape[:axis], _ONE, *shape[axis + 1 :])


def of_rows(batch: Batch, axis: int | None) -> Batch:
    """The node with rows for iterations.

    Args:
        batch: the node, with flat operands.
        axis: the axis of the rows in the results; None where they are reduced.
    """
    parts, results = batch.parts(), list(batch.results)
    flat = next(part.flat for part in parts.values() if part.flat is not None)
    if axis is not None:
        results = [
            fact if fact.shape is None else Fact(fact.elem_type, row_shape(fact.shape, axis))
            for fact in results
        ]
    operands, sizes = list(batch.operands), [fact.shape for fact in results]
    for index, part in parts.items():
        own, place = batch.require(index), batch.rank(index) + part.axis
        sizes.append(row_shape(batch.shape(index), place))
        operands[index] = Operand(own.value, True, Fact(own.fact.elem_type, sizes[-1]))
    for index, operand in enumerate(batch.operands):
        if operand is None or not operand.batched or index in parts:
            continue
        # A copy for each row must be no larger than the row.
        own_size = product(batch.shape(index))
        if all(shape is None or product(shape).less(own_size) is not False for shape in sizes):
            raise Unbatchable("reads more for each row of a block than the row holds")
        value = batch.emit.once("Gather", [operand.value, flat.owners], "of_rows", axis=0)
        operands[index] = Operand(value, True, operand.fact.without_content())
    return dataclasses.replace(
        batch,
        operands=operands,
        results=results,
        iterations=flat.total,
        extent=Extent(batch.extent.number),
        windows={},
        operand_of=lambda value: None,
        running=None,
    )


# Blocks ------------------------------------------------------------------------------------------


def blocks(
    batch: Batch, source: Operand, bounds: tuple[Value, Value], place: int, axis: int, step: int
) -> Operand:
    """The blocks that a Slice reads along an axis, of any sizes.

    Args:
        source: what it reads.
        bounds: the start and the end in each iteration, of shape [iterations, 1].
        place: their place among the bounds of the Slice.
        axis: the axis in one iteration.
        step: the step, above 0.
    """
    emit, part = batch.emit, source.partial
    own, size = None if part is None else part.flat, batch.shape(0)[axis]
    if part is not None and (own is None or part.axis != axis - batch.rank(0)):
        raise Unbatchable(DIFFERING)
    # The same bounds of two tensors of one size leave the same rows.
    key = batch.require(1).value, batch.require(2).value, place, own or size, step
    if key not in batch.shared:
        last = emit.size(source.value, axis + source.batched, "size") if own is None else own.counts
        start, end = (emit.place(emit.squeeze(each, 1, "bound"), last, "bound") for each in bounds)
        length = _by_steps(emit, emit.add("Sub", [end, start], "length"), step)
        most = _width(batch, place)
        batch.shared[key] = start, _counted(batch, batch.results[0].dims[axis], length, most)
    start, flat = batch.shared[key]
    return _read(emit, source, flat, start, axis - batch.rank(0), step)


def _width(batch: Batch, place: int) -> int | None:
    """The distance of the bounds of a Slice; None if known only at run time."""
    start, end = (batch.require(index).fact.content for index in (1, 2))
    if start is None or end is None or None in (start[place], end[place]):
        return None
    width: int | None = (end[place] - start[place]).value
    return width


def reversed_blocks(batch: Batch, axis: int) -> Operand:
    """The rows of flat blocks, the last one of each first."""
    part, one = batch.part(0), batch.emit.integer(1, "k")
    assert part.flat is not None
    last = batch.emit.add("Sub", [part.flat.counts, one], "last")
    return _read(batch.emit, batch.require(0), part.flat, last, part.axis, -1)


def _read(
    emit: Builder, source: Operand, flat: Flat, first: Value, axis: int, step: int = 1
) -> Operand:
    """Read rows from a position in each iteration on.

    Args:
        source: the operand, flat or whole.
        flat: the owners of the rows.
        first: the positions.
        axis: the axis, counted from the end.
    """
    value, rank = source.value, len(source.fact.dims)
    if source.partial is not None and source.partial.flat is not None:
        first = emit.add("Add", [first, source.partial.flat.starts], "first")
        rows = emit.add("Gather", [value, places_of(emit, flat, first, step)], "rows", axis=0)
        return dataclasses.replace(source, value=rows, partial=_part(axis, flat))
    place, places = rank + axis, places_of(emit, flat, first, step)
    others = [other for other in range(rank) if other != place]
    if source.batched:
        perm = [0, place + 1, *(other + 1 for other in others)]
        pairs = [emit.unsqueeze(each, 1, "pair") for each in (flat.owners, places)]
        pairs = [emit.transpose(value, perm, "moved"), emit.concat(pairs, 1, "pairs")]
        rows = emit.add("GatherND", pairs, "rows")
    else:
        rows = emit.add("Gather", [value, places], "rows", axis=place)
        rows = emit.transpose(rows, [place, *others], "rows")
    rows = emit.unsqueeze(rows, place + 1, "rows")
    return Operand(rows, True, source.fact, partial=_part(axis, flat))


def flattened(emit: Builder, operand: Operand, shared: dict[object, Any]) -> Operand:
    """The flat form of an operand with bounds or flags; other operands as they are."""
    part = operand.partial
    if part is None or part.flat is not None:
        return operand
    if part.elements not in shared and part.bounds is not None:
        length = emit.add("Sub", [part.bounds.end, part.bounds.start], "length")
        flat = flat_of(emit, length, part.bounds.longest or part.bounds.most)
        shared[part.elements] = flat, part.bounds.start
    elif part.elements not in shared:
        places = emit.add("NonZero", [part.present], "places")
        flat = flat_of(emit, counts_of(emit, part), part.size or None)
        shared[part.elements] = flat, emit.transpose(places, (1, 0), "places")
    flat, places = shared[part.elements]
    if part.bounds is not None:
        return _read(emit, operand, flat, places, part.axis)
    if not operand.batched:
        raise Unbatchable(DIFFERING)
    rank = len(operand.fact.dims)
    place = rank + part.axis + 1
    perm = [0, place, *(at for at in range(1, rank + 1) if at != place)]
    rows = emit.add("GatherND", [emit.transpose(operand.value, perm, "moved"), places], "rows")
    rows = emit.unsqueeze(rows, place, "rows")
    return dataclasses.replace(operand, value=rows, partial=_part(part.axis, flat))


def counts_of(emit: Builder, partial: Partial) -> Value:
    """The number of elements in each iteration."""
    if partial.flat is not None:
        return partial.flat.counts
    if partial.present is None or partial.count is not None:
        raise Unbatchable(DIFFERING)
    return total_of(emit, partial.present, 1, keepdims=False)


def total_of(emit: Builder, flags: Value, axis: int, keepdims: bool) -> Value:
    """Count flags; sums of integers are those of doubles in onnxruntime."""
    numbers = emit.once("Cast", [flags], "numbers", to=onnx.TensorProto.FLOAT)
    total = emit.reduce("ReduceSum", numbers, (axis,), "total", int(keepdims))
    return emit.add("Cast", [total], "total", to=onnx.TensorProto.INT64)


def numbered(batch: Batch, step: int) -> Value:
    """The numbers of a Range whose bounds differ between iterations."""
    elem_type, emit = batch.require(0).fact.elem_type, batch.emit
    if elem_type not in PLAIN_INTEGERS:
        raise Unbatchable(DIFFERING)
    start, limit = (
        emit.add("Cast", [batch.spread(index)], "wide", to=onnx.TensorProto.INT64)
        for index in range(2)
    )
    low, high = (start, limit) if step > 0 else (limit, start)
    counts = _by_steps(emit, emit.add("Sub", [high, low], "length"), abs(step))
    # The difference of distant numbers wraps.
    some = emit.add("Less", [low, high], "some")
    counts = emit.add("Where", [some, counts, emit.integer(0, "k")], "counts")
    flat = _counted(batch, batch.results[0].dims[0], counts)
    numbers = emit.unsqueeze(places_of(emit, flat, start, step), 1, batch.label())
    return _mark(batch, emit.add("Cast", [numbers], batch.label(), to=elem_type), flat, 0, 1)


def stretched_blocks(batch: Batch, sizes: int) -> Value:
    """A tensor that a vector of sizes stretches, one of which differs between iterations.

    Args:
        batch: the Expand, Tile or ConstantOfShape.
        sizes: the input with the sizes.
    """
    emit, new, count = batch.emit, batch.results[0].dims, batch.length(sizes).value
    old = batch.shape(0) if sizes else ()
    old = (*[_ONE] * (len(new) - len(old)), *old)
    copied = [at for at, size in enumerate(new) if size != old[at]]
    own = [at for at in copied if new[at].value is None]
    place = own[0] - len(new) + (count or 0) if len(own) == 1 else -1
    if place < 0 or any(old[at] != 1 for at in copied):
        raise Unbatchable("stretches axes to sizes that may vary between iterations")
    inputs = [batch.require(sizes).value, emit.integer(place, "place")]
    counts = emit.add("Gather", inputs, "counts", axis=1)
    flat = _counted(batch, new[own[0]], counts)
    row = [_ONE if at == own[0] or at not in copied else new[at] for at in range(len(new))]
    others = batch.vector(*[size.value or 0 for size in row])
    if not sizes:
        (rows,) = batch.same([emit.concat([flat.total, others], 0, "shape")])
        return _mark(batch, rows, flat, own[0], len(new))
    rows = emit.lift(batch.spread(0), len(new) - batch.rank(0), "row")
    rows = emit.add("Gather", [rows, flat.owners], batch.label(), axis=0)
    if len(copied) > 1:
        # The 1 of the own axis, and those of others, keep sizes.
        rows = emit.add("Expand", [rows, others], batch.label())
    return _mark(batch, rows, flat, own[0], len(new))


# Rows of an iteration together ------------------------------------------------------------------


def combined(batch: Batch, rows: Value, rank: int, kind: str, flat: Flat, first: float) -> Value:
    """Combine the rows of each iteration.

    Args:
        rows: the rows, first the reduction of each.
        kind: the reduction of a ScatterElements.
        flat: the owners of the rows.
        first: the number with which an iteration begins.
    """
    emit, elem_type = batch.emit, batch.require(0).fact.elem_type
    if flat.most is None or flat.most > SHORT:
        batch.shared.setdefault(COMBINED, {})[flat] = None
    is_float = elem_type in PLAIN_FLOATS
    if kind == "add" and elem_type in PLAIN_INTEGERS:
        return _counted_up(emit, rows, rank, flat)
    if emit.opset < SCATTERS[kind] or elem_type not in PLAIN_NUMBERS:
        raise Unbatchable(f"joins blocks, which requires opset {SCATTERS[kind]} and plain numbers")
    if kind in ("add", "mul") and batch.keeps_order:
        raise Unbatchable(REORDERED)
    dtype, beyond = onnx.helper.tensor_dtype_to_np_dtype(elem_type), None
    if not is_float and not np.isfinite(first):
        first = np.iinfo(dtype).max if first > 0 else np.iinfo(dtype).min
    number = emit.number(first, elem_type, "first")
    parts, cells = _parts(batch, flat)
    rest = emit.slice(emit.add("Shape", [rows], "shape"), 1, rank + 1, "rest")
    one, sizes = (
        emit.concat([count, rest], 0, "sizes") if rank else count
        for count in (batch.vector(1), batch.iterations)
    )
    # Cells without a row read one more, which is neutral.
    rows = emit.concat([rows, emit.add("Expand", [number, one], "spare")], 0, "rows")
    rows = emit.add("Gather", [rows, cells], "parts", axis=0)
    rows = emit.reduce(_REDUCTIONS[kind], rows, (1,), "parts")
    if kind in ("max", "min") and is_float:  # onnxruntime's Scatter passes a NaN over
        bad = emit.add("IsNaN", [rows], "bad")
        rows = emit.add("Where", [bad, number, rows], "numbers")
        flags = emit.add("Cast", [bad], "flags", to=onnx.TensorProto.INT32)
        flags = _counted_up(emit, flags, rank, parts)
        beyond = emit.add("Cast", [flags], "any", to=onnx.TensorProto.BOOL)
    owners, shape = emit.lift(parts.owners, rank, "owners"), emit.add("Shape", [rows], "shape")
    owners = emit.add("Expand", [owners, shape], "owners") if rank else owners
    inputs = [emit.add("Expand", [number, sizes], "buffer"), owners, rows]
    total = emit.add("ScatterElements", inputs, batch.label(), axis=0, reduction=kind)
    if beyond is None:
        return total
    return emit.add("Where", [beyond, emit.number(np.nan, elem_type, "nan"), total], batch.label())


_REDUCTIONS = {"add": "ReduceSum", "mul": "ReduceProd", "max": "ReduceMax", "min": "ReduceMin"}


def _parts(batch: Batch, flat: Flat) -> tuple[Flat, Value]:
    """Parts of all blocks, of their mean length, and the rows of each.

    Reductions of equal parts run several times as fast as a Scatter of all rows. There are at most
    twice as many cells as rows, and three times as many parts as iterations.
    """
    if flat in batch.shared:
        parts: tuple[Flat, Value] = batch.shared[flat]
        return parts
    emit, one = batch.emit, batch.vector(1)
    count = emit.add("Max", [batch.iterations, one], "count")
    size = emit.add("Max", [emit.add("Div", [flat.total, count], "mean"), one], "size")
    owners = flat_of(emit, _by_steps(emit, flat.counts, size))
    first = emit.unsqueeze(places_of(emit, owners, flat.starts, size), 1, "first")
    numbers = emit.numbers(emit.scalar(size, "end"), "numbers")
    cells = emit.add("Add", [first, numbers], "cells")
    ends = emit.add("Add", [flat.starts, flat.counts], "ends")
    ends = emit.unsqueeze(emit.add("Gather", [ends, owners.owners], "ends"), 1, "ends")
    inside = emit.add("Less", [cells, ends], "inside")
    batch.shared[flat] = owners, emit.add("Where", [inside, cells, flat.total], "cells")
    return batch.shared[flat]


def _counted_up(emit: Builder, rows: Value, rank: int, flat: Flat) -> Value:
    """The sums of integers in each iteration, which wrap as those of the loop do."""
    sums = emit.running_sum(rows, "sums")
    sums = emit.add("Pad", [sums, emit.vector((1, *[0] * (2 * rank + 1)), "pads")], "sums")
    ends = emit.add("Add", [flat.starts, flat.counts], "ends")
    ends, starts = (emit.add("Gather", [sums, at], "ends") for at in (ends, flat.starts))
    return emit.add("Sub", [ends, starts], "sums")


def softmax(batch: Batch) -> Value:
    """The Softmax or LogSoftmax of the blocks of a flat operand along their axis."""
    emit, part, rank = batch.emit, batch.part(0), batch.rank(0)
    if part.flat is None or batch.require(0).fact.elem_type not in PLAIN_FLOATS:
        raise Unbatchable(DIFFERING)
    flat, rows = part.flat, batch.require(0).value

    def of_each(total: Value) -> Value:
        return emit.add("Gather", [total, flat.owners], "of_each", axis=0)

    most = combined(batch, rows, rank, "max", flat, -np.inf)
    apart = emit.add("Sub", [rows, of_each(most)], "apart")
    powers = emit.add("Exp", [apart], "powers")
    total = of_each(combined(batch, powers, rank, "add", flat, 0.0))
    if batch.node.is_op("LogSoftmax"):
        result = emit.add("Sub", [apart, emit.add("Log", [total], "log")], batch.label())
    else:
        result = emit.add("Div", [powers, total], batch.label())
    return _mark(batch, result, flat, rank + part.axis, rank)


def product_of_rows(batch: Batch) -> Value:
    """The product of flat operands along inner axes: sums of products of rows."""
    emit, ranks = batch.emit, (batch.rank(0), batch.rank(1))
    flat = batch.part(0).flat
    sizes = [product(batch.shape(0)[:-1]), product(batch.shape(1)[1:])]
    if flat is None or max(ranks) > 2 or 1 not in [size.value for size in sizes]:
        raise Unbatchable(DIFFERING)
    one, other = batch.require(0).value, batch.require(1).value
    # The inner axis has length 1: a product of rows is that of their elements.
    if ranks[1] == 1 and ranks[0] == 2:
        one = emit.squeeze(one, 2, "row")
    if ranks[0] == 1 and ranks[1] == 2:
        other = emit.squeeze(other, 1, "row")
    rows, rank = emit.add("Mul", [one, other], "products"), sum(ranks) - 2
    if not rank:
        rows = emit.squeeze(rows, 1, "products")
    return combined(batch, rows, rank, "add", flat, 0.0)


# Other blocks ------------------------------------------------------------------------------------


def _own_row(emit: Builder, at: Value, counts: Value, starts: Value, other: Value) -> Value:
    """The row at a position of a block; another one where the block has none."""
    below = emit.add("Less", [at, counts], "below")
    above = emit.add("Less", [emit.integer(-1, "k"), at], "above")
    own = emit.add("Add", [at, starts], "own")
    return emit.add("Where", [emit.add("And", [below, above], "inside"), own, other], "row")


def padded_blocks(batch: Batch) -> Value:
    """The Pad of blocks along their axis, by amounts of each iteration."""
    emit, rank, part = batch.emit, batch.rank(0), batch.part(0)
    axis, flat = rank + part.axis, part.flat
    size = batch.results[0].dims[axis]
    pads = listed(batch.node, batch.facts, "pads", 1)
    others = [pads[at] for at in range(2 * rank) if at % rank != axis] if pads else [None]
    if flat is None or batch.node.attribute("mode", b"constant") != b"constant":
        raise Unbatchable(DIFFERING)
    if batch.operand(1) is None or batch.operand(3) is not None:
        raise Unbatchable(DIFFERING)
    if rank > 1 and any(other != 0 for other in others):
        raise Unbatchable("pads several axes of blocks whose sizes differ")
    ends = [emit.integer(at, "at") for at in (axis, rank + axis)]
    before, after = (emit.add("Gather", [batch.spread(1), at], "pads", axis=1) for at in ends)
    # One row more holds the constant.
    spare = batch.vector(*[0] * (rank + 1), 1, *[0] * rank)
    fill = [batch.fixed(2)] if batch.operand(2) is not None else []
    rows = emit.add("Pad", [batch.require(0).value, spare, *fill], "rows")
    own, first = (flat.counts, flat.starts), emit.add("Neg", [before], "first")
    if size.value is not None:
        counts, starts, first = (emit.unsqueeze(each, 1, "own") for each in (*own, first))
        place = emit.add("Add", [first, batch.vector(*range(size.value))], "places")
        place = _own_row(emit, place, counts, starts, flat.total)
        return _stacked(emit, emit.add("Gather", [rows, place], "rows", axis=0), axis, rank)
    whole = emit.add("Add", [emit.add("Add", [before, flat.counts], "sum"), after], "sum")
    new = _counted(batch, size, whole)
    counts, starts = (emit.add("Gather", [each, new.owners], "own") for each in own)
    place = _own_row(emit, places_of(emit, new, first), counts, starts, flat.total)
    return _mark(batch, emit.add("Gather", [rows, place], "rows", axis=0), new, axis, rank)


def row_of_blocks(batch: Batch) -> Value:
    """The rows of flat blocks that a Gather reads along the first axis."""
    emit, flat, rank = batch.emit, batch.part(0).flat, batch.rank(1)
    index = batch.require(1)
    if flat is None or batch.rank(0) + batch.part(0).axis or index.partial is not None:
        raise Unbatchable(DIFFERING)
    at = emit.add("Cast", [batch.spread(1)], "at", to=onnx.TensorProto.INT64)
    counts, starts = (emit.lift(each, rank, "own") for each in (flat.counts, flat.starts))
    negative = emit.add("Less", [at, emit.integer(0, "k")], "negative")
    at = emit.add("Where", [negative, emit.add("Add", [at, counts], "at"), at], "at")
    # The place behind all rows is out of range, as the index is in its block.
    place = _own_row(emit, at, counts, starts, flat.total)
    rows = emit.add("Gather", [batch.require(0).value, place], batch.label(), axis=0)
    return emit.squeeze(rows, 1 + rank, batch.label())


def joined_blocks(batch: Batch, axis: int) -> Value:
    """The concatenation of blocks, and of single rows, in each iteration."""
    emit, rank = batch.emit, batch.rank(0)
    flats, one = list[Flat | None](), emit.integer(1, "k")
    for index in range(len(batch.operands)):
        part = batch.require(index).partial
        flats.append(None if part is None else part.flat)
        is_row = part is None and batch.shape(index)[axis] == 1
        if not is_row and (part is None or part.flat is None or part.axis != axis - rank):
            raise Unbatchable(DIFFERING)
    rows = [batch.spread(index) for index in range(len(flats))]
    ones = emit.add("Expand", [one, batch.iterations], "one")
    counts = [ones if flat is None else flat.counts for flat in flats]
    whole = functools.reduce(lambda a, b: emit.add("Add", [a, b], "counts"), counts)
    new, places = _counted(batch, batch.results[0].dims[axis], whole), list[Value]()
    first = new.starts
    for flat, count in zip(flats, counts, strict=True):
        places.append(first if flat is None else places_of(emit, flat, first))
        first = emit.add("Add", [first, count], "first")
    numbers = emit.numbers(emit.scalar(new.total, "end"), "numbers")
    # Each row has a place of its own: the inverse of a permutation.
    inputs = [numbers, emit.concat(places, 0, "places"), numbers]
    order = emit.add("ScatterElements", inputs, "order", axis=0)
    joined = emit.add("Gather", [emit.concat(rows, 0, "rows"), order], batch.label(), axis=0)
    return _mark(batch, joined, new, axis, rank)


def sizes_of_blocks(batch: Batch, counts: Value) -> Value:
    """The shape of a batched partial operand in each iteration."""
    emit, rank = batch.emit, batch.rank(0)
    sizes = emit.add("Shape", [batch.require(0).value], "sizes")
    sizes = emit.slice(sizes, 1, rank + 1, "sizes")
    own = emit.constant(np.arange(rank) == rank + batch.part(0).axis, "own")
    return emit.add("Where", [own, emit.unsqueeze(counts, 1, "counts"), sizes], batch.label())


def of_one_length(emit: Builder, operand: Operand, numbers: Value) -> Value:
    """Stack blocks that all have some rows, numbered from 0."""
    part, rank = operand.partial, len(operand.fact.shape or ())
    assert part is not None and part.flat is not None
    axis = rank + part.axis
    places = emit.add("Add", [emit.unsqueeze(part.flat.starts, 1, "starts"), numbers], "places")
    return _stacked(emit, emit.add("Gather", [operand.value, places], "rows", axis=0), axis, rank)


def _stacked(emit: Builder, rows: Value, axis: int, rank: int) -> Value:
    """Blocks of one length, from their rows in each iteration."""
    rows = emit.squeeze(rows, axis + 2, "rows")
    return emit.transpose(rows, [0, *range(2, axis + 2), 1, *range(axis + 2, rank + 1)], "rows")


def in_front(emit: Builder, rows: Value, counts: Value) -> Value:
    """The rows of the same blocks, those of the last iteration first."""
    starts = emit.reverse(emit.running_sum(counts, "starts", exclusive=1), "starts")
    flat = flat_of(emit, emit.reverse(counts, "counts"))
    return emit.add("Gather", [rows, places_of(emit, flat, starts)], "rows", axis=0)
