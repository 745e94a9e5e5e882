"""Softplus: log (1 + exp (x)).

https://onnx.ai/onnx/operators/onnx__Softplus.html

- 1: the operator appears. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Softplus-1
- 22: bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Softplus-22
"""

from __future__ import annotations

from ..registry import inexact_body

# log (exp (x) + 1) overflows, and is 0 where little is added to 1.
inexact_body("Softplus")
