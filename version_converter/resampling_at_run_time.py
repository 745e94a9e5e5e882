"""Resize along axes whose lengths run time decides, by weighting counted pixels.

    y = Resize <mode = "linear"> (x, roi, scales)
->  place = [0, 1, ... below floor (length * scale)] / scale;  low = floor (place)
    y = Gather (x, low) * (1 - (place - low)) + Gather (x, low + 1) * (place - low)
"""

from collections.abc import Sequence
from typing import NamedTuple

import onnx

from ..ir import Value
from .node_draft import NodeDraft
from .resampling import SAME_LENGTH, check_names, output_lengths, working_type
from .snippets import length_of, numbers_below, polynomial, scalar

_T = onnx.TensorProto


class _Axis(NamedTuple):
    """An axis that changes its length, with floats of rank 1.

    Attributes:
        before: its length.
        after: its length in the output.
        scale: the divisor of positions.
        numbers: the positions in the output.
        same: true where the axis keeps its length, so that runtimes copy it.
    """

    axis: int
    before: Value
    after: Value
    scale: Value
    numbers: Value
    same: Value


class _Tap(NamedTuple):
    """One pixel for each position of the output, and its weight."""

    pixels: Value
    weight: Value


def resample_at_run_time(draft: NodeDraft) -> list[Value]:
    """The outputs of a linear or cubic Resize of opset 11 or 12.

    Raises:
        Refused: its rank is not known, or a mode is unsupported.
    """
    check_names(draft)
    mode, rank = draft.text("mode"), draft.required_rank("pixel by pixel")
    places = draft.text("coordinate_transformation_mode")
    if mode == "nearest" or places not in _PLACES:
        draft.refuse(
            f"with mode = '{mode}' and coordinate_transformation_mode = '{places}', pixel by pixel"
            " needs constant lengths"
        )
    inner, elem_type = working_type(draft), draft.elem_type(0) or 0
    value = draft.as_type(draft.data, inner)
    for axis in _changed(draft, rank):
        taps = _linear(draft, axis) if mode == "linear" else _cubic(draft, axis)
        value = _weighed(draft, value, axis.axis, rank, taps)
    return [value if inner == elem_type else draft.cast(value, elem_type)]


def _changed(draft: NodeDraft, rank: int) -> list[_Axis]:
    """The axes that are not known to keep their length."""
    constant, lengths = draft.constant(2), output_lengths(draft) or [None] * rank
    by_scales = draft.input(2) is not None and draft.shape(2) != [0]
    shape = draft.emit("Shape", [draft.data], "shape")
    axes = []
    for axis in range(rank):
        same = lengths[axis] == SAME_LENGTH
        if by_scales and constant is not None and constant.size == rank:
            same = constant[axis] == 1
        if same:
            continue
        if draft.shape() is not None and draft.length(axis) == 0:
            draft.refuse(f"there are no pixels along axis {axis}")
        own = length_of(draft, shape, axis, rank=1)
        length = draft.cast(own, _T.FLOAT)
        factor = length_of(draft, draft.required(2 if by_scales else 3), axis, rank=1)
        if by_scales:
            after = draft.emit("Floor", [draft.emit("Mul", [length, factor], "longer")], "after")
            count, scale = draft.cast(after, _T.INT64), factor
        else:
            after, count = draft.cast(factor, _T.FLOAT), factor
            scale = draft.emit("Div", [after, length], "scale")
        numbers = draft.cast(numbers_below(draft, count), _T.FLOAT)
        kept_length = draft.emit("Equal", [count, own], "same")
        axes.append(_Axis(axis, length, after, scale, numbers, kept_length))
    return axes


_PLACES = ("asymmetric", "align_corners", "half_pixel", "pytorch_half_pixel")


def _place(draft: NodeDraft, axis: _Axis) -> Value:
    """The position in the input of each position in the output."""
    mode = draft.text("coordinate_transformation_mode")
    zero, half, one = (scalar(draft, number, _T.FLOAT) for number in (0, 0.5, 1))
    if mode == "asymmetric":
        return draft.emit("Div", [axis.numbers, axis.scale], "place")
    if mode == "align_corners":
        # One output pixel: 0 / 1 instead of 0 / 0.
        steps = draft.emit("Max", [draft.emit("Sub", [axis.after, one]), one], "steps")
        reach = draft.emit("Mul", [axis.numbers, draft.emit("Sub", [axis.before, one])], "reach")
        return draft.emit("Div", [reach, steps], "place")
    middle = draft.emit("Add", [axis.numbers, half], "middle")
    place = draft.emit("Sub", [draft.emit("Div", [middle, axis.scale]), half], "place")
    if mode == "half_pixel":
        return place
    several = draft.emit("Greater", [axis.after, one], "several")
    return draft.emit("Where", [several, place, zero], "place")


def _linear(draft: NodeDraft, axis: _Axis) -> list[_Tap]:
    """Two pixels, or one twice by a half: a weight of 0 makes NaN of infinity."""
    half, one = (scalar(draft, number, _T.FLOAT) for number in (0.5, 1))
    place = _inside(draft, axis, _place(draft, axis))
    low = draft.emit("Floor", [place], "low")
    high = draft.emit("Add", [low, one], "high")
    before_last = draft.emit("Less", [high, axis.before], "before_last")
    several = draft.emit("And", [before_last, draft.emit("Not", [axis.same])], "several")
    part = draft.emit("Where", [several, draft.emit("Sub", [place, low]), half], "part")
    rest = draft.emit("Sub", [one, part], "rest")
    return [_Tap(low, rest), _Tap(draft.emit("Where", [several, high, low], "high"), part)]


def _cubic(draft: NodeDraft, axis: _Axis) -> list[_Tap]:
    """Four pixels around a position, those beside the image as the nearest one in it."""
    a, one = float(draft.attribute("cubic_coeff_a")), scalar(draft, 1, _T.FLOAT)
    place = _place(draft, axis)
    low = draft.emit("Floor", [place], "low")
    part = draft.emit("Sub", [place, low], "part")
    rest = draft.emit("Sub", [one, part], "rest")
    # Of the distances part + 1, part, rest and rest + 1.
    near, far = [a + 2, -(a + 3), 0, 1], [a, -2 * a, a, 0]
    factors = [(part, far), (part, near), (rest, near), (rest, far)]
    weights = [polynomial(draft, distance, each, _T.FLOAT) for distance, each in factors]
    # Runtimes copy pixels along an axis that keeps its length: four quarters of one pixel.
    quarter = scalar(draft, 0.25, _T.FLOAT)
    weights = [draft.emit("Where", [axis.same, quarter, weight]) for weight in weights]
    pixels = [
        draft.emit("Add", [low, scalar(draft, offset, _T.FLOAT)], "pixel") if offset else low
        for offset in (-1, 0, 1, 2)
    ]
    pixels = [draft.emit("Where", [axis.same, low, pixel], "pixel") for pixel in pixels]
    nearest = [_inside(draft, axis, pixel) for pixel in pixels]
    if draft.attribute("exclude_outside"):
        zero = scalar(draft, 0, _T.FLOAT)
        for index, (pixel, other) in enumerate(zip(pixels, nearest, strict=True)):
            same = draft.emit("Equal", [pixel, other], "inside")
            weights[index] = draft.emit("Where", [same, weights[index], zero], "weight")
        total = draft.emit("Sum", weights, "total")
        weights = [draft.emit("Div", [weight, total], "weight") for weight in weights]
    return [_Tap(pixel, weight) for pixel, weight in zip(nearest, weights, strict=True)]


def _inside(draft: NodeDraft, axis: _Axis, place: Value) -> Value:
    """The nearest position in the image."""
    zero, one = (scalar(draft, number, _T.FLOAT) for number in (0, 1))
    last = draft.emit("Sub", [axis.before, one], "last")
    return draft.emit("Min", [draft.emit("Max", [place, zero]), last], "inside")


def _weighed(draft: NodeDraft, value: Value, axis: int, rank: int, taps: Sequence[_Tap]) -> Value:
    """The sum of pixels by their weights along an axis."""
    elem_type, total = draft.types.elem_type(value) or _T.FLOAT, None
    for tap in taps:
        pixels = draft.cast(tap.pixels, _T.INT64)
        weight = draft.as_type(tap.weight, elem_type)
        if axis < rank - 1:
            weight = draft.unsqueeze(weight, range(1, rank - axis))
        part = draft.emit("Gather", [value, pixels], "taken", axis=axis)
        part = draft.emit("Mul", [part, weight], "weighed")
        total = part if total is None else draft.emit("Add", [total, part], "resized")
    assert total is not None
    return total
