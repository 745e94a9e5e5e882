"""IsInf: test of elements for infinity.

- 10: the operator appears, for float and double.
- 20: all other floats.
"""

import numpy as np
import onnx

from ..registry import AdapterResult, NodeDraft, downgrade
from ..via_wider_type import EIGHT_BITS, Detour, compute_via

_T = onnx.TensorProto

compute_via(20, "IsInf", row=Detour((*EIGHT_BITS, _T.FLOAT16), _T.FLOAT, outputs=()))


@downgrade(10, "IsInf")
def compare_with_largest(draft: NodeDraft) -> AdapterResult:
    """Opset 9: compare with the largest finite number."""
    dtype = draft.required_dtype(0, "IsInf")
    data, largest = draft.input(0), np.array(np.finfo(dtype).max, dtype)
    tests = []
    if draft.attribute("detect_positive"):
        tests.append(draft.emit("Greater", [data, draft.const(largest, "largest")]))
    if draft.attribute("detect_negative"):
        tests.append(draft.emit("Less", [data, draft.const(-largest, "lowest")]))
    if not tests:
        never = draft.emit("Less", [data, data])
        return [never]
    return [tests[0] if len(tests) == 1 else draft.emit("Or", tests)]
