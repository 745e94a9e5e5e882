"""Equal: the types that it compares.

https://onnx.ai/onnx/operators/onnx__Equal.html

- 7: truth values and 32 and 64-bit integers.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Equal-7
- 11: all numbers. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Equal-11
- 13: bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Equal-13
- 19: strings. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Equal-19
"""

from __future__ import annotations

import onnx

from ..detours import SHORT, by_way_of
from ..phrases import is_float
from ..registry import Outcome, downgrade
from ..site import Site

by_way_of(
    11,
    "Equal",
    types=(*SHORT, onnx.TensorProto.UINT32),
    via=onnx.TensorProto.INT64,
    inputs=(0, 1),
    outputs=(),
)


@downgrade(11, "Equal")
def equality_of_floats(site: Site) -> Outcome:
    """Before opset 11 Equal takes no floats: equal is neither less, nor greater, nor NaN."""
    if not is_float(site):
        return None
    pair = [site.input(0), site.input(1)]
    differ = site.emit("Or", [site.emit("Less", pair), site.emit("Greater", pair)])
    nan = site.emit("Or", [site.emit("IsNaN", [value]) for value in pair])
    return [site.emit("Not", [site.emit("Or", [differ, nan])])]
