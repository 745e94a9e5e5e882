"""Shape: its range of axes.

- 1: all of them.
- 15: from `start` to `end`.
- 13, 19, 21, 23, 24 and 25: more types.
"""

import numpy as np

from ..registry import AdapterResult, NodeDraft, downgrade


@downgrade(15, "Shape")
def slice_shape(draft: NodeDraft) -> AdapterResult:
    """Before opset 15: a Slice of the whole shape."""
    start, end = draft.attribute("start"), draft.attribute("end")
    if not start and end is None:
        return None
    shape = draft.emit("Shape", [draft.input(0)], "shape")
    last = np.iinfo(np.int64).max if end is None else end
    starts, ends = draft.ints([start], "start"), draft.ints([last], "end")
    return [draft.emit("Slice", [shape, starts, ends])]
