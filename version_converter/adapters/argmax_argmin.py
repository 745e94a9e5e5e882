"""ArgMax and ArgMin: the index of the extreme along an axis.

- 1: the index of the first of equal elements; `axis` counts from the front.
- 11: `axis` may be negative.
- 12: `select_last_index` asks for the last of equal elements.
- 13: bfloat16.
"""

import numpy as np

from ..negative_axes import Axis, negative_axes
from ..registry import AdapterResult, NodeDraft, downgrade
from ..snippets import length_of

negative_axes("ArgMax", "ArgMin", axis=Axis("axis"))


@downgrade(12, "ArgMax", "ArgMin")
def first_index(draft: NodeDraft) -> AdapterResult:
    """Before opset 12: the first of equal elements; the last one is the first of flipped data."""
    last = draft.attribute("select_last_index")
    draft.drop("select_last_index")
    if not last:
        return None
    axis = draft.attribute("axis")
    data = draft.input(0)
    one = draft.ints([axis], "axis")
    starts, ends = draft.ints([-1], "last"), draft.ints([np.iinfo(np.int64).min], "first")
    flipped = draft.emit("Slice", [data, starts, ends, one, draft.ints([-1], "step")], "flipped")
    index = draft.emit(draft.op_type, [flipped], "found", attributes=draft.attributes)
    count = length_of(draft, draft.emit("Shape", [data], "shape"), axis)
    one_less = draft.emit("Sub", [count, draft.const(np.array(1, np.int64), "one")])
    return [draft.emit("Sub", [one_less, index])]
