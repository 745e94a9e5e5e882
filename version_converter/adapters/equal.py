"""Equal: the types of its operands.

- 1: truth values and 32 and 64-bit integers; `broadcast` and `axis` place the second operand.
- 7: shapes broadcast.
- 11: all numbers.
- 13 and 19: more types.
"""

import numpy as np
import onnx

from ..attribute_broadcasting import broadcasts_by_attribute
from ..registry import AdapterResult, NodeDraft, downgrade, longer_form
from ..snippets import halves, is_float
from ..via_wider_type import SHORT, Detour, compute_via

_T = onnx.TensorProto

broadcasts_by_attribute("Equal")
compute_via(11, "Equal", row=Detour((*SHORT, _T.UINT32), _T.INT64, inputs=(0, 1), outputs=()))


@downgrade(11, "Equal")
def compare_floats(draft: NodeDraft) -> AdapterResult:
    """Before opset 11: no floats; equal is neither less, nor greater, nor NaN."""
    if not is_float(draft):
        return None
    pair = [draft.input(0), draft.input(1)]
    differ = draft.emit("Or", [draft.emit("Less", pair), draft.emit("Greater", pair)])
    nan = draft.emit("Or", [draft.emit("IsNaN", [value]) for value in pair])
    return [draft.emit("Not", [draft.emit("Or", [differ, nan])])]


@longer_form(11, "Equal")
def compare_halves(draft: NodeDraft) -> AdapterResult:
    """Below opset 11: comparison of both halves of unsigned integers, as signed ones."""
    if draft.required_dtype(0, "Equal") != np.uint64:
        draft.refuse("other operators cannot express Equal of this type")
    pair = [value for value in draft.inputs if value is not None]
    parts = [[draft.cast(h, onnx.TensorProto.INT64) for h in halves(draft, v)] for v in pair]
    return [draft.emit("And", [draft.emit("Equal", same) for same in zip(*parts, strict=True)])]
