"""Compress: the slices along an axis that a condition picks.

https://onnx.ai/onnx/operators/onnx__Compress.html

- 9: `axis` counts from the front.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Compress-9
- 11: `axis` may be negative. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Compress-11
- 28: bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Compress-28
"""

from __future__ import annotations

from ..negative_axes import Axis, negative_axes

negative_axes("Compress", axis=Axis("axis"))
