"""MaxPool, AveragePool and LpPool: what onnx.reference gets wrong where windows are padded, dilated
or rounded up, and in column-major indices."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from onnx.reference.op_run import OpRun

from ..bodies import Array
from ..errors import EvaluationError


class _Axis(NamedTuple):
    """The windows along one spatial axis.

    Attributes:
        positions: where each element of each window lies, [windows, kernel]; outside the axis for
            padding.
        size: the length of the axis.
        padded: the first and the last position that belongs to the axis or its padding.
    """

    positions: Array
    size: int
    padded: tuple[int, int]

    @property
    def inside(self) -> Array:
        """Which elements are no padding."""
        return (self.positions >= 0) & (self.positions < self.size)

    @property
    def counted(self) -> Array:
        """Which elements are there at all: the last window may reach beyond the padding."""
        return (self.positions >= self.padded[0]) & (self.positions <= self.padded[1])


class _Pool(OpRun):
    """Base of the pooling operators."""

    def _run(self, x: Array, **options: Any) -> tuple[Array, ...]:
        axes = _axes(x.shape[2:], options)
        windows = x
        for number, axis in enumerate(axes):
            # Each spatial axis becomes two: the windows, and the elements of one.
            windows = np.take(windows, axis.positions.clip(0, axis.size - 1), axis=2 + 2 * number)
        return self._pool(x, _elements_last(windows, 2), axes, options)

    def _pool(
        self, x: Array, windows: Array, axes: Sequence[_Axis], options: dict[str, Any]
    ) -> tuple[Array, ...]:
        """The outputs, from the windows with their elements along the last axis."""
        raise NotImplementedError


class MaxPool(_Pool):
    """MaxPool, versions 1 to 22; padding is no element."""

    def _pool(
        self, x: Array, windows: Array, axes: Sequence[_Axis], options: dict[str, Any]
    ) -> tuple[Array, ...]:
        lowest = np.iinfo(x.dtype).min if x.dtype.kind in "iu" else -np.inf
        inside = _combined([axis.inside for axis in axes])
        chosen = np.where(inside, windows, np.asarray(lowest, x.dtype)).argmax(axis=-1)[..., None]
        largest = np.take_along_axis(windows, chosen, axis=-1)[..., 0]
        if len(self.onnx_node.output) < 2:
            return (largest,)
        order = "F" if options.get("storage_order") else "C"
        count = math.prod(x.shape[2:])
        numbers = np.arange(count).reshape(x.shape[2:], order=order)  # type: ignore[call-overload]
        for number, axis in enumerate(axes):
            numbers = np.take(numbers, axis.positions.clip(0, axis.size - 1), axis=2 * number)
        flat = np.broadcast_to(_elements_last(numbers, 0), windows.shape)
        planes = np.arange(math.prod(x.shape[:2])).reshape(*x.shape[:2], *[1] * len(axes))
        indices = np.take_along_axis(flat, chosen, axis=-1)[..., 0] + count * planes
        return largest, indices.astype(np.int64)


class AveragePool(_Pool):
    """AveragePool, versions 1 to 22."""

    def _pool(
        self, x: Array, windows: Array, axes: Sequence[_Axis], options: dict[str, Any]
    ) -> tuple[Array, ...]:
        inside = _combined([axis.inside for axis in axes])
        padding = options.get("count_include_pad")
        counted = _combined([axis.counted for axis in axes]) if padding else inside
        total = np.where(inside, windows, 0).sum(axis=-1, dtype=np.float64)
        return ((total / counted.sum(axis=-1)).astype(x.dtype),)


class LpPool(_Pool):
    """LpPool, versions 2 to 22."""

    def _pool(
        self, x: Array, windows: Array, axes: Sequence[_Axis], options: dict[str, Any]
    ) -> tuple[Array, ...]:
        power = options.get("p", 2)
        inside = _combined([axis.inside for axis in axes])
        wide = np.abs(np.where(inside, windows, 0).astype(np.float64))
        return (((wide**power).sum(axis=-1) ** (1 / power)).astype(x.dtype),)


def _elements_last(windows: Array, leading: int) -> Array:
    """Windows [..., windows, kernel, windows, kernel] as [..., windows, windows, elements]."""
    rank = windows.ndim - leading
    order = [*range(leading), *range(leading, leading + rank, 2)]
    order += range(leading + 1, leading + rank, 2)
    moved = windows.transpose(order)
    outer = moved.shape[: leading + rank // 2]
    return moved.reshape(*outer, math.prod(moved.shape[len(outer) :]))


def _combined(masks: Sequence[Array]) -> Array:
    """Of each axis which elements count, [windows, kernel]: of all together, elements last."""
    result = np.ones((), bool)
    for mask in masks:
        result = result[..., None, None] & mask
    return _elements_last(result, 0)


def _axes(sizes: Sequence[int], options: dict[str, Any]) -> list[_Axis]:
    rank = len(sizes)
    kernel: list[int] = options["kernel_shape"]
    strides: list[int] = options.get("strides") or [1] * rank
    dilations: list[int] = options.get("dilations") or [1] * rank
    pads: list[int] = options.get("pads") or [0] * 2 * rank
    lengths = {"kernel_shape": len(kernel), "strides": len(strides), "dilations": len(dilations)}
    for name, count in {**lengths, "pads": len(pads) // 2}.items():
        if count != rank:
            raise EvaluationError(f"{name} is for {count} spatial axes, the input has {rank}")
    mode, ceil = options.get("auto_pad") or "NOTSET", bool(options.get("ceil_mode"))
    ends = zip(pads[:rank], pads[rank:], strict=True)
    windows = zip(sizes, kernel, strides, dilations, ends, strict=True)
    return [_axis(size, k, s, d, end, mode, ceil) for size, k, s, d, end in windows]


def _axis(
    size: int, kernel: int, stride: int, dilation: int, pads: tuple[int, int], mode: str, ceil: bool
) -> _Axis:
    (head, tail), reach = pads, (kernel - 1) * dilation + 1
    if mode in ("SAME_UPPER", "SAME_LOWER"):
        count = -(-size // stride)
        padding = max((count - 1) * stride + reach - size, 0)
        head = padding // 2 if mode == "SAME_UPPER" else padding - padding // 2
        tail = padding - head
    else:
        if mode == "VALID":
            head = tail = 0
        room = size + head + tail - reach
        count = (-(-room // stride) if ceil else room // stride) + 1
        # A window that would start in the padding behind the elements is left out.
        if ceil and (count - 1) * stride >= size + head:
            count -= 1
    if count < 0:
        raise EvaluationError(f"a window of {reach} does not fit into an axis of {size}")
    starts = np.arange(count) * stride - head
    positions = starts[:, None] + np.arange(kernel) * dilation
    return _Axis(positions, size, (-head, size + tail - 1))
