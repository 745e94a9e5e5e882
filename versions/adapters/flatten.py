"""Flatten: a matrix of the axes before one and those behind it.

https://onnx.ai/onnx/operators/onnx__Flatten.html

- 1: floats; `axis` counts from the front.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Flatten-1
- 9: all types. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Flatten-9
- 11: `axis` may be negative. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Flatten-11
- 13: bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Flatten-13
- 21: 8-bit floats, 4-bit integers.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Flatten-21
- 23: float4e2m1. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Flatten-23
- 24: float8e8m0. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Flatten-24
- 25: 2-bit integers. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Flatten-25
"""

from __future__ import annotations

from ..negative_axes import Axis, negative_axes

negative_axes("Flatten", axis=Axis("axis"))
