"""RMSNormalization: values divided by the root of their mean square.

- 23: the operator appears.
"""

import numpy as np
import onnx

from ...ir import Value
from ..registry import INEXACT_BODIES, AdapterResult, NodeDraft, downgrade
from ..snippets import require_unidirectional, with_epsilon

INEXACT_BODIES.add("RMSNormalization")


@downgrade(23, "RMSNormalization")
def normalize_by_squares(draft: NodeDraft) -> AdapterResult:
    """Opset 22: at least as exact as the input, where onnx's function computes doubles as
    floats."""
    own = draft.required_elem_type(0, "the precision")
    require_unidirectional(draft, 1)
    double = onnx.TensorProto.DOUBLE in (own, draft.attribute("stash_type"))
    inner = onnx.TensorProto.DOUBLE if double else onnx.TensorProto.FLOAT
    wide = draft.as_type(draft.data, inner)
    squares = draft.emit("Mul", [wide, wide], "squares")
    size = draft.emit("Sqrt", [with_epsilon(draft, _mean(draft, squares))], "size")
    result = draft.emit("Div", [wide, size], "normalized")
    return [draft.emit("Mul", [draft.as_type(result, own), draft.input(1)])]


def _mean(draft: NodeDraft, squares: Value) -> Value:
    """The mean along the axes from `axis` on, however many follow."""
    axis, rank = draft.attribute("axis"), draft.rank()
    draft.checked_axis(axis)
    if axis < 0 or rank is not None:
        axes = range(axis, rank if axis >= 0 and rank else 0)
        return draft.along("ReduceMean", squares, axes, "mean")
    shape = draft.emit("Shape", [squares], "shape")
    bounds = [draft.const(np.array(axis), "first"), draft.emit("Size", [shape], "rank")]
    numbers = draft.emit("Range", [*bounds, draft.const(np.array(1), "one")], "axes")
    return draft.emit("ReduceMean", [squares, numbers], "mean")
