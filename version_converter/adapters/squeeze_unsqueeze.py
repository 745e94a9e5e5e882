"""Squeeze and Unsqueeze: axes of length 1.

- 1: `axes` is an attribute.
- 11: axes may be negative.
- 13: `axes` is an input; bfloat16.
- 21, 23, 24 and 25: more types.
"""

from ...ir import Value
from ..attribute_to_input import Move, move_attributes
from ..chosen_axes import ChosenAxes
from ..negative_axes import Axis, negative_axes
from ..registry import AdapterResult, NodeDraft, longer_form
from ..snippets import reshape_with_zeros

negative_axes("Squeeze", axis=Axis("axes"))
negative_axes("Unsqueeze", axis=Axis("axes", adds_itself=True))
move_attributes(13, "Squeeze", "Unsqueeze", moves=[Move("axes", 1, "ints")])


@longer_form(13, "Squeeze")
def reshape_without_axes(draft: NodeDraft) -> AdapterResult:
    """Below opset 13, run-time axes: Reshape to the shape without these."""
    chosen = ChosenAxes(draft)
    if not chosen.other_count:
        return [draft.emit("Reshape", [draft.input(0), draft.ints([], "rank_0")])]
    shape = draft.emit("Shape", [draft.input(0)], "shape")
    return [_in_shape(draft, draft.emit("Gather", [shape, chosen.others()], "lengths", axis=0))]


@longer_form(13, "Unsqueeze")
def reshape_with_ones(draft: NodeDraft) -> AdapterResult:
    """Below opset 13, run-time axes: Reshape to ones, with the data's lengths scattered to the
    other axes."""
    chosen = ChosenAxes(draft, of_output=True)
    ones = draft.ints([1] * chosen.rank, "ones")
    if not chosen.other_count:
        return [draft.emit("Reshape", [draft.input(0), ones])]
    shape = draft.emit("Shape", [draft.input(0)], "shape")
    return [
        _in_shape(
            draft, draft.emit("ScatterElements", [ones, chosen.others(), shape], "lengths", axis=0)
        )
    ]


def _in_shape(draft: NodeDraft, shape: Value) -> Value:
    """Reshape the data to a run-time shape, in which zeros mean zero."""
    dims = draft.shape()
    if dims is not None and all(dims):
        return draft.emit("Reshape", [draft.data, shape])
    return reshape_with_zeros(draft, draft.data, shape)
