"""Relu: the types of its input.

https://onnx.ai/onnx/operators/onnx__Relu.html

- 6: floats. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Relu-6
- 13: bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Relu-13
- 14: signed integers. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Relu-14
"""

from __future__ import annotations

import numpy as np

from ..node_draft import NodeDraft
from ..registry import Outcome, downgrade


@downgrade(14, "Relu", kinds="i")
def clamp_integers(draft: NodeDraft) -> Outcome:
    """Before opset 14: floats only; Max for integers."""
    dtype = draft.required_dtype(0, "Relu before opset 14")
    if dtype.kind != "i":
        return None
    return [draft.emit("Max", [draft.input(0), draft.const(np.zeros((), dtype), "zero")])]
