"""ThresholdedRelu: elements above a threshold.

- 10: the operator appears.
- 22: bfloat16.
"""

import numpy as np

from ..registry import AdapterResult, NodeDraft, longer_form


@longer_form(10, "ThresholdedRelu")
def choose_by_comparison(draft: NodeDraft) -> AdapterResult:
    """Below opset 10: a choice between the element and 0."""
    dtype, data = draft.required_dtype(0, "the threshold"), draft.input(0)
    alpha = draft.const(np.array(draft.attribute("alpha"), np.float32).astype(dtype), "alpha")
    above = draft.emit("Greater", [data, alpha], "above")
    return [draft.emit("Where", [above, data, draft.const(np.zeros((), dtype), "zero")])]
