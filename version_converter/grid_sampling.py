"""GridSample by gathering, weighting and adding pixels."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import onnx

from ..ir import Value
from .node_draft import Site
from .snippets import length_of, pick

_T = onnx.TensorProto
_FLOATS = (_T.FLOAT, _T.DOUBLE)
_MODES = ("bilinear", "bicubic", "nearest")
_PADDING = ("zeros", "border", "reflection")
_A = -0.75
"""The coefficient of cubic interpolation (operator specification, GridSample 16)."""

_FAR = 2**20
"""Limit in periods within which a position is mirrored; NaN becomes the first one."""


class _Side(NamedTuple):
    """One axis of the image.

    Attributes:
        axis: its number.
        length: its static length, or None.
        value: its length from run time.
    """

    site: Site
    axis: int
    length: int | None
    value: Value | None

    def number(self, times: int, more: int, elem_type: int, least: int | None = None) -> Value:
        """The length times a factor plus an offset, but at least `least`."""
        site, dtype = self.site, onnx.helper.tensor_dtype_to_np_dtype(elem_type)
        if self.length is not None:
            number = self.length * times + more
            return site.const(np.array(max(number, least or number), dtype), "size")
        assert self.value is not None
        value = self.value
        if times != 1:
            value = site.emit("Mul", [value, site.const(np.array(times), "times")], "size")
        if more:
            value = site.emit("Add", [value, site.const(np.array(more), "more")], "size")
        if least is not None:
            value = pick(site, "Greater", value, site.const(np.array(least), "least"))
        return value if elem_type == _T.INT64 else site.cast(value, elem_type)


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


def sample(site: Site) -> Value:
    """The output of a GridSample of an image.

    Raises:
        Refused: a type or rank is unknown, or a mode unsupported.
    """
    mode, elem_type, grid_type = site.text("mode"), site.elem_type(0), site.elem_type(1)
    rank = site.required_rank("a GridSample")
    if rank != 4 or elem_type is None or grid_type not in _FLOATS:
        site.refuse("pixel by pixel needs an image and a grid of floats or doubles")
    padding = site.text("padding_mode")
    if mode not in _MODES or padding not in _PADDING:
        site.refuse(f"there is no mode '{mode}', or no padding_mode '{padding}'")
    if mode != "nearest" and elem_type not in _FLOATS:
        site.refuse(f"mode = '{mode}' is written out for floats and doubles only")
    if padding == "zeros" and elem_type == _T.STRING:
        site.refuse("of text nothing says what zero is")
    inner = elem_type if mode == "nearest" else max(elem_type, grid_type)
    data, shape = site.input(0), site.emit("Shape", [site.input(0)], "shape")
    rows, columns = (_taps(site, _side(site, shape, axis), inner) for axis in (2, 3))
    last = site.emit("Transpose", [data], "channels_last", perm=[0, 2, 3, 1])
    table = site.emit("Flatten", [last], "table", axis=3)
    lines = _lines(site, shape, rows)
    total: Value | None = None
    for (row, line), column in itertools.product(zip(rows, lines, strict=True), columns):
        flat = site.emit("Add", [line, column.pixels], "flat")
        pixels = site.emit("Gather", [table, flat], "found", axis=0)
        part = _weighed(site, pixels, (row, column), inner)
        total = part if total is None else site.emit("Add", [total, part], "sum")
    assert total is not None
    total = total if inner == elem_type else site.cast(total, elem_type)
    return site.emit("Transpose", [total], perm=[0, 3, 1, 2])


def _side(site: Site, shape: Value, axis: int) -> _Side:
    length = (site.shape() or [None] * 4)[axis]
    return _Side(site, axis, length, None if length is not None else length_of(site, shape, axis))


def _taps(site: Site, side: _Side, inner: int) -> list[_Tap]:
    """The taps of each output along one axis."""
    mode, place = site.text("mode"), _place(site, side)
    if mode == "nearest":
        return [_tap(site, side, site.emit("Round", [place], "nearest"), None)]
    floor = site.emit("Floor", [place], "floor")
    distance = site.emit("Sub", [place, floor], "distance")
    if site.elem_type(1) != inner:
        distance = site.cast(distance, inner)
    rest = site.emit("Sub", [_number(site, 1, inner), distance], "rest")
    weights = [rest, distance]
    if mode == "bicubic":
        weights = [_far(site, distance, inner), *(_near(site, d, inner) for d in weights[::-1])]
        weights.append(_far(site, rest, inner))
    first = -1 if mode == "bicubic" else 0
    taps = []
    for offset, weight in enumerate(weights, first):
        step = _number(site, offset, site.elem_type(1) or 1)
        pixels = site.emit("Add", [floor, step], "pixel") if offset else floor
        taps.append(_tap(site, side, pixels, weight))
    return taps


def _place(site: Site, side: _Side) -> Value:
    """Map coordinates from [-1, 1] to pixels; the last coordinate is for the first axis."""
    number = site.const(np.array(3 - side.axis), "coordinate")
    coordinate = site.emit("Gather", [site.input(1), number], "coordinate", axis=3)
    kind = site.elem_type(1) or _T.FLOAT
    one, half = _number(site, 1, kind), _number(site, 0.5, kind)
    moved = site.emit("Add", [coordinate, one], "moved")
    if site.attribute("align_corners"):
        part = site.emit("Mul", [moved, half], "part")
        return site.emit("Mul", [part, side.number(1, -1, kind)], "place")
    wide = site.emit("Mul", [moved, side.number(1, 0, kind)], "wide")
    return site.emit("Mul", [site.emit("Sub", [wide, one]), half], "place")


def _number(site: Site, number: float, elem_type: int) -> Value:
    dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
    return site.const(np.array(number, dtype), "number")


def _polynomial(site: Site, value: Value, factors: list[float], elem_type: int) -> Value:
    total = _number(site, factors[0], elem_type)
    for factor in factors[1:]:
        total = site.emit("Mul", [total, value], "product")
        if factor:
            total = site.emit("Add", [total, _number(site, factor, elem_type)], "weight")
    return total


def _near(site: Site, distance: Value, elem_type: int) -> Value:
    """The cubic weight of a pixel at a distance of at most 1."""
    return _polynomial(site, distance, [_A + 2, -(_A + 3), 0, 1], elem_type)


def _far(site: Site, distance: Value, elem_type: int) -> Value:
    """The cubic weight of a pixel at this distance plus 1."""
    return _polynomial(site, distance, [_A, -2 * _A, _A, 0], elem_type)


def _tap(site: Site, side: _Side, pixels: Value, weight: Value | None) -> _Tap:
    """Pixels, padded where they lie outside the image."""
    kind, padding = site.elem_type(1) or _T.FLOAT, site.text("padding_mode")
    if padding == "reflection":
        return _Tap(_mirrored(site, side, pixels, kind), None, weight)
    zero, last = _number(site, 0, kind), side.number(1, -1, kind)
    nearest = pick(site, "Less", pick(site, "Greater", pixels, zero), last)
    inside = site.emit("Equal", [nearest, pixels], "inside") if padding == "zeros" else None
    return _Tap(site.emit("Cast", [nearest], "pixels", to=_T.INT64), inside, weight)


def _mirrored(site: Site, side: _Side, pixels: Value, kind: int) -> Value:
    """Pixels mirrored at the first and last one, or at their outer edges."""
    corners = bool(site.attribute("align_corners"))
    more = -2 if corners else 0
    period = side.number(2, more, _T.INT64, least=1)
    for test, factor in (("Greater", -_FAR), ("Less", _FAR)):
        far = site.emit("Mul", [period, site.const(np.array(factor), "far")], "far")
        pixels = pick(site, test, pixels, site.cast(far, kind))
    number = site.emit("Cast", [pixels], "pixels", to=_T.INT64)
    folded = site.emit("Mod", [number, period], "folded")
    top = period if corners else side.number(2, -1, _T.INT64)
    return pick(site, "Less", folded, site.emit("Sub", [top, folded], "mirrored"))


def _lines(site: Site, shape: Value, rows: list[_Tap]) -> list[Value]:
    """The offset of each pixel's row in a table of all pixels of all images."""
    height, width = (_side(site, shape, axis).number(1, 0, _T.INT64) for axis in (2, 3))
    above = site.emit("Mul", [_images(site, shape), height], "above")
    lines = [site.emit("Add", [above, row.pixels], "line") for row in rows]
    return [site.emit("Mul", [line, width], "line") for line in lines]


def _weighed(site: Site, pixels: Value, taps: tuple[_Tap, _Tap], inner: int) -> Value:
    """The weighted contribution of one pixel to each output, channels last."""
    row, column = taps
    if site.types.elem_type(pixels) != inner:
        pixels = site.cast(pixels, inner)
    if row.inside is not None and column.inside is not None:
        inside = site.emit("And", [row.inside, column.inside], "inside")
        zero = _number(site, 0, inner)
        pixels = site.emit("Where", [site.unsqueeze(inside, [3]), pixels, zero], "found")
    if row.weight is None or column.weight is None:
        return pixels
    weight = site.emit("Mul", [row.weight, column.weight], "weight")
    return site.emit("Mul", [pixels, site.unsqueeze(weight, [3])], "part")


def _images(site: Site, shape: Value) -> Value:
    """The number of each image, as a tensor with two additional axes."""
    count = (site.shape() or [None])[0]
    if count is not None:
        return site.const(np.arange(count).reshape(-1, 1, 1), "images")
    zero, one = (site.const(np.array(number), "number") for number in (0, 1))
    numbers = site.emit("Range", [zero, length_of(site, shape, 0), one], "images")
    return site.unsqueeze(numbers, [1, 2])
