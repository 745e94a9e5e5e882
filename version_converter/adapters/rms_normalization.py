"""RMSNormalization: values divided by the root of their mean square.

https://onnx.ai/onnx/operators/onnx__RMSNormalization.html

- 23: the operator appears.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#RMSNormalization-23
"""

from __future__ import annotations

import numpy as np
import onnx

from ...ir import Value
from ..node_draft import NodeDraft
from ..registry import Outcome, downgrade, inexact_body
from ..snippets import mean_along, require_unidirectional, with_epsilon

inexact_body("RMSNormalization")


@downgrade(23, "RMSNormalization")
def normalize_by_squares(draft: NodeDraft) -> Outcome:
    """Opset 22: at least as exact as the input, where onnx's function computes doubles as
    floats."""
    draft.required_dtype(0, "the precision")
    require_unidirectional(draft, 1)
    own, data = draft.elem_type(0), draft.input(0)
    double = onnx.TensorProto.DOUBLE in (own, draft.attribute("stash_type"))
    inner = onnx.TensorProto.DOUBLE if double else onnx.TensorProto.FLOAT
    assert data is not None and own is not None
    wide = data if own == inner else draft.cast(data, inner)
    squares = draft.emit("Mul", [wide, wide], "squares")
    size = draft.emit("Sqrt", [with_epsilon(draft, _mean(draft, squares))], "size")
    result = draft.emit("Div", [wide, size], "normalized")
    result = result if own == inner else draft.cast(result, own)
    return [draft.emit("Mul", [result, draft.input(1)])]


def _mean(draft: NodeDraft, squares: Value) -> Value:
    """The mean along the axes from `axis` on, however many follow."""
    axis, rank = draft.attribute("axis"), draft.rank()
    draft.checked_axis(axis)
    if axis < 0 or rank is not None:
        return mean_along(draft, squares, list(range(axis, rank if axis >= 0 and rank else 0)))
    shape = draft.emit("Shape", [squares], "shape")
    bounds = [draft.const(np.array(axis), "first"), draft.emit("Size", [shape], "rank")]
    axes = draft.emit("Range", [*bounds, draft.const(np.array(1), "one")], "axes")
    return draft.emit("ReduceMean", [squares, axes], "mean")
