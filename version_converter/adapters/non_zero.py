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

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx

from ...ir import Graph, Value
from ..loops import counted_loop
from ..node_draft import NodeDraft
from ..registry import Outcome, downgrade

_STATE = onnx.helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, [])
_NUMBER = onnx.helper.make_tensor_type_proto(onnx.TensorProto.INT64, [])


@downgrade(9, "NonZero")
def count_by_loop(draft: NodeDraft) -> Outcome:
    """Opset 8: numbers below the length, where no element is zero."""
    data = draft.input(0)
    if data is None or draft.rank(0) != 1 or not _has_no_zero(data):
        draft.refuse(
            "NonZero exists from opset 9 on; below, only a vector without zeros is supported"
        )
    length = draft.emit("Shape", [data], "length")
    zero = draft.const(np.zeros((), np.float32), "zero")  # opset 8 requires a state

    def iterate(_: Graph, number: Value, states: Sequence[Value]) -> list[Value]:
        # Identities, because runtimes mistake inputs of a body that are its outputs.
        return [draft.emit("Identity", [value], "same") for value in (*states, number)]

    numbers = counted_loop(draft, length, [zero], [_STATE], iterate, [_NUMBER])[1]
    return [draft.unsqueeze(numbers, [0])]


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
