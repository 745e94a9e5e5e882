"""Gemm: a product of matrices, and its bias.

- 1: floats, three inputs; the last is broadcast with `broadcast` = 1.
- 7: it is always broadcast, in one direction.
- 9: 32 and 64-bit integers.
- 11: the third input may be absent.
- 13: bfloat16.
"""

import numpy as np

from ..form import writes
from ..registry import AdapterResult, NodeDraft, downgrade, longer_form, upgrade


@upgrade(7, "Gemm", where=writes("broadcast"))
def drop_broadcast(draft: NodeDraft) -> None:
    """Opset 7: a bias of all elements, of one row, or of one number broadcasts by its shape."""
    draft.drop("broadcast")


@downgrade(11, "Gemm", where=lambda form: form.inputs < 3)
def add_bias(draft: NodeDraft) -> None:
    """Before opset 11: a bias is required."""
    if draft.input(2) is None:
        dtype = draft.required_dtype(0, "a bias of zeros")
        # 0.0 would turn a result of -0.0 into 0.0
        draft.set_input(2, draft.const(np.full(1, -0.0, dtype), "bias"))


@longer_form(9, "Gemm")
def multiply_and_add(draft: NodeDraft) -> AdapterResult:
    """Below opset 9, integers: a MatMul and a sum, without other factors than 1."""
    if draft.required_dtype(0, "Gemm before opset 9").kind not in "iu":
        return None
    if (draft.attribute("alpha"), draft.attribute("beta")) != (1, 1):
        draft.refuse("factors of integers other than 1 have no agreed meaning")
    one, other = (
        draft.emit("Transpose", [draft.required(index)], perm=[1, 0])
        if draft.attribute(name)
        else draft.required(index)
        for index, name in enumerate(("transA", "transB"))
    )
    product = draft.emit("MatMul", [one, other], "product")
    return [draft.emit("Add", [product, draft.input(2)])]
