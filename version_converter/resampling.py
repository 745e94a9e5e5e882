"""Resize along axes of known length, by gathering and weighting pixels.

    y = Resize <mode = "linear"> (x, roi, [1, 2])
->  low = Gather <axis = 1> (x, [0, 0, 0, 1, ...])
    high = Gather <axis = 1> (x, [0, 1, 1, 2, ...])
    y = Add (Mul (low, [1, 0.75, ...]), Mul (high, [0, 0.25, ...]))

Source: operator specification, Resize, `coordinate_transformation_mode`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import onnx

from ..ir import Array, Value
from .node_draft import NodeDraft


class Axis(NamedTuple):
    """An axis that changes its length.

    Attributes:
        axis: its number.
        before: its length.
        after: its length in the output.
        scale: the divisor of positions.
    """

    axis: int
    before: int
    after: int
    scale: np.float32


class Taps(NamedTuple):
    """Pixels and weights of each output pixel: one row for each summand.

    Attributes:
        pixels: their positions.
        weights: their weights; None for a single row.
    """

    pixels: Array
    weights: Array | None


def resample(draft: NodeDraft) -> list[Value]:
    """The outputs of a Resize of opset 11 to 17.

    Raises:
        Refused: lengths or scales are not known, or a mode is unsupported.
    """
    check_names(draft)
    mode, elem_type, data = draft.text("mode"), draft.elem_type(0), draft.data
    changed = [(axis, _taps(draft, axis, mode)) for axis in _axes(draft)]
    floats = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE)
    inner = elem_type
    if mode != "nearest":
        if elem_type not in (*floats, onnx.TensorProto.FLOAT16):
            draft.refuse(f"mode = '{mode}' needs floats")
        inner = elem_type if elem_type in floats else onnx.TensorProto.FLOAT
    value = data if inner == elem_type else draft.cast(data, inner or 0)
    rank = len(draft.shape() or ())
    for axis, taps in changed:
        value = _along(draft, value, taps, axis.axis, rank, inner or 0)
    if value is data:
        return [draft.emit("Identity", [data])]
    return [value if inner == elem_type else draft.cast(value, elem_type or 0)]


def _axes(draft: NodeDraft) -> Iterator[Axis]:
    """The axes that change their length or their pixels."""
    shape, scales = draft.shape(), draft.constant(2)
    if shape is None:
        draft.refuse_unknown("pixel by pixel needs the shape of input 0, which")
    by_scales = scales is not None and bool(scales.size)
    factors: list[Any] | None = output_lengths(draft)
    if scales is not None and by_scales:
        factors = positive_scales(draft, scales).reshape(-1).tolist()
    if factors is not None and len(factors) != len(shape):
        draft.refuse(f"it has {len(factors)} scales or sizes for {len(shape)} axes")
    if factors is None or None in factors:
        why = "pixel by pixel needs constant scales or sizes"
        draft.refuse(why, draft.input(3) or draft.input(2))
    for axis, (before, factor) in enumerate(zip(shape, factors, strict=True)):
        if factor in ((1,) if by_scales else (SAME_LENGTH, before)):
            continue
        if before is None:
            draft.refuse_unknown(f"pixel by pixel needs the length of axis {axis}, which")
        if not before:
            draft.refuse(f"there are no pixels along axis {axis}")
        scale = np.float32(factor) if by_scales else np.float32(factor) / np.float32(before)
        after = int(np.float32(before) * scale) if by_scales else factor
        if after > _LONGEST:
            draft.refuse(f"{after} pixels are too many to be written out")
        yield Axis(axis, before, after, scale)


SAME_LENGTH = -1
"""In the place of an output length: that of the input."""


def output_lengths(draft: NodeDraft) -> list[int | None] | None:
    """The output lengths in input 'sizes', None for one not known before run time;
    None where none is."""
    sizes, constant = draft.input(3), draft.constant(3)
    if constant is not None and (constant < 1).any():
        draft.refuse("a length of less than one is asked for")
    if constant is not None or sizes is None:
        return None if constant is None else constant.reshape(-1).tolist()
    elements = draft.types.elements(sizes)
    dims = draft.types.dimensions(draft.input(0)) or ()
    if elements is None or len(elements) != len(dims):
        return None
    return [
        None if size is None else SAME_LENGTH if size.equals(dim) else size.value
        for size, dim in zip(elements, dims, strict=True)
    ]


_LONGEST = 1 << 20
"""Limit of pixels along an axis that a constant lists."""


def positive_scales(draft: NodeDraft, scales: Array) -> Array:
    """Check that scales are positive and finite.

    Raises:
        Refused: one of them is not.
    """
    if not ((scales > 0) & (scales < np.inf)).all():
        draft.refuse("one of its scales is not above zero, or is infinite")
    return scales


_MODES = ("nearest", "linear", "cubic")
_ROUNDING = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")


def check_names(draft: NodeDraft) -> None:
    """Check the names of modes.

    Raises:
        Refused: one does not exist.
    """
    for name, names in (("mode", _MODES), ("nearest_mode", _ROUNDING)):
        if draft.text(name) not in names:
            draft.refuse(f"there is no {name} '{draft.text(name)}'")


def _taps(draft: NodeDraft, axis: Axis, mode: str) -> Taps:
    if mode == "nearest":
        pixels = [_nearest(draft, axis, kind) for kind in (np.float32, np.float64)]
        if (pixels[0] != pixels[1]).any():
            draft.refuse("its pixels lie so close to the middle that runtimes differ in rounding")
        return Taps(pixels[0][None], None)
    places = _places(draft, axis, np.float32)
    if mode == "linear":
        places = np.clip(places, 0, axis.before - 1)
        low = np.floor(places)
        part = (places - low).astype(np.float64)
        # Runtimes weigh the last pixel twice by a half. By 0, it would make NaN of infinity.
        part = np.where(low + 1 < axis.before, part, 0.5)
        return _clipped(axis, low, [0, 1], [1 - part, part])
    low = np.floor(places)
    weights = _cubic(draft, (places - low).astype(np.float64))
    if draft.attribute("exclude_outside"):
        rows = [low + offset for offset in (-1, 0, 1, 2)]
        inside = [(row >= 0) & (row < axis.before) for row in rows]
        weights = [np.where(i, w, 0) for i, w in zip(inside, weights, strict=True)]
        weights = [w / sum(weights) for w in weights]
    return _clipped(axis, low, [-1, 0, 1, 2], weights)


def _clipped(axis: Axis, low: Array, offsets: list[int], weights: list[Array]) -> Taps:
    pixels = np.clip([low + offset for offset in offsets], 0, axis.before - 1)
    return Taps(pixels.astype(np.int64), np.array(weights))


def _cubic(draft: NodeDraft, s: Array) -> list[Array]:
    """The weights of four pixels around a place between the second and the third."""
    a = float(draft.attribute("cubic_coeff_a"))

    def far(t: Array) -> Array:
        return ((a * t - 5 * a) * t + 8 * a) * t - 4 * a

    def near(t: Array) -> Array:
        return ((a + 2) * t - (a + 3)) * t * t + 1

    return [far(s + 1), near(s), near(1 - s), far(2 - s)]


def _nearest(draft: NodeDraft, axis: Axis, kind: type[Any]) -> Array:
    places, rounding = _places(draft, axis, kind), draft.text("nearest_mode")
    half = kind(0.5)
    shift = {"round_prefer_floor": -half, "round_prefer_ceil": half}.get(rounding, kind(0))
    upwards = rounding in ("round_prefer_floor", "ceil")
    rounded = np.ceil(places + shift) if upwards else np.floor(places + shift)
    pixels: Array = np.clip(rounded, 0, axis.before - 1).astype(np.int64)
    return pixels


def _places(draft: NodeDraft, axis: Axis, kind: type[Any]) -> Array:
    """The position in the input of each position in the output."""
    mode = draft.text("coordinate_transformation_mode")
    x, half = np.arange(axis.after).astype(kind), kind(0.5)
    scale = kind(axis.scale)
    places: Array
    if mode == "asymmetric":
        places = x / scale
    elif mode == "align_corners":
        if axis.after == 1:
            return np.zeros_like(x)
        places = x * kind(axis.before - 1) / kind(axis.after - 1)
    elif mode == "tf_half_pixel_for_nn":
        places = (x + half) / scale
    elif mode == "half_pixel" or (mode == "pytorch_half_pixel" and axis.after > 1):
        places = (x + half) / scale - half
    elif mode == "pytorch_half_pixel":
        return np.zeros_like(x)
    else:
        draft.refuse(f"'{mode}' is not written out")
    return places


def _along(
    draft: NodeDraft, value: Value, taps: Taps, axis: int, rank: int, elem_type: int
) -> Value:
    parts = [
        draft.emit("Gather", [value, draft.const(row, "pixels")], "taken", axis=axis)
        for row in taps.pixels
    ]
    if taps.weights is None:
        return parts[0]
    dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
    total: Value | None = None
    for part, row in zip(parts, taps.weights, strict=True):
        weights = row.astype(dtype).reshape([-1, *[1] * (rank - 1 - axis)])
        weighed = draft.emit("Mul", [part, draft.const(weights, "weights")], "weighed")
        total = weighed if total is None else draft.emit("Add", [total, weighed], "resized")
    assert total is not None
    return total
