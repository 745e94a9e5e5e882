"""Kernels that slide along axes, and axes that are sampled anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..facts.dimension import Dimension
from ..facts.fact import Fact, Shape, Symbols
from ..facts.premises import Premises, at_least, require, same, shown
from ..ir import Node
from .axes import ONE
from .growing import times
from .rules import OperatorRules, describes


def _prove_fits(given: Premises, sizes: Sequence[Dimension], kernel: Sequence[Dimension]) -> None:
    """Prove that a kernel fits into padded axes at least once."""
    count = len(sizes)
    pads = given.node.attribute("pads", [0] * 2 * count)
    dilations = given.node.attribute("dilations", [1] * count)
    for axis, (size, width) in enumerate(zip(sizes, kernel, strict=True)):
        at_least(width, 1, "the kernel")
        reach = (width - 1) * dilations[axis] + 1
        padded = size + pads[axis] + pads[axis + count]
        at_least(size, 1, f"axis {axis + 2}")
        require(padded.less(reach) is False, f"the kernel may not fit {shown(size)} elements")


def _windows(
    node: Node, image: Shape, kernel: Sequence[int | None], symbols: Symbols
) -> Shape | None:
    """How many places a window has on each axis; None where that is left to onnx."""
    if node.attribute("auto_pad", b"NOTSET") not in (b"NOTSET", "NOTSET"):
        return None
    rank = len(image)
    pads = node.attribute("pads") or [0] * (2 * rank)
    strides = node.attribute("strides") or [1] * rank
    dilations = node.attribute("dilations") or [1] * rank
    if len(pads) != 2 * rank or len(strides) != rank or len(dilations) != rank:
        return None
    sizes = []
    for axis, (size, width) in enumerate(zip(image, kernel, strict=True)):
        if width is None or strides[axis] < 1:
            return None
        spread = dilations[axis] * (width - 1) + 1
        room = size + (pads[axis] + pads[axis + rank] - spread)
        if room.value is not None and room.value < 0:
            return None
        sizes.append(_places(room, strides[axis]) or symbols.fresh())
    return tuple(sizes)


def _places(room: Dimension, stride: int) -> Dimension | None:
    """How many steps a window can make in so much room, and the place where it begins."""
    if room.value is not None:
        return Dimension.constant(room.value // stride + 1)
    places = room + 1
    least = places.at_least
    return places if stride == 1 and least is not None and least >= 0 else None


@describes("Conv")
class Conv(OperatorRules):
    """Conv: data [N, C, ...], weight [M, C/group, ...], bias [M]."""

    def shapes(
        self, node: Node, inputs: Sequence[Fact], symbols: Symbols
    ) -> list[Shape | None] | None:
        image, weights = inputs[0].shape, inputs[1].shape
        if image is None or weights is None or len(image) != len(weights) or len(image) < 3:
            return None
        kernel = [dim.value for dim in weights[2:]]
        if node.attribute("kernel_shape", kernel) != kernel:
            return None
        sizes = _windows(node, image[2:], kernel, symbols)
        return None if sizes is None else [(image[0], weights[0], *sizes)]

    def prove_safe(self, given: Premises) -> None:
        weight = given.shape(1)
        data = given.shape(0, len(weight))
        group = given.node.attribute("group", 1)
        require(len(weight) >= 3, "the weight has too few axes")
        same(data[1], weight[1] * group, "the channels")
        require(weight[0].divided_by(group) is not None, "the groups may not divide the channels")
        if given.has(2):
            same(given.shape(2, 1)[0], weight[0], "the bias")
        kernel = given.node.attribute("kernel_shape") or weight[2:]
        for dim, size in zip(weight[2:], kernel, strict=True):
            same(dim, size, "the kernel")
        _prove_fits(given, data[2:], weight[2:])


@describes("MaxPool", "AveragePool")
class Pool(OperatorRules):
    """MaxPool and AveragePool."""

    def shapes(
        self, node: Node, inputs: Sequence[Fact], symbols: Symbols
    ) -> list[Shape | None] | None:
        image, kernel = inputs[0].shape, node.attribute("kernel_shape")
        if image is None or kernel is None or len(image) != len(kernel) + 2:
            return None
        sizes = (
            None if node.attribute("ceil_mode", 0) else _windows(node, image[2:], kernel, symbols)
        )
        return None if sizes is None else [(*image[:2], *sizes)] * len(node.outputs)

    def prove_safe(self, given: Premises) -> None:
        kernel = [Dimension.constant(size) for size in given.node.attribute("kernel_shape", [])]
        _prove_fits(given, given.shape(0, len(kernel) + 2)[2:], kernel)


@describes("GlobalAveragePool", "GlobalMaxPool")
class GlobalPool(OperatorRules):
    """GlobalAveragePool and GlobalMaxPool."""

    def shapes(
        self, node: Node, inputs: Sequence[Fact], symbols: Symbols
    ) -> list[Shape | None] | None:
        image = inputs[0].shape
        if image is None or len(image) < 2:
            return None
        return [(*image[:2], *[ONE] * (len(image) - 2))]

    def prove_safe(self, given: Premises) -> None:
        for axis, dim in enumerate(given.shape(0)[2:], 2):
            at_least(dim, 1, f"axis {axis}")


@describes("Resize")
class Resize(OperatorRules):
    """Resize, from opset 10 on: the scales come second in opset 10 and behind the region from 11
    on, then the sizes."""

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        factors = [1, *(arrays[2:] or arrays[1:])]
        return max(times(arrays[0], factor) for factor in factors if factor is not None)


@describes("Upsample")
class Upsample(OperatorRules):
    """Upsample, up to opset 9: in opset 9 an input holds the scales."""

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        return times(arrays[0], arrays[1] if len(arrays) > 1 else node.attribute("scales", 1))


@describes("Col2Im")
class Col2Im(OperatorRules):
    """Col2Im, from opset 18 on."""

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        return times(arrays[0], arrays[1])
