"""Shrink: numbers nearer to zero, and zero around it.

- 9: the operator appears.
"""

import numpy as np

from ..registry import AdapterResult, NodeDraft, longer_form


@longer_form(9, "Shrink")
def shrink_by_comparison(draft: NodeDraft) -> AdapterResult:
    """Below opset 9: the definition. NaN is beyond no bound, and becomes zero."""
    dtype = draft.required_dtype(0, "Shrink")
    if dtype.kind != "f":
        draft.refuse("below opset 9 it supports only floats")
    data = draft.input(0)
    bound, bias = (np.array(draft.attribute(name), dtype) for name in ("lambd", "bias"))
    zero, shift = draft.const(np.zeros((), dtype), "zero"), draft.const(bias, "bias")
    above = draft.emit("Greater", [data, draft.const(bound, "upper")], "above")
    below = draft.emit("Less", [data, draft.const(-bound, "lower")], "below")
    upper = draft.emit("Where", [above, draft.emit("Sub", [data, shift]), zero], "upper")
    return [draft.emit("Where", [below, draft.emit("Add", [data, shift]), upper])]
