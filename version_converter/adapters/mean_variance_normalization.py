"""MeanVarianceNormalization: deviations from a mean, divided by the standard deviation.

- 9: the operator appears.
- 13: bfloat16.
"""

import numpy as np

from ..registry import INEXACT_BODIES, AdapterResult, NodeDraft, downgrade, upgrade
from ..snippets import mean_and_deviations

_LEAST = 1e-9
"""Summand of the deviation, which avoids a division by zero."""

# It subtracts the square of the mean from the mean of the squares.
INEXACT_BODIES.add("MeanVarianceNormalization")


@upgrade(13, "MeanVarianceNormalization")
def write_axes(draft: NodeDraft) -> None:
    """Write out the default: onnx's inference of opset 13 fails without axes."""
    draft.set("axes", draft.attribute("axes"))


@downgrade(9, "MeanVarianceNormalization")
def normalize_by_deviations(draft: NodeDraft) -> AdapterResult:
    """Opset 8: the specification's formula, where onnx's function subtracts squares."""
    dtype = draft.required_dtype(0, "the least divisor")
    axes = [draft.checked_axis(axis) for axis in draft.attribute("axes")]
    _, deviations, variance = mean_and_deviations(draft, draft.data, axes)
    least = draft.const(np.array(_LEAST, dtype), "least")
    size = draft.emit("Add", [draft.emit("Sqrt", [variance]), least])
    return [draft.emit("Div", [deviations, size])]
