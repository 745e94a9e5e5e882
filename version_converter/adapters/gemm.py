"""Gemm: a product of matrices, and its bias.

https://onnx.ai/onnx/operators/onnx__Gemm.html

- 7: three inputs, the last of which is broadcast.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Gemm-7
- 9: 32 and 64-bit integers. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Gemm-9
- 11: the third input may be absent.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Gemm-11
- 13: bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Gemm-13
"""

from __future__ import annotations

import numpy as np

from ..node_draft import NodeDraft
from ..registry import downgrade


@downgrade(11, "Gemm", where=lambda form: form.inputs < 3)
def add_bias(draft: NodeDraft) -> None:
    """Before opset 11: a bias is required."""
    if draft.input(2) is None:
        dtype = draft.required_dtype(0, "a bias of zeros")
        draft.set_input(2, draft.const(np.zeros(1, dtype), "bias"))
