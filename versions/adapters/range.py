"""Range: numbers at equal distances.

https://onnx.ai/onnx/operators/onnx__Range.html

- 11: the operator appears. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Range-11
- 27: 16-bit floats, and `stash_type`, which speaks of these only.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Range-27
"""

from __future__ import annotations

from ..registry import harmless

# It matters for 16-bit floats only, which Range does not take before opset 27.
harmless("Range", attribute="stash_type")
