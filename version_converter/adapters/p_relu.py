"""PRelu: a slope for what is below zero.

- 7: the slope broadcasts to the input.
- 9: integers.
- 16: bfloat16.
"""

from __future__ import annotations

import numpy as np

from ..node_draft import NodeDraft
from ..registry import Outcome, longer_form
from ..snippets import require_unidirectional


@longer_form(9, "PRelu")
def choose_product(draft: NodeDraft) -> Outcome:
    """Below opset 9, integers: a product where the input is negative."""
    dtype = draft.required_dtype(0, "PRelu before opset 9")
    if dtype.kind not in "iu":
        return None
    require_unidirectional(draft, 1)
    data, zero = draft.data, draft.const(np.zeros((), dtype), "zero")
    product = draft.emit("Mul", [data, draft.input(1)], "product")
    negative = draft.emit("Less", [data, zero], "negative")
    return [draft.emit("Where", [negative, product, data])]
