"""Many elements of an axis made into one, or put in order: sums, extremes and where they stand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import onnx

from ..facts.attribute_or_input import listed_numbers
from ..facts.bounds import Bounds, Known
from ..facts.fact import Content, Fact, Symbols, content_from, integers
from ..facts.polynomial import Dimension, product
from ..facts.safety_context import Premises, at_least, axis_of, distinct_axes, require, shown
from ..ir import Node, Value
from .agreement import have_both_zeros, is_integer
from .axes import positions, reduced
from .axis_map import Named, PassesAxes, number_of, opset_of
from .batching import DIFFERING, Batch, Ragged, Unbatchable
from .departures import other_numbers
from .element_types import ElementTypes
from .moving_bounds import reduced_between
from .ragged import counted_elements, filled, of_present, reduced_away
from .ranks import RankAnswer, RankOf, rank_of_first, rank_without, written_axes
from .rules import ONE_NUMBER, KeepsShape, OperandRanks, Shapes, SizedByVector, describes
from .schema_queries import formal_inputs
from .sliding_windows import reduced_windows


@describes("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare")
@describes("ReduceMax", "ReduceMin", roundings=0)
class Reduction(PassesAxes, SizedByVector):
    """The Reduce operators: their axes are an input from opset 18 on (ReduceSum: 13).

    For all iterations at once onnxruntime may add floats up in another order, as it has a kernel
    for each arrangement of the axes: a sum along the first axis of a matrix is one of those.
    """

    ignores_zero_sign: ClassVar[int] = 1

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        shape, axes = inputs[0].dims, listed_numbers(node, inputs, "axes", 1)
        if axes is None and node.input(1) is not None:
            return None
        if not axes and node.attribute("noop_with_empty_axes", 0):
            return [shape]
        places = positions(axes or range(len(shape)), len(shape))
        return (
            None if places is None else [reduced(shape, places, node.attribute("keepdims", 1) != 0)]
        )

    def prove_safe(self, premises: Premises) -> None:
        axes = premises.axes(1)
        if axes:
            distinct_axes(axes, len(premises.shape(0)))

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        """Test for ordinary numbers; no logarithm or root of an integer is one."""
        value = arrays[0]
        if not is_integer(value):
            return super().is_settled(node, arrays[:1], results)
        return bool(value.size) if self.roundings == 0 else node.op_type in _COUNTING

    def named_axes(self, node: Node, inputs: Sequence[Fact]) -> Named:
        axes = listed_numbers(node, inputs, "axes", 1)
        if not axes and (node.input(1) is None or axes is not None):
            if node.attribute("noop_with_empty_axes", 0):
                return {}
            axes = None if inputs[0].shape is None else list(range(len(inputs[0].shape)))
        as_attribute = formal_inputs(node.op_type, opset_of(node)) == 1
        return {"axes" if as_attribute else 1: axes}

    def passed(self, node: Node, rank: int, axes: set[int]) -> list[int | None]:
        return kept(node, rank, axes)

    def batch(self, batch: Batch) -> Sequence[Value]:
        if batch.rank(0) or not self.named_axes(batch.node, batch.facts):
            joined = self._join_windows(batch)
            return super().batch(batch) if joined is None else joined
        # Of a scalar there is nothing to reduce, but the operator may still compute.
        one = batch.emit.unsqueeze(batch.require(0).value, 1, batch.label("_one"))
        if formal_inputs(batch.node.op_type, batch.emit.opset) == 1:
            return batch.same([one], axes=[1], keepdims=0)
        return batch.same([one, batch.vector(1)], keepdims=0)

    def batch_ragged(self, batch: Batch, ragged: Sequence[Ragged | None]) -> Sequence[Value]:
        one, axes = ragged[0], batch.listed("axes", 1)
        if one is None or (not axes and batch.node.attribute("noop_with_empty_axes", 0)):
            return super().batch_ragged(batch, ragged)
        if _departs(batch):
            raise Unbatchable("adds up integers, which onnxruntime computes as doubles")
        over = axes or range(batch.rank(0))
        reduced_away(batch, one, over)
        if one.bounds is not None:
            return [reduced_between(batch, one, over)]
        joined = self._join_windows(batch)
        return self.reduced_ragged(batch, one, over) if joined is None else joined

    def _join_windows(self, batch: Batch) -> list[Value] | None:
        """The reductions of windows by steps of all rows; None for other operands."""
        axes = batch.listed("axes", 1)
        if _departs(batch) or (not axes and batch.node.attribute("noop_with_empty_axes", 0)):
            return None
        joined = reduced_windows(batch, axes or range(batch.rank(0)))
        return None if joined is None else [joined]

    def reduced_ragged(self, batch: Batch, one: Ragged, axes: Sequence[int]) -> Sequence[Value]:
        """The reduction of what iterations have, over axes among which is the one that differs."""
        results = self.batch(filled(batch, one, NEUTRAL[batch.node.op_type]))
        if batch.node.op_type != "ReduceSum":
            return results
        return [of_present(batch, one, results[0], _rank_without(batch, axes))]

    def rank(self, node: Node, output: int) -> RankAnswer:
        rank, axes = (yield RankOf(node.input(0))), written_axes(node)
        if rank is None or node.attribute("keepdims", 1):
            return rank
        if axes is None and node.input(1) is not None:
            return None
        if not axes:
            return rank if node.attribute("noop_with_empty_axes", 0) else 0
        return rank_without(rank, axes)


def _departs(batch: Batch) -> bool:
    """Test for a reduction of integers that onnxruntime computes otherwise than by additions."""
    return other_numbers(batch.node, ElementTypes()) is not None


def kept(node: Node, rank: int, reduced: set[int]) -> list[int | None]:
    """The axis of the operand for each axis of a result; None for a reduced one."""
    if node.attribute("keepdims", 1):
        return [None if axis in reduced else axis for axis in range(rank)]
    return [axis for axis in range(rank) if axis not in reduced]


def _rank_without(batch: Batch, axes: Sequence[int]) -> int:
    """The rank of a reduction in one iteration."""
    return batch.rank(0) - (0 if batch.node.attribute("keepdims", 1) else len(axes))


_COUNTING = ("ReduceL1", "ReduceProd", "ReduceSum", "ReduceSumSquare")


NEUTRAL = {
    **dict.fromkeys(("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceSumSquare"), 0.0),
    "ReduceSum": -0.0,  # added to what has a sign even where it is 0, it changes nothing
    "ReduceProd": 1.0,
    "ReduceMin": np.inf,
    **dict.fromkeys(("ReduceMax", "ReduceLogSumExp"), -np.inf),
}
"""Neutral element: one more of it leaves the result unchanged."""

_MOST_EXACT: dict[int | None, int] = {onnx.TensorProto.FLOAT: 2**24, onnx.TensorProto.DOUBLE: 2**53}
"""Up to which number all integers are of a type in which means are computed."""


@describes("ReduceMean")
class ReduceMean(Reduction):
    """ReduceMean: of elements of which iterations lack some it is the sum by the number of them."""

    def reduced_ragged(self, batch: Batch, one: Ragged, axes: Sequence[int]) -> Sequence[Value]:
        rank = batch.rank(0)
        moved = tuple(batch.axis(axis, rank) for axis in axes)
        beside = (batch.shape(0)[axis - 1] for axis in moved if axis - 1 != rank + one.axis)
        others = product(list(beside)).value
        most = _MOST_EXACT.get(batch.require(0).fact.elem_type, 0)
        if not others or others * one.size > most:
            raise Unbatchable(DIFFERING)
        keepdims = batch.node.attribute("keepdims", 1)
        value = filled(batch, one, -0.0).require(0).value
        total = batch.emit.reduce("ReduceSum", value, moved, batch.label("_sum"), keepdims)
        places = tuple(range(1, rank + 1 if keepdims else rank + 1 - len(moved)))
        count = counted_elements(batch, one, others, places)
        mean = batch.emit.add("Div", [total, count], batch.label())
        return [of_present(batch, one, mean, len(places))]


@describes("ReduceSum", total=lambda sizes: sum(sizes, Dimension.constant(0)))
@describes("ReduceProd", total=product)
class SizeReduction(Reduction):
    """ReduceSum and ReduceProd: over no axes at all if noop_with_empty_axes (from opset 13 on, or
    18) says so. Sizes are computed by reduction of a vector to one element."""

    total: Callable[[list[Dimension]], Dimension]

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        content = inputs[0].elements
        if content.ndim != 1 or any(e is None for e in content):
            return None
        if node.attribute("noop_with_empty_axes", 0):
            axes = integers(inputs[1]) if len(inputs) > 1 else None
            if axes is None or not axes.size:
                return None
        result = content_from(self.total(list(content)))
        return result.reshape(1) if node.attribute("keepdims", 1) else result


def _position(inputs: Sequence[Known], axis: int) -> Bounds | None:
    """The bounds of positions along an axis."""
    shape = inputs[0].fact.shape
    if shape is None or not -len(shape) <= axis < len(shape):
        return None
    return Bounds(Dimension.constant(0), shape[axis] - 1)


@describes("ArgMax", "ArgMin")
class ArgExtreme(PassesAxes):
    """ArgMax and ArgMin: an axis without elements has none (the specification leaves it open,
    runtimes refuse it)."""

    roundings: ClassVar[int | None] = 0
    axis: ClassVar[int | None] = 0

    def passed(self, node: Node, rank: int, axes: set[int]) -> list[int | None]:
        return kept(node, rank, axes)

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        shape = inputs[0].dims
        axis = range(len(shape))[node.attribute("axis", 0)]
        return [reduced(shape, {axis}, node.attribute("keepdims", 1) != 0)]

    def bounds(self, node: Node, inputs: Sequence[Known]) -> Sequence[Bounds | None]:
        return [_position(inputs, node.attribute("axis", 0))]

    def prove_safe(self, premises: Premises) -> None:
        shape = premises.shape(0)
        axis = premises.axis(len(shape), 0)
        at_least(shape[axis], 1, f"axis {axis}")

    def rank(self, node: Node, output: int) -> RankAnswer:
        return rank_of_first(node, 0 if node.attribute("keepdims", 1) else -1)


@describes("TopK")
class TopK(PassesAxes, SizedByVector):
    """TopK: k is an input from opset 10 on. Its second output holds positions."""

    roundings: ClassVar[int | None] = 0
    ignores_zero_sign: ClassVar[int] = 1
    axis: ClassVar[int | None] = -1

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        """One shape for both outputs, also where k is not known."""
        shape = list(inputs[0].dims)
        axis = range(len(shape))[node.attribute("axis", -1)]
        listed = node.attribute("k")
        if listed is not None:
            count = Dimension.constant(listed)
        else:
            content = inputs[1].content
            one = None if content is None or content.size != 1 else content.reshape(-1)[0]
            (count,) = symbols.sizes([one])
        if shape[axis].less(count) is True:
            return None
        shape[axis] = count
        return [tuple(shape)] * 2

    def bounds(self, node: Node, inputs: Sequence[Known]) -> Sequence[Bounds | None]:
        return [None, _position(inputs, node.attribute("axis", -1))]

    def prove_safe(self, premises: Premises) -> None:
        shape = premises.shape(0)
        length = shape[premises.axis(len(shape), -1)]
        if premises.opset < 10:
            count = Dimension.constant(premises.node.attribute("k", 0))
        else:
            require(premises.content(1).size == 1, f"{premises.name(1)} does not hold one element")
            count = premises.content(1).reshape(-1)[0]
        at_least(count, 1, "k")
        enough = length.less(count) is False
        require(enough, f"there may be fewer than k elements: {shown(length)}")

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        """Test for sorted outputs; the order of others, and of 0 and -0, is open."""
        settled = super().is_settled(node, arrays, results) and not have_both_zeros(arrays[:1])
        return settled and bool(node.attribute("sorted", 1))


@describes("CumSum", roundings=1)
@describes("CumProd")
class CumSum(KeepsShape, PassesAxes):
    """CumSum, from opset 11 on, and CumProd, from 26 on: an input holds the axis."""

    ignores_zero_sign: ClassVar[int] = 1
    steered_by: ClassVar[tuple[int, ...] | None] = (1,)
    operand_ranks: ClassVar[OperandRanks] = {1: ONE_NUMBER}

    def prove_safe(self, premises: Premises) -> None:
        axis = premises.numbers(1)
        require(axis.size == 1, f"{premises.name(1)} does not hold one element")
        axis_of(int(axis.reshape(())), len(premises.shape(0)))

    def named_axes(self, node: Node, inputs: Sequence[Fact]) -> Named:
        return {1: number_of(inputs, 1)}
