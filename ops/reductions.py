"""Many elements of an axis made into one, or put in order: sums, extremes and where they stand."""

from collections.abc import Callable, Sequence
from typing import Any

from ..facts.bounds import Bounds, Known
from ..facts.fact import Content, Fact, Symbols, content_from
from ..facts.polynomial import Dimension, product
from ..facts.safety_context import Premises, at_least, axis_of, distinct_axes, require, shown
from ..ir import Node, Value
from .agreement import have_both_zeros, is_integer
from .axes import RankAnswer, RankOf, rank_of_first, rank_without, reduced, written_axes
from .axis_map import Named, PassesAxes, number_of, opset_of
from .batching import Batch
from .partial_axes import reduced_part, reduced_windows
from .rules import KeepsShape, Shapes, describes
from .schema_queries import formal_inputs
from .views import read_reduction


@describes("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare")
@describes("ReduceMax", "ReduceMin")
@describes("ReduceMean")
class Reduction(PassesAxes):
    """The Reduce operators: their axes are an input from opset 18 on (ReduceSum: 13).

    For all iterations at once onnxruntime may add floats up in another order, as it has a kernel
    for each arrangement of the axes: a sum along the first axis of a matrix is one of those.
    """

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        view = read_reduction(node, inputs)
        return None if view is None else [reduced(inputs[0].dims, view.axes, view.keeps)]

    def prove_safe(self, premises: Premises) -> None:
        axes = premises.axes(1)
        if axes:
            distinct_axes(axes, len(premises.shape(0)))

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        """Test for ordinary numbers; no logarithm or root of an integer is one."""
        value = arrays[0]
        if not is_integer(value):
            return super().is_settled(node, arrays[:1], results)
        # The greatest and the least of no integers are open.
        return bool(value.size) if self.roundings == 0 else node.op_type in _COUNTING

    def named_axes(self, node: Node, inputs: Sequence[Fact]) -> Named:
        view = read_reduction(node, inputs)
        if view is not None and view.does_nothing:
            return {}
        as_attribute = formal_inputs(node.op_type, opset_of(node)) == 1
        return {"axes" if as_attribute else 1: None if view is None else list(view.axes)}

    def passed(self, node: Node, rank: int, axes: set[int]) -> list[int | None]:
        return kept(node, rank, axes)

    def batch(self, batch: Batch) -> Sequence[Value]:
        view = read_reduction(batch.node, batch.facts)
        if view is None or view.does_nothing:
            return super().batch(batch)
        if batch.rank(0):
            joined = reduced_windows(batch, view.axes)
            return super().batch(batch) if joined is None else [joined]
        # Of a scalar there is nothing to reduce, but the operator may still compute.
        one = batch.emit.unsqueeze(batch.require(0).value, 1, batch.label("_one"))
        if formal_inputs(batch.node.op_type, batch.emit.opset) == 1:
            return batch.same([one], axes=[1], keepdims=0)
        return batch.same([one, batch.vector(1)], keepdims=0)

    def batch_partial(self, batch: Batch) -> Sequence[Value]:
        view = read_reduction(batch.node, batch.facts)
        if view is None or batch.rank(0) + batch.part(0).axis not in view.axes:
            return super().batch_partial(batch)
        return [reduced_part(batch, view.axes, super().batch)]

    def rank(self, node: Node, output: int) -> RankAnswer:
        rank, axes = (yield RankOf(node.input(0))), written_axes(node)
        if rank is None or node.attribute("keepdims", 1):
            return rank
        if axes is None and node.input(1) is not None:
            return None
        if not axes:
            return rank if node.attribute("noop_with_empty_axes", 0) else 0
        return rank_without(rank, axes)


def kept(node: Node, rank: int, reduced: set[int]) -> list[int | None]:
    """The axis of the operand for each axis of a result; None for a reduced one."""
    if node.attribute("keepdims", 1):
        return [None if axis in reduced else axis for axis in range(rank)]
    return [axis for axis in range(rank) if axis not in reduced]


_COUNTING = ("ReduceL1", "ReduceProd", "ReduceSum", "ReduceSumSquare")


@describes("ReduceSum", total=lambda sizes: sum(sizes, Dimension.constant(0)))
@describes("ReduceProd", total=product)
class SizeReduction(Reduction):
    """ReduceSum and ReduceProd: over no axes at all if noop_with_empty_axes (from opset 13 on, or
    18) says so. Sizes are computed by reduction of a vector to one element."""

    total: Callable[[list[Dimension]], Dimension]

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        content, view = inputs[0].elements, read_reduction(node, inputs)
        if content.ndim != 1 or any(e is None for e in content):
            return None
        if view is None or view.does_nothing:
            return None
        result = content_from(self.total(list(content)))
        return result.reshape(1) if node.attribute("keepdims", 1) else result

    def bounds(self, node: Node, inputs: Sequence[Known]) -> Sequence[Bounds | None]:
        facts = [each.fact for each in inputs]
        each, shape, view = inputs[0].bounds, facts[0].shape, read_reduction(node, facts)
        if node.op_type != "ReduceSum" or each is None or shape is None or view is None:
            return [None]
        count = product([shape[axis] for axis in view.axes])
        return [Bounds(each.low * count, each.high * count)]


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
class TopK(PassesAxes):
    """TopK: k is an input from opset 10 on. Its second output holds positions."""

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
        # Such a node fails; onnx says so.
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


@describes("CumSum")
@describes("CumProd")
class CumSum(KeepsShape, PassesAxes):
    """CumSum, from opset 11 on, and CumProd, from 26 on: an input holds the axis."""

    def prove_safe(self, premises: Premises) -> None:
        axis = premises.numbers(1)
        require(axis.size == 1, f"{premises.name(1)} does not hold one element")
        axis_of(int(axis.reshape(())), len(premises.shape(0)))

    def named_axes(self, node: Node, inputs: Sequence[Fact]) -> Named:
        return {1: number_of(inputs, 1)}
