"""Reductions of a partial axis: of masked elements, or of rows of which iterations share sums.

Elements that an iteration lacks are neutral ones. Where all iterations read parts of the same
rows, the parts need not be there: `moving_bounds` and `sliding_windows` join the rows themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import onnx

from ..facts.polynomial import Dimension, product
from ..facts.types import PLAIN_FLOATS, PLAIN_INTEGERS
from ..ir import Value
from .batching import DIFFERING, REORDERED, Batch, Unbatchable
from .departures import other_numbers
from .element_types import ElementTypes
from .moving_bounds import joined_between
from .partial_axes import filled, once
from .schema_queries import MIN_OF_INTEGERS
from .sliding_windows import JOINS, NEUTRAL, OVERLAPPING, joined_windows, remaining

_TERMS = {"ReduceSum": None, "ReduceMean": None, "ReduceSumSquare": "Mul", "ReduceL1": "Abs"}
"""The operator that computes the terms of a sum."""
ORDERED = (*_TERMS, "ReduceProd")
"""The reductions of which each order of floats gives other bits."""
_SUMS = ("ReduceSum", "ReduceMean")
_MOST_EXACT: dict[int | None, int] = {onnx.TensorProto.FLOAT: 2**24, onnx.TensorProto.DOUBLE: 2**53}
"""Up to which number all integers are of a type in which means are computed."""


def reduced_part(
    batch: Batch, axes: Collection[int], rule: Callable[[Batch], Sequence[Value]]
) -> Value:
    """The reduction of an operand along axes among which is its partial one.

    Args:
        batch: the node.
        axes: the axes of one iteration, counted from the front.
        rule: the rule for whole operands.

    Raises:
        Unbatchable: elements without neutral ones, or for which no running reduction serves.
    """
    part = batch.part(0)
    if other_numbers(batch.node, ElementTypes()) is not None:
        raise Unbatchable("adds up integers, which onnxruntime computes as doubles")
    if part.bounds is not None:
        return _between(batch, axes)
    joined = reduced_windows(batch, axes)
    return _masked(batch, axes, rule) if joined is None else joined


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
        batch: the node.
        rows: the rows, loop-invariant.
        axis: their axis.
        axes: all axes that are reduced.
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
    return emit.squeeze(total, dropped, batch.label("_sum")) if dropped else total


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
        batch: the node.
        total: the sums.
        count: the number of elements in each iteration, or in this one, a vector of floats.
        others: the number of reduced elements for each of them.
        axes: the reduced axes.
    """
    emit, label, rank = batch.emit, batch.label("_count"), _rank_without(batch, axes)
    if not batch.part(0).occupied:
        count = emit.add("Max", [count, batch.number(1, "_count")], label)
    if others != 1:
        count = emit.add("Mul", [count, batch.number(others, "_count")], label)
    if batch.varies(0) or batch.part(0).bounds is not None:
        count = emit.unsqueeze(count, tuple(range(1, 1 + rank)), label) if rank else count
    elif not rank:
        count = emit.squeeze(count, 0, label)
    return emit.add("Div", [total, count], batch.label())


def _zero_of_nothing(batch: Batch, result: Value, some: Value, axes: Collection[int]) -> Value:
    """Emit a 0 for iterations without an element.

    A sum of padding is -0, and its mean NaN. ONNX leaves the mean of nothing open; onnxruntime and
    the reference compute 0.

    Args:
        batch: the node.
        result: the sum or mean of each iteration.
        some: truth values of shape [iterations], true if there is an element.
        axes: the reduced axes.
    """
    rank = _rank_without(batch, axes)
    if rank:
        some = batch.emit.unsqueeze(some, tuple(range(1, 1 + rank)), batch.label("_some"))
    return batch.emit.add("Where", [some, result, batch.number(0, "_zero")], batch.label())


def _rank_without(batch: Batch, axes: Collection[int]) -> int:
    """The rank of a reduction in one iteration."""
    return batch.rank(0) - (0 if batch.node.attribute("keepdims", 1) else len({*axes}))
