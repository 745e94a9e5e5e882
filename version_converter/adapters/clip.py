"""Clip: bounds that were attributes and are inputs.

- 1: `min` and `max` are attributes, by default the last finite numbers of the type.
- 6: by default they are the last finite 32-bit floats.
- 11: they are inputs of the type of the data; one that is absent is the last finite number.
- 12: integers.
- 13: bfloat16.
"""

import numpy as np
import onnx

from ...ir import Array, Value
from ..attribute_to_input import Move, move_attributes, single
from ..registry import AdapterResult, NodeDraft, downgrade, longer_form, upgrade
from ..snippets import is_float, pick


@upgrade(6, "Clip")
def write_limits(draft: NodeDraft) -> None:
    """Opset 6: the limits of the type in the place of absent bounds."""
    absent = {"min", "max"} - draft.attributes.keys()
    dtype = draft.required_dtype(0, "an absent bound") if absent else np.dtype(np.float32)
    if dtype == np.float32:
        return
    if dtype != np.float16:
        draft.refuse(f"opset 6 has no attribute for the limits of {dtype}")
    limits = np.finfo(np.float16)
    for name in absent:
        draft.set(name, float(getattr(limits, name)))


@downgrade(12, "Clip")
def clip_integers(draft: NodeDraft) -> AdapterResult:
    """Before opset 12: floats only. The upper bound is applied last, so that it wins."""
    if is_float(draft):
        return None
    value, low, high = draft.data, draft.input(1), draft.input(2)
    if low is not None:
        value = pick(draft, "Greater", value, low)
    if high is not None:
        value = pick(draft, "Less", value, high)
    return [value if value is not draft.input(0) else draft.emit("Identity", [value])]


@downgrade(11, "Clip")
def clip_by_no_number(draft: NodeDraft) -> AdapterResult:
    """Write a bound that is NaN as an infinity: onnxruntime ignores it, and refuses it below 11."""
    for index, infinity in ((1, -np.inf), (2, np.inf)):
        bound = draft.constant(index)
        if bound is not None and bound.dtype.kind == "f" and np.isnan(bound).any():
            draft.set_input(index, draft.const(np.full_like(bound, infinity), "bound"))
    return None


@downgrade(11, "Clip")
def clip_to_crossed_bounds(draft: NodeDraft) -> AdapterResult:
    """Clip by crossed bounds to `max`: runtimes refuse attributes with the larger `min`."""
    low, high = draft.constant(1), draft.constant(2)
    if low is None or high is None or low.size != 1 or high.size != 1 or not (low > high).all():
        return None
    least, most = single(draft, "min", low), single(draft, "max", high)
    raised = draft.emit("Clip", [draft.input(0)], "raised", min=least, max=np.inf)
    return [draft.emit("Clip", [raised], min=-np.inf, max=most)]


_BOUNDS = ((1, "min", "Max"), (2, "max", "Min"))
"""Inputs, attributes, and the operators that apply them."""


@downgrade(11, "Clip")
def clip_to_the_last_finite_numbers(draft: NodeDraft) -> AdapterResult:
    """Absent bounds are the last finite numbers: attributes, or Max and Min in 64 bits."""
    for index, name, _ in _BOUNDS:
        if draft.input(index) is None and draft.elem_type(0) != onnx.TensorProto.FLOAT:
            last = _last_finite(draft, index)
            # Without a type, only infinity is above all that the data may hold.
            draft.set(
                name, (-np.inf, np.inf)[index - 1] if last is None else single(draft, name, last)
            )
    return None


def _last_finite(draft: NodeDraft, index: int) -> Array | None:
    """Lowest or largest number of the type of the data; None for types without one."""
    elem_type = draft.elem_type(0)
    dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type) if elem_type else None
    if dtype is None or dtype.kind != "f":
        return None
    limits = np.finfo(dtype)
    return np.array((limits.min, limits.max)[index - 1], dtype)


@longer_form(11, "Clip")
def clip_at_run_time(draft: NodeDraft) -> AdapterResult:
    """Below opset 11: run-time bounds by Max and Min. One that is NaN becomes an infinity."""
    value = draft.input(0)
    for index, name, op_type in _BOUNDS:
        bound = draft.input(index)
        if bound is not None:
            # A bound of shape [1] would give a scalar an axis.
            number = draft.emit("Reshape", [bound, draft.ints([], "rank_0")], "bound")
            if draft.constant(index) is None:
                number = _or_infinity(draft, number, index)
            value = draft.emit(op_type, [value, number])
            continue
        last = _last_finite(draft, index)
        if last is not None:
            value = draft.emit(op_type, [value, draft.const(last, name)])
    return [value]


move_attributes(11, "Clip", moves=[Move("min", 1, "like data"), Move("max", 2, "like data")])


def _or_infinity(draft: NodeDraft, bound: Value, index: int) -> Value:
    """A bound, or an infinity in the place of NaN."""
    dtype = draft.required_dtype(index, "a bound that may be NaN")
    test, infinity = (("Greater", -np.inf), ("Less", np.inf))[index - 1]
    return pick(draft, test, bound, draft.const(np.array(infinity, dtype), "infinity"))
