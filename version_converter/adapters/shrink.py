"""Shrink: numbers nearer to zero, and zero around it.

- 9: the operator appears.
"""

import math

import numpy as np

from ..registry import INEXACT_BODIES, AdapterResult, NodeDraft, longer_form

# It casts the attributes of integers, of which onnxruntime casts the results.
INEXACT_BODIES.add("Shrink")


@longer_form(9, "Shrink")
def shrink_by_comparison(draft: NodeDraft) -> AdapterResult:
    """The definition. NaN is beyond no bound, and becomes zero."""
    dtype = draft.required_dtype(0, "Shrink")
    bound, bias = draft.attribute("lambd"), draft.attribute("bias")
    if dtype.kind != "f":
        whole = dtype.kind == "i" and bias % 1 == 0
        if not (whole and max(abs(bound), abs(bias)) < np.iinfo(dtype).max):
            draft.refuse("it computes with floats and cuts the digits off")
        bound = math.floor(bound)  # the same integers are above
    data = draft.input(0)
    zero, shift = (
        draft.const(np.array(n, dtype), label) for n, label in ((0, "zero"), (bias, "bias"))
    )
    above = draft.emit("Greater", [data, draft.const(np.array(bound, dtype), "upper")], "above")
    below = draft.emit("Less", [data, draft.const(np.array(-bound, dtype), "lower")], "below")
    upper = draft.emit("Where", [above, draft.emit("Sub", [data, shift]), zero], "upper")
    return [draft.emit("Where", [below, draft.emit("Add", [data, shift]), upper])]
