"""Softmax, LogSoftmax and Hardmax: along one axis, or over several at once.

- 1: over all axes from `axis` to the last, by default from 1.
- 11: `axis` may be negative.
- 13: along `axis` alone, by default the last; bfloat16.

    y = Softmax <axis = 1> (x)
->  (opset 12 to 13)
    y = Reshape (Softmax <axis = -1> (Flatten <axis = 1> (x)), Shape (x))

Where the tensor may be empty and Reshape would not copy the size of 0 from the rows, the tensor is
padded to sizes of at least 1 before, and Expand restores the size of 0.
"""

import numpy as np

from ...ir import Value
from ..negative_axes import Axis, negative_axes
from ..registry import AdapterResult, NodeDraft, downgrade, upgrade

_OPERATORS = ("Softmax", "LogSoftmax", "Hardmax")

negative_axes(*_OPERATORS, axis=Axis("axis"))


@upgrade(13, *_OPERATORS)
def to_one_axis(draft: NodeDraft) -> AdapterResult:
    """Normalise rows of a flattened input where the axis is not the last one."""
    axis, rank, data = draft.attribute("axis"), draft.rank(), draft.input(0)
    if axis == -1 or (rank is not None and draft.checked_axis(axis) == rank - 1):
        draft.set("axis", -1)
        return None
    if 0 in (draft.shape() or []):  # which Reshape would take for lengths to be copied
        return [draft.emit("Identity", [data])]
    if _copies_zeros(draft, axis):
        return [_over_rows(draft, data, axis)]
    shape = draft.emit("Shape", [data], "open_shape")
    normal = _over_rows(draft, _without_zeros(draft, data, shape), axis)
    return [draft.emit("Expand", [normal, shape])]


def _over_rows(draft: NodeDraft, data: Value | None, axis: int) -> Value:
    """Normalise the rows of a flattened tensor and restore its shape."""
    rows = draft.emit("Flatten", [data], "rows", axis=axis)
    normal = draft.emit(draft.op_type, [rows], "normalised", axis=-1)
    return draft.emit("Reshape", [normal, draft.emit("Shape", [data], "shape")])


def _copies_zeros(draft: NodeDraft, axis: int) -> bool:
    """Test whether each size that may be 0 is also one of the rows.

    Reshape copies a size of its input where the shape holds a 0.
    """
    shape = draft.shape()
    if shape is None:
        return False
    first = draft.checked_axis(axis)
    # Rows from axis 1 on are [d0, d1 * ...]: where d1 is 0, so is the product copied for it.
    copied = {0: set[int](), 1: {0, 1}}.get(first, {0})
    return all(size is not None or at in copied for at, size in enumerate(shape))


def _without_zeros(draft: NodeDraft, data: Value | None, shape: Value) -> Value:
    """Pad an empty tensor to sizes of at least 1; any other one stays as it is."""
    one = draft.const(np.array(1, np.int64), "one")
    missing = draft.emit("Sub", [draft.emit("Max", [shape, one], "at_least_1"), shape], "missing")
    none = draft.emit("Sub", [shape, shape], "none")
    return draft.emit(
        "Pad", [data, draft.emit("Concat", [none, missing], "pads", axis=0)], "filled"
    )


@downgrade(13, *_OPERATORS)
def to_rows(draft: NodeDraft) -> AdapterResult:
    """Move the axis to the end, and back."""
    axis, data = draft.attribute("axis"), draft.input(0)
    if axis == -1:
        return None
    axis = draft.required_axis(axis, "an axis that may not be the last")
    rank = draft.required_rank("an axis that may not be the last")
    if axis == rank - 1:
        return None
    order = [a for a in range(rank) if a != axis] + [axis]
    back = [order.index(a) for a in range(rank)]
    moved = draft.emit("Transpose", [data], "moved", perm=order)
    normal = draft.emit(draft.op_type, [moved], "normalised", axis=rank - 1)
    return [draft.emit("Transpose", [normal], perm=back)]
