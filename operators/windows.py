"""Kernels that slide along axes, and axes that are sampled anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..facts.dimension import Dimension
from ..facts.premises import Premises, at_least, require, same, shown
from ..ir import Node
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


@describes("Conv")
class Conv(OperatorRules):
    """Conv: data [N, C, ...], weight [M, C/group, ...], bias [M]."""

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

    def prove_safe(self, given: Premises) -> None:
        kernel = [Dimension.constant(size) for size in given.node.attribute("kernel_shape", [])]
        _prove_fits(given, given.shape(0, len(kernel) + 2)[2:], kernel)


@describes("GlobalAveragePool", "GlobalMaxPool")
class GlobalPool(OperatorRules):
    """GlobalAveragePool and GlobalMaxPool."""

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
