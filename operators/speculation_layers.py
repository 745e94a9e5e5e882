"""When reductions, products and layers of networks cannot fail; see `speculation_rules`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..facts.dimension import Dimension
from ..facts.premises import (
    Premises,
    at_least,
    axis_of,
    broadcast,
    broadcast_to,
    require,
    same,
    same_shape,
    shown,
)

# Reductions -------------------------------------------------------------------------------------


def _reduce(given: Premises) -> None:
    axes = given.axes(1)
    if axes:
        rank = len(given.shape(0))
        require(len({axis_of(axis, rank) for axis in axes}) == len(axes), "an axis stands twice")


def _arg(given: Premises) -> None:
    shape = given.shape(0)
    axis = given.axis(len(shape), 0)
    at_least(shape[axis], 1, f"axis {axis}")


def _softmax(given: Premises) -> None:
    shape = given.shape(0)
    older = given.opset < 13
    axis = given.axis(len(shape), 1 if older else -1)
    for dim in shape[axis:] if older else [shape[axis]]:
        at_least(dim, 1, f"axis {axis}")


def _top_k(given: Premises) -> None:
    shape = given.shape(0)
    length = shape[given.axis(len(shape), -1)]
    if given.opset < 10:
        count = Dimension.constant(given.node.attribute("k", 0))
    else:
        require(given.content(1).size == 1, f"{given.name(1)} does not hold one element")
        count = given.content(1).reshape(-1)[0]
    at_least(count, 1, "k")
    require(length.less(count) is False, f"there may be fewer than k elements: {shown(length)}")


# Products and layers ----------------------------------------------------------------------------


def _matmul(given: Premises) -> None:
    one, other = given.shape(0), given.shape(1)
    require(bool(one) and bool(other), "an operand is a scalar")
    same(one[-1], other[-2] if len(other) > 1 else other[0], "the inner sizes")
    broadcast([one[:-2], other[:-2]])


def _gemm(given: Premises) -> None:
    one, other = given.shape(0, 2), given.shape(1, 2)
    if given.node.attribute("transA", 0):
        one = one[::-1]
    if given.node.attribute("transB", 0):
        other = other[::-1]
    same(one[1], other[0], "the inner sizes")
    if given.has(2):
        broadcast_to(given.shape(2), (one[0], other[1]), "the bias")


def _conv(given: Premises) -> None:
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
    _window(given, data[2:], weight[2:])


def _pool(given: Premises) -> None:
    kernel = [Dimension.constant(size) for size in given.node.attribute("kernel_shape", [])]
    _window(given, given.shape(0, len(kernel) + 2)[2:], kernel)


def _window(given: Premises, sizes: Sequence[Dimension], kernel: Sequence[Dimension]) -> None:
    """Demand that a kernel fits into padded axes at least once."""
    count = len(sizes)
    pads = given.node.attribute("pads", [0] * 2 * count)
    dilations = given.node.attribute("dilations", [1] * count)
    for axis, (size, width) in enumerate(zip(sizes, kernel, strict=True)):
        at_least(width, 1, "the kernel")
        reach = (width - 1) * dilations[axis] + 1
        padded = size + pads[axis] + pads[axis + count]
        at_least(size, 1, f"axis {axis + 2}")
        require(padded.less(reach) is False, f"the kernel may not fit {shown(size)} elements")


def _global_pool(given: Premises) -> None:
    for axis, dim in enumerate(given.shape(0)[2:], 2):
        at_least(dim, 1, f"axis {axis}")


def _batch_norm(given: Premises) -> None:
    shape = given.shape(0)
    require(not given.node.attribute("training_mode", 0), "it trains")
    require(len(shape) >= 2, "the rank is below two")
    for index in range(1, 5):
        same_shape(given.shape(index), (shape[1],), given.name(index))


def _layer_norm(given: Premises) -> None:
    shape = given.shape(0)
    axis = given.axis(len(shape), -1)
    for index in (1, 2):
        if given.has(index):
            same_shape(given.shape(index), shape[axis:], given.name(index))


def _quantize(given: Premises) -> None:
    for index in (1, 2):
        if given.has(index):
            given.shape(index, 0)


_REDUCTIONS = (
    "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd"
    " ReduceSum ReduceSumSquare"
)

LAYER_RULES: dict[str, Callable[[Premises], None]] = {
    **dict.fromkeys(_REDUCTIONS.split(), _reduce),
    **dict.fromkeys(("ArgMax", "ArgMin"), _arg),
    **dict.fromkeys(("Softmax", "LogSoftmax", "Hardmax"), _softmax),
    **dict.fromkeys(("MaxPool", "AveragePool"), _pool),
    **dict.fromkeys(("GlobalAveragePool", "GlobalMaxPool"), _global_pool),
    **dict.fromkeys(("QuantizeLinear", "DequantizeLinear"), _quantize),
    "BatchNormalization": _batch_norm,
    "Conv": _conv,
    "Gemm": _gemm,
    "LayerNormalization": _layer_norm,
    "MatMul": _matmul,
    "TopK": _top_k,
}
"""The operators of this file by name."""
