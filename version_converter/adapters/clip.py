"""Clip: bounds that were attributes and are inputs.

- 6: `min` and `max` are attributes, by default the lowest and the largest 32-bit float.
- 11: they are inputs of the type of the data; one that is absent is no bound.
- 12: integers.
- 13: bfloat16.
"""

from __future__ import annotations

import numpy as np

from ..attribute_to_input import Move, move_attributes, single
from ..node_draft import NodeDraft
from ..registry import Outcome, downgrade, longer_form
from ..snippets import is_float, pick


@downgrade(12, "Clip")
def clip_integers(draft: NodeDraft) -> Outcome:
    """Before opset 12: floats only. The upper bound is applied last, so that it wins."""
    if is_float(draft):
        return None
    value, low, high = draft.data, draft.input(1), draft.input(2)
    if low is not None:
        value = pick(draft, "Greater", value, low)
    if high is not None:
        value = pick(draft, "Less", value, high)
    return [value if value is not draft.input(0) else draft.emit("Identity", [value])]


@downgrade(11, "Clip")
def clip_to_crossed_bounds(draft: NodeDraft) -> Outcome:
    """Clip by crossed bounds to `max`: runtimes refuse attributes with the larger `min`."""
    low, high = draft.constant(1), draft.constant(2)
    if low is None or high is None or low.size != 1 or high.size != 1 or not (low > high).all():
        return None
    least, most = single(draft, "min", low), single(draft, "max", high)
    raised = draft.emit("Clip", [draft.input(0)], "raised", min=least, max=np.inf)
    return [draft.emit("Clip", [raised], min=-np.inf, max=most)]


@longer_form(11, "Clip")
def clip_at_run_time(draft: NodeDraft) -> Outcome:
    """Below opset 11: run-time bounds by Max and Min."""
    value = draft.input(0)
    for index, op_type in ((1, "Max"), (2, "Min")):
        bound = draft.input(index)
        if bound is not None:
            number = draft.emit("Reshape", [bound, draft.ints([], "rank_0")], "bound")
            value = draft.emit(op_type, [value, number])
    return [value]


move_attributes(
    11,
    "Clip",
    # Infinities pass an absent bound, and not the older version's default, the largest float.
    moves=[
        Move("min", 1, "like data", absent=-np.inf),
        Move("max", 2, "like data", absent=np.inf),
    ],
)
