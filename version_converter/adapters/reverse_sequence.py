"""ReverseSequence: reversal of each row up to its length.

- 10: the operator appears.
- 28: bfloat16.
"""

from __future__ import annotations

import numpy as np

from ..flat_indices import rows
from ..node_draft import NodeDraft
from ..registry import Outcome, longer_form


@longer_form(10, "ReverseSequence")
def gather_backwards(draft: NodeDraft) -> Outcome:
    """Below opset 10: Gather along the merged first axes, from constant positions."""
    lengths, shape = draft.required_constant(1, "the lengths"), draft.shape()
    time, data = draft.attribute("time_axis"), draft.input(0)
    if data is None or shape is None or len(shape) < 2 or None in shape[:2]:
        draft.refuse_unknown("places need the lengths of the first two axes; one of them")
    sizes = [length or 0 for length in shape[:2]]
    if {time, draft.attribute("batch_axis")} != {0, 1}:
        draft.refuse("its two axes are not the first two")
    if lengths.shape != (sizes[1 - time],) or not ((lengths >= 0) & (lengths <= sizes[time])).all():
        draft.refuse("its lengths are not one for each row, or longer than these")
    steps = np.arange(sizes[time])[None]
    limits = lengths.astype(np.int64)[:, None]
    places = np.where(steps < limits, limits - 1 - steps, steps)
    batch = np.arange(sizes[1 - time])[:, None]
    flat = batch * sizes[1] + places if time else (places * sizes[1] + batch).T
    table = rows(draft, data, 2)
    return [draft.emit("Gather", [table, draft.const(flat, "places")], axis=0)]
