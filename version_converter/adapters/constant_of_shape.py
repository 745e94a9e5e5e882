"""ConstantOfShape: one element, repeated to a shape.

https://onnx.ai/onnx/operators/onnx__ConstantOfShape.html

- 9: the operator appears.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#ConstantOfShape-9
- 20: bfloat16, 8-bit floats.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#ConstantOfShape-20
- 21: 4-bit integers. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#ConstantOfShape-21
- 23: float4e2m1. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#ConstantOfShape-23
- 24: float8e8m0. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#ConstantOfShape-24
- 25: 2-bit integers. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#ConstantOfShape-25
"""

from __future__ import annotations

import numpy as np
import onnx

from ..node_draft import NodeDraft
from ..registry import Outcome, downgrade


@downgrade(9, "ConstantOfShape")
def expand_value(draft: NodeDraft) -> Outcome:
    """Opset 8: expand one element."""
    message = draft.attribute("value")
    value = np.zeros(1, np.float32) if message is None else onnx.numpy_helper.to_array(message)
    draft.one_number(value, "'value'")
    element = draft.const(value.reshape(()), "value")
    return [draft.emit("Expand", [element, draft.input(0)])]
