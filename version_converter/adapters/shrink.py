"""Shrink: numbers nearer to zero, and zero around it.

https://onnx.ai/onnx/operators/onnx__Shrink.html

- 9: the operator appears. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Shrink-9
"""

from __future__ import annotations

import numpy as np

from ..node_draft import Site
from ..registry import Outcome, longer_form


@longer_form(9, "Shrink")
def what_is_beyond_the_bounds(site: Site) -> Outcome:
    """Below opset 9: the definition. NaN is beyond no bound, and becomes zero."""
    dtype = site.required_dtype(0, "Shrink")
    if dtype.kind != "f":
        site.refuse("below opset 9 it can be said of floats only")
    data = site.input(0)
    bound, bias = (np.array(site.attribute(name), dtype) for name in ("lambd", "bias"))
    zero, shift = site.const(np.zeros((), dtype), "zero"), site.const(bias, "bias")
    above = site.emit("Greater", [data, site.const(bound, "upper")], "above")
    below = site.emit("Less", [data, site.const(-bound, "lower")], "below")
    upper = site.emit("Where", [above, site.emit("Sub", [data, shift]), zero], "upper")
    return [site.emit("Where", [below, site.emit("Add", [data, shift]), upper])]
