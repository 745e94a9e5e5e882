"""NonZero: the positions of elements that are not zero.

https://onnx.ai/onnx/operators/onnx__NonZero.html

- 9: the operator appears. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#NonZero-9
- 13: bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#NonZero-13

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

import numpy as np
import onnx

from ...ir import Operator, Value, empty_header
from ..node_draft import NodeDraft
from ..registry import Outcome, downgrade

_BODY = (("i", onnx.TensorProto.INT64), ("c", onnx.TensorProto.BOOL), ("u", onnx.TensorProto.FLOAT))


@downgrade(9, "NonZero")
def count_by_loop(draft: NodeDraft) -> Outcome:
    """Opset 8: numbers below the length, where no element is zero."""
    data = draft.input(0)
    if data is None or draft.rank(0) != 1 or not _has_no_zero(data):
        draft.refuse(
            "NonZero exists from opset 9 on; only that of a vector without zeros can be said"
        )
    length = draft.emit("Shape", [data], "length")
    yes = draft.const(np.array(True), "yes")
    zero = draft.const(np.zeros((), np.float32), "zero")
    numbers = _count(draft, [length, yes, zero])
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


def _count(draft: NodeDraft, inputs: list[Value]) -> Value:
    """A Loop that returns its iteration numbers; it has a state because it must."""
    labels = [draft.label("unused"), draft.label("numbers")]
    loop = draft.graph.add_node(Operator("Loop"), inputs, labels)
    body = draft.graph.add_body(loop, "body", empty_header("count"))
    infos = [onnx.helper.make_tensor_value_info(name, type_, []) for name, type_ in _BODY]
    number, condition, carried = [body.add_input(info.name, info) for info in infos]
    results = [
        # Identities, because runtimes mistake inputs of a body that are its outputs.
        body.add_node(Operator("Identity"), [value], [f"{value.name}_on"]).output()
        for value in (condition, carried, number)
    ]
    kinds = (_BODY[1][1], _BODY[2][1], _BODY[0][1])
    body.set_outputs(
        results,
        [
            onnx.helper.make_tensor_value_info(value.name, kind, [])
            for value, kind in zip(results, kinds, strict=True)
        ],
    )
    draft.note(loop)
    return loop.output(1)
