"""Operators that read and write at positions that are data."""

import dataclasses
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import onnx

from ..facts.bounds import Bounds, Known, greatest, join
from ..facts.fact import Content, Fact, Shape, Symbols, integers
from ..facts.polynomial import Dimension, product
from ..facts.safety_context import Premises, Unproven, at_least, require, same_shape
from ..ir import Node, Value
from .axes import AxisMap, RankAnswer, RankOf, rank_of_first
from .axis_map import Named, PassesAxes
from .batch_axis import by_rows
from .batching import Batch, Operand
from .flat_rows import row_of_blocks
from .gather_batching import after_iterations, gathered
from .rules import (
    KeepsShape,
    Moving,
    NoLarger,
    OperatorRules,
    RankOfFirst,
    Shapes,
    Total,
    describes,
)


@describes("Compress")
class Compress(NoLarger, PassesAxes, Moving):
    """Compress, from opset 9 on."""

    why_unbatchable: ClassVar[str] = "reads elements along any axis"

    def prove_safe(self, premises: Premises) -> None:
        """Each truth value must have its own element or slice."""
        shape, (count,) = premises.shape(0), premises.shape(1, 1)
        whole = premises.node.attribute("axis") is None
        length = product(shape) if whole else shape[premises.axis(len(shape), 0)]
        require(count == length, f"{premises.name(1)} may have another length than {length}")

    def named_axes(self, node: Node, inputs: Sequence[Fact]) -> Named:
        return {"axis": node.attribute("axis")}

    def rank(self, node: Node, output: int) -> RankAnswer:
        return 1 if node.attribute("axis") is None else (yield from rank_of_first(node))


@describes("Gather")
class Gather(Moving):
    """Gather: indices may be negative from opset 11 on."""

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        shape = inputs[0].dims
        axis = range(len(shape))[node.attribute("axis", 0)]
        return [(*shape[:axis], *inputs[1].dims, *shape[axis + 1 :])]

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        data, indices = arrays
        axis = node.attribute("axis", 0)
        size = data.shape[axis] if -data.ndim <= axis < data.ndim else 1
        return float(data.size // max(size, 1) * indices.size)

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        content, indices = inputs[0].elements, integers(inputs[1])
        axis = range(content.ndim)[node.attribute("axis", 0)]
        length = content.shape[axis]
        # Such a node fails, so nothing is known of its result.
        if indices is None or not ((indices >= -length) & (indices < length)).all():
            return None
        elements = np.empty(
            content.shape[:axis] + indices.shape + content.shape[axis + 1 :], object
        )
        elements[...] = np.take(content, indices, axis=axis)
        return elements

    def prove_safe(self, premises: Premises) -> None:
        shape = premises.shape(0)
        premises.positions(1, shape[premises.axis(len(shape), 0)])

    def axis_map(self, node: Node, inputs: Sequence[Fact], axis: int) -> AxisMap | None:
        indices, own = inputs[1].dims, range(len(inputs[0].dims))[node.attribute("axis", 0)]
        if own <= axis < own + len(indices):
            return AxisMap((None, axis - own), {"axis": own})
        place = axis if axis < own else axis - len(indices) + 1
        return AxisMap((place, None), {"axis": own - (place < own)})

    def batch(self, batch: Batch) -> Sequence[Value]:
        axis, rank = batch.node.attribute("axis", 0), batch.rank(0)
        place = batch.axis(axis, rank) - 1
        if batch.varies(0) and batch.varies(1):
            return [gathered(batch, batch.require(0).value, batch.require(1).value, place)]
        if batch.varies(0):
            indices = self._indices(batch, place)
            if indices is None:
                return [gathered(batch, batch.require(0).value, batch.spread(1), place)]
            return batch.same([batch.require(0).value, indices], axis=place + 1)
        picked = batch.same([batch.require(0).value, batch.require(1).value], axis=place)[0]
        total = rank + batch.rank(1)  # the iterations stand where the indices begin
        perm = [place, *(other for other in range(total) if other != place)]
        return [batch.emit.transpose(picked, perm, batch.label())]

    def batch_partial(self, batch: Batch) -> Sequence[Value]:
        axis, part = batch.node.attribute("axis", 0), batch.require(0).partial
        if part is not None and part.flat is not None and axis in (0, -batch.rank(0)):
            return [row_of_blocks(batch)]
        return super().batch_partial(batch)

    def _indices(self, batch: Batch, axis: int) -> Value | None:
        """Indices that are the same in every iteration, and valid without any iteration.

        None if there are none.
        """
        size, indices = batch.shape(0)[axis], batch.require(1)
        elements = () if indices.fact.content is None else indices.fact.content.reshape(-1)
        inside = [
            e is not None and size.less(e + 1) is False and (size + e).less(0) is False
            for e in elements
        ]
        if batch.extent.certain or (inside and all(inside)) or _counts_inside(batch):
            return indices.value
        if size.less(1) is not False:
            return None
        # Times 0 without iterations and 1 with some: index 0 is always valid.
        emit, label = batch.emit, batch.label("_some")
        some = emit.add("Cast", [batch.iterations], label, to=onnx.TensorProto.BOOL)
        kind = indices.fact.elem_type or onnx.TensorProto.INT64
        once = emit.squeeze(emit.add("Cast", [some], label, to=kind), 0, label)
        return emit.add("Mul", [indices.value, once], batch.label("_indices"))

    def rank(self, node: Node, output: int) -> RankAnswer:
        data = yield RankOf(node.input(0))
        indices = yield RankOf(node.input(1))
        return None if data is None or indices is None else data + indices - 1


def _counts_inside(batch: Batch) -> bool:
    """Test for an index that is an input of an inner loop's body: it counts rows."""
    index = batch.node.input(1)
    body = None if index is None else index.owner
    return body is not None and body.holder is not None and index in body.inputs


@describes("GatherElements")
class GatherElements(NoLarger, PassesAxes, Moving):
    """GatherElements, from opset 11 on."""

    def prove_safe(self, premises: Premises) -> None:
        data = premises.shape(0)
        _prove_beside(premises, data, premises.shape(1, len(data)))


@describes("GatherND")
class GatherND(Moving):
    """GatherND, from opset 11 on; batch_dims from 12 on."""

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        shape, tuples = inputs[0].dims, inputs[1].dims
        count = tuples[-1].value
        if count is None:
            return None
        first = node.attribute("batch_dims", 0) + count
        return [tuples[:-1] + shape[first:]] if first <= len(shape) else None

    def axis_map(self, node: Node, inputs: Sequence[Fact], axis: int) -> AxisMap | None:
        tuples, own = inputs[1].dims, node.attribute("batch_dims", 0)
        count = tuples[-1].value
        if inputs[0].shape is None or count is None:
            return None
        if axis < own:
            return AxisMap((axis, axis), None if axis else {"batch_dims": own - 1})
        behind = axis - (len(tuples) - 1)
        return AxisMap((None, axis) if behind < 0 else (own + count + behind, None))

    def batch(self, batch: Batch) -> Sequence[Value]:
        own = batch.node.attribute("batch_dims", 0)
        if not batch.varies(0) and not own:
            return batch.same([batch.require(0).value, batch.require(1).value])
        data, tuples = batch.spread(0), batch.spread(1)
        # GatherND has batch_dims from opset 12 on; below, each tuple begins with its iteration.
        if batch.emit.opset < 12:
            return batch.same([data, after_iterations(batch, tuples, batch.rank(1))])
        return batch.same([data, tuples], batch_dims=own + 1)

    def prove_safe(self, premises: Premises) -> None:
        require(premises.node.attribute("batch_dims", 0) == 0, "it has batch axes")
        _prove_tuples(premises)


class Scattering(NoLarger, RankOfFirst):
    """Operator that writes updates into a copy of data.

    A reduction (from opset 16 on) combines them.
    """

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        """Test that no place is written twice: the order of such writes is open."""
        if node.attribute("reduction", b"none") != b"none":
            return super().is_settled(node, arrays, results)
        return self._places(node, arrays)

    def _places(self, node: Node, arrays: Sequence[Any]) -> bool:
        """Test that no place is written twice."""
        raise NotImplementedError

    def bounds(self, node: Node, inputs: Sequence[Known]) -> Sequence[Bounds | None]:
        # A sum or product of both may exceed the bounds of each.
        if node.attribute("reduction", b"none") != b"none":
            return [None]
        return [join(inputs[0].bounds, inputs[2].bounds)]


@describes("ScatterElements", "Scatter")
class ScatterElements(PassesAxes, Scattering):
    """ScatterElements from opset 11 on, called Scatter in 9 and 10."""

    def _places(self, node: Node, arrays: Sequence[Any]) -> bool:
        data, indices = arrays[:2]
        axis = node.attribute("axis", 0) % max(1, data.ndim)
        # Negative indices are places, too: -1 and size - 1 are one.
        ordered = np.sort(indices % max(1, data.shape[axis]), axis)
        return not (np.diff(ordered, axis=axis) == 0).any()

    def prove_safe(self, premises: Premises) -> None:
        data = premises.shape(0)
        indices = premises.shape(1, len(data))
        _prove_beside(premises, data, indices)
        same_shape(premises.shape(2), indices, premises.name(2))


@describes("ScatterND")
class ScatterND(Scattering):
    """ScatterND, from opset 11 on."""

    def _places(self, node: Node, arrays: Sequence[Any]) -> bool:
        data, indices = arrays[:2]
        sizes = np.array(data.shape[: indices.shape[-1]], np.int64)
        rows = indices.reshape(-1, indices.shape[-1]) % np.maximum(sizes, 1)
        return len(np.unique(rows, axis=0)) == len(rows)

    def axis_map(self, node: Node, inputs: Sequence[Fact], axis: int) -> AxisMap | None:
        """Axes behind those that tuples index are axes of the updates."""
        tuples = inputs[1].dims
        count = tuples[-1].value
        if count is None or axis < count:
            return None
        return AxisMap((axis, None, len(tuples) - 1 + axis - count))

    def batch(self, batch: Batch) -> Sequence[Value]:
        tuples = after_iterations(batch, batch.spread(1), batch.rank(1))
        return batch.same([batch.spread(0), tuples, batch.spread(2)])

    def prove_safe(self, premises: Premises) -> None:
        indexed = _prove_tuples(premises)
        updates = premises.shape(1)[:-1] + premises.shape(0)[indexed:]
        same_shape(premises.shape(2), updates, premises.name(2))


def _prove_beside(premises: Premises, data: Shape, indices: Shape) -> None:
    """Prove that indices lie within an axis, and beside the data along the others."""
    axis = premises.axis(len(data), 0)
    premises.within(1, [data[axis]])
    for position, (have, want) in enumerate(zip(data, indices, strict=True)):
        fits = position == axis or have == want or have.less(want) is False
        require(
            fits, f"{premises.name(1)} may be larger than {premises.name(0)} along axis {position}"
        )


def _prove_tuples(premises: Premises) -> int:
    """Prove that tuples of indices lie within the first axes; how many axes they index."""
    data, indices = premises.shape(0), premises.shape(1)
    require(bool(indices), f"{premises.name(1)} has no axis")
    length = indices[-1].value
    if length is None or not 1 <= length <= len(data):
        raise Unproven(f"the last axis of {premises.name(1)} may not fit {premises.name(0)}")
    premises.within(1, data[:length])
    return length


@describes("ReverseSequence")
class ReverseSequence(KeepsShape):
    """ReverseSequence, from opset 10 on: the first two axes are time and batch, or the other way
    round."""

    def axis_map(self, node: Node, inputs: Sequence[Fact], axis: int) -> AxisMap | None:
        if axis == node.attribute("time_axis", 0):
            return None
        return AxisMap((axis, 0 if axis == node.attribute("batch_axis", 1) else None))

    def batch(self, batch: Batch) -> Sequence[Value]:
        if batch.node.attribute("batch_axis", 1) == 0:
            return by_rows(batch, (0, 1))
        # Rows of a batch come first: time and batch change places, and back afterwards.
        sizes, perm = list(batch.shape(0)), list(range(batch.rank(0) + 1))
        sizes[:2], perm[1:3] = sizes[1::-1], [2, 1]
        label = batch.label("_turned")
        value = batch.emit.transpose(batch.spread(0), perm, label)
        fact = Fact(batch.require(0).fact.elem_type, tuple(sizes))
        operands = [Operand(value, True, fact), batch.require(1)]
        turned = dataclasses.replace(batch, operands=operands, results=[fact])
        (result,) = by_rows(turned, (0, 1), batch_axis=0, time_axis=1)
        return [batch.emit.transpose(result, perm, batch.label())]


@describes("NonZero")
class NonZero(Total):
    """NonZero, from opset 9 on: positions, of each axis those within it."""

    why_unbatchable: ClassVar[str] = (
        "returns a number of positions that may vary between iterations"
    )

    def bounds(self, node: Node, inputs: Sequence[Known]) -> Sequence[Bounds | None]:
        shape = inputs[0].fact.shape
        most = greatest(shape) if shape else None
        return [None if most is None else Bounds(Dimension.constant(0), most - 1)]


@describes("NonMaxSuppression")
class NonMaxSuppression(OperatorRules):
    """NonMaxSuppression, from opset 10 on: each box is compared with those that were chosen."""

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        # Without an image, a box or a class nothing is chosen.
        none = any(dim == 0 for fact in inputs[:2] for dim in fact.dims)
        count = Dimension.constant(0) if none else symbols.fresh()
        return [(count, Dimension.constant(3))]

    def prove_safe(self, premises: Premises) -> None:
        batch, boxes, corners = premises.shape(0, 3)
        fits = (batch, boxes) == (premises.shape(1, 3)[0], premises.shape(1)[2]) and corners == 4
        require(fits, "boxes and scores may not fit each other")
        for index in range(2, 5):
            if premises.has(index):
                premises.one_element(index)
        if premises.has(2):
            at_least(premises.content(2).reshape(-1)[0], 0, "the number of boxes of a class")
        threshold = premises.node.input(3)
        if threshold is not None:  # onnxruntime refuses others
            overlap = threshold.array
            if overlap is None:
                raise Unproven(f"{premises.name(3)} is known only at run time")
            inside = 0 <= float(overlap.reshape(-1)[0]) <= 1
            require(inside, f"{premises.name(3)} is not between 0 and 1")

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        return float(3.0 * arrays[1].size)

    def work(self, node: Node, arrays: Sequence[Any]) -> float:
        return float(10_000 * float(arrays[1].size) * arrays[1].shape[-1])
