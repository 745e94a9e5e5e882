"""LayerNormalization: deviations from a mean, divided by the standard deviation.

https://onnx.ai/onnx/operators/onnx__LayerNormalization.html

- 17: the operator appears.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#LayerNormalization-17
"""

from __future__ import annotations

import onnx

from ..node_draft import Site
from ..registry import Outcome, downgrade, inexact_body
from ..snippets import mean_and_deviations, require_unidirectional, with_epsilon

inexact_body("LayerNormalization")


@downgrade(17, "LayerNormalization")
def by_squared_deviations(site: Site) -> Outcome:
    """Opset 16: the specification's formula, where onnx's function subtracts squares."""
    own, stash, data = _own_type(site), site.attribute("stash_type"), site.input(0)
    assert data is not None
    require_unidirectional(site, 1, 2)
    # It is computed at least as exactly as its mean.
    inner = own if own == onnx.TensorProto.DOUBLE else onnx.TensorProto.FLOAT
    axis = site.attribute("axis")
    site.checked_axis(axis)
    rank = site.required_rank("a positive 'axis'") if axis >= 0 else 0
    wide = data if own == inner else site.cast(data, inner)
    mean, deviations, variance = mean_and_deviations(site, wide, list(range(axis, rank)))
    inverse = site.emit("Reciprocal", [site.emit("Sqrt", [with_epsilon(site, variance)])])
    result = site.emit("Mul", [deviations, inverse], "normalized")
    result = result if own == inner else site.cast(result, own)
    result = site.emit("Mul", [result, site.input(1)], "scaled")
    if site.input(2) is not None:
        result = site.emit("Add", [result, site.input(2)], "moved")
    others = [
        value if stash == inner or not site.is_used(index) else site.cast(value, stash)
        for index, value in ((1, mean), (2, inverse))
    ]
    return [result, *others]


def _own_type(site: Site) -> int:
    site.required_dtype(0, "the precision")
    own = site.elem_type(0)
    assert own is not None
    return own
