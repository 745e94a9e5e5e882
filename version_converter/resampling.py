"""Resize along axes of known length, by gathering and weighting pixels.

    y = Resize <mode = "linear"> (x, roi, [1, 2])
->  low = Gather <axis = 1> (x, [0, 0, 0, 1, ...])
    high = Gather <axis = 1> (x, [0, 1, 1, 2, ...])
    y = Add (Mul (low, [1, 0.75, ...]), Mul (high, [0, 0.25, ...]))

Source: operator specification, Resize, `coordinate_transformation_mode`.
"""

import fractions
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import onnx

from ..ir import Array, Value
from .node_draft import NodeDraft
from .snippets import scalar

_T = onnx.TensorProto


class Axis(NamedTuple):
    """An axis that changes its length or its pixels.

    Attributes:
        before: its length.
        after: its length in the output.
        scale: the divisor of positions.
        start: where the region of 'tf_crop_and_resize' begins, as a part of the length.
        end: where it ends.
    """

    axis: int
    before: int
    after: int
    scale: np.float32
    start: np.float32 = np.float32(0)
    end: np.float32 = np.float32(1)


class Taps(NamedTuple):
    """Pixels and weights of each output pixel: one row for each summand.

    Attributes:
        pixels: their positions.
        weights: their weights; None for a single row.
    """

    pixels: Array
    weights: Array | None


def resample(draft: NodeDraft) -> list[Value]:
    """The outputs of a Resize of opset 11 or later.

    Raises:
        Refused: lengths or scales are not known, or a mode is unsupported.
    """
    check_names(draft)
    mode, elem_type, data = draft.text("mode"), draft.elem_type(0), draft.data
    axes = list(_axes(draft))
    changed = [(axis, _taps(draft, axis, mode)) for axis in axes]
    outside = [(axis.axis, _outside(draft, axis)) for axis in axes]
    inner = working_type(draft)
    value = data if inner == elem_type else draft.cast(data, inner)
    rank = len(draft.shape() or ())
    for axis, taps in changed:
        value = _along(draft, value, taps, axis.axis, rank, inner)
    for place, mask in outside:
        if mask.any():
            far = draft.const(mask.reshape([-1, *[1] * (rank - 1 - place)]), "outside")
            number = scalar(draft, draft.attribute("extrapolation_value"), inner)
            value = draft.emit("Where", [far, number, value], "resized")
    if value is data:
        return [draft.emit("Identity", [data])]
    return [value if inner == elem_type else draft.cast(value, elem_type or 0)]


def working_type(draft: NodeDraft) -> int:
    """The element type to weigh pixels in."""
    mode, elem_type = draft.text("mode"), draft.required_elem_type(0, "pixel by pixel")
    if mode == "nearest" or elem_type in (_T.FLOAT, _T.DOUBLE):
        return elem_type
    if elem_type != _T.FLOAT16:
        draft.refuse(f"mode = '{mode}' needs floats")
    return _T.FLOAT


def listed_axes(draft: NodeDraft, rank: int) -> list[int]:
    """The axes that scales, sizes and the region speak of; all where none are listed."""
    axes = draft.attribute("axes") if "axes" in draft.attributes else None
    if axes is None:
        return list(range(rank))
    places = [draft.required_axis(axis, "'axes'") for axis in axes]
    if len(set(places)) < len(places):
        draft.refuse(f"axes = {axes} has one twice")
    return places


def _axes(draft: NodeDraft) -> Iterator[Axis]:
    """The axes that change their length or their pixels."""
    shape = draft.shape()
    if shape is None:
        draft.refuse_unknown("pixel by pixel needs the shape of input 0, which")
    listed = listed_axes(draft, len(shape))
    factors, by_scales = _factors(draft)
    if factors is not None and len(factors) != len(listed):
        draft.refuse(f"it has {len(factors)} scales or sizes for {len(listed)} axes")
    if factors is None or None in factors:
        why = "pixel by pixel needs constant scales or sizes"
        draft.refuse(why, draft.input(3) or draft.input(2))
    kept_ratio = None if by_scales else _kept_ratio(draft, [shape[a] for a in listed], factors)
    regions = _regions(draft, len(listed))
    for axis, factor, region in zip(listed, factors, regions, strict=True):
        before = shape[axis]
        same = factor in ((1,) if by_scales else (SAME_LENGTH, before))
        # Neither the length nor the region changes: the pixels stay as they are.
        if same and kept_ratio is None and tuple(map(float, region)) == (0, 1):
            continue
        if before is None:
            draft.refuse_unknown(f"pixel by pixel needs the length of axis {axis}, which")
        if not before:
            draft.refuse(f"there are no pixels along axis {axis}")
        # Scales are 32-bit floats in the specification, also those that follow from sizes.
        scale = np.float32(factor) if by_scales else np.float32(factor) / np.float32(before)
        after = int(np.float32(before) * scale) if by_scales else factor
        if kept_ratio is not None:
            scale, after = kept_ratio, math.floor(float(kept_ratio) * before + 0.5)
        after = before if after == SAME_LENGTH else after
        if after > _LONGEST:
            draft.refuse(f"{after} pixels are too many for a longer form")
        yield Axis(axis, before, after, scale, *region)


def _factors(draft: NodeDraft) -> tuple[list[Any] | None, bool]:
    """The constant scales, or else the output lengths; true for scales."""
    scales = draft.constant(2)
    if scales is None or not scales.size:
        return output_lengths(draft), False
    return positive_scales(draft, scales).reshape(-1).tolist(), True


def _kept_ratio(draft: NodeDraft, before: list[int | None], after: list[Any]) -> np.float32 | None:
    """The one scale of all axes that `keep_aspect_ratio_policy` asks for; None without it.

    Output lengths are rounded, halves up, so that they do not give the scale back.
    """
    policy = draft.text("keep_aspect_ratio_policy")
    if policy in ("", "stretch"):
        return None
    if policy not in ("not_larger", "not_smaller"):
        draft.refuse(f"there is no keep_aspect_ratio_policy '{policy}'")
    if None in before or 0 in before:
        draft.refuse_unknown("one scale for all axes needs the lengths of these, one of which")
    sizes = [size or 0 for size in before]
    pairs = [(n if m == SAME_LENGTH else m, n) for n, m in zip(sizes, after, strict=True)]
    choose = min if policy == "not_larger" else max
    scale: np.float32 = choose(np.float32(m) / np.float32(n) for m, n in pairs)
    exact, half = choose(fractions.Fraction(m, n) for m, n in pairs), fractions.Fraction(1, 2)
    if any(math.floor(exact * n + half) != math.floor(float(scale) * n + 0.5) for n in sizes):
        draft.refuse("its lengths lie so close to a half that runtimes differ in rounding")
    return scale


def _regions(draft: NodeDraft, count: int) -> list[tuple[np.float32, np.float32]]:
    """The part of each axis that is resized: the whole but for 'tf_crop_and_resize'."""
    if draft.text("coordinate_transformation_mode") != "tf_crop_and_resize":
        return [(np.float32(0), np.float32(1))] * count
    region = draft.required_constant(1, "input 'roi'").reshape(-1).astype(np.float32)
    if len(region) != 2 * count or not np.isfinite(region).all():
        draft.refuse(f"its region is not two finite numbers for each of {count} axes")
    return list(zip(region[:count], region[count:], strict=True))


SAME_LENGTH = -1
"""In the place of an output length: that of the input."""


def output_lengths(draft: NodeDraft) -> list[int | None] | None:
    """The output lengths in input 'sizes', None for one not known before run time;
    None where none is."""
    sizes, constant = draft.input(3), draft.constant(3)
    if constant is not None and (constant < 1).any():
        draft.refuse("an output length is less than one")
    if constant is not None or sizes is None:
        return None if constant is None else constant.reshape(-1).tolist()
    elements = draft.types.elements(sizes)
    dims = draft.types.dimensions(draft.input(0)) or ()
    dims = tuple([dims[axis] for axis in listed_axes(draft, len(dims))])
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
        # Runtimes compute places in 32 or 64 bits, so both must round to the same pixel.
        pixels = [_nearest(draft, axis, kind) for kind in (np.float32, np.float64)]
        if (pixels[0] != pixels[1]).any():
            draft.refuse("its pixels lie so close to the middle that runtimes differ in rounding")
        return Taps(pixels[0][None], None)
    places = _places(draft, axis, np.float32)
    # The filter widens only where the image shrinks.
    if draft.attribute("antialias") and axis.scale < 1:
        return _smoothed(draft, axis, places.astype(np.float64))
    if mode == "linear":
        places = np.clip(places, 0, axis.before - 1)
        low = np.floor(places)
        part = (places - low).astype(np.float64)
        # Runtimes weigh the last pixel twice by a half. By 0, it would make NaN of infinity.
        part = np.where(low + 1 < axis.before, part, 0.5)
        return _clipped(axis, low, [0, 1], [1 - part, part])
    low = np.floor(places)
    part = (places - low).astype(np.float64)
    weights = [_filter(draft, distance) for distance in (part + 1, part, 1 - part, 2 - part)]
    if draft.attribute("exclude_outside"):
        rows = [low + offset for offset in (-1, 0, 1, 2)]
        inside = [(row >= 0) & (row < axis.before) for row in rows]
        weights = [np.where(i, w, 0) for i, w in zip(inside, weights, strict=True)]
        # The specification scales the weights inside to a sum of 1 (Resize, exclude_outside).
        weights = [w / sum(weights) for w in weights]
    return _clipped(axis, low, [-1, 0, 1, 2], weights)


def _smoothed(draft: NodeDraft, axis: Axis, places: Array) -> Taps:
    """The pixels under a filter as wide as the distance between output pixels.

    A row with fewer pixels than others repeats its last one, with a part of its weight: by a weight
    of 0, it would make NaN of infinity.
    """
    reach = (1 if draft.text("mode") == "linear" else 2) / float(axis.scale)
    first, end = np.floor(places + 1 - reach), np.floor(places + 1 + reach)
    rows = []
    for place, low, high in zip(places, first.astype(int), end.astype(int), strict=True):
        pixels = np.arange(low, high)
        weights = _filter(draft, np.abs(pixels - place) * float(axis.scale))
        inside = (pixels >= 0) & (pixels < axis.before)
        weighted = (weights != 0) & (inside if draft.attribute("exclude_outside") else True)
        weights = weights[weighted] / weights[weighted].sum()
        rows.append((np.clip(pixels[weighted], 0, axis.before - 1), weights))
    count = max(len(pixels) for pixels, _ in rows)
    table = [_repeat_last(*row, count) for row in rows]
    return Taps(np.array([row[0] for row in table]).T, np.array([row[1] for row in table]).T)


def _repeat_last(pixels: Array, weights: Array, count: int) -> tuple[Array, Array]:
    times = count - len(pixels) + 1
    shared = np.repeat(weights[-1:] / times, times)
    return (
        np.concatenate([pixels, np.repeat(pixels[-1:], times - 1)]),
        np.concatenate([weights[:-1], shared]),
    )


def _clipped(axis: Axis, low: Array, offsets: list[int], weights: list[Array]) -> Taps:
    pixels = np.clip([low + offset for offset in offsets], 0, axis.before - 1)
    return Taps(pixels.astype(np.int64), np.array(weights))


def _filter(draft: NodeDraft, distance: Array) -> Array:
    """The weight of a pixel by its distance, of a linear or cubic filter."""
    weights: Array
    if draft.text("mode") == "linear":
        weights = np.maximum(1 - distance, 0)
        return weights
    a, t = float(draft.attribute("cubic_coeff_a")), distance
    near = ((a + 2) * t - (a + 3)) * t * t + 1
    far = ((a * t - 5 * a) * t + 8 * a) * t - 4 * a
    weights = np.where(t <= 1, near, np.where(t < 2, far, 0))
    return weights


def _nearest(draft: NodeDraft, axis: Axis, kind: type[Any]) -> Array:
    places, rounding = _places(draft, axis, kind), draft.text("nearest_mode")
    half = kind(0.5)
    # ceil(x - 0.5) rounds halves down, floor(x + 0.5) rounds them up.
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
        # One output pixel: its place would be 0 / 0.
        if axis.after == 1:
            return np.zeros_like(x)
        places = x * kind(axis.before - 1) / kind(axis.after - 1)
    elif mode == "tf_half_pixel_for_nn":
        places = (x + half) / scale
    elif mode == "half_pixel" or (mode == "pytorch_half_pixel" and axis.after > 1):
        places = (x + half) / scale - half
    elif mode == "pytorch_half_pixel":
        # One output pixel is the first one of the input, by specification.
        return np.zeros_like(x)
    elif mode == "half_pixel_symmetric":
        ratio = kind(axis.after) / (scale * kind(axis.before))
        middle = kind(axis.before) / kind(2) * (kind(1) - ratio)
        places = middle + (x + half) / scale - half
    elif mode == "tf_crop_and_resize":
        last, start, end = kind(axis.before - 1), kind(axis.start), kind(axis.end)
        if axis.after == 1:
            return half * (start + end) * last + np.zeros_like(x)
        places = start * last + x * ((end - start) * last / kind(axis.after - 1))
    else:
        draft.refuse(f"other operators cannot express '{mode}'")
    return places


def _outside(draft: NodeDraft, axis: Axis) -> Array:
    """The mask of output pixels that 'tf_crop_and_resize' takes from outside the image."""
    if draft.text("coordinate_transformation_mode") != "tf_crop_and_resize":
        return np.zeros(axis.after, bool)
    masks = []
    for kind in (np.float32, np.float64):
        places = _places(draft, axis, kind)
        masks.append((places < 0) | (places > axis.before - 1))
    if (masks[0] != masks[1]).any():
        draft.refuse("its region ends so close to a pixel that runtimes differ in rounding")
    return masks[0]


_FEW = 4
"""Limit of pixels that are gathered and weighted one after the other."""


def _along(
    draft: NodeDraft, value: Value, taps: Taps, axis: int, rank: int, elem_type: int
) -> Value:
    dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
    units = [1] * (rank - 1 - axis)
    if taps.weights is not None and len(taps.weights) > _FEW:
        pixels = draft.const(np.ascontiguousarray(taps.pixels.T), "pixels")
        rows = draft.emit("Gather", [value, pixels], "taken", axis=axis)
        weights = taps.weights.T.astype(dtype).reshape(*taps.weights.T.shape, *units)
        weighed = draft.emit("Mul", [rows, draft.const(weights, "weights")], "weighed")
        return draft.along("ReduceSum", weighed, [axis + 1], "resized", keepdims=0)
    parts = [
        draft.emit("Gather", [value, draft.const(row, "pixels")], "taken", axis=axis)
        for row in taps.pixels
    ]
    if taps.weights is None:
        return parts[0]
    total: Value | None = None
    for part, row in zip(parts, taps.weights, strict=True):
        weights = row.astype(dtype).reshape([-1, *units])
        weighed = draft.emit("Mul", [part, draft.const(weights, "weights")], "weighed")
        total = weighed if total is None else draft.emit("Add", [total, weighed], "resized")
    assert total is not None
    return total
