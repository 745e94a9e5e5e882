"""IsNaN: test of elements for NaN.

- 9: the operator appears.
- 13: bfloat16.
- 20: 8-bit floats.
"""

import numpy as np
import onnx

from ..registry import AdapterResult, NodeDraft, downgrade
from ..via_wider_type import EIGHT_BITS, Detour, compute_via

compute_via(20, "IsNaN", row=Detour(EIGHT_BITS, onnx.TensorProto.FLOAT, outputs=()))


@downgrade(9, "IsNaN")
def compare_with_bounds(draft: NodeDraft) -> AdapterResult:
    """Opset 8: every number is below one or above zero."""
    dtype = draft.required_dtype(0, "IsNaN")
    data = draft.input(0)
    below = draft.emit("Less", [data, draft.const(np.ones((), dtype), "one")])
    above = draft.emit("Greater", [data, draft.const(np.zeros((), dtype), "zero")])
    return [draft.emit("Not", [draft.emit("Or", [below, above])])]
