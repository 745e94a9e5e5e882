"""Loop: its loop-carried state.

- 1: one state or more, all tensors.
- 11: it may have no state.
- 13: sequences.
- 16: optionals, bfloat16.
- 19, 21, 23, 24 and 25: more types.

    rows = Loop (n, go) <body = b (i, c) => (c, r) { r = Identity (x) }>
->  (opset 11 to 10)
    unused, rows = Loop (n, go, zero) <body = b (i, c, u) => (c, v, r) {
        v = Identity (u)
        r = Identity (x)
    }>
"""

import numpy as np
import onnx

from ...ir import Operator
from ..registry import NodeDraft, downgrade

_NUMBER = onnx.helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, ())


@downgrade(11, "Loop")
def add_state(draft: NodeDraft) -> None:
    """Before opset 11: at least one state, here one without readers."""
    if len(draft.inputs) > 2:
        return
    node, body = draft.node, draft.body("body")
    carried = draft.const(np.zeros((), np.float32), "carried")
    draft.set_input(2, carried)
    # At once, since inference of the node reads the body too from now on.
    draft.graph.resize_inputs(node, 3)
    draft.graph.set_input(node, 2, carried)
    info = onnx.helper.make_value_info("carried", _NUMBER)
    state = body.add_input(info.name, info)
    passed = body.add_node(Operator("Identity"), [state], [f"{info.name}_on"]).output()
    condition, *scanned = body.outputs
    first, *others = body.output_infos
    body.set_outputs([condition, passed, *scanned], [first, info, *others])
    draft.graph.set_node_outputs(node, [draft.label("carried"), *node.outputs])
