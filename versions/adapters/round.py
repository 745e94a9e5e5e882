"""Round: to the nearest integer, halves to the even one.

https://onnx.ai/onnx/operators/onnx__Round.html

- 11: the operator appears. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Round-11
- 22: bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Round-22
"""

from __future__ import annotations

import numpy as np

from ..registry import Outcome, longer_form
from ..site import Site


@longer_form(11, "Round")
def up_or_down(site: Site) -> Outcome:
    """Below opset 11: the integer above where the distance to the one below is larger than a half,
    or a half from an odd one."""
    dtype, data = site.required_dtype(0, "a half"), site.input(0)
    half = site.const(np.array(0.5, dtype), "half")
    below, above = site.emit("Floor", [data], "below"), site.emit("Ceil", [data], "above")
    distance = site.emit("Sub", [data, below], "distance")
    halved = site.emit("Floor", [site.emit("Mul", [below, half])], "halved")
    rest = site.emit("Sub", [below, site.emit("Add", [halved, halved])], "rest")
    odd = site.emit("Greater", [rest, half], "odd")
    more = site.emit("Greater", [distance, half], "more")
    not_less = site.emit("Not", [site.emit("Less", [distance, half], "less")], "not_less")
    up = site.emit("Or", [more, site.emit("And", [not_less, odd])], "up")
    return [site.emit("Where", [up, above, below])]
