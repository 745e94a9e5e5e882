"""Flatten: a matrix of the axes before an axis and of those from it on.

- 1: floats; `axis` counts from the front.
- 9: all types.
- 11: `axis` may be negative.
- 13, 21, 23, 24 and 25: more types.
"""

import math

import onnx

from ...ir import Value
from ..negative_axes import Axis, negative_axes
from ..registry import AdapterResult, NodeDraft, longer_form
from ..snippets import from_halves, halves
from ..via_wider_type import WORDS

_LONG = (onnx.TensorProto.INT64, onnx.TensorProto.UINT64)

negative_axes("Flatten", axis=Axis("axis"))


@longer_form(9, "Flatten")
def reshape_to_matrix(draft: NodeDraft) -> AdapterResult:
    """Below opset 9: Reshape, where one of the lengths is known and not 0; else Flatten of
    doubles."""
    data, axis, elem_type = draft.data, draft.attribute("axis"), draft.elem_type()
    rank = draft.rank()
    # The axis may be the rank: then all lengths are in the first.
    if rank is not None and axis != rank:
        axis = draft.checked_axis(axis)
    lengths = _lengths(draft.shape(), axis)
    if lengths is not None:
        return [draft.emit("Reshape", [data, draft.ints(lengths, "lengths")])]
    if elem_type in (*WORDS, onnx.TensorProto.BOOL):
        return [draft.emit("Cast", [_as_doubles(draft, data, axis)], to=elem_type)]
    if elem_type not in _LONG:
        draft.refuse("Reshape needs one length of the matrix, known and not 0, for this type")
    high, low = (_as_doubles(draft, half, axis) for half in halves(draft, data))
    return [from_halves(draft, high, low, elem_type)]


def _lengths(shape: list[int | None] | None, axis: int) -> list[int] | None:
    """The shape of the matrix for Reshape. There 0 copies a length, and -1 is inferred, which is
    impossible beside a 0."""
    if axis == 0:
        return [1, -1]
    if shape is None:
        return None
    parts = (shape[:axis], shape[axis:])
    sides = [None if None in part else math.prod(n or 0 for n in part) for part in parts]
    return [side or -1 for side in sides] if any(sides) else None


def _as_doubles(draft: NodeDraft, value: Value, axis: int) -> Value:
    return draft.emit("Flatten", [draft.cast(value, onnx.TensorProto.DOUBLE)], "flat", axis=axis)
