"""Gemm: a product of matrices, and its bias.

- 7: three inputs, the last of which is broadcast.
- 9: 32 and 64-bit integers.
- 11: the third input may be absent.
- 13: bfloat16.
"""

from __future__ import annotations

import numpy as np

from ..node_draft import NodeDraft
from ..registry import downgrade


@downgrade(11, "Gemm", where=lambda form: form.inputs < 3)
def add_bias(draft: NodeDraft) -> None:
    """Before opset 11: a bias is required."""
    if draft.input(2) is None:
        dtype = draft.required_dtype(0, "a bias of zeros")
        # 0.0 would turn a result of -0.0 into 0.0
        draft.set_input(2, draft.const(np.full(1, -0.0, dtype), "bias"))
