"""Scatter, ScatterElements and ScatterND: what becomes of the elements that are there.

https://onnx.ai/onnx/operators/onnx__Scatter.html
https://onnx.ai/onnx/operators/onnx__ScatterElements.html
https://onnx.ai/onnx/operators/onnx__ScatterND.html

- 9: Scatter appears. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Scatter-9
- 11: its name is ScatterElements; ScatterND appears.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#ScatterElements-11
- 13: bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#ScatterElements-13
- 16: `reduction` adds or multiplies instead of replacing.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#ScatterElements-16
- 18: `reduction` = "max" and "min".
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#ScatterElements-18
"""

from __future__ import annotations

from ..flat_indices import as_int64, depth_of, flat_index, lengths
from ..registry import Outcome, added_values, downgrade, longer_form, upgrade
from ..site import Site


@upgrade(11, "Scatter")
def to_scatter_elements(site: Site) -> Outcome:
    """The same operator under another name."""
    site.op_type = "ScatterElements"
    return None


@downgrade(11, "ScatterElements")
def to_scatter(site: Site) -> Outcome:
    """The same operator under its old name."""
    site.op_type = "Scatter"
    return None


@longer_form(11, "ScatterND")
def scatter_rows(site: Site) -> Outcome:
    """Below opset 11: ScatterElements in the first axes made one, all the others being one more."""
    data, updates, depth, indices = site.input(0), site.input(2), depth_of(site), as_int64(site, 1)
    assert data is not None
    flat = flat_index(site, data, indices, depth)
    width = site.emit("ReduceProd", [lengths(site, data, depth)], "width", axes=[0], keepdims=1)
    rows = site.emit("Concat", [site.ints([-1], "all"), width], "rows", axis=0)
    table, new = (site.emit("Reshape", [value, rows], "table") for value in (data, updates))
    column = site.emit("Reshape", [flat, site.ints([-1, 1], "column")], "places")
    places = site.emit("Expand", [column, site.emit("Shape", [new], "shape")], "places")
    changed = site.emit("ScatterElements", [table, places, new], "changed", axis=0)
    return [site.emit("Reshape", [changed, site.emit("Shape", [data], "shape")])]


added_values(18, "ScatterElements", "ScatterND", attribute="reduction", values=[b"max", b"min"])
