"""Where: elements of one tensor or the other.

- 9: the operator appears.
- 16: bfloat16.
"""

import math
from collections.abc import Sequence

import numpy as np
import onnx

from ...ir import Value
from ..constants import is_small
from ..flat_indices import numbers_of_shape
from ..registry import AdapterResult, NodeDraft, downgrade, longer_form


@downgrade(9, "Where")
def choose_by_gathering(draft: NodeDraft) -> AdapterResult:
    """Opset 8: concatenate both tensors and gather from either half.

    This moves elements as they are, whatever their type.
    """
    shape = draft.types.shape(draft.node.output())
    if shape is None or None in shape:
        draft.refuse_unknown(
            "Where exists from opset 9 on, and its longer form needs the shape of its output, which"
        )
    dims, condition = [dim or 0 for dim in shape], draft.constant(0)
    size = math.prod(dims)
    if not is_small(dims):
        draft.refuse(f"{size} places are too many for a constant")
    if condition is not None and not _broadcasts(condition.shape, dims):
        draft.refuse(f"its condition has the shape {list(condition.shape)}, its output {dims}")
    places = np.arange(size).reshape(dims)
    if condition is not None:
        second = np.broadcast_to(~condition.astype(bool), dims)
        picked = draft.const(places + second * size, "places")
    else:
        offset = _offset(draft, draft.const(np.array(size), "size"))
        picked = draft.emit("Add", [offset, draft.const(places, "places")], "picked")
    full = list(draft.inputs[1:])
    for index, value in enumerate(full):
        if draft.types.shape(value) != dims:
            full[index] = draft.emit("Expand", [value, draft.ints(dims, "shape")], "full")
    return [draft.emit("Gather", [_end_to_end(draft, full, len(dims)), picked], axis=0)]


@longer_form(9, "Where")
def choose_at_run_time(draft: NodeDraft) -> AdapterResult:
    """Below opset 9, any shape: as above, with shape and positions from run time."""
    ranks = [draft.rank(index) for index in range(3)]
    if None in ranks:
        draft.refuse("places need the ranks of all inputs")
    rank, shape = max(rank or 0 for rank in ranks), _broadcast_shape(draft)
    full = [draft.emit("Expand", [value, shape], "full") for value in draft.inputs[1:]]
    offset = _offset(draft, draft.emit("Size", [full[0]], "size"))
    picked = draft.emit("Add", [offset, numbers_of_shape(draft, shape, rank)], "picked")
    return [draft.emit("Gather", [_end_to_end(draft, full, rank), picked], axis=0)]


def _broadcasts(shape: Sequence[int], dims: Sequence[int]) -> bool:
    pairs = zip(reversed(shape), reversed(dims), strict=False)
    return len(shape) <= len(dims) and all(one in (1, other) for one, other in pairs)


def _offset(draft: NodeDraft, size: Value) -> Value:
    """The offset from an element of the first tensor to the chosen one."""
    number = draft.emit("Cast", [draft.emit("Not", [draft.input(0)])], to=onnx.TensorProto.INT64)
    return draft.emit("Mul", [number, size], "offset")


def _end_to_end(draft: NodeDraft, values: Sequence[Value | None], rank: int) -> Value:
    if rank != 1:
        flat = draft.ints([-1], "flat")
        values = [draft.emit("Reshape", [value, flat], "elements") for value in values]
    return draft.emit("Concat", values, "both", axis=0)


def _broadcast_shape(draft: NodeDraft) -> Value:
    # Add broadcasts: the sum of zeros in these shapes has the shape of the result.
    zero = draft.const(np.zeros((), np.float32), "zero")
    parts = [
        draft.emit("Expand", [zero, draft.emit("Shape", [value], "shape")], "empty")
        for value in draft.inputs
    ]
    both = draft.emit("Add", [draft.emit("Add", parts[:2]), parts[2]], "broadcast")
    return draft.emit("Shape", [both], "shape")
