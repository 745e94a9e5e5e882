"""TensorScatter: updates of a cache from a position on, one for each row of a batch.

- 24: the operator appears.
"""

import numpy as np

from ...ir import Value
from ..registry import AdapterResult, NodeDraft, longer_form
from ..snippets import axis_length, length_of, pick, range_below


@longer_form(24, "TensorScatter")
def scatter_at_places(draft: NodeDraft) -> AdapterResult:
    """Below opset 24: ScatterElements at counted positions."""
    axis = draft.required_axis(draft.attribute("axis"), "TensorScatter before opset 24")
    mode, rank = draft.text("mode"), draft.required_rank("TensorScatter before opset 24")
    if mode not in ("linear", "circular") or axis == 0:
        draft.refuse(f"there is no mode '{mode}', or its axis is the batch axis")
    update = draft.required(1)
    shape = draft.emit("Shape", [update], "shape")
    places = _numbers(draft, shape, axis)
    starts = draft.input(2)
    if starts is not None:
        rows = draft.unsqueeze(starts, [1])
        places = draft.emit("Add", [rows, places], "places")
    if mode == "circular":
        length = axis_length(draft, axis)
        if not draft.length(axis):
            length = pick(draft, "Greater", length, draft.const(np.array(1), "one"))
        places = draft.emit("Mod", [places, length], "places")
    absent = [*range(int(starts is not None), axis), *range(axis + 1, rank)]
    if absent:
        places = draft.unsqueeze(places, absent)
    places = draft.emit("Expand", [places, shape], "places")
    return [draft.emit("ScatterElements", [draft.data, places, update], axis=axis)]


def _numbers(draft: NodeDraft, shape: Value, axis: int) -> Value:
    """The numbers 0, 1, ... below the length of the update."""
    sizes = draft.shape(1)
    length = None if sizes is None else sizes[axis]
    if length is not None:
        return draft.const(np.arange(length), "numbers")
    return range_below(draft, length_of(draft, shape, axis), "numbers")
