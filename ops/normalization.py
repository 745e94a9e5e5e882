"""Axes that are normalised by what they hold."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from ..facts.fact import Fact, Symbols
from ..facts.polynomial import Dimension
from ..facts.safety_context import Premises, at_least, require, same_shape
from ..ir import Node, Value
from .axes import ONE, AxisMap, broadcast_map, may_equal
from .axis_map import Named, PassesAxes, Rowwise, opset_of
from .batch_axis import joined, parted, with_a_row, without_it
from .batching import DIFFERING, Batch, Unbatchable
from .flat_rows import softmax
from .partial_axes import filled, once
from .rules import KeepsShape, Shapes, describes


@describes("Softmax", "LogSoftmax")
@describes("Hardmax")
class Softmax(PassesAxes):
    """Softmax, LogSoftmax and Hardmax (1 for the greatest, else 0): along one axis, the last one,
    from opset 13 on; before, along all axes from one on, the second."""

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        shape, axis = inputs[0].dims, node.attribute("axis")
        # Before opset 13 the default is axis 1, which a vector lacks.
        if axis is None:
            return None if len(shape) < 2 else [shape]
        return [shape] if -len(shape) <= axis < len(shape) else None

    def prove_safe(self, premises: Premises) -> None:
        shape = premises.shape(0)
        older = premises.opset < 13
        axis = premises.axis(len(shape), 1 if older else -1)
        others = shape[:axis] if older else (*shape[:axis], *shape[axis:][1:])
        for dim in shape[axis:] if older else [shape[axis]]:
            if dim not in others:  # else a tensor of that size 0 has no element to compute
                at_least(dim, 1, f"axis {axis}")

    def named_axes(self, node: Node, inputs: Sequence[Fact]) -> Named:
        return {"axis": node.attribute("axis", 1 if opset_of(node) < 13 else -1)}

    def passed(self, node: Node, rank: int, axes: set[int]) -> list[int | None]:
        (first,) = axes
        return super().passed(node, rank, set(range(first, rank)) if opset_of(node) < 13 else axes)

    def batch_partial(self, batch: Batch) -> Sequence[Value]:
        rank, part = batch.rank(0), batch.part(0)
        axis = batch.node.attribute("axis", 1 if batch.emit.opset < 13 else -1) % rank
        together = range(axis, rank if batch.emit.opset < 13 else axis + 1)
        if rank + part.axis not in together or batch.node.is_op("Hardmax"):
            return super().batch_partial(batch)
        if len(together) > 1:
            raise Unbatchable(DIFFERING)
        if part.flat is not None:
            return [softmax(batch)]
        (result,) = once(filled(batch, 0, -np.inf), self.batch)
        # Softmax of -inf is 0, but of nothing but -inf it is NaN.
        zeros = part.occupied and batch.node.is_op("Softmax")
        return [
            batch.partial(result, dataclasses.replace(part, data=None, varies=True, zeros=zeros))
        ]


@describes("BatchNormalization")
class BatchNormalization(Rowwise):
    """BatchNormalization: it trains if training_mode (from opset 14 on) says so; from 7 to 13 it
    does not with one output. The root of a variance of -0.0 is -0.0, by which it divides."""

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        image = inputs[0].dims
        if len(image) < 2:
            return None
        for shape in [fact.shape for fact in inputs[1:5]]:
            if shape is not None and (len(shape) != 1 or not may_equal(shape[0], image[1])):
                return None
        return [image]

    def prove_safe(self, premises: Premises) -> None:
        shape = premises.shape(0)
        require(not premises.node.attribute("training_mode", 0), "it trains")
        require(len(shape) >= 2, "the rank is below two")
        for index in range(1, 5):
            same_shape(premises.shape(index), (shape[1],), premises.name(index))

    def axis_map(self, node: Node, inputs: Sequence[Fact], axis: int) -> AxisMap | None:
        by_batch = opset_of(node) < 7 and not node.attribute("is_test", 0)
        trains = by_batch or node.attribute("training_mode", 0) or any(node.outputs[1:])
        return None if trains else super().axis_map(node, inputs, axis)

    def batch(self, batch: Batch) -> Sequence[Value]:
        if batch.node.attribute("training_mode", 0):
            raise Unbatchable("trains")
        return super().batch(batch)


@describes("InstanceNormalization")
class InstanceNormalization(KeepsShape, Rowwise):
    """InstanceNormalization: each channel of each row by itself."""

    def prove_safe(self, premises: Premises) -> None:
        channels = _channels(premises)
        for index in (1, 2):
            same_shape(premises.shape(index), (channels,), premises.name(index))


def _channels(premises: Premises) -> Dimension:
    """The channels of a batch of images that must have at least one element."""
    shape = premises.shape(0)
    require(len(shape) >= 3, f"{premises.name(0)} has fewer than three axes")
    for axis, dim in enumerate(shape):
        at_least(dim, 1, f"axis {axis}")
    return shape[1]


@describes("GroupNormalization")
class GroupNormalization(KeepsShape, Rowwise):
    """GroupNormalization, from opset 18 on: scale and bias of groups, from 21 on of channels."""

    def prove_safe(self, premises: Premises) -> None:
        channels, groups = _channels(premises), premises.node.attribute("num_groups", 0)
        divides = groups > 0 and channels.divided_by(groups) is not None
        require(divides, "the groups may not divide the channels")
        scales = channels if premises.opset >= 21 else Dimension.constant(groups)
        for index in (1, 2):
            same_shape(premises.shape(index), (scales,), premises.name(index))

    def batch(self, batch: Batch) -> Sequence[Value]:
        value = joined(batch, 0)
        row = with_a_row(batch, value, batch.require(0).fact.elem_type)
        (output,) = batch.same([row, batch.fixed(1), batch.fixed(2)])
        return [parted(batch, without_it(batch, output, value))]


@describes("LpNormalization")
class LpNormalization(KeepsShape, PassesAxes):
    """LpNormalization: along one axis, the last one."""

    def prove_safe(self, premises: Premises) -> None:
        shape = premises.shape(0)
        axis = premises.axis(len(shape), -1)
        at_least(shape[axis], 1, f"axis {axis}")


@describes("RMSNormalization")
class RMSNormalization(PassesAxes):
    """RMSNormalization, from opset 23 on: over the axes from one on, the last one. What it scales
    with may be stretched, which runtimes do not all do."""

    def passed(self, node: Node, rank: int, axes: set[int]) -> list[int | None]:
        return super().passed(node, rank, set(range(min(axes), rank)))

    def axis_map(self, node: Node, inputs: Sequence[Fact], axis: int) -> AxisMap | None:
        match, others = super().axis_map(node, inputs, axis), broadcast_map(inputs, axis)
        if match is None or others is None:
            return None
        return match._replace(inputs=others.inputs, stretches=True)

    def prove_safe(self, premises: Premises) -> None:
        shape = premises.shape(0)
        axis = premises.axis(len(shape), -1)
        for index in (1, 2):
            if premises.has(index):
                same_shape(premises.shape(index), shape[axis:], premises.name(index))


@describes("LayerNormalization")
class LayerNormalization(RMSNormalization):
    """LayerNormalization, from opset 17 on."""

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        shape = inputs[0].dims
        axis = range(len(shape))[node.attribute("axis", -1)]
        moments = (*shape[:axis], *[ONE] * (len(shape) - axis))
        return [shape, moments, moments]
