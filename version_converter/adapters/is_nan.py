"""IsNaN: test of elements for NaN.

https://onnx.ai/onnx/operators/onnx__IsNaN.html

- 9: the operator appears. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#IsNaN-9
- 13: bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#IsNaN-13
- 20: 8-bit floats. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#IsNaN-20
"""

from __future__ import annotations

import numpy as np

from ..node_draft import Site
from ..registry import Outcome, downgrade


@downgrade(9, "IsNaN")
def nan_is_in_no_range(site: Site) -> Outcome:
    """Opset 8: every number is below one or above zero."""
    dtype = site.required_dtype(0, "IsNaN")
    data = site.input(0)
    below = site.emit("Less", [data, site.const(np.ones((), dtype), "one")])
    above = site.emit("Greater", [data, site.const(np.zeros((), dtype), "zero")])
    return [site.emit("Not", [site.emit("Or", [below, above])])]
