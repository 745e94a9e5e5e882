"""Equal: the types of its operands.

https://onnx.ai/onnx/operators/onnx__Equal.html

- 7: truth values and 32 and 64-bit integers.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Equal-7
- 11: all numbers. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Equal-11
- 13: bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Equal-13
- 19: strings. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Equal-19
"""

from __future__ import annotations

import numpy as np
import onnx

from ..node_draft import Site
from ..registry import Outcome, downgrade, longer_form
from ..snippets import halves, is_float
from ..via_wider_type import SHORT, by_way_of

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
    """Before opset 11: no floats; equal is neither less, nor greater, nor NaN."""
    if not is_float(site):
        return None
    pair = [site.input(0), site.input(1)]
    differ = site.emit("Or", [site.emit("Less", pair), site.emit("Greater", pair)])
    nan = site.emit("Or", [site.emit("IsNaN", [value]) for value in pair])
    return [site.emit("Not", [site.emit("Or", [differ, nan])])]


@longer_form(11, "Equal")
def long_unsigned_integers(site: Site) -> Outcome:
    """Below opset 11: comparison of both halves of unsigned integers, as signed ones."""
    if site.required_dtype(0, "Equal") != np.uint64:
        site.refuse("Equal of this type is not written out")
    pair = [value for value in site.inputs if value is not None]
    parts = [[site.cast(h, onnx.TensorProto.INT64) for h in halves(site, v)] for v in pair]
    return [site.emit("And", [site.emit("Equal", same) for same in zip(*parts, strict=True)])]
