"""MeanVarianceNormalization: deviations from a mean, divided by the standard deviation.

https://onnx.ai/onnx/operators/onnx__MeanVarianceNormalization.html

- 9: the operator appears.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#MeanVarianceNormalization-9
- 13: bfloat16.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#MeanVarianceNormalization-13
"""

from __future__ import annotations

import numpy as np

from ..node_draft import Site
from ..registry import Outcome, downgrade, inexact_body, upgrade
from ..snippets import mean_and_deviations

_LEAST = 1e-9
"""Summand of the deviation, which avoids a division by zero."""

# It subtracts the square of the mean from the mean of the squares.
inexact_body("MeanVarianceNormalization")


@upgrade(13, "MeanVarianceNormalization")
def write_axes(site: Site) -> Outcome:
    """Write out the default: onnx's inference of opset 13 fails without axes."""
    site.set("axes", site.attribute("axes"))
    return None


@downgrade(9, "MeanVarianceNormalization")
def by_squared_deviations(site: Site) -> Outcome:
    """Opset 8: the specification's formula, where onnx's function subtracts squares."""
    dtype, data = site.required_dtype(0, "the least divisor"), site.input(0)
    assert data is not None
    axes = [site.checked_axis(axis) for axis in site.attribute("axes")]
    _, deviations, variance = mean_and_deviations(site, data, axes)
    least = site.const(np.array(_LEAST, dtype), "least")
    size = site.emit("Add", [site.emit("Sqrt", [variance]), least])
    return [site.emit("Div", [deviations, size])]
