"""If: types and shapes of its outputs.

https://onnx.ai/onnx/operators/onnx__If.html

- 1: tensors of the same shapes. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#If-1
- 11: the shapes may differ. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#If-11
- 13: sequences. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#If-13
- 16: optionals, bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#If-16
- 19: 8-bit floats. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#If-19
- 21: 4-bit integers. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#If-21
- 23: float4e2m1. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#If-23
- 24: float8e8m0. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#If-24
- 25: 2-bit integers. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#If-25
"""

from __future__ import annotations

from ..node_draft import NodeDraft
from ..registry import downgrade


@downgrade(11, "If")
def require_equal_shapes(draft: NodeDraft) -> None:
    """Before opset 11: branches with outputs of the same shapes."""
    bodies = (draft.body("then_branch"), draft.body("else_branch"))
    for one, other in zip(bodies[0].outputs, bodies[1].outputs, strict=True):
        a, b = draft.types.shape(one), draft.types.shape(other)
        if a is None or b is None:
            continue
        differ = any(x is not None and y is not None and x != y for x, y in zip(a, b, strict=False))
        if len(a) != len(b) or differ:
            draft.refuse(f"its branches give the shapes {a} and {b}, and opset 10 wants one")
