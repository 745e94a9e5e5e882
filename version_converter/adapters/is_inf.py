"""IsInf: test of elements for infinity.

https://onnx.ai/onnx/operators/onnx__IsInf.html

- 10: the operator appears, for float and double.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#IsInf-10
- 20: all other floats. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#IsInf-20
"""

from __future__ import annotations

import numpy as np

from ..node_draft import Site
from ..registry import Outcome, downgrade


@downgrade(10, "IsInf")
def infinity_is_beyond_the_largest(site: Site) -> Outcome:
    """Opset 9: compare with the largest finite number."""
    dtype = site.required_dtype(0, "IsInf")
    data, largest = site.input(0), np.array(np.finfo(dtype).max, dtype)
    tests = []
    if site.attribute("detect_positive"):
        tests.append(site.emit("Greater", [data, site.const(largest, "largest")]))
    if site.attribute("detect_negative"):
        tests.append(site.emit("Less", [data, site.const(-largest, "lowest")]))
    if not tests:
        never = site.emit("Less", [data, data])
        return [never]
    return [tests[0] if len(tests) == 1 else site.emit("Or", tests)]
