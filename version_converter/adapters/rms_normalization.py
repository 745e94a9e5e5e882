"""RMSNormalization: values divided by the root of their mean square.

https://onnx.ai/onnx/operators/onnx__RMSNormalization.html

- 23: the operator appears.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#RMSNormalization-23
"""

from __future__ import annotations

import numpy as np
import onnx

from ...ir import Value
from ..node_draft import Site
from ..registry import Outcome, downgrade, inexact_body
from ..snippets import mean_along, require_unidirectional, with_epsilon

inexact_body("RMSNormalization")


@downgrade(23, "RMSNormalization")
def by_squares(site: Site) -> Outcome:
    """Opset 22: at least as exact as the input, where onnx's function computes doubles as
    floats."""
    site.required_dtype(0, "the precision")
    require_unidirectional(site, 1)
    own, data = site.elem_type(0), site.input(0)
    double = onnx.TensorProto.DOUBLE in (own, site.attribute("stash_type"))
    inner = onnx.TensorProto.DOUBLE if double else onnx.TensorProto.FLOAT
    assert data is not None and own is not None
    wide = data if own == inner else site.cast(data, inner)
    squares = site.emit("Mul", [wide, wide], "squares")
    size = site.emit("Sqrt", [with_epsilon(site, _mean(site, squares))], "size")
    result = site.emit("Div", [wide, size], "normalized")
    result = result if own == inner else site.cast(result, own)
    return [site.emit("Mul", [result, site.input(1)])]


def _mean(site: Site, squares: Value) -> Value:
    """The mean along the axes from `axis` on, however many follow."""
    axis, rank = site.attribute("axis"), site.rank()
    site.checked_axis(axis)
    if axis < 0 or rank is not None:
        return mean_along(site, squares, list(range(axis, rank if axis >= 0 and rank else 0)))
    shape = site.emit("Shape", [squares], "shape")
    bounds = [site.const(np.array(axis), "first"), site.emit("Size", [shape], "rank")]
    axes = site.emit("Range", [*bounds, site.const(np.array(1), "one")], "axes")
    return site.emit("ReduceMean", [squares, axes], "mean")
