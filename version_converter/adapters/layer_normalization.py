"""LayerNormalization: deviations from a mean, divided by the standard deviation.

- 17: the operator appears.
"""

import onnx

from ..registry import INEXACT_BODIES, AdapterResult, NodeDraft, downgrade
from ..snippets import mean_and_deviations, require_unidirectional, with_epsilon

INEXACT_BODIES.add("LayerNormalization")


@downgrade(17, "LayerNormalization")
def normalize_by_deviations(draft: NodeDraft) -> AdapterResult:
    """Opset 16: the specification's formula, where onnx's function subtracts squares."""
    own, stash = draft.required_elem_type(0, "the precision"), draft.attribute("stash_type")
    require_unidirectional(draft, 1, 2)
    # It is computed at least as exactly as its mean.
    inner = own if own == onnx.TensorProto.DOUBLE else onnx.TensorProto.FLOAT
    axis = draft.attribute("axis")
    draft.checked_axis(axis)
    rank = draft.required_rank("a positive 'axis'") if axis >= 0 else 0
    wide = draft.as_type(draft.data, inner)
    mean, deviations, variance = mean_and_deviations(draft, wide, list(range(axis, rank)))
    inverse = draft.emit("Reciprocal", [draft.emit("Sqrt", [with_epsilon(draft, variance)])])
    result = draft.emit("Mul", [deviations, inverse], "normalized")
    result = draft.emit("Mul", [draft.as_type(result, own), draft.input(1)], "scaled")
    if draft.input(2) is not None:
        result = draft.emit("Add", [result, draft.input(2)], "moved")
    others = [
        value if stash == inner or not draft.is_used(index) else draft.cast(value, stash)
        for index, value in ((1, mean), (2, inverse))
    ]
    return [result, *others]
