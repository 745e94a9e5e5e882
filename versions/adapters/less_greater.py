"""Less and Greater: the types that they compare.

https://onnx.ai/onnx/operators/onnx__Less.html
https://onnx.ai/onnx/operators/onnx__Greater.html

- 7: floats. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Less-7
- 9: integers. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Less-9
- 13: bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Less-13
"""

from __future__ import annotations

import onnx

from ..detours import WORDS, by_way_of

by_way_of(9, "Less", "Greater", types=WORDS, via=onnx.TensorProto.DOUBLE, inputs=(0, 1), outputs=())
