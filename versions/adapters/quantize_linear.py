"""QuantizeLinear and DequantizeLinear: scales, and the types that they give.

https://onnx.ai/onnx/operators/onnx__QuantizeLinear.html
https://onnx.ai/onnx/operators/onnx__DequantizeLinear.html

- 10: the operators appear; one scale for the whole tensor.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#QuantizeLinear-10
- 13: a scale for each slice along `axis`.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#QuantizeLinear-13
- 19: data of 16-bit floats; 8-bit floats, and `saturate`, which speaks of these only.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#QuantizeLinear-19
- 21: a scale for each block; `output_dtype` of QuantizeLinear; 4 and 16-bit integers.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#QuantizeLinear-21
- 23: `precision` of QuantizeLinear and `output_dtype` of DequantizeLinear; float4e2m1.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#QuantizeLinear-23
- 24: scales of float8e8m0.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#QuantizeLinear-24
- 25: 2-bit integers. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#QuantizeLinear-25
- 28: 6-bit floats. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#QuantizeLinear-28
"""

from __future__ import annotations

import numpy as np
import onnx

from ..registry import Outcome, downgrade, harmless
from ..site import Site

_PAIR = ("QuantizeLinear", "DequantizeLinear")


@downgrade(13, *_PAIR)
def one_scale(site: Site) -> Outcome:
    """Before opset 13 there is one scale for the whole tensor."""
    shape = site.shape(1)
    if shape is None:
        site.refuse_unknown("opset 12 takes one scale, and the shape of this one")
    if any(dim != 1 for dim in shape):
        site.refuse("opset 12 takes one scale for the whole tensor, and this one has more")
    site.drop("axis")
    return None


@downgrade(21, "QuantizeLinear")
def type_by_zero_point(site: Site) -> Outcome:
    """Before opset 21 the type of the result is that of the zero point, or uint8."""
    wanted = site.attribute("output_dtype")
    site.drop("output_dtype")
    if site.input(2) is not None or wanted in (0, onnx.TensorProto.UINT8):
        return None
    shape = site.shape(1)
    if shape is None or None in shape:
        site.refuse_unknown("output_dtype needs a zero point of the shape of the scale, which")
    dtype = onnx.helper.tensor_dtype_to_np_dtype(wanted)
    site.set_input(2, site.const(np.zeros([d or 0 for d in shape], dtype), "zero_point"))
    return None


@downgrade(23, "DequantizeLinear")
def type_by_scale(site: Site) -> Outcome:
    """Before opset 23 the type of the result is that of the scale."""
    wanted = site.attribute("output_dtype")
    if wanted and wanted != site.elem_type(1):
        site.refuse("its output has another type than its scale, which opset 22 does not allow")
    site.drop("output_dtype")
    return None


@downgrade(23, "QuantizeLinear")
def precision_of_input(site: Site) -> Outcome:
    """Before opset 23 the division is done in the type of the input and the scale."""
    precision = site.attribute("precision")
    if precision and precision != site.elem_type(0):
        site.refuse("it divides in another type than its input has, which opset 22 cannot say")
    site.drop("precision")
    return None


# It matters for 8-bit floats only, which the older versions do not take at all.
harmless("QuantizeLinear", attribute="saturate")
