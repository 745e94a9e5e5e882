"""Erf: the error function.

- 9: the operator appears.
- 13: bfloat16.
"""

import onnx

from ...ir import Value
from ..registry import AdapterResult, NodeDraft, longer_form
from ..snippets import polynomial, scalar

# Minimax fits: of erf (x) / x in x^2 up to 1, to 1.2e-9 of it; of log (1 - erf (x)) from 1 to 4,
# by which erf (x) is right to 1.6e-8. From 4 on it is 1 as a float.
_NEAR = (
    *(1.1283791657265365, -0.37612625823028395, 0.11283585134931992, -0.026853811362896423),
    *(0.005188326598329064, -0.0008010184073998093, 7.853829822685418e-05),
)
_FAR = (
    *(-0.0026189157688588445, -1.1176222060478136, -0.6542387138424062),
    *(-0.08880066649889695, 0.014832170510852002, -0.0011572648526882784),
)


@longer_form(9, "Erf")
def approximate_by_polynomials(draft: NodeDraft) -> AdapterResult:
    """Below opset 9: two polynomial fits. The error is at most 3 units in the last place, and the
    result never above 1. Both fits are computed of clipped numbers, so that the unselected one is
    finite."""
    dtype, elem_type = draft.required_dtype(0, "Erf"), draft.elem_type(0) or 0
    if (dtype.kind == "f" and dtype.itemsize > 4) or dtype.kind in "iu":
        draft.refuse("below opset 9 it is supported for floats of at most 32 bits only")
    data, one = draft.data, scalar(draft, 1.0, onnx.TensorProto.FLOAT)
    if elem_type != onnx.TensorProto.FLOAT:
        data = draft.emit("Cast", [data], "data", to=onnx.TensorProto.FLOAT)
    size = draft.emit("Abs", [data], "size")
    is_near = _flag(draft, draft.emit("Less", [size, one], "near"))
    is_far = draft.emit("Sub", [one, is_near], "far")
    within = draft.emit("Clip", [data], "within", min=-1.0, max=1.0)
    square = draft.emit("Mul", [within, within], "square")
    near = polynomial(draft, square, _NEAR[::-1], onnx.TensorProto.FLOAT)
    beyond = draft.emit("Clip", [size], "beyond", min=1.0, max=4.0)
    power = polynomial(draft, beyond, _FAR[::-1], onnx.TensorProto.FLOAT)
    rest = draft.emit("Exp", [power], "rest")
    far = draft.emit("Sub", [one, rest], "far")
    parts = [draft.emit("Mul", pair, "part") for pair in ((is_near, near), (is_far, far))]
    # What is far is within by 1 or -1, which is its sign.
    erf = draft.emit("Mul", [within, draft.emit("Add", parts, "slope")], "erf")
    erf = _with_nan(draft, data, erf)
    if elem_type != onnx.TensorProto.FLOAT:
        erf = draft.emit("Cast", [erf], to=elem_type)
    return [erf]


def _with_nan(draft: NodeDraft, data: Value, result: Value) -> Value:
    """Restore NaN of data, by 0 / 0, in a result that may lack it."""
    is_nan = draft.emit("IsNaN", [data], "is_nan")
    number = _flag(draft, draft.emit("Not", [is_nan], "is_number"))
    return draft.emit("Div", [draft.emit("Mul", [result, number], "made"), number])


def _flag(draft: NodeDraft, condition: Value) -> Value:
    return draft.emit("Cast", [condition], "flag", to=onnx.TensorProto.FLOAT)
