"""GridSample by gathering, weighting and adding pixels.

    y = GridSample (x, grid)
->  table = Flatten <axis = 3> (Transpose (x))      a row for each pixel, its channels in it
    found = Gather (table, (image * height + row) * width + column)
    y = Add (Mul (found, weight), ...)              for the 1, 4 or 16 pixels around each place
"""

import itertools
from typing import NamedTuple

import numpy as np
import onnx

from ..facts.types import PLAIN_FLOATS
from ..ir import Value
from .node_draft import NodeDraft
from .snippets import length_of, pick, polynomial, range_below, scalar

_T = onnx.TensorProto
_MODES = ("bilinear", "bicubic", "nearest")
_PADDING = ("zeros", "border", "reflection")
_A = -0.75
"""The coefficient of cubic interpolation (operator specification, GridSample 16)."""

_FAR = 2**20
"""Limit in periods within which a position is mirrored; NaN becomes the first one."""


class _Side(NamedTuple):
    """One axis of the image.

    Attributes:
        length: its static length, or None.
        value: its length from run time.
    """

    draft: NodeDraft
    axis: int
    length: int | None
    value: Value | None

    def number(self, times: int, more: int, elem_type: int, least: int | None = None) -> Value:
        """The length times a factor plus an offset, but at least `least`."""
        draft, dtype = self.draft, onnx.helper.tensor_dtype_to_np_dtype(elem_type)
        if self.length is not None:
            number = self.length * times + more
            return draft.const(np.array(max(number, least or number), dtype), "size")
        assert self.value is not None
        value = self.value
        if times != 1:
            value = draft.emit("Mul", [value, draft.const(np.array(times), "times")], "size")
        if more:
            value = draft.emit("Add", [value, draft.const(np.array(more), "more")], "size")
        if least is not None:
            value = pick(draft, "Greater", value, draft.const(np.array(least), "least"))
        return value if elem_type == _T.INT64 else draft.cast(value, elem_type)


class _Tap(NamedTuple):
    """Pixels along one axis.

    Attributes:
        pixels: their numbers.
        inside: a bool for each pixel: true within the image; None where all are.
        weight: their weights; None for a single pixel.
    """

    pixels: Value
    inside: Value | None
    weight: Value | None


def sample(draft: NodeDraft) -> Value:
    """The output of a GridSample of an image.

    Raises:
        Refused: a type or rank is unknown, or a mode unsupported.
    """
    mode, elem_type, grid_type = draft.text("mode"), draft.elem_type(0), draft.elem_type(1)
    rank = draft.required_rank("a GridSample")
    if rank != 4 or elem_type is None or grid_type not in PLAIN_FLOATS:
        draft.refuse("pixel by pixel needs an image and a grid of floats or doubles")
    padding = draft.text("padding_mode")
    if mode not in _MODES or padding not in _PADDING:
        draft.refuse(f"there is no mode '{mode}', or no padding_mode '{padding}'")
    if mode != "nearest" and elem_type not in PLAIN_FLOATS:
        draft.refuse(f"mode = '{mode}' has a longer form for floats and doubles only")
    if padding == "zeros" and elem_type == _T.STRING:
        draft.refuse("strings have no zero")
    # DOUBLE has the greater number of the two.
    inner = elem_type if mode == "nearest" else max(elem_type, grid_type)
    data, shape = draft.input(0), draft.emit("Shape", [draft.input(0)], "shape")
    rows, columns = (_taps(draft, _side(draft, shape, axis), inner) for axis in (2, 3))
    last = draft.emit("Transpose", [data], "channels_last", perm=[0, 2, 3, 1])
    table = draft.emit("Flatten", [last], "table", axis=3)
    lines = _lines(draft, shape, rows)
    total: Value | None = None
    for (row, line), column in itertools.product(zip(rows, lines, strict=True), columns):
        flat = draft.emit("Add", [line, column.pixels], "flat")
        pixels = draft.emit("Gather", [table, flat], "found", axis=0)
        part = _weighed(draft, pixels, (row, column), inner)
        total = part if total is None else draft.emit("Add", [total, part], "sum")
    assert total is not None
    total = total if inner == elem_type else draft.cast(total, elem_type)
    return draft.emit("Transpose", [total], perm=[0, 3, 1, 2])


def _side(draft: NodeDraft, shape: Value, axis: int) -> _Side:
    length = (draft.shape() or [None] * 4)[axis]
    return _Side(draft, axis, length, None if length is not None else length_of(draft, shape, axis))


def _taps(draft: NodeDraft, side: _Side, inner: int) -> list[_Tap]:
    """The taps of each output along one axis."""
    mode, place = draft.text("mode"), _place(draft, side)
    if mode == "nearest":
        return [_tap(draft, side, draft.emit("Round", [place], "nearest"), None)]
    floor = draft.emit("Floor", [place], "floor")
    distance = draft.emit("Sub", [place, floor], "distance")
    if draft.elem_type(1) != inner:
        distance = draft.cast(distance, inner)
    rest = draft.emit("Sub", [scalar(draft, 1, inner), distance], "rest")
    weights = [rest, distance]
    if mode == "bicubic":
        # Of the pixels at -1, 0, 1 and 2 from the floor, of which 0 and 1 are beside the place.
        weights = [_far(draft, distance, inner), *(_near(draft, d, inner) for d in weights[::-1])]
        weights.append(_far(draft, rest, inner))
    first = -1 if mode == "bicubic" else 0
    taps = []
    for offset, weight in enumerate(weights, first):
        step = scalar(draft, offset, draft.elem_type(1) or 1)
        pixels = draft.emit("Add", [floor, step], "pixel") if offset else floor
        taps.append(_tap(draft, side, pixels, weight))
    return taps


def _place(draft: NodeDraft, side: _Side) -> Value:
    """Map coordinates from [-1, 1] to pixels; the last coordinate is for the first axis."""
    number = draft.const(np.array(3 - side.axis), "coordinate")
    coordinate = draft.emit("Gather", [draft.input(1), number], "coordinate", axis=3)
    kind = draft.elem_type(1) or _T.FLOAT
    one, half = scalar(draft, 1, kind), scalar(draft, 0.5, kind)
    moved = draft.emit("Add", [coordinate, one], "moved")
    if draft.attribute("align_corners"):
        part = draft.emit("Mul", [moved, half], "part")
        return draft.emit("Mul", [part, side.number(1, -1, kind)], "place")
    wide = draft.emit("Mul", [moved, side.number(1, 0, kind)], "wide")
    return draft.emit("Mul", [draft.emit("Sub", [wide, one]), half], "place")


def _near(draft: NodeDraft, distance: Value, elem_type: int) -> Value:
    """The cubic weight of a pixel at a distance of at most 1."""
    return polynomial(draft, distance, [_A + 2, -(_A + 3), 0, 1], elem_type)


def _far(draft: NodeDraft, distance: Value, elem_type: int) -> Value:
    """The cubic weight of a pixel at this distance plus 1."""
    return polynomial(draft, distance, [_A, -2 * _A, _A, 0], elem_type)


def _tap(draft: NodeDraft, side: _Side, pixels: Value, weight: Value | None) -> _Tap:
    """Pixels, padded where they lie outside the image."""
    kind, padding = draft.elem_type(1) or _T.FLOAT, draft.text("padding_mode")
    if padding == "reflection":
        return _Tap(_mirrored(draft, side, pixels, kind), None, weight)
    zero, last = scalar(draft, 0, kind), side.number(1, -1, kind)
    nearest = pick(draft, "Less", pick(draft, "Greater", pixels, zero), last)
    # Pixels inside are those that clipping does not move.
    inside = draft.emit("Equal", [nearest, pixels], "inside") if padding == "zeros" else None
    return _Tap(draft.emit("Cast", [nearest], "pixels", to=_T.INT64), inside, weight)


def _mirrored(draft: NodeDraft, side: _Side, pixels: Value, kind: int) -> Value:
    """Pixels mirrored at the first and last one, or at their outer edges."""
    corners = bool(draft.attribute("align_corners"))
    more = -2 if corners else 0
    # Between the corners of one pixel the period would be 0, and Mod fail.
    period = side.number(2, more, _T.INT64, least=1)
    for test, factor in (("Greater", -_FAR), ("Less", _FAR)):
        far = draft.emit("Mul", [period, draft.const(np.array(factor), "far")], "far")
        pixels = pick(draft, test, pixels, draft.cast(far, kind))
    number = draft.emit("Cast", [pixels], "pixels", to=_T.INT64)
    folded = draft.emit("Mod", [number, period], "folded")
    top = period if corners else side.number(2, -1, _T.INT64)
    return pick(draft, "Less", folded, draft.emit("Sub", [top, folded], "mirrored"))


def _lines(draft: NodeDraft, shape: Value, rows: list[_Tap]) -> list[Value]:
    """The offset of each pixel's row in a table of all pixels of all images."""
    height, width = (_side(draft, shape, axis).number(1, 0, _T.INT64) for axis in (2, 3))
    above = draft.emit("Mul", [_images(draft, shape), height], "above")
    lines = [draft.emit("Add", [above, row.pixels], "line") for row in rows]
    return [draft.emit("Mul", [line, width], "line") for line in lines]


def _weighed(draft: NodeDraft, pixels: Value, taps: tuple[_Tap, _Tap], inner: int) -> Value:
    """The weighted contribution of one pixel to each output, channels last."""
    row, column = taps
    if draft.types.elem_type(pixels) != inner:
        pixels = draft.cast(pixels, inner)
    # Selected rather than weighed by 0, which would make NaN of an infinity.
    if row.inside is not None and column.inside is not None:
        inside = draft.emit("And", [row.inside, column.inside], "inside")
        zero = scalar(draft, 0, inner)
        pixels = draft.emit("Where", [draft.unsqueeze(inside, [3]), pixels, zero], "found")
    if row.weight is None or column.weight is None:
        return pixels
    weight = draft.emit("Mul", [row.weight, column.weight], "weight")
    return draft.emit("Mul", [pixels, draft.unsqueeze(weight, [3])], "part")


def _images(draft: NodeDraft, shape: Value) -> Value:
    """The number of each image, as a tensor with two additional axes."""
    count = (draft.shape() or [None])[0]
    if count is not None:
        return draft.const(np.arange(count).reshape(-1, 1, 1), "images")
    return draft.unsqueeze(range_below(draft, length_of(draft, shape, 0), "images"), [1, 2])
