"""OneHot: negative indices, and negative axes.

- 9: negative indices are out of range; `axis` counts from the front, or is -1.
- 11: indices count from the back where they are negative, and so does `axis`.
- 28: bfloat16.

    y = OneHot (indices, 3, values)
->  (opset 9 to 8)
    y = Where (Equal (Unsqueeze (indices), [0, 1, 2]), Gather (values, 1), Gather (values, 0))
"""

from __future__ import annotations

import numpy as np
import onnx

from ...ir import Value
from ..negative_axes import Axis, negative_axes
from ..node_draft import NodeDraft
from ..registry import Outcome, downgrade, longer_form
from ..snippets import numbers_below

_MOST_KNOWN = 1 << 16
"""Limit of classes up to which their numbers are a constant."""

negative_axes("OneHot", axis=Axis("axis", added=1, at_rest=-1))


@downgrade(11, "OneHot")
def wrap_indices(draft: NodeDraft) -> None:
    """Before opset 11: a negative index, which counts from the back later, is out of range."""
    indices = draft.input(0)
    constant = draft.constant(0)
    dtype = draft.required_dtype(0, "an index that may be negative")
    if dtype.kind == "u" or (constant is not None and (constant >= 0).all()):
        return
    if dtype not in (np.int32, np.int64, np.float32, np.float64):
        draft.refuse(f"an index of type {dtype} that may be negative cannot be wrapped in opset 10")
    zero = draft.const(np.zeros((), dtype), "zero")
    scalar = draft.emit("Reshape", [draft.input(1), draft.ints([], "rank_0")], "depth")
    depth = draft.emit("Cast", [scalar], "depth", to=draft.elem_type(0))
    wrapped = draft.emit("Add", [indices, depth], "wrapped")
    # A still negative index was out of range, and becomes too large, since runtimes wrap once more.
    beyond = draft.emit("Less", [wrapped, zero], "beyond")
    wrapped = draft.emit("Where", [beyond, depth, wrapped], "wrapped")
    negative = draft.emit("Less", [indices, zero], "negative")
    draft.set_input(0, draft.emit("Where", [negative, wrapped, indices], "indices"))


@longer_form(9, "OneHot")
def compare_with_each_class(draft: NodeDraft) -> Outcome:
    """Below opset 9: comparison of the index with each class. An index out of range equals none of
    these."""
    dtype = draft.required_dtype(0, "a comparison with each class")
    if dtype.kind not in "iu":
        draft.refuse(f"an index of type {dtype} may be no whole number")
    rank, axis = draft.required_rank("the axis of the classes"), draft.attribute("axis")
    axis = rank if axis == -1 else axis
    if not 0 <= axis <= rank:
        draft.refuse(f"its result has no axis {axis}")
    numbers = draft.emit("Cast", [draft.input(0)], "numbers", to=onnx.TensorProto.INT64)
    shape = draft.ints([-1] + [1] * (rank - axis), "shape")
    classes = draft.emit("Reshape", [_classes(draft), shape], "classes")
    is_it = draft.emit("Equal", [draft.unsqueeze(numbers, [axis]), classes], "is_it")
    off, on = (
        draft.emit("Gather", [draft.input(2), draft.const(np.array(place), "place")], "value")
        for place in (0, 1)
    )
    return [draft.emit("Where", [is_it, on, off])]


def _classes(draft: NodeDraft) -> Value:
    """The numbers of the classes, as a vector."""
    depth = draft.constant(1)
    if depth is not None:
        count = draft.one_number(depth, "input 'depth'")
        if not 0 <= count < np.inf:
            draft.refuse(f"there are no {count} classes")
        if count <= _MOST_KNOWN:
            return draft.ints(range(int(count)), "numbers")
    length = draft.emit("Cast", [draft.input(1)], "depth", to=onnx.TensorProto.INT64)
    if draft.rank(1) == 0:
        length = draft.unsqueeze(length, [0])
    elif draft.rank(1) != 1:
        length = draft.emit("Reshape", [length, draft.ints([1], "rank_1")], "depth")
    return numbers_below(draft, length)
