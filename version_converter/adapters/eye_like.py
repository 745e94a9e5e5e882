"""EyeLike: ones on a diagonal.

- 9: the operator appears.
- 22: bfloat16.
"""

import numpy as np
import onnx

from ..constants import is_small
from ..registry import AdapterResult, NodeDraft, longer_form
from ..snippets import length_of, numbers_below


@longer_form(9, "EyeLike")
def compare_rows_and_columns(draft: NodeDraft) -> AdapterResult:
    """Below opset 9: a constant, or a comparison of row and column numbers."""
    elem_type = draft.attribute("dtype") or draft.elem_type(0)
    if not elem_type:
        draft.refuse_unknown("its element type is the input's, which")
    if elem_type == onnx.TensorProto.STRING:
        draft.refuse("strings have neither a one nor a zero")
    shape, by = draft.shape(), draft.attribute("k")
    if shape is not None and len(shape) != 2:
        draft.refuse("it supports only matrices")
    rows, columns = shape or (None, None)
    if rows is not None and columns is not None and is_small((rows, columns)):
        dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
        return [draft.const(np.eye(rows, columns, k=by).astype(dtype), "eye")]
    around = draft.emit("Shape", [draft.input(0)], "shape")
    down, along = (numbers_below(draft, length_of(draft, around, axis, rank=1)) for axis in (0, 1))
    moved = draft.emit("Add", [draft.unsqueeze(down, [1]), draft.const(np.array(by), "k")], "moved")
    return [draft.emit("Cast", [draft.emit("Equal", [moved, along], "meet")], to=elem_type)]
