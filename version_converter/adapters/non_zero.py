"""NonZero: the positions of elements that are not zero.

- 9: the operator appears.
- 13: bfloat16.

    places = NonZero (ConstantOfShape <value = {1}> (count))
->  (opset 9 to 8)
    unused, numbers = Loop (count, yes, zero) <body = b (i, c, u) => (d, v, n) {
        d = Identity (c)
        v = Identity (u)
        n = Identity (i)
    }>
    places = Unsqueeze <axes = [0]> (numbers)
"""

from collections.abc import Sequence

import numpy as np
import onnx

from ...ir import Graph, Value
from ..loops import counted_loop
from ..registry import AdapterResult, NodeDraft, downgrade, longer_form
from ..snippets import axis_length, numbers_below

_T = onnx.TensorProto
_STATE = onnx.helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, [])
_NUMBER = onnx.helper.make_tensor_type_proto(onnx.TensorProto.INT64, [])


@downgrade(9, "NonZero")
def count_by_loop(draft: NodeDraft) -> AdapterResult:
    """Opset 8: numbers below the length, where no element is zero."""
    if draft.rank() != 1 or not _has_no_zero(draft.data):
        draft.refuse("NonZero exists from opset 9 on; below, only of a vector without zeros")
    length = draft.emit("Shape", [draft.data], "length")
    zero = draft.const(np.zeros((), np.float32), "zero")  # opset 8 requires a state

    def iterate(_: Graph, number: Value, states: Sequence[Value]) -> list[Value]:
        # Identities, because runtimes mistake inputs of a body that are its outputs.
        return [draft.emit("Identity", [value], "same") for value in (*states, number)]

    numbers = counted_loop(draft, length, [zero], [_STATE], iterate, [_NUMBER])[1]
    return [draft.unsqueeze(numbers, [0])]


@longer_form(9, "NonZero")
def search_by_loop(draft: NodeDraft) -> AdapterResult:
    """Below opset 9: one element after the other."""
    rank = draft.required_rank("NonZero before opset 9")
    if rank == 0:
        draft.refuse("NonZero of a scalar has no agreed meaning")
    return [coordinates(draft, _search(draft), rank)]


def _search(draft: NodeDraft) -> Value:
    """The places of elements that are not zero, in merged axes, by repeated ArgMax."""
    flat = draft.emit("Reshape", [draft.data, draft.ints([-1], "all")], "elements")
    flags = draft.emit("Cast", [draft.emit("Cast", [flat], to=_T.BOOL)], "flags", to=_T.FLOAT)
    numbers = numbers_below(draft, draft.emit("Shape", [flags], "length"))
    whole = draft.emit("Cast", [flags], "whole", to=_T.INT32)
    count = draft.emit("ReduceSum", [whole], "count", axes=[0], keepdims=0)
    one = draft.const(np.ones(1, np.float32), "one")

    def iterate(_: Graph, number: Value, states: Sequence[Value]) -> list[Value]:
        first = draft.emit("ArgMax", [states[0]], "first", axis=0, keepdims=1)
        same = draft.emit("Equal", [numbers, first], "same")
        other = draft.emit("Sub", [one, draft.emit("Cast", [same], to=_T.FLOAT)], "other")
        return [draft.emit("Mul", [states[0], other], "rest"), first]

    trip_count = draft.cast(count, _T.INT64)
    types = [onnx.helper.make_tensor_type_proto(_T.FLOAT, [None])]
    collected = [onnx.helper.make_tensor_type_proto(_T.INT64, [1])]
    return counted_loop(draft, trip_count, [flags], types, iterate, collected)[1]


def coordinates(draft: NodeDraft, places: Value, rank: int) -> Value:
    """The indices along each axis of places in merged axes, as rows."""
    places = draft.emit("Reshape", [places, draft.ints([1, -1], "row")], "places")
    rows: list[Value | None] = []
    for axis in reversed(range(1, rank)):
        length = _divisor(draft, axis)
        quotient = draft.emit("Div", [places, length], "quotient")
        rows.insert(0, draft.emit("Sub", [places, draft.emit("Mul", [quotient, length])], "row"))
        places = quotient
    return draft.emit("Concat", [places, *rows], "rows", axis=0) if rows else places


def _divisor(draft: NodeDraft, axis: int) -> Value:
    """The length of an axis, or 1 where there is no place to divide."""
    constant = draft.length(axis)
    if constant is not None:
        return draft.const(np.array(max(constant, 1)), "length")
    length = axis_length(draft, axis)
    empty = draft.emit("Equal", [length, draft.const(np.array(0), "zero")], "empty")
    return draft.emit("Add", [length, draft.emit("Cast", [empty], to=_T.INT64)], "length")


def _has_no_zero(value: Value) -> bool:
    """Test whether a value consists of repeated and cast constants without zeros."""
    casts = []
    node = value.producer
    while (
        node is not None
        and node.is_op("Cast", "Expand")
        and node.inputs[0] is not None
        and not node.op.references
    ):
        if node.is_op("Cast"):
            casts.append(node.attribute("to"))
        value = node.inputs[0]
        node = value.producer
    if node is not None and node.is_op("ConstantOfShape") and not node.op.references:
        message = node.attribute("value")
        elements = np.zeros(1) if message is None else onnx.numpy_helper.to_array(message)
    else:
        elements = np.zeros(1) if value.constant is None else value.constant.numpy()
    if elements.dtype.kind == "O":
        return False
    for elem_type in reversed(casts):
        # A half becomes no integer but zero.
        elements = elements.astype(onnx.helper.tensor_dtype_to_np_dtype(elem_type))
    return bool(elements.all())
