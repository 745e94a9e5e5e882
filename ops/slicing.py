"""Tensors put together, cut into parts, and padded."""

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..facts.attribute_or_input import listed, listed_numbers
from ..facts.bounds import Bounds, Known, join
from ..facts.fact import Content, Fact, Symbols, integers
from ..facts.magnitudes import FAR_ENDS
from ..facts.polynomial import Dimension
from ..facts.safety_context import (
    Premises,
    Unproven,
    at_least,
    axis_of,
    distinct_axes,
    require,
    same,
    shown,
)
from ..ir import Node, Value
from .axes import AxisMap
from .axis_map import Named, PassesAxes
from .batching import Batch, Unbatchable
from .flat_rows import joined_blocks, padded_blocks
from .gather_batching import moving_blocks, moving_slice
from .partial_axes import part_of
from .rules import Growing, KeepsShape, Moving, NoLarger, Shapes, describes


@describes("Concat")
class Concat(NoLarger, PassesAxes):
    """Concat: from opset 4 on the axis must be given, from 11 on it may be negative."""

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        shapes = [fact.dims for fact in inputs]
        first = list(shapes[0])
        axis = node.attribute("axis", 1)
        if len({len(shape) for shape in shapes}) != 1:
            return None
        for position, dim in enumerate(first):
            if dim.value is None:
                # All agree off the axis, so the best known of them holds for each.
                sizes = [s[position] for s in shapes if s[position].value is not None]
                first[position] = sizes[0] if sizes else dim
        first[axis] = sum((s[axis] for s in shapes), Dimension.constant(0))
        return [tuple(first)]

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        if all(fact.content is None for fact in inputs):
            return None
        return np.concatenate([fact.slots for fact in inputs], node.attribute("axis", 1))

    def bounds(self, node: Node, inputs: Sequence[Known]) -> Sequence[Bounds | None]:
        return [functools.reduce(join, [operand.bounds for operand in inputs])]

    def batch_partial(self, batch: Batch) -> Sequence[Value]:
        axis, parts = batch.node.attribute("axis", 1), batch.partials_of_inputs()
        axis += batch.rank(0) if axis < 0 else 0
        if all(part.flat is not None and part.axis == axis - batch.rank(0) for part in parts):
            return [joined_blocks(batch, axis)]
        return super().batch_partial(batch)

    def prove_safe(self, premises: Premises) -> None:
        first = premises.shape(0)
        axis = premises.axis(len(first), 1)
        for index in range(1, len(premises.node.inputs)):
            other = premises.shape(index, len(first))
            for position, (dim, size) in enumerate(zip(other, first, strict=True)):
                if position != axis:
                    same(dim, size, f"sizes along axis {position}")


@describes("Split")
class Split(NoLarger, PassesAxes, Moving):
    """Split: from opset 13 on an input holds the sizes; without any the parts are equal."""

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        shape = inputs[0].dims
        axis = range(len(shape))[node.attribute("axis", 0)]
        parts = _parts(node, inputs, shape[axis])
        if parts is None or len(parts) != len(node.outputs):
            return None
        return [(*shape[:axis], part, *shape[axis + 1 :]) for part in parts]

    def prove_safe(self, premises: Premises) -> None:
        shape = premises.shape(0)
        length = shape[premises.axis(len(shape), 0)]
        sizes = premises.listed("split", 1)
        parts = len(premises.node.outputs)
        if sizes is None:
            divides = length.divided_by(parts) is not None
            require(divides, f"{shown(length)} may not divide by {parts}")
            return
        fit = len(sizes) == parts and min(sizes, default=0) >= 0
        require(fit, "its sizes do not fit its outputs")
        same(length, sum(sizes), "the sum of its sizes")


def _parts(node: Node, inputs: Sequence[Fact], size: Dimension) -> list[Dimension] | None:
    """The lengths of the parts into which an axis is split."""
    sizes = listed_numbers(node, inputs, "split", 1)
    if sizes is not None:
        fits = size.value in (None, sum(sizes)) and min(sizes, default=0) >= 0
        return [Dimension.constant(number) for number in sizes] if fits else None
    count = len(node.outputs)
    # Sizes that run time computes may be any.
    if node.input(1) is not None or node.attribute("num_outputs", count) != count:
        return None
    # The parts of an axis that does not divide are not equal.
    part = size.divided_by(count)
    return None if part is None else [part] * count


class _Cut(NamedTuple):
    """The section of one axis that Slice takes; None for unknown bounds."""

    axis: int
    start: Dimension | None
    end: Dimension | None
    step: int | None

    def section(self, size: int) -> slice | None:
        """The same for an axis of a known size, as Python writes it."""
        start, end = _number(self.start), _number(self.end)
        if start is None or end is None or not self.step:
            return None
        if self.step > 0:
            return slice(start, end, self.step)
        if end in FAR_ENDS:
            return None  # nothing by the specification, all in onnxruntime
        # Backward, it begins at the first element where it would begin before that, which Python
        # takes for nothing; a large negative end means "up to and including the first".
        return slice(max(start, -size), None if end < -size else end, self.step)

    def length(self, size: Dimension, symbols: Symbols) -> Dimension | None:
        """The number of elements; None where it depends on unknown sizes."""
        section = self.section(size.value) if size.value is not None else None
        if section is not None:
            return Dimension.constant(len(range(size.value or 0)[section]))
        if self.start is None or self.end is None or self.step != 1:
            return None
        first, last = (_clamped(bound, size, symbols) for bound in (self.start, self.end))
        if first is None or last is None:
            return None
        # An end before the start leaves no element, not a negative number of them.
        return last - first if (last - first).less(0) is False else None

    def prefix(self, size: Dimension, symbols: Symbols) -> Dimension | None:
        """The length of the first so many of a known number of elements; None for other cuts."""
        if size.value is None or self.end is None or _number(self.start) != 0 or self.step != 1:
            return None
        return symbols.capped(self.end, size.value) if self.end.less(0) is False else None


def _number(dim: Dimension | None) -> int | None:
    return None if dim is None else dim.value


def _clamped(bound: Dimension, size: Dimension, symbols: Symbols) -> Dimension | None:
    """The clamped bound of a forward slice, if it is the same for all sizes."""
    # Exporters write 2^31 - 1 or 2^63 - 1 for "to the end": no axis is so long.
    if bound.value is not None and symbols.magnitudes.is_end(bound.value):
        return size
    if (size + bound).value == 0:
        return size + bound  # the first element of a size that may be zero
    if bound.less(0):
        position = size + bound
        return position if position.less(0) is False else None
    inside = size.less(bound)
    return bound if inside is False and bound.less(0) is False else None


@describes("Slice")
class Slice(NoLarger, PassesAxes, Moving):
    """Slice: from opset 10 on inputs hold starts, ends, axes and steps; before, attributes, and
    steps there were none. Starts and ends are clamped to the axis."""

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        shape = inputs[0].dims
        if _axes_are_open(node, inputs):
            # Any axis may be cut.
            return [tuple(symbols.fresh() for _ in shape)]
        cuts = _cuts(node, inputs, len(shape))
        if cuts is None:
            return None
        dims = list(shape)
        for cut in cuts:
            size = dims[cut.axis]
            dims[cut.axis] = (
                cut.length(size, symbols) or cut.prefix(size, symbols) or symbols.fresh()
            )
        return [tuple(dims)]

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        content = inputs[0].elements
        cuts = _cuts(node, inputs, content.ndim)
        if cuts is None or _axes_are_open(node, inputs):
            return None
        index = [slice(None)] * content.ndim
        for cut in cuts:
            section = cut.section(content.shape[cut.axis])
            if section is None:
                return None
            index[cut.axis] = section
        return content[tuple(index)]

    def prove_safe(self, premises: Premises) -> None:
        rank = len(premises.shape(0))
        count, axes = _count(premises, "starts", 1), premises.axes(3)
        require(_count(premises, "ends", 2) == count, "its bounds differ in number")
        places = distinct_axes(range(count) if axes is None else axes, rank)
        require(len(places) == count, "its axes do not fit its bounds")
        if premises.has(4):
            steps = premises.numbers(4)
            fit = steps.shape == (count,) and bool(steps.all())
            require(fit, "its steps do not fit its bounds")

    def named_axes(self, node: Node, inputs: Sequence[Fact]) -> Named:
        axes = listed_numbers(node, inputs, "axes", 3)
        if axes is None and node.input(3) is None:
            bounds = listed(node, inputs, "starts", 1)
            axes = None if bounds is None else list(range(len(bounds)))
        return {"axes" if node.input(1) is None else 3: axes}

    def batch(self, batch: Batch) -> Sequence[Value]:
        batch.fixed(4)
        if batch.varies(1) or batch.varies(2):
            try:
                return [moving_slice(batch)]
            except Unbatchable:
                return [moving_blocks(batch)]
        return super().batch(batch)

    def batch_partial(self, batch: Batch) -> Sequence[Value]:
        (axes,), rank = self.named_axes(batch.node, batch.facts).values(), batch.rank(0)
        places = [] if axes is None or isinstance(axes, int) else [axis % rank for axis in axes]
        is_cut = rank + batch.part(0).axis in places
        if is_cut and batch.part(0).flat is not None:
            return [moving_blocks(batch)]
        return [part_of(batch)] if is_cut else super().batch_partial(batch)


def _count(premises: Premises, name: str, position: int) -> int:
    if premises.opset < 10:
        return len(premises.node.attribute(name, []))
    return premises.vector(position)


def _axes_are_open(node: Node, inputs: Sequence[Fact]) -> bool:
    return node.input(3) is not None and inputs[3].content is None


def _cuts(node: Node, inputs: Sequence[Fact], rank: int) -> list[_Cut] | None:
    """The sections that Slice takes, in order; None where the bounds are unknown."""
    starts, ends = (
        _bounds(node, inputs, name, position, rank)
        for name, position in (("starts", 1), ("ends", 2))
    )
    if starts is None or ends is None or not len(starts) == len(ends) <= rank:
        return None
    axes, steps = listed(node, inputs, "axes", 3), listed(node, inputs, "steps", 4)
    cuts = []
    for index, (start, end) in enumerate(zip(starts, ends, strict=True)):
        axis = index if axes is None else _number(axes[index])
        step = 1 if node.input(4) is None else _number(steps[index] if steps else None)
        if axis is None or not -rank <= axis < rank:
            return None
        cuts.append(_Cut(axis, start, end, step))
    return cuts


def _bounds(
    node: Node, inputs: Sequence[Fact], name: str, position: int, rank: int
) -> Sequence[Dimension | None] | None:
    """Starts or ends; of unknown ones the count may be known, `rank` at most."""
    bounds = listed(node, inputs, name, position)
    shape = inputs[position].shape if bounds is None and node.input(position) is not None else None
    count = None if shape is None or len(shape) != 1 else shape[0].value
    return bounds if count is None or count > rank else [None] * count


@describes("Pad")
class Pad(PassesAxes):
    """Pad: from opset 11 on an input holds the pads, from 18 on another the axes. Negative pads
    cut off."""

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        shape, pads = inputs[0].dims, listed(node, inputs, "pads", 1)
        if pads is None or all(pad is None for pad in pads):
            return None
        axes = list(range(len(shape)))
        if node.input(3) is not None:
            numbers = integers(inputs[3])
            if numbers is None:
                return None
            axes = [int(axis) for axis in numbers.reshape(-1)]
        if len(pads) != 2 * len(axes):
            return None
        dims = list(shape)
        for axis, *ends in zip(axes, pads[: len(axes)], pads[len(axes) :], strict=True):
            amounts = [end for end in ends if end is not None]
            dims[axis] = sum(amounts, dims[axis]) if len(amounts) == 2 else symbols.fresh()
        return [tuple(dims)]

    def named_axes(self, node: Node, inputs: Sequence[Fact]) -> Named:
        return {3: listed_numbers(node, inputs, "axes", 3)}

    def axis_map(self, node: Node, inputs: Sequence[Fact], axis: int) -> AxisMap | None:
        if node.input(3) is not None:
            return super().axis_map(node, inputs, axis)
        shape, pads = inputs[0].dims, listed(node, inputs, "pads", 1)
        if pads is None or len(pads) != 2 * len(shape):
            return None
        # Padding has positions without an element of the input.
        if pads[axis] != 0 or pads[axis + len(shape)] != 0:
            return None
        places = AxisMap((axis, *[None] * (len(inputs) - 1)))
        others = [pad and pad.value for n, pad in enumerate(pads) if n % len(shape) != axis]
        if not others or None in others:
            return places
        return places._replace(changed={"pads" if node.input(1) is None else 1: others})

    def batch(self, batch: Batch) -> Sequence[Value]:
        if batch.operand(3) is not None:
            return super().batch(batch)
        value, rank = batch.require(0).value, batch.rank(0)
        others = [batch.fixed(index) for index in range(2, len(batch.operands))]
        if batch.operand(1) is None:
            own = list(batch.node.attribute("pads", ()))
            # All pads before the axes come first, then all after them; the iterations get none.
            return batch.same([value], pads=[0, *own[:rank], 0, *own[rank:]])
        pads = batch.fixed(1)
        assert pads is not None
        none, middle, end = batch.vector(0), batch.vector(rank), batch.vector(2 * rank)
        before = batch.emit.add("Slice", [pads, none, middle], batch.label("_before"))
        after = batch.emit.add("Slice", [pads, middle, end], batch.label("_after"))
        pads = batch.emit.concat([none, before, none, after], 0, batch.label("_pads"))
        return batch.same([value, pads, *others])

    def batch_partial(self, batch: Batch) -> Sequence[Value]:
        try:
            return super().batch_partial(batch)
        except Unbatchable:
            return [padded_blocks(batch)]

    def prove_safe(self, premises: Premises) -> None:
        mode, shape = premises.node.attribute("mode", b"constant"), premises.shape(0)
        require(mode in (b"constant", b"edge"), "its mode restricts sizes")
        pads, axes_operand = premises.listed("pads", 1), premises.axes(3)
        if pads is None:
            raise Unproven("its pads are absent")
        require(min(pads, default=0) >= 0, "it cuts off elements")
        listed = range(len(shape)) if axes_operand is None else axes_operand
        axes = distinct_axes(listed, len(shape))
        require(len(pads) == 2 * len(axes), "its pads do not fit the rank")
        for axis, *ends in zip(axes, pads[: len(axes)], pads[len(axes) :], strict=True):
            if mode == b"edge" and any(ends):
                at_least(shape[axis], 1, f"axis {axis}")
        if premises.has(2):
            premises.one_element(2)

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        pads = arrays[1] if len(arrays) > 1 else node.attribute("pads", [])
        return float(math.prod(dim + int(np.abs(pads).sum()) for dim in arrays[0].shape))


@describes("CenterCropPad")
class CenterCropPad(PassesAxes, Growing):
    """CenterCropPad, from opset 18 on."""

    def prove_safe(self, premises: Premises) -> None:
        rank, sizes = len(premises.shape(0)), premises.numbers(1)
        axes = [axis_of(a, rank) for a in premises.node.attribute("axes", range(rank))]
        fit = sizes.shape == (len(set(axes)),) and len(set(axes)) == len(axes)
        require(fit, f"{premises.name(1)} may not fit the axes")
        require(bool((sizes > 0).all()), f"{premises.name(1)} holds a number that is not positive")

    def named_axes(self, node: Node, inputs: Sequence[Fact]) -> Named:
        shape = inputs[0].shape
        return {"axes": node.attribute("axes", None if shape is None else range(len(shape)))}


@describes("Trilu")
class Trilu(KeepsShape, PassesAxes):
    """Trilu, from opset 14 on: matrices of any size; k may be beyond them."""

    def prove_safe(self, premises: Premises) -> None:
        require(len(premises.shape(0)) >= 2, f"{premises.name(0)} has fewer than two axes")
        if premises.has(1):
            premises.one_element(1)

    def passed(self, node: Node, rank: int, axes: set[int]) -> list[int | None]:
        return [*range(rank - 2), None, None]
