"""Operands of which each iteration has some elements along an axis; the others have no meaning.

part = Slice (x, i, i + 4)         places = i + [0, 1, 2, 3]
r = ReduceMax <axes = [0]> (part)  present = places < size of x
                                   r = ReduceMax (Where (present, x[places], -inf))

Windows that the end of their axis cuts short are such operands, and prefixes of rows that a loop
appends. An operator that works position by position along the axis passes it on; one that joins
the elements has neutral ones in the place of the others; any other one stays in the loop. Where
all iterations read parts of the same rows, `sliding_windows` joins the rows themselves.
"""

import dataclasses
from collections.abc import Callable, Collection, Sequence

import numpy as np
import onnx

from ..facts.fact import Fact
from ..facts.polynomial import Dimension, product
from ..facts.types import IEEE_FLOATS, PLAIN_FLOATS, PLAIN_INTEGERS
from ..ir import Value
from .axes import AxisMap
from .batching import DIFFERING, REORDERED, Batch, Flat, Operand, Partial, Unbatchable
from .builder import Builder
from .departures import other_numbers
from .flat_rows import combined, counts_of, flat_of, of_rows, places_of, total_of
from .schema_queries import MIN_OF_INTEGERS, ElementTypes
from .sliding_windows import (
    JOINS,
    NEUTRAL,
    OVERLAPPING,
    Bound,
    inside,
    joined_between,
    joined_windows,
    remaining,
)

PAST_THE_END = "reads elements that may be past the end on some iterations"
"""Why a Slice is computed iteration by iteration that is not padded."""


def padded(fact: Fact, partial: Partial | None) -> Fact:
    """The fact of a value in one iteration with all elements of its axis."""
    if partial is None or fact.shape is None or not partial.size:
        return fact
    shape = list(fact.shape)
    shape[partial.axis] = Dimension.constant(partial.size)
    return dataclasses.replace(fact, shape=tuple(shape))


# Position by position ----------------------------------------------------------------------------


def along_axis(
    batch: Batch,
    axis_map: Callable[[int], AxisMap | None],
    rule: Callable[[Batch], Sequence[Value]],
    risky: Sequence[int],
) -> Sequence[Value]:
    """The results of an operator that takes each position of a partial axis by itself.

    Args:
        axis_map: the axes of inputs that an axis of the results follows.
        rule: the rule for whole operands.
        risky: the inputs some elements of which make it fail.
    """
    parts, shape = batch.parts(), batch.results[0].shape
    one = next(iter(parts.values()))
    types = [batch.require(index).fact.elem_type for index in parts if index in risky]
    if one.flat is None and any(elem_type not in IEEE_FLOATS for elem_type in types):
        raise Unbatchable("reads padding of a type on which it may fail")
    for axis in range(len(shape or ())):
        match = axis_map(axis)
        if match is None or (len(batch.node.outputs) > 1 and not match.all_outputs):
            continue
        places = [*match.inputs, *[None] * (len(batch.operands) - len(match.inputs))]
        if any(places[index] != batch.rank(index) + part.axis for index, part in parts.items()):
            continue
        beside = [n for n, place in enumerate(places) if place is not None and n not in parts]
        # Beside all elements of another operand, the body fails without some of these.
        if any(_is_whole(batch, index, places[index], one) for index in beside):
            return rule(whole(batch, repeats=True))
        if any(batch.shape(index)[places[index] or 0] != 1 for index in beside):
            raise Unbatchable("reads elements that are absent on some iterations beside others")
        # The operator may make other numbers of the zeros.
        how = dataclasses.replace(one, axis=axis - len(shape or ()), data=None, zeros=False)
        results = once(batch, rule) if one.flat is None else rule(of_rows(batch, axis))
        return [batch.partial(result, how) for result in results]
    raise Unbatchable(DIFFERING)


def once(batch: Batch, rule: Callable[[Batch], Sequence[Value]]) -> Sequence[Value]:
    """The results of a rule; without a batched operand, those of the operator itself."""
    if any(map(batch.varies, range(len(batch.operands)))):
        if any(part.bounds is not None for part in batch.parts().values()):
            raise Unbatchable(DIFFERING)
        return rule(batch)
    values = [None if operand is None else operand.value for operand in batch.operands]
    return [batch.unvarying(result) for result in batch.same(values)]


def _is_whole(batch: Batch, index: int, place: int | None, one: Partial) -> bool:
    """Test for an input with all elements of partial ones, more than one."""
    return place is not None and 1 < (batch.shape(index)[place].value or 0) == one.size


def whole(batch: Batch, repeats: bool) -> Batch:
    """The node with all elements of each input in each iteration; it fails without them.

    Args:
        repeats: true if a single element is repeated.
    """
    for index, item in batch.parts().items():
        operand, emit = batch.require(index), batch.emit
        counts, size = counts_of(emit, item), batch.vector(item.size)
        fit, label = emit.add("Equal", [counts, size], "is_whole"), batch.label("_whole")
        single = emit.add("Equal", [counts, batch.vector(1)], "is_single")
        zero = _zero_if(emit, emit.add("Or", [fit, single], "fits") if repeats else fit)
        axis = batch.rank(index) + item.axis + 1
        end = emit.add("Add", [size, zero], label)
        value = emit.cut(operand.value, 0, end, axis, label)
        if repeats:
            first = emit.cut(value, 0, 1, axis, label)
            single = emit.lift(single, batch.rank(index), label)
            value = emit.add("Where", [single, first, value], label)
        batch = batch.replaced(index, Operand(value, True, operand.fact))
    return batch


def fitted(batch: Batch) -> Batch:
    """A broadcasting node whose two operands have the same elements in each iteration.

    A single element is repeated, as ONNX broadcasts; nodes fail where others do not fit.
    """
    operands = [each for each in batch.operands if each is not None and each.partial is not None]
    parts = [each.partial for each in operands if each.partial is not None]
    if len({part.elements for part in parts}) < 2:
        return batch
    places = {
        (part.axis, part.size, each.batched) for part, each in zip(parts, operands, strict=True)
    }
    if len(parts) != 2 or len(places) > 1 or not operands[0].batched:
        raise Unbatchable("reads elements that are absent on different iterations")
    emit, label, size = batch.emit, batch.label("_fitted"), parts[0].size
    counts = [counts_of(emit, part) for part in parts]
    singles = [emit.add("Equal", [count, batch.vector(1)], "is_single") for count in counts]
    fits = emit.add(
        "Or", [emit.add("Equal", counts, "same"), emit.add("Or", singles, "or")], "fits"
    )
    if parts[0].flat is not None:
        return _fitted_rows(batch, operands, singles, counts, _zero_if(emit, fits))
    flags = [part.present for part in parts]
    present = emit.add("Where", [emit.unsqueeze(singles[0], 1, label), flags[1], flags[0]], label)
    end = emit.add("Add", [batch.vector(size), _zero_if(emit, fits)], label)
    present = emit.cut(present, 0, end, 1, label)
    for operand, part, single in zip(operands, parts, singles, strict=True):
        index, rank = batch.operands.index(operand), len(operand.fact.shape or ())
        single = emit.lift(single, rank, label)
        one = emit.cut(operand.value, 0, 1, rank + part.axis + 1, label)
        value = emit.add("Where", [single, one, operand.value], label)
        how = Partial(part.axis, size, present, False)
        batch = batch.replaced(index, dataclasses.replace(operand, value=value, partial=how))
    return batch


def _fitted_rows(
    batch: Batch,
    operands: Sequence[Operand],
    singles: Sequence[Value],
    counts: Sequence[Value],
    zero: Value,
) -> Batch:
    """Broadcast flat operands; a zero fails where they do not fit."""
    emit = batch.emit
    whole = emit.add("Where", [singles[0], counts[1], counts[0]], "counts")
    flat = flat_of(emit, emit.add("Add", [whole, zero], "counts"))
    for operand, single in zip(operands, singles, strict=True):
        part, index = operand.partial, batch.operands.index(operand)
        assert part is not None and part.flat is not None
        first, is_single = (
            emit.add("Gather", [each, flat.owners], "own") for each in (part.flat.starts, single)
        )
        places = places_of(emit, flat, part.flat.starts)
        places = emit.add("Where", [is_single, first, places], "places")
        rows = emit.add("Gather", [operand.value, places], "rows", axis=0)
        how = dataclasses.replace(part, flat=flat)
        batch = batch.replaced(index, dataclasses.replace(operand, value=rows, partial=how))
    return batch


def resized(batch: Batch, own: int, rule: Callable[[Batch], Sequence[Value]]) -> Sequence[Value]:
    """The result of a Reshape or Expand of the other axes to known sizes.

    Args:
        own: the new size that keeps the partial axis.
        rule: the rule for whole operands.
    """
    one, old, new = batch.part(0), batch.shape(0), batch.results[0].shape
    axis, is_flat = len(old) + one.axis, one.flat is not None
    varies = not is_flat and any(map(batch.varies, range(2)))
    if new is None or len(batch.parts()) > 1 or varies:
        raise Unbatchable(DIFFERING)
    stretches = batch.node.is_op("Expand")
    for place in [axis + len(new) - len(old)] if stretches else range(len(new)):
        sides = [(old[:axis], new[:place]), (old[axis + 1 :], new[place + 1 :])]
        sizes = [own if at == place else dim.value for at, dim in enumerate(new)]
        fits = stretches or all(product(a) == product(b) for a, b in sides)
        if new[place] != old[axis] or not fits or not (all(sizes) or (is_flat and not stretches)):
            continue
        target = batch.vector(*[size or 0 for size in sizes])
        how = dataclasses.replace(one, axis=place - len(new), zeros=False)
        if not is_flat:
            (result,) = batch.same([batch.require(0).value, target])
            return [batch.partial(batch.unvarying(result), how)]
        if stretches:
            fact = Fact(onnx.TensorProto.INT64, (Dimension.constant(len(new)),))
            batch = batch.replaced(1, Operand(target, False, fact))
        (result,) = rule(of_rows(batch, place))
        return [batch.partial(result, how)]
    raise Unbatchable(DIFFERING)


# Elements of an iteration ------------------------------------------------------------------------


def _zero_if(emit: Builder, holds: Value) -> Value:
    """Emit a zero, [1], by nodes that fail where a condition does not hold."""
    failures = total_of(emit, emit.add("Not", [holds], "fails"), 0, keepdims=True)
    # The vector has one element, so a place above 0 is out of range.
    return emit.add("Gather", [emit.vector((0,), "zero"), failures], "zero", axis=0)


def common_length(emit: Builder, partial: Partial) -> Value:
    """Emit the length of all iterations, [1], 0 without iterations.

    The nodes fail if they differ, as a Loop does where it stacks such values.
    """
    counts, zero = counts_of(emit, partial), emit.vector((0,), "zero")
    # The spare zero is the first length where there are no iterations.
    spare = emit.concat([counts, zero], 0, "counts")
    first = emit.slice(spare, 0, 1, "first")
    alike = _zero_if(emit, emit.add("Equal", [counts, first], "same"))
    return emit.add("Add", [first, alike], "length")


def of_same_rows(emit: Builder, rows: Value, own: Flat, other: Flat) -> Value:
    """Emit rows by nodes that fail where iterations of others have more or less."""
    if own == other:
        return rows
    alike = _zero_if(emit, emit.add("Equal", [own.counts, other.counts], "same"))
    return emit.cut(rows, 0, emit.add("Add", [own.total, alike], "total"), 0, "rows")


def filled(batch: Batch, index: int, neutral: float) -> Batch:
    """The node with a number in the place of the other elements of an input.

    Args:
        index: the input.
        neutral: a number that does not change the result.
    """
    operand, part = batch.require(index), batch.part(index)
    if operand.fact.elem_type not in IEEE_FLOATS:
        raise Unbatchable(DIFFERING)
    number = batch.number(neutral, "_fill")
    value = _read_past_the_end(batch, operand.value, part, number)
    if value is None:
        present = _in_place(batch, index)
        value = batch.emit.add("Where", [present, operand.value, number], batch.label("_filled"))
    return batch.replaced(index, dataclasses.replace(operand, value=value, partial=None))


def _read_past_the_end(batch: Batch, value: Value, part: Partial, number: Value) -> Value | None:
    """Emit a window again, with a number past the end; None for other values."""
    node, data = value.producer, part.data
    if data is None or node is None or not node.is_op("Gather") or node.input(0) is not data:
        return None
    pad = data.producer
    if pad is None or len(pad.inputs) != 2:
        return None
    padded = batch.emit.apply(pad.op, [*pad.inputs, number], batch.label("_padded"))
    return batch.emit.apply(node.op, [padded, node.input(1)], batch.label("_filled"))


def _in_place(batch: Batch, index: int) -> Value:
    """The flags of an input's elements, of a shape that broadcasts to it."""
    operand, rank, part = batch.require(index), batch.rank(index), batch.part(index)
    axes = tuple(range(1, -part.axis))
    if operand.batched:
        axes = tuple(axis for axis in range(1, rank + 1) if axis != rank + part.axis + 1)
    if part.present is None:
        raise Unbatchable(DIFFERING)
    present, label = part.present, batch.label("_present")
    return batch.emit.unsqueeze(present, axes, label)


# Windows that an end cuts ------------------------------------------------------------------------


def part_of(batch: Batch) -> Value:
    """The result of a Slice along the axis of which iterations lack elements.

    Raises:
        Unbatchable: elements that are counted from the end, or others.
    """
    part = batch.part(0)
    axes = [0] if batch.operand(3) is None else batch.numbers(3)
    steps = [1] if batch.operand(4) is None else batch.numbers(4)
    starts, ends, rank = batch.numbers(1), batch.numbers(2), batch.rank(0)
    if (
        part.present is None
        or part.count is not None
        or [axis % rank - rank for axis in axes] != [part.axis]
    ):
        raise Unbatchable(DIFFERING)
    size, lacking = part.size, max(-ends[0], 0)
    end = size - lacking if lacking else min(ends[0], size)
    if steps != [1] or starts[0] < 0 or starts[0] >= end:
        raise Unbatchable(DIFFERING)
    emit, value, place = batch.emit, batch.require(0).value, rank + part.axis + 1
    cut = emit.cut(value, starts[0], end, place, batch.label())
    ahead = [batch.vector(starts[0] + lacking), batch.vector(end + lacking), batch.vector(1)]
    present = emit.once("Slice", [part.present, *ahead], "present")
    return batch.partial(cut, Partial(part.axis, end - starts[0], present, False))


def window(
    batch: Batch,
    data: Value,
    start: Value,
    end: Value | None,
    steps: range,
    axis: int,
    occupied: bool,
) -> tuple[Value, Value, Partial]:
    """Positions that a Slice reads in each iteration, some of them past the end.

    Args:
        data: what it reads, the same on every iteration.
        start: where it begins on each iteration: [iterations, 1].
        end: where it ends, of the same shape; None if that is its start and the steps, and not
            before the first element.
        steps: how far from there its elements are.
        axis: the axis on one iteration.
        occupied: true if each iteration certainly has an element.

    Returns:
        the data to read, with one element more where an iteration may have none; the places to
        read; and which elements there are.
    """
    emit = batch.emit
    if batch.require(0).fact.elem_type not in (*IEEE_FLOATS, onnx.TensorProto.BOOL):
        raise Unbatchable(PAST_THE_END)
    size = emit.size(data, axis, batch.label("_size"))
    limit = size
    if end is not None:
        count = batch.shape(0)[axis]
        start, limit = (inside(batch, Bound(bound), size, count) for bound in (start, end))
    places = emit.add("Add", [start, batch.vector(*steps)], batch.label("_places"))
    present = emit.add("Less", [places, limit], batch.label("_present"))
    padded_data = None
    if batch.extent.never_negative(batch.shape(0)[axis] - 1):  # no iteration has an empty axis
        spare = emit.add("Sub", [size, batch.vector(1)], batch.label("_last"))
    else:
        data = _with_one_more(batch, data, axis)
        padded_data = data if end is None else None  # absent elements are not all there
        spare = size
    read = batch.label("_places")
    places = emit.add("Min", [places, spare], read)
    how = Partial(axis - batch.rank(0), len(steps), present, occupied, data=padded_data)
    return data, places, how


def _with_one_more(batch: Batch, data: Value, axis: int) -> Value:
    """Data with one more element of zeros along an axis."""
    rank, label = batch.rank(0), batch.label("_padded")
    pads = [0] * 2 * rank
    pads[rank + axis] = 1
    if batch.emit.opset < 11:
        return batch.emit.add("Pad", [data], label, pads=pads)
    return batch.emit.add("Pad", [data, batch.vector(*pads)], label)


_WEIGHTS = ("Softmax", "Exp", "Sigmoid")
_SAME = ("Identity", "Cast", "Reshape", "Squeeze", "Transpose", "Unsqueeze", "ReduceSum")


def product_of_parts(batch: Batch, rule: Callable[[Batch], Sequence[Value]]) -> Sequence[Value]:
    """The product of two operands with zeros beside the elements of their inner axes.

    Args:
        rule: the rule for whole operands.
    """
    if batch.keeps_order or batch.require(0).fact.elem_type not in PLAIN_FLOATS:
        raise Unbatchable(DIFFERING)
    one, other = batch.part(0), batch.part(1)
    batch = batch if one.zeros else filled(batch, 0, 0.0)
    if other.zeros:
        return once(batch, rule)
    if other.varies or other.count is None or not _is_weight(batch.node.input(0)):
        return once(filled(batch, 1, 0.0), rule)
    rhs, lost = _finite_part(batch)
    if 1 in (batch.rank(0), batch.rank(1)):
        lost = batch.emit.squeeze(lost, batch.rank(1) + other.axis, batch.label("_lost"))
    (result,) = batch.same([batch.require(0).value, rhs])
    return [batch.unvarying(batch.emit.add("Add", [result, lost], batch.label()))]


def _finite_part(batch: Batch) -> tuple[Value, Value]:
    """The finite rows of a loop-invariant operand, and the sum of an iteration's others.

    An infinity or NaN of a later iteration times zero would be NaN. Times a weight, which is
    positive, it stays what it is.
    """
    emit, rows, part, rank = batch.emit, batch.require(1).value, batch.part(1), batch.rank(1)
    axis, zero, infinity = rank + part.axis, batch.number(0), batch.number(np.inf)
    # Less is false for NaN.
    finite = emit.add("Less", [emit.add("Abs", [rows], "size"), infinity], "finite")
    rhs = emit.add("Where", [finite, rows, zero], "numbers")
    sums = emit.running_sum(emit.add("Where", [finite, zero, rows], "others"), "sums", axis)
    # The zero in front is the sum of an iteration without rows.
    pads = emit.vector(tuple([int(index == axis) for index in range(2 * rank)]), "pads")
    sums = emit.add("Pad", [sums, pads], "sums")
    return rhs, emit.add("Gather", [sums, part.count], "lost", axis=axis)


def _is_weight(value: Value | None) -> bool:
    """Test for numbers that are positive, but for underflow."""
    node = None if value is None else value.producer
    if node is None or node.is_op(*_WEIGHTS):
        return node is not None
    if node.is_op("Div"):
        return all(map(_is_weight, node.inputs))
    return node.is_op(*_SAME) and _is_weight(node.inputs[0])


_TERMS = {"ReduceSum": None, "ReduceMean": None, "ReduceSumSquare": "Mul", "ReduceL1": "Abs"}
"""The operator that computes the terms of a sum."""
ORDERED = (*_TERMS, "ReduceProd")
"""The reductions of which each order of floats gives other bits."""
_SUMS = ("ReduceSum", "ReduceMean")
_SCATTERED = {"ReduceMax": "max", "ReduceMin": "min", "ReduceProd": "mul"}
"""The reduction of a ScatterElements that joins two parts, unless they are sums."""
_MOST_EXACT: dict[int | None, int] = {onnx.TensorProto.FLOAT: 2**24, onnx.TensorProto.DOUBLE: 2**53}
"""Up to which number all integers are of a type in which means are computed."""


def reduced_part(
    batch: Batch, axes: Collection[int], rule: Callable[[Batch], Sequence[Value]]
) -> Value:
    """The reduction of an operand along axes among which is its partial one.

    Args:
        axes: the axes of one iteration, counted from the front.
        rule: the rule for whole operands.

    Raises:
        Unbatchable: elements without neutral ones, or for which no running reduction serves.
    """
    part = batch.part(0)
    if part.flat is not None:
        return _of_blocks(batch, axes, rule)
    if other_numbers(batch.node, ElementTypes()) is not None:
        raise Unbatchable("adds up integers, which onnxruntime computes as doubles")
    if part.bounds is not None:
        return _between(batch, axes)
    joined = reduced_windows(batch, axes)
    return _masked(batch, axes, rule) if joined is None else joined


def _of_blocks(
    batch: Batch, axes: Collection[int], rule: Callable[[Batch], Sequence[Value]]
) -> Value:
    """The reduction of each row of flat blocks, then of the rows of an iteration."""
    part, op_type, emit, flat = batch.part(0), batch.node.op_type, batch.emit, batch.part(0).flat
    kind = "add" if op_type in _TERMS else _SCATTERED.get(op_type)
    is_float = batch.require(0).fact.elem_type in PLAIN_FLOATS
    if flat is None or kind is None or (op_type == "ReduceMean" and not is_float):
        raise Unbatchable(DIFFERING)
    if len(axes) == 1 and op_type in (*_SUMS, *_SCATTERED):  # of one element it is that element
        rows, place = batch.require(0).value, batch.rank(0) + part.axis + 1
        if not batch.node.attribute("keepdims", 1):
            rows = emit.squeeze(rows, place, batch.label())
    else:
        (rows,) = rule(of_rows(batch, None))
    total = combined(batch, rows, _rank_without(batch, axes), kind, flat, NEUTRAL[op_type])
    if op_type == "ReduceMean":
        total = _divided(batch, total, _floats(batch, flat.counts), 1, axes)
    if op_type not in _SUMS or not is_float:
        return total
    some = emit.add("Greater", [flat.counts, emit.integer(0, "k")], batch.label("_some"))
    return _zero_of_nothing(batch, total, some, axes)


def _masked(batch: Batch, axes: Collection[int], rule: Callable[[Batch], Sequence[Value]]) -> Value:
    """The reduction of elements beside neutral ones."""
    part, op_type, emit, rank = batch.part(0), batch.node.op_type, batch.emit, batch.rank(0)
    if not part.varies:  # a Slice has running sums
        raise Unbatchable(DIFFERING)
    elem_type, lead = batch.require(0).fact.elem_type, int(batch.varies(0))
    whole = filled(batch, 0, NEUTRAL[op_type])
    if op_type == "ReduceMean":
        others, value = _others(batch, axes, rank + part.axis), whole.require(0).value
        # The count is computed as a float, which must be exact.
        if not others or others * max(part.size, 1) > _MOST_EXACT.get(elem_type, 0):
            raise Unbatchable(DIFFERING)
        moved, keepdims = tuple([lead + axis for axis in axes]), batch.node.attribute("keepdims", 1)
        total = emit.reduce("ReduceSum", value, moved, batch.label("_sum"), keepdims)
        count = _floats(batch, part.count or part.present)
        if part.count is None:
            count = emit.reduce("ReduceSum", count, (1,), batch.label("_count"))
        result = _divided(batch, total, count, others, axes)
    else:
        (result,) = once(whole, rule)
    if op_type not in _SUMS or part.occupied or part.present is None or part.count is not None:
        return result
    first = emit.integer(0, batch.label("_first"))
    some = emit.add("Gather", [part.present, first], batch.label("_some"), axis=1)
    return _zero_of_nothing(batch, result, some, axes)


def reduced_windows(batch: Batch, axes: Collection[int]) -> Value | None:
    """The reduction of windows by steps of all rows; None for other operands."""
    operand, op_type = batch.require(0), batch.node.op_type
    window = batch.windows.get(operand.value)
    if window is None or op_type not in (*_TERMS, *JOINS) or batch.emit.opset < MIN_OF_INTEGERS:
        return None
    if other_numbers(batch.node, ElementTypes()) is not None or window.axis not in axes:
        return None
    # Windows are joined step by step, which adds floats in another order.
    if op_type not in OVERLAPPING and batch.keeps_order:
        return None
    elem_type, others = operand.fact.elem_type, _others(batch, axes, window.axis)
    is_integer = elem_type in PLAIN_INTEGERS and window.whole and op_type != "ReduceMean"
    if not others or not (is_integer or elem_type in PLAIN_FLOATS):
        return None
    value = _of_rows(
        *(batch, window.rows, window.axis, axes),
        lambda rows, rest: joined_windows(batch, window, rows),
    )
    is_mean = op_type == "ReduceMean"
    count = None if window.whole else remaining(batch, window)
    if is_mean and count is None:
        value = batch.emit.add("Div", [value, batch.number(others * window.size)], batch.label())
    elif is_mean and count is not None:
        most = batch.emit.add("Min", [count, batch.vector(window.size)], batch.label("_count"))
        value = _divided(batch, value, _floats(batch, most), others, axes)
    if window.occupied or op_type not in _SUMS or count is None:
        return value
    some = batch.emit.add("Greater", [count, batch.vector(0)], batch.label("_some"))
    return _zero_of_nothing(batch, value, some, axes)


def _between(batch: Batch, axes: Collection[int]) -> Value:
    """The reduction of rows between bounds."""
    part, op_type, rank = batch.part(0), batch.node.op_type, batch.rank(0)
    bounds, axis = part.bounds, rank + part.axis
    if bounds is None or batch.varies(0) or op_type not in (*_TERMS, *JOINS):
        raise Unbatchable(DIFFERING)
    if op_type in ORDERED and batch.keeps_order:
        raise Unbatchable(REORDERED)
    others = _others(batch, axes, axis)
    if not others and op_type == "ReduceMean":
        raise Unbatchable(DIFFERING)
    total = _of_rows(
        *(batch, batch.require(0).value, axis, axes),
        lambda rows, rest: joined_between(batch, bounds, rows, rest),
    )
    if op_type != "ReduceMean":
        return total
    count = batch.emit.add("Sub", [bounds.end, bounds.start], batch.label("_count"))
    return _divided(batch, total, _floats(batch, count), others, axes)


def _of_rows(
    batch: Batch,
    rows: Value,
    axis: int,
    axes: Collection[int],
    join: Callable[[Value, Sequence[Dimension]], Value],
) -> Value:
    """The reductions of parts of rows.

    Args:
        rows: the rows, loop-invariant.
        join: emits the reductions along the first axis, of rows of a shape.
    """
    emit, op_type, rank = batch.emit, batch.node.op_type, batch.rank(0)
    term, beside = _TERMS.get(op_type), tuple(sorted({*axes} - {axis}))
    if term is not None:
        rows = emit.add(term, [rows] * (2 if term == "Mul" else 1), batch.label("_terms"))
    if beside:
        kind = "ReduceSum" if op_type in _TERMS else op_type
        # These axes stay, with length 1, so that the others keep their numbers.
        rows = emit.reduce(kind, rows, beside, batch.label("_beside"), keepdims=1)
    front = [axis, *(other for other in range(rank) if other != axis)]
    rows = emit.transpose(rows, front, batch.label("_rows"))
    rest = [Dimension.constant(1) if at in beside else batch.shape(0)[at] for at in front[1:]]
    total = join(rows, rest)
    if batch.node.attribute("keepdims", 1):
        return emit.unsqueeze(total, axis + 1, batch.label("_kept"))
    # Axes before the joined one stand one place further since the transposition.
    dropped = tuple(place + (place < axis) for place in beside)
    return emit.squeeze(total, dropped, batch.label("_sum"))


def _others(batch: Batch, axes: Collection[int], axis: int) -> int:
    """The number of reduced elements for each one along an axis; 0 if open."""
    return product([batch.shape(0)[place] for place in {*axes} - {axis}]).value or 0


def _floats(batch: Batch, count: Value | None) -> Value:
    """Numbers or flags of elements in the type of the operand."""
    return batch.emit.add(
        "Cast", [count], batch.label("_count"), to=batch.require(0).fact.elem_type
    )


def _divided(batch: Batch, total: Value, count: Value, others: int, axes: Collection[int]) -> Value:
    """Divide sums by the number of elements; the mean of nothing is 0, as in onnxruntime.

    Args:
        total: the sums.
        count: the number of elements in each iteration, or in this one, a vector of floats.
        others: the number of reduced elements for each of them.
    """
    emit, label, rank = batch.emit, batch.label("_count"), _rank_without(batch, axes)
    if not batch.part(0).occupied:
        count = emit.add("Max", [count, batch.number(1, "_count")], label)
    if others != 1:
        count = emit.add("Mul", [count, batch.number(others, "_count")], label)
    if batch.varies(0) or batch.part(0).bounds is not None:
        count = emit.lift(count, rank, label)
    elif not rank:
        count = emit.squeeze(count, 0, label)
    return emit.add("Div", [total, count], batch.label())


def _zero_of_nothing(batch: Batch, result: Value, some: Value, axes: Collection[int]) -> Value:
    """Emit a 0 for iterations without an element.

    A sum of padding is -0, and its mean NaN. ONNX leaves the mean of nothing open; onnxruntime and
    the reference compute 0.

    Args:
        result: the sum or mean of each iteration.
        some: truth values of shape [iterations], true if there is an element.
    """
    some = batch.emit.lift(some, _rank_without(batch, axes), batch.label("_some"))
    return batch.emit.add("Where", [some, result, batch.number(0, "_zero")], batch.label())


def _rank_without(batch: Batch, axes: Collection[int]) -> int:
    """The rank of a reduction in one iteration."""
    return batch.rank(0) - (0 if batch.node.attribute("keepdims", 1) else len({*axes}))
