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

from ..registry import Outcome, added_values, downgrade, upgrade
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


added_values(18, "ScatterElements", "ScatterND", attribute="reduction", values=[b"max", b"min"])
