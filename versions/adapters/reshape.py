"""Reshape: what a zero in the wanted shape means.

https://onnx.ai/onnx/operators/onnx__Reshape.html

- 5: the dimension of the input. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Reshape-5
- 13: bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Reshape-13
- 14: a dimension of zero with `allowzero` = 1.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Reshape-14
- 19: 8-bit floats. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Reshape-19
- 21: 4-bit integers. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Reshape-21
- 23: float4e2m1. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Reshape-23
- 24: float8e8m0. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Reshape-24
- 25: 2-bit integers. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Reshape-25
"""

from __future__ import annotations

from ..form import writes
from ..registry import Outcome, downgrade
from ..site import Site


@downgrade(14, "Reshape", where=writes("allowzero"))
def no_zeros(site: Site) -> Outcome:
    """Before opset 14 a zero in the wanted shape copies the input's dimension."""
    if site.attribute("allowzero"):
        if (site.required_constant(1, "the wanted shape (with allowzero = 1)") == 0).any():
            site.refuse("a dimension of 0 with allowzero = 1 cannot be said in opset 13")
        site.drop("allowzero")
    return None
