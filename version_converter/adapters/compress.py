"""Compress: the slices along an axis that a condition picks.

- 9: `axis` counts from the front.
- 11: `axis` may be negative.
- 28: bfloat16.
"""

import math

import numpy as np

from ..negative_axes import Axis, negative_axes
from ..registry import AdapterResult, NodeDraft, longer_form

negative_axes("Compress", axis=Axis("axis"))


@longer_form(9, "Compress")
def gather_chosen(draft: NodeDraft) -> AdapterResult:
    """Below opset 9, a constant condition: Gather of the places where it is true."""
    condition, axis = draft.required_constant(1, "the condition"), draft.attribute("axis")
    data, numbers = draft.data, np.flatnonzero(condition).tolist()
    shape = draft.shape()
    lengths = shape if axis is None or shape is None else [draft.length(axis)]
    if numbers and (lengths is None or None in lengths):
        draft.refuse_unknown("a constant condition needs the length that it chooses from, which")
    if numbers and math.prod(length or 0 for length in lengths or ()) <= numbers[-1]:
        draft.refuse("its condition is longer than its data")
    places = draft.ints(numbers, "places")
    if axis is None:
        data = draft.emit("Reshape", [data, draft.ints([-1], "all")], "elements")
    return [draft.emit("Gather", [data, places], axis=axis or 0)]
