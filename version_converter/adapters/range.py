"""Range: numbers at equal distances.

- 11: the operator appears.
- 27: 16-bit floats, and `stash_type`, for these only.

    y = Range (start, limit, delta)
->  (opset 11 to 10, of integers)
    count = Cast <to = INT64> (Relu ((limit - start) / delta rounded up))
    y = Cast (start + [0, 1, ... count - 1] * delta)
"""

from collections.abc import Sequence

import onnx

from ...ir import Graph, Value
from ..loops import counted_loop
from ..registry import AdapterResult, NodeDraft, harmless, longer_form
from ..snippets import numbers_below

_T = onnx.TensorProto

# It matters for 16-bit floats only, which Range does not support before opset 27.
harmless("Range", attribute="stash_type")


@longer_form(11, "Range")
def emit_range(draft: NodeDraft) -> AdapterResult:
    """Below opset 11: multiples of the step for integers, as 64-bit ones, and a Loop of additions
    for floats. Onnx's function counts in floats, which round."""
    own = draft.required_elem_type(0, "Range")
    integers = own not in (_T.FLOAT, _T.DOUBLE)
    operands = [draft.required(index) for index in range(3)]
    if integers:
        operands = [draft.as_type(value, _T.INT64) for value in operands]
    start, limit, delta = operands
    count = _count(draft, limit, start, delta)
    if not integers:
        return [_added_up(draft, count, start, delta)]
    whole = draft.emit("Reshape", [count, draft.ints([1], "one")], "count")
    steps = draft.emit("Mul", [numbers_below(draft, whole), delta], "steps")
    result = draft.emit("Add", [steps, start], "numbers")
    return [result if own == _T.INT64 else draft.emit("Cast", [result], to=own)]


def _count(draft: NodeDraft, limit: Value, start: Value, delta: Value) -> Value:
    """The number of elements, counted in doubles as onnxruntime does: floats would round the
    distance."""
    if draft.elem_type() == _T.FLOAT:
        limit, start, delta = (draft.cast(value, _T.DOUBLE) for value in (limit, start, delta))
    parts = [draft.emit("Sub", [limit, start], "distance"), delta]
    if draft.elem_type() != _T.FLOAT:
        parts = [draft.cast(value, _T.DOUBLE) for value in parts]
    steps = draft.emit("Ceil", [draft.emit("Div", parts, "parts")], "steps")
    # Max of doubles has no kernel in onnxruntime below opset 8.
    return draft.emit("Cast", [draft.emit("Relu", [steps], "least")], "count", to=_T.INT64)


def _added_up(draft: NodeDraft, count: Value, start: Value, delta: Value) -> Value:
    scalar = onnx.helper.make_tensor_type_proto(draft.elem_type() or 0, [])

    def iterate(inside: Graph, number: Value, before: Sequence[Value]) -> list[Value]:
        term = draft.emit("Identity", [before[0]], "shown")
        return [draft.emit("Add", [before[0], delta], "sum"), term]

    return counted_loop(draft, count, [start], [scalar], iterate, [scalar])[1]
