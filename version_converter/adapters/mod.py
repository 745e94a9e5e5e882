"""Mod: the remainder of a division, and the rounding of its quotient.

- 10: the operator appears; with `fmod` = 0 it is floored, and integers only.
- 13: bfloat16.
- 28: floats are floored too.
"""

import numpy as np
import onnx

from ..registry import AdapterResult, NodeDraft, downgrade
from ..via_wider_type import SHORT, Detour, compute_via

_T = onnx.TensorProto

compute_via(10, "Mod", row=Detour((*SHORT, _T.UINT32), _T.INT64, inputs=(0, 1)))


@downgrade(10, "Mod")
def subtract_quotient(draft: NodeDraft) -> AdapterResult:
    """Opset 9: the remainder of Div, which rounds towards zero. For a floored quotient its sign is
    corrected."""
    dtype = draft.required_dtype(0, "Mod")
    if dtype not in (np.int32, np.int64, np.uint64):
        # Other integers go by way of long ones.
        draft.refuse(f"Mod exists from opset 10 on, and {dtype} has no exact sum of products")
    a, b = draft.input(0), draft.input(1)
    whole = draft.emit("Mul", [draft.emit("Div", [a, b]), b])
    rest = draft.emit("Sub", [a, whole], "rest")
    if draft.attribute("fmod") or dtype.kind == "u":
        return [rest]
    zero = draft.const(np.zeros((), dtype), "zero")
    signs = [draft.emit("Less", [value, zero]) for value in (rest, b)]
    exact = draft.emit("Equal", [rest, zero])
    wrong = draft.emit("And", [draft.emit("Xor", signs), draft.emit("Not", [exact])])
    return [draft.emit("Where", [wrong, draft.emit("Add", [rest, b]), rest])]


@downgrade(28, "Mod")
def require_integers(draft: NodeDraft) -> None:
    """Before opset 28: floored quotients of integers only."""
    dtype = draft.required_dtype(0, "Mod")
    if not draft.attribute("fmod") and dtype.kind not in "iu":
        draft.refuse("fmod = 0 supports only integers in opset 27")
