"""Trilu: one triangle of each matrix, zeros in the other.

https://onnx.ai/onnx/operators/onnx__Trilu.html

- 14: the operator appears. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Trilu-14
"""

from __future__ import annotations

import numpy as np

from ...ir import Value
from ..phrases import length_of
from ..registry import Outcome, downgrade
from ..site import Site


@downgrade(14, "Trilu")
def triangle_by_mask(site: Site) -> Outcome:
    """Opset 13: compare the numbers of rows and columns."""
    dtype = site.required_dtype(0, "a matrix of zeros")
    data = site.input(0)
    shape = site.emit("Shape", [data], "shape")
    rows = site.unsqueeze(_count(site, shape, -2), [1])
    columns = _count(site, shape, -1)
    if site.input(1) is not None:
        shift = site.emit("Reshape", [site.input(1), site.ints([], "rank_0")], "k")
        rows = site.emit("Add", [rows, shift], "rows")
    test = "GreaterOrEqual" if site.attribute("upper") else "LessOrEqual"
    mask = site.emit(test, [columns, rows], "mask")
    return [site.emit("Where", [mask, data, site.const(np.zeros((), dtype), "zero")])]


def _count(site: Site, shape: Value, axis: int) -> Value:
    """The numbers 0, 1, ... along an axis."""
    count = length_of(site, shape, axis)
    zero, one = site.const(np.array(0), "zero"), site.const(np.array(1), "one")
    return site.emit("Range", [zero, count, one], "numbers")
