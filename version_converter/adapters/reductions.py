"""Reductions: their axes, and empty axes.

https://onnx.ai/onnx/operators/onnx__ReduceL1.html
https://onnx.ai/onnx/operators/onnx__ReduceL2.html
https://onnx.ai/onnx/operators/onnx__ReduceLogSum.html
https://onnx.ai/onnx/operators/onnx__ReduceLogSumExp.html
https://onnx.ai/onnx/operators/onnx__ReduceMax.html
https://onnx.ai/onnx/operators/onnx__ReduceMean.html
https://onnx.ai/onnx/operators/onnx__ReduceMin.html
https://onnx.ai/onnx/operators/onnx__ReduceProd.html
https://onnx.ai/onnx/operators/onnx__ReduceSum.html
https://onnx.ai/onnx/operators/onnx__ReduceSumSquare.html

- 1: `axes` is an attribute; without it, all axes.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#ReduceSum-1
- 11: axes may be negative. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#ReduceSum-11
- 12: ReduceMax and ReduceMin of 8-bit integers.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#ReduceMax-12
- 13: `axes` of ReduceSum is an input; `noop_with_empty_axes` defines empty axes; bfloat16.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#ReduceSum-13
- 18: the others follow. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#ReduceMean-18
- 20: ReduceMax and ReduceMin of truth values.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#ReduceMax-20
- 28: ReduceLogSum and ReduceLogSumExp of floats only.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#ReduceLogSum-28
"""

from __future__ import annotations

import onnx

from .. import chosen_axes
from ..attribute_to_input import Move, moved
from ..chosen_axes import OTHERS
from ..negative_axes import Axis, negative_axes
from ..node_draft import NodeDraft
from ..registry import Outcome, downgrade, inexact_body, longer_form
from ..via_wider_type import by_way_of

_PLAIN = frozenset({"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd"})
"""Reductions that return their input over no axes; the others still compute roots, squares or
logarithms."""

_ON_ELEMENTS = {
    "ReduceL1": ("Abs",),
    "ReduceL2": ("Abs",),
    "ReduceLogSum": ("Log",),
    "ReduceLogSumExp": (),
}

# Its exponentials overflow, where runtimes subtract the maximum first.
inexact_body("ReduceLogSumExp")
negative_axes("ReduceSum", *OTHERS, axis=Axis("axes"))
_T = onnx.TensorProto
by_way_of(12, "ReduceMax", "ReduceMin", types=[_T.UINT8], via=_T.INT32)
by_way_of(12, "ReduceMax", "ReduceMin", types=[_T.INT8], via=_T.INT32, offset=128)
moved(13, "ReduceSum", moves=[Move("axes", 1, "ints")])
moved(18, *OTHERS, moves=[Move("axes", 1, "ints")])
by_way_of(20, "ReduceMax", "ReduceMin", types=[_T.BOOL], via=_T.UINT8)


@downgrade(13, "ReduceSum")
@downgrade(18, *OTHERS)
def empty_axes(draft: NodeDraft) -> Outcome:
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
    data = draft.input(0)
    if draft.op_type == "ReduceSumSquare":
        return [draft.emit("Mul", [data, data])]
    op_types = _ON_ELEMENTS[draft.op_type]
    return [draft.emit(op_types[0], [data]) if op_types else draft.emit("Identity", [data])]


@longer_form(18, "ReduceMax", "ReduceMin")
def extreme_over_chosen_axes(draft: NodeDraft) -> Outcome:
    """Below opset 18, run-time axes: the extreme along each chosen axis, one after the other."""
    return [chosen_axes.extreme(draft)]


@longer_form(18, "ReduceLogSumExp")
def log_of_sum_over_chosen_axes(draft: NodeDraft) -> Outcome:
    """Below opset 18, run-time axes: ReduceSum, which supports these, and a maximum axis by
    axis."""
    return [chosen_axes.log_of_sum(draft)]


@longer_form(18, "ReduceMean")
def mean_over_chosen_axes(draft: NodeDraft) -> Outcome:
    """Below opset 18, run-time axes: a sum and a count."""
    return [chosen_axes.mean(draft)]


@longer_form(13, "ReduceSum")
@longer_form(18, "ReduceProd")
def accumulated_over_chosen_axes(draft: NodeDraft) -> Outcome:
    """Below opset 13 or 18, run-time axes: axis by axis."""
    return [chosen_axes.accumulated(draft)]
