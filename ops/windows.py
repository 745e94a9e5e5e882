"""Kernels that slide along axes, and axes that are sampled anew."""

import math
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..facts.fact import Fact, Shape, Symbols, vector
from ..facts.polynomial import Dimension
from ..facts.safety_context import Premises, at_least, require, same, shown
from ..ir import Node, Operator, Value
from .agreement import is_integer
from .axes import ONE, RankAnswer, length_of, positions, rank_of_first
from .axis_map import Rowwise
from .batch_axis import axis_size, counted, joined, numbered, parted
from .batching import Batch, Operand, Unbatchable
from .cost_estimates import EACH, SLID, convolution, places, size_of, times
from .rules import Growing, OperatorRules, RankOfFirst, Shapes, describes


class _Side(NamedTuple):
    """How a kernel moves along one axis: all pads of the axis together, stride and dilation."""

    pads: int
    stride: int
    dilation: int

    def reach(self, width: Any) -> Any:
        """The elements between the ends of a kernel."""
        return (width - 1) * self.dilation + 1


def _sides(node: Node, rank: int) -> list[_Side] | None:
    """The movement of a kernel; None where its attributes do not fit the rank."""
    pads = node.attribute("pads", [0] * (2 * rank))
    strides, dilations = (node.attribute(n, [1] * rank) for n in ("strides", "dilations"))
    if not len(strides) == len(dilations) == rank == len(pads) / 2:
        return None
    return [_Side(pads[n] + pads[n + rank], strides[n], dilations[n]) for n in range(rank)]


def _prove_fits(
    premises: Premises, sizes: Sequence[Dimension], kernel: Sequence[Dimension]
) -> None:
    """Prove that a kernel fits into padded axes at least once."""
    sides, pads = _sides(premises.node, len(sizes)) or (), premises.node.attribute("pads") or ()
    fits = len(kernel) == len(sides) == len(sizes)
    sane = all(min(side.stride, side.dilation) >= 1 for side in sides) and min([0, *pads]) == 0
    require(fits and sane, "the strides, dilations or pads do not fit the kernel")
    for axis, (size, width, side) in enumerate(zip(sizes, kernel, sides, strict=True), 2):
        at_least(width, 1, "the kernel")
        at_least(size, 1, f"axis {axis}")
        fits = (size + side.pads).less(side.reach(width)) is False
        require(fits, f"the kernel may not fit {shown(size)} elements")


def _windows(
    node: Node, image: Shape, kernel: Sequence[int | None], symbols: Symbols
) -> Shape | None:
    """Number of places of a window on each axis; None where onnx infers it."""
    if node.attribute("auto_pad", b"NOTSET") not in (b"NOTSET", "NOTSET"):
        return None
    sides, sizes = _sides(node, len(image)), []
    if sides is None:
        return None
    for size, width, side in zip(image, kernel, sides, strict=True):
        if width is None or side.stride < 1:
            return None
        room = size + (side.pads - side.reach(width))
        # The kernel does not fit: such a node fails.
        if room.value is not None and room.value < 0:
            return None
        sizes.append(_places(room, side.stride) or symbols.fresh())
    return tuple(sizes)


def _places(room: Dimension, stride: int) -> Dimension | None:
    """The number of steps of a window in a padded axis, and its start."""
    if room.value is not None:
        return Dimension.constant(room.value // stride + 1)
    places = room + 1
    least = places.at_least
    # Division by a stride above 1 rounds down, which no polynomial does.
    return places if stride == 1 and least is not None and least >= 0 else None


describes("GlobalLpPool", "LRN")(Rowwise)


@describes("GridSample", batches=(0, 1))
class GridSample(Rowwise):
    """GridSample, with a grid for each image; of more than two dimensions from opset 20 on."""

    accepts_more_from: ClassVar[int] = 20

    def require_older_form(self, premises: Premises) -> None:
        premises.require_rank(0, (4,))


@describes("ConvInteger")
@describes("DeformConv", steps=300_000, batches=(0, 2, 4))
@describes("QLinearConv", kernel=3)
class OtherConv(Rowwise):
    """ConvInteger, QLinearConv and DeformConv.

    DeformConv, from opset 19 on, has offsets and a mask for each image.
    """

    steps: ClassVar[int] = SLID
    kernel: ClassVar[int] = 1
    """Position of the kernel among the inputs."""

    def work(self, node: Node, arrays: Sequence[Any]) -> float:
        return convolution(node, arrays[0], arrays[self.kernel], self.steps)

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        """A tie of QLinearConv is rounded before the zero point is added, or after."""
        return not node.is_op("QLinearConv") and super().is_settled(node, arrays, results)


@describes("ConvTranspose")
class ConvTranspose(OtherConv):
    """ConvTranspose: data [N, C, ...], weight [C, M/group, ...], bias [M]."""

    steps: ClassVar[int] = 3000

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        image, weights = inputs[0].dims, inputs[1].dims
        kernel = [dim.value for dim in weights[2:]]
        if len(image) != len(weights) or len(image) < 3 or None in kernel:
            return None
        if node.attribute("kernel_shape", kernel) != kernel:
            return None
        sizes = _spread(node, image[2:], weights[2:])
        if sizes is None or any(size.value is not None and size.value < 0 for size in sizes):
            return None
        return [(image[0], weights[1] * node.attribute("group", 1), *sizes)]

    def prove_safe(self, premises: Premises) -> None:
        data, kernel = _prove_weight(premises, transposed=True)
        for dim in kernel:
            at_least(dim, 1, "the kernel")
        for axis, dim in enumerate(data, 2):
            at_least(dim, 1, f"axis {axis}")
        sizes = _spread(premises.node, data, kernel)
        require(sizes is not None, "the strides, dilations or pads do not fit the kernel")
        for axis, size in enumerate(sizes or (), 2):
            at_least(size, 1, f"axis {axis} of the output")


def _prove_weight(premises: Premises, transposed: bool) -> tuple[Shape, Shape]:
    """Prove that weight and bias fit the channels; return the sizes of the image and the kernel."""
    weight = premises.shape(1)
    data = premises.shape(0, len(weight))
    group = premises.node.attribute("group", 1)
    require(len(weight) >= 3, "the weight has too few axes")
    whole, part = weight[0], weight[1] * group
    same(data[1], whole if transposed else part, "the channels")
    divides = group > 0 and whole.divided_by(group) is not None
    require(divides, "the groups may not divide the channels")
    if premises.has(2):
        same(premises.shape(2, 1)[0], part if transposed else whole, "the bias")
    kernel = premises.node.attribute("kernel_shape") or weight[2:]
    require(len(kernel) == len(weight) - 2, "the kernel has another rank than the weight")
    for dim, width in zip(weight[2:], kernel, strict=True):
        same(dim, width, "the kernel")
    return data[2:], weight[2:]


def _spread(node: Node, image: Shape, kernel: Shape) -> Shape | None:
    """The spatial sizes of a transposed convolution; None where its attributes tell none."""
    rank = len(image)
    if node.attribute("auto_pad", b"NOTSET") not in (b"NOTSET", "NOTSET"):
        return None
    sides, more = _sides(node, rank), node.attribute("output_padding") or [0] * rank
    is_free = not node.attribute("output_shape") and min([0, *(node.attribute("pads") or ())]) == 0
    if sides is None or not is_free or len(more) != rank:
        return None
    sizes = []
    for size, width, side, extra in zip(image, kernel, sides, more, strict=True):
        least, most = sorted((side.stride, side.dilation))
        if least < 1 or not 0 <= extra < most:
            return None
        sizes.append((size - 1) * side.stride + side.reach(width) + extra - side.pads)
    return tuple(sizes)


@describes("LpPool")
class LpPool(Rowwise):
    """LpPool."""

    def work(self, node: Node, arrays: Sequence[Any]) -> float:
        window = math.prod(map(float, node.attribute("kernel_shape", [1])))
        return SLID * places(node, arrays[0]) * window


@describes("RoiAlign")
class RoiAlign(OperatorRules):
    """RoiAlign, from opset 10 on: without a number of samples there are as many as a bin is
    wide."""

    def batch(self, batch: Batch) -> Sequence[Value]:
        """Regions of all iterations, of images that lie one after the other."""
        emit, images = batch.emit, batch.require(0)
        if images.batched:
            owners, label = batch.require(2), batch.label("_owners")
            count = numbered(batch, [axis_size(batch, 0, 0)])
            firsts = emit.unsqueeze(emit.add("Mul", [counted(batch), count], label), 1, label)
            own = emit.add("Add", [batch.spread(2), firsts], label)
            batch = batch.replaced(2, Operand(own, True, owners.fact))
        value = joined(batch, 0) if images.batched else images.value
        (result,) = batch.same([value, joined(batch, 1), joined(batch, 2)])
        return [parted(batch, result, 1)]

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        bins = node.attribute("output_height", 1) * node.attribute("output_width", 1)
        return float(float(bins) * arrays[1].shape[0] * arrays[0].shape[1])

    def work(self, node: Node, arrays: Sequence[Any]) -> float:
        scale, widest = node.attribute("spatial_scale", 1.0), np.abs(arrays[1]).max(initial=1)
        samples = node.attribute("sampling_ratio", 0) or 1 + 2 * abs(scale) * float(widest)
        return float(4000 * self.growth(node, arrays) * samples**2)


@describes("Conv")
class Conv(OtherConv):
    """Conv: data [N, C, ...], weight [M, C/group, ...], bias [M]."""

    def refuses(self, op: Operator, ranks: Sequence[int | None]) -> bool:
        return len({*ranks[:2]} - {None}) > 1

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        image, weights = inputs[0].dims, inputs[1].dims
        if len(image) != len(weights) or len(image) < 3:
            return None
        kernel = [dim.value for dim in weights[2:]]
        if node.attribute("kernel_shape", kernel) != kernel:
            return None
        sizes = _windows(node, image[2:], kernel, symbols)
        return None if sizes is None else [(image[0], weights[0], *sizes)]

    def prove_safe(self, premises: Premises) -> None:
        _prove_fits(premises, *_prove_weight(premises, transposed=False))


@describes("AveragePool")
@describes("MaxPool")
class Pool(LpPool):
    """MaxPool and AveragePool. The places that MaxPool gives second count from the first image."""

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        """onnxruntime takes padding for a number of the type where integers are dilated."""
        return super().is_settled(node, arrays, results) and not is_integer(arrays[0])

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        image, kernel = inputs[0].dims, node.attribute("kernel_shape")
        # ceil_mode rounds the number of places up.
        if len(image) != len(kernel) + 2 or node.attribute("ceil_mode", 0):
            return None
        sizes = _windows(node, image[2:], kernel, symbols)
        return None if sizes is None else [(*image[:2], *sizes)] * len(node.outputs)

    def prove_safe(self, premises: Premises) -> None:
        kernel = [Dimension.constant(size) for size in premises.node.attribute("kernel_shape", [])]
        _prove_fits(premises, premises.shape(0, len(kernel) + 2)[2:], kernel)

    def rank(self, node: Node, output: int) -> RankAnswer:
        return rank_of_first(node)


@describes("GlobalAveragePool")
@describes("GlobalMaxPool")
class GlobalPool(Rowwise):
    """GlobalAveragePool and GlobalMaxPool."""

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        image = inputs[0].dims
        return None if len(image) < 2 else [(*image[:2], *[ONE] * (len(image) - 2))]

    def prove_safe(self, premises: Premises) -> None:
        image = premises.shape(0)
        require(len(image) > 2, f"{premises.name(0)} may have fewer than three axes")
        for axis, dim in enumerate(image[2:], 2):
            at_least(dim, 1, f"axis {axis}")


@describes("Upsample")
class Upsample(RankOfFirst):
    """Upsample, up to opset 9: in opset 9 an input holds the scales."""

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        """Test that no integers are interpolated, whose rounding is open."""
        exact = node.attribute("mode", b"nearest") == b"nearest" or not is_integer(arrays[0])
        return exact and super().is_settled(node, arrays[:1], results)

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        return times(arrays[0], arrays[1] if len(arrays) > 1 else node.attribute("scales", 1))


@describes("Resize")
class Resize(Upsample):
    """Resize, from opset 10 on: the scales come second in opset 10 and behind the region from 11
    on, then the sizes."""

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        """The sizes, where they are an input, of the axes that are resized."""
        shape, sizes = list(inputs[0].dims), vector(inputs[3])
        axes = node.attribute("axes", range(len(shape)))
        # By another policy the given sizes are limits only.
        stretches = node.attribute("keep_aspect_ratio_policy", b"stretch") == b"stretch"
        if sizes is None or not stretches or positions(axes, len(shape)) is None:
            return None
        for axis, size in zip(axes, symbols.sizes(sizes), strict=True):
            shape[axis] = size
        return [tuple(shape)]

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        factors = [1, *(arrays[2:] or arrays[1:])]
        return max(times(arrays[0], factor) for factor in factors if factor is not None)

    def batch(self, batch: Batch) -> Sequence[Value]:
        mode = batch.node.attribute("coordinate_transformation_mode", b"half_pixel")
        if mode == b"tf_crop_and_resize":
            raise Unbatchable("crops by a region that may cut the batch")
        others = [batch.fixed(index) for index in range(1, len(batch.operands))]
        axes = batch.node.attribute("axes")
        if axes is not None:
            # Place 1 of the batched value is the batch of one iteration.
            if 1 in [batch.axis(axis, batch.rank(0)) for axis in axes]:
                raise Unbatchable("may resize the batch")
        elif batch.operand(3) is not None:
            others[2] = _sizes_of_all(batch)
        else:
            scales = batch.require(2).constant
            if scales is None or not scales.is_readable or not bool(scales.numpy()[:1] == 1):
                raise Unbatchable("may resize the batch")
        (images,) = batch.same([joined(batch, 0), *others])
        return [parted(batch, images)]


def _sizes_of_all(batch: Batch) -> Value:
    """The sizes of a resized batch of all iterations."""
    sizes, content = batch.fixed(3), batch.require(3).fact.content
    if content is None or content.reshape(-1)[0] != batch.shape(0)[0]:
        raise Unbatchable("may resize the batch")
    bounds = [batch.vector(1), batch.vector(batch.rank(0))]
    rest = batch.emit.add("Slice", [sizes, *bounds], batch.label("_sizes"))
    batch_size = numbered(batch, [axis_size(batch, 0, 0)])
    rows = batch.emit.add("Mul", [batch.iterations, batch_size], batch.label("_rows"))
    return batch.emit.concat([rows, rest], 0, batch.label("_sizes"))


@describes("Col2Im")
class Col2Im(Rowwise, Growing):
    """Col2Im, from opset 18 on."""

    def work(self, node: Node, arrays: Sequence[Any]) -> float:
        return float(10_000 * arrays[0].size + EACH * self.growth(node, arrays))

    def rank(self, node: Node, output: int) -> RankAnswer:
        length = yield from length_of(node, 1)
        return None if length is None else 2 + length


@describes("MaxUnpool")
class MaxUnpool(OperatorRules):
    """MaxUnpool: its size may be given."""

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        if len(arrays) > 2 and arrays[2] is not None:
            return size_of(arrays[2])
        strides = node.attribute("strides", [1])
        widest = max(*node.attribute("kernel_shape", [1]), *strides, *node.attribute("pads", [0]))
        return float(float(arrays[0].size) * (3 * widest) ** max(0, arrays[0].ndim - 2))
