"""Upsample, which became Resize: inputs and positions of pixels.

- 1: `height_scale` and `width_scale` are attributes, and none is below 1; mode "bilinear".
- 7: `scales` is an attribute with one for each axis; mode "linear".
- 9: `scales` is an input.
- 10: Resize does the same and shrinks too; Upsample ends.
- 11: `coordinate_transformation_mode` and `nearest_mode` select pixels, a region selects a part;
  cubic; sizes in place of scales.
- 13: inputs that are not used are absent instead of empty; bfloat16.
- 18: `axes`, `antialias` and `keep_aspect_ratio_policy`.
- 19: `coordinate_transformation_mode` = "half_pixel_symmetric".
"""

import numpy as np

from ...ir import Array, Value
from ..attribute_to_input import Move, move_attributes
from ..registry import AdapterResult, NodeDraft, added_values, downgrade, longer_form, upgrade
from ..resampling import SAME_LENGTH, check_names, output_lengths, positive_scales, resample
from ..resampling_at_run_time import resample_at_run_time

_EMPTY = np.zeros(0, np.float32)

move_attributes(9, "Upsample", moves=[Move("scales", 1, "floats")])
added_values(
    19, "Resize", attribute="coordinate_transformation_mode", values=[b"half_pixel_symmetric"]
)


@upgrade(7, "Upsample")
def join_scales(draft: NodeDraft) -> None:
    """Opset 7: one list of scales, for batches and channels, too."""
    scales = [1.0, 1.0, draft.attribute("height_scale"), draft.attribute("width_scale")]
    draft.drop("height_scale", "width_scale")
    draft.set("scales", scales)
    if draft.text("mode") == "bilinear":
        draft.set("mode", "linear")


@upgrade(10, "Upsample")
def upsample_to_resize(draft: NodeDraft) -> None:
    """Opset 10: Resize with the same inputs."""
    draft.op_type = "Resize"


@downgrade(10, "Resize")
def resize_to_upsample(draft: NodeDraft) -> None:
    """Opset 9: Upsample, which never shrinks."""
    if not (draft.required_constant(1, "input 'scales'") >= 1).all():
        draft.refuse("Upsample in opset 9 supports no scale below 1")
    draft.op_type = "Upsample"


@upgrade(11, "Resize")
def write_old_modes(draft: NodeDraft) -> AdapterResult:
    """Opset 11: explicit modes for Resize 10, which divides output positions by the scale. Its
    nearest mode rounds down, and up where a scale is below 1."""
    scales = draft.constant(1)
    # Only the nearest mode rounds positions.
    grows = draft.text("mode") != "nearest" or (scales is not None and (scales >= 1).all())
    if grows or (scales is not None and (scales <= 1).all()):
        draft.inputs = [draft.data, draft.const(_EMPTY, "roi"), draft.input(1)]
        draft.set("coordinate_transformation_mode", "asymmetric")
        draft.set("nearest_mode", "floor" if grows else "ceil")
        return None
    # Run time decides what grows: one Resize shrinks, one grows, and each leaves other axes alone.
    one = draft.const(np.array(1, np.float32), "one")
    less, more = (draft.emit(op, [draft.input(1), one], op.lower()) for op in ("Min", "Max"))
    data = draft.input(0)
    for scale, rounding in ((less, "ceil"), (more, "floor")):
        data = draft.emit(
            "Resize",
            [data, draft.const(_EMPTY, "roi"), scale],
            "resized",
            mode="nearest",
            coordinate_transformation_mode="asymmetric",
            nearest_mode=rounding,
        )
    return [data]


@downgrade(11, "Resize")
def require_old_modes(draft: NodeDraft) -> None:
    """Opset 10: one mode of positions, and scales only."""
    check_names(draft)
    mode = draft.text("mode")
    if mode == "cubic":
        draft.refuse("mode = 'cubic' does not exist in opset 10")
    scales = _scales(draft)
    if not _places_as_before(draft, mode, scales):
        places = draft.text("coordinate_transformation_mode")
        rounding = (
            f" and nearest_mode = '{draft.text('nearest_mode')}'" if mode == "nearest" else ""
        )
        draft.refuse(
            f"coordinate_transformation_mode = '{places}'{rounding} does not exist in opset 10"
        )
    value = draft.input(2)
    if draft.input(3) is not None or value is None:
        if scales is None:
            draft.refuse("opset 10 requires scales, and the scales of these sizes are not exact")
        value = draft.const(scales, "scales")
    draft.attributes = {name: m for name, m in draft.attributes.items() if name == "mode"}
    draft.inputs = [draft.input(0), value]


@longer_form(18, "Resize")
@longer_form(19, "Resize")
def gather_known_pixels(draft: NodeDraft) -> AdapterResult:
    """Below opset 18 or 19: gather and weight pixels, for known lengths."""
    return resample(draft)


@longer_form(11, "Resize")
def gather_pixels(draft: NodeDraft) -> AdapterResult:
    """Below opset 11: gather and weight pixels."""
    return _pixel_by_pixel(draft)


def _pixel_by_pixel(draft: NodeDraft) -> list[Value]:
    """The pixels by constant positions, or by counted ones where a length is open."""
    shape, constant = draft.shape(), draft.constant(2)
    by_scales = constant is not None and bool(constant.size)
    factors = constant.tolist() if constant is not None and by_scales else output_lengths(draft)
    open_axis = shape is None or factors is None or None in factors
    open_axis = open_axis or any(
        size is None and factor != (1 if by_scales else SAME_LENGTH)
        for size, factor in zip(shape or (), factors or (), strict=False)
    )
    if open_axis and draft.text("mode") != "nearest":
        return resample_at_run_time(draft)
    return resample(draft)


@longer_form(10, "Resize")
def gather_pixels_of_smaller_images(draft: NodeDraft) -> AdapterResult:
    """Below opset 10, where Upsample does not shrink: the same for the only modes of Resize."""
    scales = draft.required_constant(1, "input 'scales'")
    if draft.text("mode") == "nearest" and (scales < 1).any() and (scales > 1).any():
        draft.refuse("its nearest pixels lie below along one axis and above along another")
    draft.set("coordinate_transformation_mode", "asymmetric")
    draft.set("nearest_mode", "ceil" if (scales < 1).any() else "floor")
    draft.set("extrapolation_value", 0.0)
    draft.inputs = [draft.data, None, draft.input(1)]
    return _pixel_by_pixel(draft)


def _scales(draft: NodeDraft) -> Array | None:
    """The constant scales, also from sizes with exact ratios."""
    constant = draft.constant(2)
    if constant is not None and constant.size:
        return positive_scales(draft, constant)
    shape, lengths = draft.shape() or [], output_lengths(draft) or []
    factors = [_factor(before, size) for before, size in zip(shape, lengths, strict=False)]
    if not factors or len(shape) != len(lengths) or None in factors:
        return None
    return np.array(factors, np.float32)


def _factor(before: int | None, after: int | None) -> np.float32 | None:
    """The scale of a length, if it is exact as a 32-bit float."""
    if after == SAME_LENGTH:
        return np.float32(1)
    if not before or after is None:
        return None
    factor = np.float32(after / before)
    return factor if float(factor) == after / before else None


def _places_as_before(draft: NodeDraft, mode: str, scales: Array | None) -> bool:
    if scales is not None and (scales == 1).all():
        return True
    places, rounding = draft.text("coordinate_transformation_mode"), draft.text("nearest_mode")
    if places == "asymmetric":
        return mode != "nearest" or (scales is not None and _rounds_as_before(scales, rounding))
    # For whole factors the nearest pixel centre is the one that a division rounds down to.
    whole = scales is not None and bool((scales == np.round(scales)).all() and (scales > 0).all())
    return (
        mode == "nearest"
        and whole
        and places in ("half_pixel", "pytorch_half_pixel")
        and rounding in ("round_prefer_floor", "round_prefer_ceil")
    )


def _rounds_as_before(scales: Array, rounding: str) -> bool:
    """Test whether positions are rounded as in opset 10: up for a scale below 1, else down. Whole
    positions need no rounding."""
    factors = np.where(scales < 1, 1 / scales, 0)
    whole = (scales == 1) | ((factors == np.round(factors)) & (scales < 1))
    modes = np.where(scales < 1, "ceil", "floor")
    return bool((whole | (modes == rounding)).all())


@upgrade(13, "Resize")
def place_from_the_edge(draft: NodeDraft) -> AdapterResult:
    """Opset 13: 'half_pixel' only, which is half a pixel less than 'tf_half_pixel_for_nn'. Rounding
    halves up makes up for it where the other one rounds down."""
    if draft.text("coordinate_transformation_mode") != "tf_half_pixel_for_nn":
        return None
    if draft.text("mode") != "nearest" or draft.text("nearest_mode") != "floor":
        return resample(draft)
    draft.set("coordinate_transformation_mode", "half_pixel")
    draft.set("nearest_mode", "round_prefer_ceil")
    return None


@upgrade(13, "Resize")
def drop_empty_inputs(draft: NodeDraft) -> None:
    """Opset 13: unused inputs are absent instead of empty."""
    for index in (1, 2, 3):
        if draft.input(index) is None:
            continue
        constant, shape = draft.constant(index), draft.shape(index)
        if (constant is not None and constant.size == 0) or shape == [0]:
            draft.set_input(index, None)


@downgrade(13, "Resize")
def add_empty_inputs(draft: NodeDraft) -> None:
    """Before opset 13: the region and the scales are required, and may be empty."""
    for index, label in ((1, "roi"), (2, "scales")):
        if draft.input(index) is None:
            draft.set_input(index, draft.const(_EMPTY, label))


@downgrade(19, "Resize")
def place_by_sizes(draft: NodeDraft) -> None:
    """Before opset 19: 'half_pixel', which is symmetric where lengths are exact multiples."""
    places = draft.text("coordinate_transformation_mode")
    sizes = draft.input(3) is not None and draft.input(2) is None
    policy = draft.text("keep_aspect_ratio_policy") in ("", "stretch")
    if places == "half_pixel_symmetric" and sizes and policy and draft.text("mode") != "nearest":
        draft.set("coordinate_transformation_mode", "half_pixel")


@downgrade(18, "Resize")
def expand_axes(draft: NodeDraft) -> None:
    """Before opset 18: scales and sizes for all axes."""
    policy = draft.text("keep_aspect_ratio_policy")
    if policy not in ("", "stretch") and draft.input(3) is not None:
        draft.refuse(f"keep_aspect_ratio_policy = '{policy}' does not exist in opset 17")
    axes = draft.attribute("axes") if "axes" in draft.attributes else None
    if axes is not None:
        _spread(draft, axes)
    draft.drop("keep_aspect_ratio_policy", "axes")


def _spread(draft: NodeDraft, axes: list[int]) -> None:
    """Set scales, sizes and the region for all axes instead of some."""
    rank = draft.required_rank("'axes'")
    places = [draft.required_axis(axis, "'axes'") for axis in axes]
    if len(set(places)) < len(places):
        draft.refuse(f"axes = {axes} has one twice")
    whole = np.concatenate([np.zeros(rank), np.ones(rank)])
    _spread_input(draft, 1, [*places, *[place + rank for place in places]], whole)
    _spread_input(draft, 2, places, np.ones(rank))
    lengths = draft.shape()
    if lengths is None or None in lengths:
        _spread_input(draft, 3, places, draft.emit("Shape", [draft.input(0)], "shape"))
    else:
        _spread_input(draft, 3, places, np.array(lengths))


def _spread_input(draft: NodeDraft, index: int, places: list[int], others: Array | Value) -> None:
    """Merge the elements of an input, at their axes, with defaults."""
    value = draft.input(index)
    # Before opset 13 an empty input stands for an absent one.
    if value is None or draft.shape(index) == [0]:
        return
    name = draft.schema.inputs[index].name
    constant = draft.constant(index)
    if constant is not None and isinstance(others, np.ndarray):
        if constant.shape != (len(places),):
            draft.refuse(f"input '{name}' is not one number for each of its axes")
        full = others.astype(constant.dtype)
        full[places] = constant
        draft.set_input(index, draft.const(full, name))
        return
    if draft.shape(index) != [len(places)]:
        draft.required_constant(index, f"input '{name}'")
    if isinstance(others, np.ndarray):
        others = draft.const(others.astype(draft.required_dtype(index, name)), name)
    sources = {place: number for number, place in enumerate(places)}
    count = len(others.constant.numpy()) if others.constant is not None else draft.rank()
    # Axes that the input lacks read the defaults behind it.
    order = [sources.get(place, len(places) + place) for place in range(count or 0)]
    both = draft.emit("Concat", [value, others], name, axis=0)
    draft.set_input(index, draft.emit("Gather", [both, draft.ints(order, "order")], name, axis=0))
