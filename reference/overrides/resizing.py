"""Resize from version 11 on, axis by axis, with coordinates in single precision.

onnx.reference takes `scale * length` for the length of the result where that is no whole number,
and knows neither negative axes nor `tf_half_pixel_for_nn`.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from onnx import numpy_helper
from onnx.reference.op_run import OpRun

from ..bodies import Array
from ..errors import EvaluationError


class _Axis(NamedTuple):
    """One axis that is resized.

    Attributes:
        axis: which one.
        size: its length.
        result: its length afterwards.
        scale: the factor between the two.
        start, end: the region that is resized, as parts of the whole.
    """

    axis: int
    size: int
    result: int
    scale: np.float32
    start: np.float32
    end: np.float32

    @property
    def stays(self) -> bool:
        numbers = (float(self.scale), self.result, float(self.start), float(self.end))
        return numbers == (1, self.size, 0, 1)


class Resize(OpRun):
    """Resize, versions 11 to 19."""

    def _run(
        self, x: Array, roi: Any = None, scales: Any = None, sizes: Any = None, **options: Any
    ) -> tuple[Array, ...]:
        axes = _axes(x, _given(roi), _given(scales), _given(sizes), options)
        shape = list(x.shape)
        for axis in axes:
            shape[axis.axis] = axis.result
        if 0 in (*shape, x.size):
            return (np.zeros(shape, x.dtype),)
        result, outside = x, np.zeros([1] * x.ndim, bool)
        for axis in axes:
            where = _coordinates(axis, options["coordinate_transformation_mode"])
            result = _resized(result, axis, where, options)
            beyond = (where < 0) | (where > axis.size - 1)
            outside = outside | _along(beyond, axis.axis, x.ndim)
        if options["coordinate_transformation_mode"] == "tf_crop_and_resize":
            result = np.where(outside, options.get("extrapolation_value", 0.0), result)
        if x.dtype.kind in "iu":
            result = numpy_helper.saturate_cast(result, x.dtype)
        result = result.astype(x.dtype)
        return (result,)


def _given(value: Any) -> Array | None:
    """An optional input; before version 13 an empty one is absent."""
    array = None if value is None else np.asarray(value).reshape(-1)
    return array if array is not None and array.size else None


def _along(flags: Array, axis: int, rank: int) -> Array:
    return flags.reshape([-1 if a == axis else 1 for a in range(rank)])


def _axes(
    x: Array, roi: Array | None, scales: Array | None, sizes: Array | None, options: dict[str, Any]
) -> list[_Axis]:
    positions = options.get("axes")
    axes = [a % x.ndim for a in (range(x.ndim) if positions is None else positions)]
    extents = sizes if scales is None else scales
    if extents is None or len(extents) != len(axes):
        raise EvaluationError(f"{len(axes)} axes need as many scales or sizes")
    lengths = [x.shape[axis] for axis in axes]
    factors, results = _extents(lengths, scales, sizes, options)
    region = np.repeat(np.array([0, 1], np.float32), len(axes))
    if options["coordinate_transformation_mode"] == "tf_crop_and_resize":
        if roi is None or len(roi) != 2 * len(axes):
            raise EvaluationError("tf_crop_and_resize needs a roi of two numbers for each axis")
        region = roi.astype(np.float32)
    result = [
        _Axis(*numbers)
        for numbers in zip(
            axes, lengths, results, factors, region[: len(axes)], region[len(axes) :], strict=True
        )
    ]
    if any(axis.result > 0 and not axis.size for axis in result):
        raise EvaluationError("an axis without elements has none to resize")
    return [axis for axis in result if not axis.stays]


def _extents(
    lengths: Sequence[int], scales: Array | None, sizes: Array | None, options: dict[str, Any]
) -> tuple[list[np.float32], list[int]]:
    """Factor and new length of each axis."""
    if scales is not None:
        factors = [np.float32(scale) for scale in scales]
        return factors, [int(f * np.float32(n)) for f, n in zip(factors, lengths, strict=True)]
    assert sizes is not None
    results = [int(size) for size in sizes]
    one = np.float32(1)  # of an empty axis that stays, too
    factors = [
        one if r == n else np.float32(r) / np.float32(n)
        for r, n in zip(results, lengths, strict=True)
    ]
    policy = options.get("keep_aspect_ratio_policy") or "stretch"
    if policy != "stretch":
        one = min(factors) if policy == "not_larger" else max(factors)
        factors = [one] * len(lengths)
        results = [int(np.floor(one * np.float32(n) + np.float32(0.5))) for n in lengths]
    return factors, results


def _coordinates(axis: _Axis, mode: str) -> Array:
    """Where each element of the result lies in the input (operator specification, Resize,
    `coordinate_transformation_mode`)."""
    x, last, half = np.arange(axis.result, dtype=np.float32), axis.size - 1, np.float32(0.5)
    centered = (x + half) / axis.scale
    if mode == "asymmetric":
        return x / axis.scale
    if mode == "tf_half_pixel_for_nn":
        return centered
    if mode == "pytorch_half_pixel":
        return centered - half if axis.result > 1 else np.zeros_like(x)
    if mode == "align_corners":
        return x * np.float32(last) / np.float32(axis.result - 1) if axis.result > 1 else x
    if mode == "tf_crop_and_resize":
        if axis.result == 1:
            return half * (axis.start + axis.end) * np.full_like(x, last)
        steps = x * (axis.end - axis.start) * np.float32(last) / np.float32(axis.result - 1)
        return axis.start * np.float32(last) + steps
    if mode == "half_pixel_symmetric":
        # The two quotients cancel where the result is centered, so they want more precision.
        scale = float(axis.scale)
        offset = axis.size / 2 - axis.result / scale / 2
        return (offset + (np.arange(axis.result) + 0.5) / scale - 0.5).astype(np.float32)
    if mode != "half_pixel":
        raise EvaluationError(f"coordinate_transformation_mode {mode!r} does not exist")
    return centered - half


_ROUNDINGS: dict[str, Callable[[Array], Array]] = {
    "round_prefer_floor": lambda x: np.ceil(x - np.float32(0.5)),
    "round_prefer_ceil": lambda x: np.floor(x + np.float32(0.5)),
    "floor": np.floor,
    "ceil": np.ceil,
}


def _resized(data: Array, axis: _Axis, where: Array, options: dict[str, Any]) -> Array:
    if options["mode"] == "nearest":
        nearest = _ROUNDINGS[options["nearest_mode"]](where).clip(0, axis.size - 1)
        return np.take(data, nearest.astype(np.int64), axis=axis.axis)
    matrix = _weights(axis, where.astype(np.float64), options)
    return np.moveaxis(np.moveaxis(data, axis.axis, -1) @ matrix.T, -1, axis.axis)


def _weights(axis: _Axis, where: Array, options: dict[str, Any]) -> Array:
    """How much each element of the axis contributes to each of the result, [result, size]."""
    cubic = options["mode"] == "cubic"
    stretch = min(float(axis.scale), 1.0) if options.get("antialias") else 1.0
    reach = 2 if cubic else 1
    first = int(np.floor(-reach / stretch)) + 1
    floors = np.floor(where)
    taps = floors[:, None] + np.arange(first, 2 - first)
    distances = np.abs(taps - where[:, None]) * stretch
    if cubic:
        weights = keys(distances, options.get("cubic_coeff_a", -0.75))
    else:
        weights = (1 - distances).clip(0, 1)
    if options.get("exclude_outside"):
        weights = np.where((taps >= 0) & (taps < axis.size), weights, 0)
    total = weights.sum(axis=1, keepdims=True)
    # Nothing is left of a place far outside, which is extrapolated.
    weights = weights / np.where(total, total, 1)
    matrix = np.zeros((axis.result, axis.size))
    rows = np.arange(axis.result)[:, None]
    np.add.at(matrix, (rows, taps.clip(0, axis.size - 1).astype(np.int64)), weights)
    return matrix


def keys(distances: Array, a: float) -> Array:
    """The cubic convolution kernel of Keys, which ends at a distance of 2."""
    d = distances
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0))
