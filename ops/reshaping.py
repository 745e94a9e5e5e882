"""Tensors whose elements stay while their axes change: reshaped, transposed, stretched."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..facts.attribute_or_input import listed_numbers
from ..facts.bounds import Bounds, Known
from ..facts.fact import Content, Fact, Shape, Symbols, integers, vector
from ..facts.polynomial import Dimension, product
from ..facts.safety_context import Premises, broadcast, distinct_axes, require, shown
from ..ir import Node, Operator, Value
from .axes import (
    ONE,
    AxisMap,
    RankAnswer,
    RankOf,
    length_of,
    positions,
    rank_of_first,
    rank_without,
    stretched,
    written_axes,
)
from .axis_map import Named, PassesAxes, Rowwise
from .batch_axis import amount, reshaped, reshaped_as_told
from .batching import Batch, Unbatchable
from .cost_estimates import broadcast_shapes_size
from .flat_rows import stretched_blocks
from .partial_axes import resized
from .rules import Growing, KeepsShape, Moving, RankOfFirst, Shapes, Total, describes


@describes("Identity")
class Identity(KeepsShape, PassesAxes, Total):
    """Identity: of sequences, too, from opset 14 on."""

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        return inputs[0].content

    def bounds(self, node: Node, inputs: Sequence[Known]) -> Sequence[Bounds | None]:
        return [inputs[0].bounds]

    def count(self, node: Node, inputs: Sequence[Fact]) -> int | None:
        return inputs[0].count

    def batch(self, batch: Batch) -> Sequence[Value]:
        return [batch.require(0).value]


@describes("DepthToSpace", "SpaceToDepth")
class Blocks(Rowwise, Moving):
    """DepthToSpace and SpaceToDepth."""

    def prove_safe(self, premises: Premises) -> None:
        """Blocks must divide the channels, or both axes of the image."""
        node, (_, depth, height, width) = premises.node, premises.shape(0, 4)
        size = int(node.attribute("blocksize", 0))
        require(size > 0, "the blocksize is not above 0")
        is_split = node.op_type == "DepthToSpace"
        for dim in (depth,) if is_split else (height, width):
            divides = dim.divided_by(size * size if is_split else size) is not None
            require(divides, "the blocks may not divide an axis")


@describes("Transpose")
class Transpose(Moving):
    """Transpose: perm reverses the axes where it is absent."""

    def refuses(self, op: Operator, ranks: Sequence[int | None]) -> bool:
        order = op.attributes.get("perm")
        return order is not None and ranks[0] not in (None, len(order.ints))

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        shape = inputs[0].dims
        order = node.attribute("perm", range(len(shape))[::-1])
        fits = sorted(order) == list(range(len(shape)))
        return [tuple([shape[axis] for axis in order])] if fits else None

    def prove_safe(self, premises: Premises) -> None:
        perm = premises.node.attribute("perm")
        if perm is not None:
            rank = len(premises.shape(0))
            require(sorted(perm) == list(range(rank)), f"perm does not fit rank {rank}")

    def axis_map(self, node: Node, inputs: Sequence[Fact], axis: int) -> AxisMap | None:
        rank = len(inputs[0].dims)
        perm = node.attribute("perm") or range(rank)[::-1]
        if sorted(perm) != list(range(rank)):
            return None
        in_front = axis == perm[axis] == 0
        return AxisMap((perm[axis],), {"perm": [n - 1 for n in perm[1:]]} if in_front else None)

    def batch(self, batch: Batch) -> Sequence[Value]:
        rank = batch.rank(0)
        perm = batch.node.attribute("perm") or range(rank)[::-1]
        return batch.same([batch.require(0).value], perm=[0, *(axis + 1 for axis in perm)])

    def rank(self, node: Node, output: int) -> RankAnswer:
        order = node.op.attributes.get("perm")
        return len(order.ints) if order is not None else (yield from rank_of_first(node))


@describes("Flatten")
class Flatten(Moving):
    """Flatten: an axis may be negative from opset 11 on."""

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        shape, axis = inputs[0].dims, node.attribute("axis", 1)
        axis += len(shape) if axis < 0 else 0
        # An axis at either end leaves one side without sizes, whose product is 1.
        return [(product(shape[:axis]), product(shape[axis:]))]

    def prove_safe(self, premises: Premises) -> None:
        rank = len(premises.shape(0))
        axis = premises.node.attribute("axis", 1)
        require(-rank <= axis <= rank, f"axis {axis} does not exist for rank {rank}")

    def batch(self, batch: Batch) -> Sequence[Value]:
        axis = batch.node.attribute("axis", 1)
        axis += batch.rank(0) if axis < 0 else 0
        sides = [amount(batch, 0, 0, axis), amount(batch, 0, axis, None)]
        return [reshaped(batch, batch.require(0).value, [batch.iterations, *sides])]


@describes("Reshape")
class Reshape(Moving):
    """Reshape: from opset 5 on an input holds the new shape, in which 0 copies an axis unless
    allowzero (from opset 14 on) says otherwise, and -1 stands for the rest."""

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        target = vector(inputs[1]) if len(inputs) > 1 else None
        if target is None:
            # onnx tells the rank from opset 14 on; it is no less certain below.
            sizes = inputs[1].shape if len(inputs) > 1 else None
            rank = sizes[0].value if sizes is not None and len(sizes) == 1 else None
            return None if rank is None else [tuple([symbols.fresh() for _ in range(rank)])]
        source = inputs[0].shape
        dims: list[Dimension] = []
        open_axis = None
        copies = _copies_zeros(node)
        for position, size in enumerate(target):
            if size is None:
                dims.append(symbols.fresh())
            elif size == 0 and copies:
                if source is None or position >= len(source):
                    return None
                dims.append(source[position])
            elif size == -1:
                open_axis = position
                dims.append(Dimension.constant(1))
            elif size.at_least is None or (copies and _copies_another(source, target, position)):
                # A symbol minus something may be 0 or -1, which mean other things.
                dims.append(symbols.fresh())
            else:
                dims.append(size)
        if open_axis is not None:
            dims[open_axis] = _rest(source, dims) or symbols.fresh()
        return [tuple(dims)]

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        content, sizes = inputs[0].elements, integers(inputs[1])
        if sizes is None:
            return None
        target = [
            content.shape[i] if size == 0 and _copies_zeros(node) else int(size)
            for i, size in enumerate(sizes)
        ]
        return content.reshape(target)

    def prove_safe(self, premises: Premises) -> None:
        target, source = list(premises.content(1)), premises.shape(0)
        dims = _checked(premises, target, source)
        total, new_total = product(source), product(dims)
        if len(dims) == len(target):
            premises.equal(total, new_total, "the number of elements")
            return
        require(len(dims) == len(target) - 1, f"{premises.name(1)} may hold -1 twice")
        premises.at_least(new_total, 1, "the rest of the new shape, which decides the axis of -1,")
        require(
            total.divided_by(new_total) is not None, "the new shape may not divide the elements"
        )

    def batch(self, batch: Batch) -> Sequence[Value]:
        sizes = [dim.value for dim in batch.results[0].shape or ()]
        numbers = [size for size in sizes if size]
        # A constant 0 would copy a size, so a shape with one is computed.
        if batch.results[0].shape is None or len(numbers) < len(sizes):
            return [_without_ones(batch) or reshaped_as_told(batch)]
        return [reshaped(batch, batch.spread(0), [batch.iterations, *numbers])]

    def batch_partial(self, batch: Batch) -> Sequence[Value]:
        return resized(batch, -1, self.batch)

    def rank(self, node: Node, output: int) -> RankAnswer:
        """Infer the rank from the attribute below opset 5, else from the second input."""
        shape = node.op.attributes.get("shape")
        return len(shape.ints) if shape is not None else (yield from length_of(node, 1))


def _without_ones(batch: Batch) -> Value | None:
    """A Reshape that only drops and adds axes of length 1; else None."""
    old, new = batch.shape(0), batch.results[0].shape
    if (
        new is None
        or not batch.varies(0)
        or [a for a in old if a != 1] != [a for a in new if a != 1]
    ):
        return None
    single, added = (
        tuple(at + 1 for at, size in enumerate(shape) if size == 1) for shape in (old, new)
    )
    value = batch.emit.squeeze(batch.require(0).value, single, batch.label())
    return batch.emit.unsqueeze(value, added, batch.label())


def _copies_zeros(node: Node) -> bool:
    return not node.attribute("allowzero", 0)


def _copies_another(
    source: Shape | None, target: Sequence[Dimension | None], position: int
) -> bool:
    """Test for a size that copies an axis with elements where it is 0.

    All elements must fit then, and a 0 beyond the rank of the source fails.
    """
    size = target[position]
    if size is None or size.value is not None or size.at_least != 0:
        return False
    if source is None:
        return True
    if position >= len(source) or source[position].vanishes_with(size):
        return False
    if product(source).divided_by(size) is None:
        return True
    others = [*target[:position], *target[position + 1 : len(source)]]
    others += [
        size for size in target[max(position + 1, len(source)) :] if size is None or size == -1
    ]
    return not all(other is not None and (other.at_least or 0) > 0 for other in others)


def _rest(source: Shape | None, dims: Sequence[Dimension]) -> Dimension | None:
    """The size that -1 stands for; a new symbol among the others divides nothing."""
    if source is None:
        return None
    total, others = list(source), []
    for dim in dims:
        if dim in total:
            # Equal sizes cancel, as the operator's own rule for -1 demands they be not 0.
            total.remove(dim)
        else:
            others.append(dim)
    return product(total).divided_by(product(others))


def _checked(premises: Premises, target: Sequence[Dimension], source: Shape) -> list[Dimension]:
    """The sizes of the new shape, but for those that are -1."""
    copies_zeros = _copies_zeros(premises.node)
    dims = []
    for position, size in enumerate(target):
        if size == 0 and copies_zeros:
            require(position < len(source), f"{premises.name(1)} copies an axis that is not there")
            dims.append(source[position])
        elif size != -1:
            # Where it is 0 it copies an axis, which has to be empty, too.
            own = source[position] if position < len(source) else Dimension.constant(1)
            if size != own:
                is_copy = size.value is None and own.vanishes_with(size)
                least = 0 if is_copy or not copies_zeros else 1
                what = f"an axis of the new shape of size {shown(size)} may be less than {least}"
                require(premises.is_at_least(size, least), what)
            dims.append(size)
    return dims


@describes("Squeeze")
class Squeeze(PassesAxes, Moving):
    """Squeeze: its axes are an input from opset 13 on; without any, all axes of size 1 go."""

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        shape, axes = inputs[0].dims, listed_numbers(node, inputs, "axes", 1)
        # Which axes go where none are named is not known as long as a size is not.
        places = None if axes is None else positions(axes, len(shape))
        if places is None or any(shape[axis].value not in (None, 1) for axis in places):
            return None
        return [tuple([dim for axis, dim in enumerate(shape) if axis not in places])]

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        content, axes = inputs[0].elements, listed_numbers(node, inputs, "axes", 1)
        if axes is None:
            return None if len(inputs) > 1 else np.squeeze(content)
        return np.squeeze(content, tuple(axes))

    def prove_safe(self, premises: Premises) -> None:
        axes = premises.axes(1)
        # Without axes all of size 1 go, which never fails.
        shape = premises.shape(0) if axes else ()
        for axis in distinct_axes(axes or (), len(shape)):
            premises.equal(shape[axis], ONE, "a squeezed axis")

    def named_axes(self, node: Node, inputs: Sequence[Fact]) -> Named:
        return {"axes" if node.input(1) is None else 1: listed_numbers(node, inputs, "axes", 1)}

    def passed(self, node: Node, rank: int, axes: set[int]) -> list[int | None]:
        return [axis for axis in range(rank) if axis not in axes]

    def batch(self, batch: Batch) -> Sequence[Value]:
        rank, axes = batch.rank(0), batch.listed("axes", 1)
        if axes is None:
            axes = [axis for axis, dim in enumerate(batch.shape(0)) if dim == 1]
            if any(dim.equals(1) is None for dim in batch.shape(0)):
                raise Unbatchable("drops run-time axes")
        moved = tuple(sorted(batch.axis(axis, rank) for axis in axes))
        value = batch.require(0).value
        # Squeeze without axes would also drop the iterations, if there is one.
        return [batch.emit.squeeze(value, moved, batch.label())] if moved else [value]

    def rank(self, node: Node, output: int) -> RankAnswer:
        rank, axes = (yield RankOf(node.input(0))), written_axes(node)
        return None if rank is None or not axes else rank_without(rank, axes)


@describes("Unsqueeze")
class Unsqueeze(Moving):
    """Unsqueeze: its axes are an input from opset 13 on."""

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        shape, axes = inputs[0].dims, listed_numbers(node, inputs, "axes", 1)
        new = None if axes is None else positions(axes, len(shape) + len(axes))
        # An axis may be named twice.
        if axes is None or new is None or len(new) < len(axes):
            return None
        rest = iter(shape)
        return [tuple([ONE if i in new else next(rest) for i in range(len(shape) + len(axes))])]

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        content, axes = inputs[0].elements, listed_numbers(node, inputs, "axes", 1)
        if axes is None or positions(axes, content.ndim + len(axes)) is None:
            return None
        return np.expand_dims(content, tuple(axes))

    def prove_safe(self, premises: Premises) -> None:
        axes = premises.axes(1)
        require(axes is not None, "its axes are absent")
        distinct_axes(axes or (), len(premises.shape(0)) + len(axes or ()))

    def axis_map(self, node: Node, inputs: Sequence[Fact], axis: int) -> AxisMap | None:
        axes = listed_numbers(node, inputs, "axes", 1)
        new = None if axes is None else positions(axes, len(inputs[0].dims) + len(axes))
        if new is None or axis in new:
            return None
        own = axis - len([place for place in new if place < axis])
        return AxisMap((own, *[None] * (len(inputs) - 1)))

    def batch(self, batch: Batch) -> Sequence[Value]:
        axes = batch.listed("axes", 1) or []
        rank = batch.rank(0) + len(axes)
        moved = tuple(sorted(batch.axis(axis, rank) for axis in axes))
        return [batch.emit.unsqueeze(batch.require(0).value, moved, batch.label())]

    def rank(self, node: Node, output: int) -> RankAnswer:
        rank, axes = (yield RankOf(node.input(0))), written_axes(node)
        return None if rank is None or axes is None else rank + len(axes)


@describes("Expand")
class Expand(Growing, Moving):
    """Expand, from opset 8 on: data and new shape broadcast in both directions."""

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        return broadcast_shapes_size([arrays[0].shape, arrays[1].ravel()])

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        shape, target = inputs[0].dims, vector(inputs[1])
        if target is None:
            return None
        rank = max(len(shape), len(target))
        own = [ONE] * (rank - len(shape)) + list(shape)
        other = [ONE] * (rank - len(target)) + list(symbols.sizes(target))
        return [tuple(stretched(a, b, symbols) for a, b in zip(own, other, strict=True))]

    def prove_safe(self, premises: Premises) -> None:
        target = tuple(premises.content(1))
        for dim in target:
            premises.at_least(dim, 0, "an axis of the new shape")
        broadcast([premises.shape(0), target])

    def batch(self, batch: Batch) -> Sequence[Value]:
        if batch.varies(1):
            return [stretched_blocks(batch, 1)]
        target, count = batch.fixed(1), batch.length(1).value
        if target is None or count is None:
            raise Unbatchable("stretches to a rank that is known only at run time")
        rank = max(batch.rank(0), count)
        # Ones fill the new shape up to the rank, and one more keeps the iterations.
        ones = batch.vector(*[1] * (1 + rank - count))
        target = batch.emit.concat([ones, target], 0, batch.label("_shape"))
        return batch.same([batch.lifted(0, rank), target])

    def batch_partial(self, batch: Batch) -> Sequence[Value]:
        return resized(batch, 1, self.batch)

    def rank(self, node: Node, output: int) -> RankAnswer:
        rank = yield RankOf(node.input(0))
        length = yield RankOf(node.input(1), is_length=True)
        return None if rank is None or length is None else max(rank, length)


@describes("Tile")
class Tile(Growing, RankOfFirst, Moving):
    """Tile: from opset 6 on an input holds the repeats, one for each axis."""

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        repeats = vector(inputs[1])
        if repeats is None:
            return None
        pairs = zip(inputs[0].dims, symbols.sizes(repeats), strict=True)
        return [tuple(a * b for a, b in pairs)]

    def prove_safe(self, premises: Premises) -> None:
        repeats = premises.numbers(1).reshape(-1)
        require(len(repeats) == len(premises.shape(0)), f"{premises.name(1)} may not fit the rank")
        require(all(count >= 0 for count in repeats), f"{premises.name(1)} holds a negative number")

    def axis_map(self, node: Node, inputs: Sequence[Fact], axis: int) -> AxisMap | None:
        repeats = vector(inputs[1])
        # Repeats follow each other along the axis, so its positions are others.
        if not repeats or repeats[axis] != 1:
            return None
        others = [count and count.value for count in (*repeats[:axis], *repeats[axis + 1 :])]
        return AxisMap((axis, None), None if None in others else {1: others})

    def batch(self, batch: Batch) -> Sequence[Value]:
        if batch.varies(1):
            return [stretched_blocks(batch, 1)]
        repeats = batch.fixed(1)
        assert repeats is not None
        # The iterations are not repeated.
        repeats = batch.emit.concat([batch.vector(1), repeats], 0, batch.label("_repeats"))
        return batch.same([batch.require(0).value, repeats])
