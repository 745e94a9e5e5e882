"""Sign: -1, 0 or 1.

- 9: the operator appears.
- 13: bfloat16.
"""

import numpy as np
import onnx

from ..registry import AdapterResult, NodeDraft, longer_form


@longer_form(9, "Sign")
def subtract_comparisons(draft: NodeDraft) -> AdapterResult:
    """Below opset 9: (x > 0) - (x < 0). It is 0 for NaN, which 0 / 0 restores."""
    dtype, elem_type = draft.required_dtype(0, "Sign"), draft.elem_type(0) or 0
    data, zero = draft.input(0), draft.const(np.zeros((), dtype), "zero")
    inner = elem_type if dtype.kind == "f" else onnx.TensorProto.INT32
    above, below = (
        draft.emit("Cast", [draft.emit(test, [data, zero])], to=inner)
        for test in ("Greater", "Less")
    )
    sign = draft.emit("Sub", [above, below], "sign")
    if dtype.kind != "f":
        return [draft.emit("Cast", [sign], to=elem_type)]
    is_nan = draft.emit("IsNaN", [data], "is_nan")
    number = draft.emit("Cast", [draft.emit("Not", [is_nan])], "number", to=inner)
    return [draft.emit("Div", [sign, number])]
