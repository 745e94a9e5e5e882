"""Relu: the types of its input.

- 6: floats.
- 13: bfloat16.
- 14: signed integers.
"""

import numpy as np

from ..registry import AdapterResult, NodeDraft, downgrade


@downgrade(14, "Relu", kinds="i")
def clamp_integers(draft: NodeDraft) -> AdapterResult:
    """Before opset 14: floats only; Max for integers."""
    dtype = draft.required_dtype(0, "Relu before opset 14")
    if dtype.kind != "i":
        return None
    return [draft.emit("Max", [draft.input(0), draft.const(np.zeros((), dtype), "zero")])]
