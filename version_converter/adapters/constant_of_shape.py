"""ConstantOfShape: one element, repeated to a shape.

- 9: the operator appears.
- 20, 21, 23, 24 and 25: more types.
"""

import numpy as np
import onnx

from ..registry import AdapterResult, NodeDraft, downgrade


@downgrade(9, "ConstantOfShape")
def expand_value(draft: NodeDraft) -> AdapterResult:
    """Opset 8: expand one element."""
    message = draft.attribute("value")
    value = np.zeros(1, np.float32) if message is None else onnx.numpy_helper.to_array(message)
    draft.one_number(value, "'value'")
    element = draft.const(value.reshape(()), "value")
    return [draft.emit("Expand", [element, draft.input(0)])]
