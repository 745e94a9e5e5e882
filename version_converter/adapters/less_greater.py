"""Less and Greater: the types of their operands.

- 1: floats; `broadcast` and `axis` place the second operand.
- 7: shapes broadcast.
- 9: integers.
- 13: bfloat16.
"""

import numpy as np
import onnx

from ..attribute_broadcasting import broadcasts_by_attribute
from ..node_draft import EXACT, NodeDraft
from ..registry import AdapterResult, longer_form
from ..snippets import halves
from ..via_wider_type import WORDS, Detour, compute_via

_DOUBLE = onnx.TensorProto.DOUBLE

broadcasts_by_attribute("Less", "Greater")
compute_via(9, "Less", "Greater", row=Detour(WORDS, _DOUBLE, inputs=(0, 1), outputs=()))


@longer_form(9, "Less", "Greater")
def compare_long_integers(draft: NodeDraft) -> AdapterResult:
    """Below opset 9: comparison of doubles, where one side is exact as doubles: rounding keeps the
    other on its side. Else comparison of the high halves, and of the low ones where those are
    equal."""
    op_type, pair = draft.op_type, [value for value in draft.inputs if value is not None]
    if draft.required_dtype(0, op_type) not in (np.int64, np.uint64):
        draft.refuse(f"other operators cannot express {op_type} of this type")
    if any(_is_exact(draft, index) for index in (0, 1)):
        return [draft.emit(op_type, [draft.cast(value, _DOUBLE) for value in pair])]
    parts = [[draft.cast(half, _DOUBLE) for half in halves(draft, value)] for value in pair]
    high, low = zip(*parts, strict=True)
    decided = draft.emit(op_type, high, "decided")
    against = draft.emit(op_type, high[::-1], "against")
    by_low = draft.emit("And", [draft.emit("Not", [against]), draft.emit(op_type, low)], "by_low")
    return [draft.emit("Or", [decided, by_low])]


def _is_exact(draft: NodeDraft, index: int) -> bool:
    array = draft.constant(index)
    return array is not None and bool((np.abs(array.astype(np.float64)) < EXACT).all())
