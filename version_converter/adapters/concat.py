"""Concat: tensors one after the other along an axis.

https://onnx.ai/onnx/operators/onnx__Concat.html

- 4: `axis` counts from the front. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Concat-4
- 11: `axis` may be negative. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Concat-11
- 13: bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Concat-13
"""

from __future__ import annotations

from ..negative_axes import Axis, negative_axes

negative_axes("Concat", axis=Axis("axis"))
