"""Reductions: their axes, and empty axes.

- 1: `axes` is an attribute; without it, all axes.
- 11: axes may be negative.
- 12: ReduceMax and ReduceMin of 8-bit integers.
- 13: `axes` of ReduceSum is an input; `noop_with_empty_axes` defines empty axes; bfloat16.
- 18: the others follow.
- 20: ReduceMax and ReduceMin of truth values.
- 28: ReduceLogSum and ReduceLogSumExp of floats only.
"""

from typing import Any

import numpy as np
import onnx

from ...ir import Value
from ..attribute_to_input import Move, move_attributes
from ..chosen_axes import OTHERS, ChosenAxes
from ..negative_axes import Axis, negative_axes
from ..registry import INEXACT_BODIES, AdapterResult, NodeDraft, downgrade, longer_form
from ..snippets import pick
from ..via_wider_type import Detour, compute_via

_PLAIN = frozenset({"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd"})
"""Reductions that return their input over no axes; the others still compute roots, squares or
logarithms."""

_FLOATS = (np.float32, np.float64, np.float16)
_COUNTED = (np.float32, np.float64, np.int32, np.int64)
_INTEGERS = (np.int32, np.int64, np.uint32, np.uint64)

_ON_ELEMENTS = {"ReduceL1": ("Abs",), "ReduceLogSum": ("Log",), "ReduceLogSumExp": ()}

# Its exponentials overflow, where runtimes subtract the maximum first.
INEXACT_BODIES.add("ReduceLogSumExp")
# Its root is a float, for doubles and integers, too.
INEXACT_BODIES.add("ReduceL2")
negative_axes("ReduceSum", *OTHERS, axis=Axis("axes"))
_T = onnx.TensorProto
compute_via(12, "ReduceMax", "ReduceMin", row=Detour((_T.UINT8,), _T.INT32))
# Of nothing, int32 gives its least number; minus 128 its last byte is -128, int8's least.
compute_via(12, "ReduceMax", "ReduceMin", row=Detour((_T.INT8,), _T.INT32, offset=128))
move_attributes(13, "ReduceSum", moves=[Move("axes", 1, "ints")])
move_attributes(18, *OTHERS, moves=[Move("axes", 1, "ints")])
compute_via(20, "ReduceMax", "ReduceMin", row=Detour((_T.BOOL,), _T.UINT8))


@downgrade(13, "ReduceSum")
@downgrade(18, *OTHERS)
def replace_empty_axes(draft: NodeDraft) -> AdapterResult:
    """Before opset 13 or 18: no empty axes, which mean all or, with `noop_with_empty_axes`,
    none."""
    if draft.input(1) is None:
        axes: list[int] = []
    else:
        axes = draft.required_constant(1, "input 'axes'").reshape(-1).tolist()
    does_nothing = draft.attribute("noop_with_empty_axes")
    draft.drop("noop_with_empty_axes")
    if axes:
        return None
    draft.set_input(1, None)
    if not does_nothing:
        return None
    if draft.op_type in _PLAIN:
        draft.op_type = "Identity"
        draft.attributes.clear()
        return None
    data = draft.data
    if draft.op_type in ("ReduceSumSquare", "ReduceL2"):
        square = draft.emit("Mul", [data, data])
        return [square if draft.op_type == "ReduceSumSquare" else _root(draft, square)]
    op_types = _ON_ELEMENTS[draft.op_type]
    return [draft.emit(op_types[0], [data]) if op_types else draft.emit("Identity", [data])]


def _root(draft: NodeDraft, square: Value) -> Value:
    """The square root as floats, in the type of the square. A square may overflow, so that it is
    not the magnitude."""
    elem_type = draft.required_elem_type(0, "a square root")
    if draft.required_dtype(0, "a square root").kind not in "iu":
        return draft.emit("Sqrt", [square])
    wide = draft.cast(square, onnx.TensorProto.DOUBLE)
    return draft.cast(draft.emit("Sqrt", [wide]), elem_type)


@longer_form(18, "ReduceL2")
def reduce_to_root(draft: NodeDraft) -> AdapterResult:
    """Below opset 18, run-time axes: the root of summed squares."""
    square = draft.emit("Mul", [draft.data, draft.data], "square")
    axes, names = draft.input(1), ("keepdims", "noop_with_empty_axes")
    own = {name: draft.attribute(name) for name in names}
    return [_root(draft, draft.emit("ReduceSum", [square, axes], "squares", **own))]


@longer_form(18, "ReduceMax", "ReduceMin")
def reduce_to_extreme(draft: NodeDraft) -> AdapterResult:
    """Below opset 18, run-time axes: the extreme along each chosen axis, one after the other."""
    dtype = draft.required_dtype(0, "the least")
    if dtype.kind not in "iuf":
        draft.refuse("run-time axes have a longer form for numbers only")
    info = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    neutral = info.min if draft.op_type == "ReduceMax" else info.max
    # The extreme of no floats is infinite, and the limits of a type are finite.
    if dtype.kind == "f":
        neutral = np.copysign(np.inf, neutral)
    return [_over_chosen(draft, dtype, neutral)]


@longer_form(13, "ReduceSum")
@longer_form(18, "ReduceProd")
def accumulate(draft: NodeDraft) -> AdapterResult:
    """Below opset 13 or 18, run-time axes: axis by axis."""
    dtype = draft.required_dtype(0, "a sum or product")
    if dtype not in _COUNTED:
        draft.refuse(
            "run-time axes have a longer form for floats, doubles and integers of 32 or 64 bits"
            " only"
        )
    return [_over_chosen(draft, dtype, 0 if draft.op_type == "ReduceSum" else 1)]


def _over_chosen(draft: NodeDraft, dtype: np.dtype[Any], neutral: float) -> Value:
    """The node's reduction, axis by axis."""
    chosen = ChosenAxes(draft)
    data = chosen.never_empty(draft.data, dtype, neutral)
    return chosen.first(chosen.spread(draft.op_type, data, dtype, neutral))


@longer_form(18, "ReduceLogSumExp")
def reduce_to_log_of_sum(draft: NodeDraft) -> AdapterResult:
    """Below opset 18, run-time axes: the maximum plus the logarithm of the summed exponentials of
    distances from it. None of these overflows. Infinities and NaN are not subtracted."""
    dtype = draft.required_dtype(0, "the largest")
    if dtype not in _FLOATS:
        draft.refuse("run-time axes have a longer form for floats only")
    chosen = ChosenAxes(draft)
    data = chosen.never_empty(draft.data, dtype, -np.inf)
    largest = chosen.spread("ReduceMax", data, dtype, -np.inf)
    top, bottom, zero = (draft.const(np.array(n, dtype), "end") for n in (np.inf, -np.inf, 0))
    finite = draft.emit(
        "And", [draft.emit("Less", [largest, top]), draft.emit("Greater", [largest, bottom])]
    )
    shift = draft.emit("Where", [finite, largest, zero], "shift")
    powers = draft.emit("Exp", [draft.emit("Sub", [data, shift], "distance")], "powers")
    keepdims = draft.attribute("keepdims")
    total = draft.emit("ReduceSum", [powers, chosen.axes], "total", keepdims=keepdims)
    return [draft.emit("Add", [draft.emit("Log", [total], "log"), chosen.first(shift)])]


@longer_form(18, "ReduceMean")
def reduce_to_mean(draft: NodeDraft) -> AdapterResult:
    """Below opset 18, run-time axes: a sum and a count, whose quotient Div rounds toward zero."""
    dtype, elem_type = draft.required_dtype(0, "a count"), draft.elem_type(0)
    if dtype not in (*_FLOATS[:2], *_INTEGERS):
        draft.refuse(
            "run-time axes have a longer form for floats, doubles and integers of 32 or 64 bits"
            " only"
        )
    chosen = ChosenAxes(draft)
    shape, one = draft.emit("Shape", [draft.input(0)], "shape"), draft.const(np.array(1), "one")
    lengths = draft.emit("Where", [chosen.flags, shape, one], "lengths")
    count = draft.emit("ReduceProd", [lengths, draft.ints([0], "axis")], "count", keepdims=0)
    if not all(draft.shape() or [None]):
        count = pick(draft, "Greater", count, one)  # the mean of nothing is 0
    keepdims = draft.attribute("keepdims")
    total = draft.emit("ReduceSum", [draft.input(0), chosen.axes], "total", keepdims=keepdims)
    return [draft.emit("Div", [total, draft.as_type(count, elem_type or 0)])]
