"""Squeeze and Unsqueeze: which axes of length 1.

https://onnx.ai/onnx/operators/onnx__Squeeze.html
https://onnx.ai/onnx/operators/onnx__Unsqueeze.html

- 1: `axes` is an attribute. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Squeeze-1
- 11: axes may be negative. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Squeeze-11
- 13: `axes` is an input; bfloat16.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Squeeze-13
- 21: 8-bit floats, 4-bit integers.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Squeeze-21
- 23: float4e2m1. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Squeeze-23
- 24: float8e8m0. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Squeeze-24
- 25: 2-bit integers. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Squeeze-25
"""

from __future__ import annotations

from ..moves import Move, moved
from ..negative_axes import Axis, negative_axes

negative_axes("Squeeze", axis=Axis("axes"))
negative_axes("Unsqueeze", axis=Axis("axes", adds_itself=True))
moved(13, "Squeeze", "Unsqueeze", moves=[Move("axes", 1, "ints")])
