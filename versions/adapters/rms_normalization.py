"""RMSNormalization: values in parts of the root of their mean square.

https://onnx.ai/onnx/operators/onnx__RMSNormalization.html

- 23: the operator appears.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#RMSNormalization-23
"""

from __future__ import annotations

import onnx

from ..phrases import mean_along, require_unidirectional, with_epsilon
from ..registry import Outcome, downgrade
from ..site import Site


@downgrade(23, "RMSNormalization")
def by_squares(site: Site) -> Outcome:
    """Opset 22: computed at least as exactly as the input is, where onnx's function computes all
    in `stash_type`, doubles as floats."""
    site.required_dtype(0, "the precision")
    require_unidirectional(site, 1)
    own, data = site.elem_type(0), site.input(0)
    double = onnx.TensorProto.DOUBLE in (own, site.attribute("stash_type"))
    inner = onnx.TensorProto.DOUBLE if double else onnx.TensorProto.FLOAT
    assert data is not None and own is not None
    axis = site.attribute("axis")
    site.checked_axis(axis)
    rank = site.required_rank("a positive 'axis'") if axis >= 0 else 0
    wide = data if own == inner else site.cast(data, inner)
    squares = site.emit("Mul", [wide, wide], "squares")
    mean = mean_along(site, squares, list(range(axis, rank)))
    size = site.emit("Sqrt", [with_epsilon(site, mean)], "size")
    result = site.emit("Div", [wide, size], "normalized")
    result = result if own == inner else site.cast(result, own)
    return [site.emit("Mul", [result, site.input(1)])]
