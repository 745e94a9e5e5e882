"""PRelu: a slope for what is below zero.

- 1: one slope, or one for each channel.
- 7: the slope broadcasts to the input.
- 9: integers.
- 16: bfloat16.
"""

import numpy as np

from ..registry import AdapterResult, NodeDraft, longer_form, upgrade
from ..snippets import require_unidirectional


@upgrade(7, "PRelu")
def align_channels(draft: NodeDraft) -> None:
    """Opset 7: axes of length 1 put slopes at axis 1, where the channels are."""
    if draft.required_rank("slopes of channels", 1) != 1 or draft.shape(1) == [1]:
        return
    rank = draft.required_rank("slopes of channels")
    if rank > 2:
        draft.set_input(1, draft.unsqueeze(draft.required(1), range(1, rank - 1)))


@longer_form(9, "PRelu")
def choose_product(draft: NodeDraft) -> AdapterResult:
    """Below opset 9, integers: a product where the input is negative."""
    dtype = draft.required_dtype(0, "PRelu before opset 9")
    if dtype.kind not in "iu":
        return None
    require_unidirectional(draft, 1)
    data, zero = draft.data, draft.const(np.zeros((), dtype), "zero")
    product = draft.emit("Mul", [data, draft.input(1)], "product")
    negative = draft.emit("Less", [data, zero], "negative")
    return [draft.emit("Where", [negative, product, data])]
