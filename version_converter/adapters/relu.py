"""Relu: the types of its input.

https://onnx.ai/onnx/operators/onnx__Relu.html

- 6: floats. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Relu-6
- 13: bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Relu-13
- 14: signed integers. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Relu-14
"""

from __future__ import annotations

import numpy as np

from ..node_draft import Site
from ..registry import Outcome, downgrade


@downgrade(14, "Relu", kinds="i")
def relu_of_integers(site: Site) -> Outcome:
    """Before opset 14: floats only; Max for integers."""
    dtype = site.required_dtype(0, "Relu before opset 14")
    if dtype.kind != "i":
        return None
    return [site.emit("Max", [site.input(0), site.const(np.zeros((), dtype), "zero")])]
