"""Trilu: one triangle of each matrix, zeros in the other.

https://onnx.ai/onnx/operators/onnx__Trilu.html

- 14: the operator appears. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Trilu-14
"""

from __future__ import annotations

import numpy as np

from ...ir import Value
from ..node_draft import Site
from ..registry import Outcome, downgrade
from ..snippets import length_of


@downgrade(14, "Trilu")
def triangle_by_mask(site: Site) -> Outcome:
    """Opset 13: comparison of row and column numbers."""
    dtype = site.required_dtype(0, "a matrix of zeros")
    data = site.input(0)
    if dtype.kind == "O":
        site.refuse("Trilu exists from opset 14 on, and of text nothing says what zero is")
    mask = _known_mask(site)
    if mask is None:
        mask = _mask(site)
    return [site.emit("Where", [mask, data, site.const(np.zeros((), dtype), "zero")])]


def _known_mask(site: Site) -> Value | None:
    """The constant mask of the triangle; None where it is not constant."""
    shape = site.shape()
    shift = site.constant(1) if site.input(1) is not None else np.zeros((), np.int64)
    if shape is None or len(shape) < 2 or shift is None:
        return None
    height, width = shape[-2:]
    if height is None or width is None:
        return None
    by = site.one_number(shift, "input 'k'")
    rows = np.arange(height)[:, None] + max(-height, min(by, width))
    columns = np.arange(width)
    return site.const(columns >= rows if site.attribute("upper") else columns <= rows, "mask")


def _mask(site: Site) -> Value:
    shape = site.emit("Shape", [site.input(0)], "shape")
    rows = site.unsqueeze(_count(site, shape, -2), [1])
    columns = _count(site, shape, -1)
    if site.input(1) is not None:
        # The difference, since a sum with any number may be beyond the largest one.
        columns = site.emit("Sub", [columns, rows], "distance")
        rows = site.emit("Reshape", [site.input(1), site.ints([], "rank_0")], "k")
    test = "GreaterOrEqual" if site.attribute("upper") else "LessOrEqual"
    return site.emit(test, [columns, rows], "mask")


def _count(site: Site, shape: Value, axis: int) -> Value:
    """The numbers 0, 1, ... along an axis."""
    count = length_of(site, shape, axis)
    zero, one = site.const(np.array(0), "zero"), site.const(np.array(1), "one")
    return site.emit("Range", [zero, count, one], "numbers")
