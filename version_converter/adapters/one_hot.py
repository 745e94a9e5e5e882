"""OneHot: negative indices, and negative axes.

- 9: negative indices are out of range; `axis` counts from the front, or is -1.
- 11: indices count from the back where they are negative, and so does `axis`.
- 28: bfloat16.

onnxruntime counts negative indices from the back in every opset (`ops.departures`). For types that
it supports, a conversion keeps its numbers, for others the specified ones.

    y = OneHot (indices, 3, values)
->  (opset 9 to 8)
    i = Unsqueeze (indices)   is_it = Or (Equal (i, [0, 1, 2]), Equal (i, [-3, -2, -1]))
    y = Where (is_it, Gather (values, 1), Gather (values, 0))
"""

import numpy as np
import onnx

from ...ir import Value
from ...ops import departures
from ...ops.operand_view import ValueOperand, may_be_negative
from ...ops.schema_queries import ElementTypes
from ..negative_axes import Axis, negative_axes
from ..registry import AdapterResult, NodeDraft, downgrade, longer_form, upgrade
from ..snippets import numbers_below

_MOST_KNOWN = 1 << 16
"""Limit of classes up to which their numbers are a constant."""

negative_axes("OneHot", axis=Axis("axis", added=1, at_rest=-1))


def _departs(draft: NodeDraft) -> bool:
    """Test for an index that onnxruntime may count from the back, against the specification."""
    return departures.of_node(draft.node, ElementTypes(), draft.source) is not None


@upgrade(11, "OneHot")
def keep_out_of_range(draft: NodeDraft) -> None:
    """From opset 11 on, where onnxruntime does not depart: an index out of range stays so."""
    if _departs(draft) or not may_be_negative(ValueOperand(draft.data, ElementTypes())):
        return
    dtype = draft.required_dtype(0, "an index that may be negative")
    negative = draft.emit(
        "Less", [draft.data, draft.const(np.zeros((), dtype), "zero")], "negative"
    )
    draft.set_input(0, draft.emit("Where", [negative, _depth(draft), draft.data], "indices"))


def _depth(draft: NodeDraft) -> Value:
    """The number of classes as a scalar of the type of the indices."""
    scalar = draft.emit("Reshape", [draft.input(1), draft.ints([], "rank_0")], "depth")
    return draft.emit("Cast", [scalar], "depth", to=draft.elem_type(0))


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
    depth = _depth(draft)
    wrapped = draft.emit("Add", [indices, depth], "wrapped")
    # A still negative index was out of range, and becomes too large, since runtimes wrap once more.
    beyond = draft.emit("Less", [wrapped, zero], "beyond")
    wrapped = draft.emit("Where", [beyond, depth, wrapped], "wrapped")
    negative = draft.emit("Less", [indices, zero], "negative")
    draft.set_input(0, draft.emit("Where", [negative, wrapped, indices], "indices"))


@longer_form(9, "OneHot")
def compare_with_each_class(draft: NodeDraft) -> AdapterResult:
    """Below opset 9: comparison of the index with each class, and with its number from the back.
    An index out of range equals none of these."""
    dtype = draft.required_dtype(0, "a comparison with each class")
    if dtype.kind not in "iu":
        draft.refuse(f"an index of type {dtype} may not be a whole number")
    rank, axis = draft.required_rank("the axis of the classes"), draft.attribute("axis")
    axis = rank if axis == -1 else axis
    if not 0 <= axis <= rank:
        draft.refuse(f"its result has no axis {axis}")
    numbers = draft.emit("Cast", [draft.input(0)], "numbers", to=onnx.TensorProto.INT64)
    shape, column = (
        draft.ints([-1] + [1] * (rank - axis), "shape"),
        draft.unsqueeze(numbers, [axis]),
    )
    is_it = [
        draft.emit("Equal", [column, draft.emit("Reshape", [each, shape], "classes")], "is_it")
        for each in _classes(draft, from_the_back=_departs(draft))
    ]
    chosen = is_it[0] if len(is_it) == 1 else draft.emit("Or", is_it, "chosen")
    off, on = (
        draft.emit("Gather", [draft.input(2), draft.const(np.array(place), "place")], "value")
        for place in (0, 1)
    )
    return [draft.emit("Where", [chosen, on, off])]


def _classes(draft: NodeDraft, from_the_back: bool) -> list[Value]:
    """The numbers of the classes, as a vector, and perhaps those from the back."""
    depth = draft.constant(1)
    if depth is not None:
        count = draft.one_number(depth, "input 'depth'")
        # NaN fails this, too.
        if not 0 <= count < np.inf:
            draft.refuse(f"there are no {count} classes")
        if count <= _MOST_KNOWN:
            starts = (0, -int(count)) if from_the_back else (0,)
            return [draft.ints(range(n, n + int(count)), "numbers") for n in starts]
    length = draft.emit("Cast", [draft.input(1)], "depth", to=onnx.TensorProto.INT64)
    if draft.rank(1) == 0:
        length = draft.unsqueeze(length, [0])
    elif draft.rank(1) != 1:
        length = draft.emit("Reshape", [length, draft.ints([1], "rank_1")], "depth")
    numbers = numbers_below(draft, length)
    return [numbers, draft.emit("Sub", [numbers, length])] if from_the_back else [numbers]
