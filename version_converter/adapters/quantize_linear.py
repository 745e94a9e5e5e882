"""QuantizeLinear and DequantizeLinear: scales, and output types.

https://onnx.ai/onnx/operators/onnx__QuantizeLinear.html
https://onnx.ai/onnx/operators/onnx__DequantizeLinear.html

- 10: the operators appear; one scale for the whole tensor.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#QuantizeLinear-10
- 13: a scale for each slice along `axis`.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#QuantizeLinear-13
- 19: data of 16-bit floats; 8-bit floats, and `saturate`, for these only.
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

from ...ir import Value
from ..node_draft import Site
from ..registry import Outcome, downgrade, harmless, longer_form
from ..snippets import rounded
from ..via_wider_type import SHORT

_FLOAT = onnx.TensorProto.FLOAT
_PAIR = ("QuantizeLinear", "DequantizeLinear")


@downgrade(13, *_PAIR)
def one_scale(site: Site) -> Outcome:
    """Before opset 13: one scale for the whole tensor."""
    shape = site.shape(1)
    if shape is None:
        site.refuse_unknown("opset 12 takes one scale, and the shape of this one")
    if any(dim != 1 for dim in shape):
        site.refuse("opset 12 takes one scale for the whole tensor, and this one has more")
    site.drop("axis")
    return None


@longer_form(21, "DequantizeLinear")
@longer_form(13, "DequantizeLinear")
@longer_form(10, "DequantizeLinear")
def subtract_and_scale(site: Site) -> Outcome:
    """The definition in full: integers minus the zero point, times the scale."""
    dtype, data, zero_point = site.required_dtype(0, "a difference"), site.input(0), site.input(2)
    scale = _spread(site, 1)
    if zero_point is None:
        return [site.emit("Mul", [site.emit("Cast", [data], to=_FLOAT), scale])]
    # Of 8 and 16 bits a difference is exact as a float; one of 32 bits is rounded once.
    inner = onnx.TensorProto.INT32 if dtype == np.int32 else _FLOAT
    parts = [site.emit("Cast", [value], to=inner) for value in (data, _spread(site, 2))]
    difference = site.emit("Sub", parts, "difference")
    return [site.emit("Mul", [site.emit("Cast", [difference], to=_FLOAT), scale])]


@longer_form(21, "QuantizeLinear")
@longer_form(13, "QuantizeLinear")
@longer_form(10, "QuantizeLinear")
def divide_and_round(site: Site) -> Outcome:
    """The definition in full: divide by the scale, round half to even, add the zero point,
    saturate."""
    scale, zero_point = _spread(site, 1), site.input(2)
    elem_type = onnx.TensorProto.UINT8 if zero_point is None else site.elem_type(2)
    if site.source >= 21:
        elem_type = site.attribute("output_dtype") or elem_type
    if site.elem_type(0) != _FLOAT or elem_type not in SHORT:
        site.refuse("it is written out from 32-bit floats to integers of 8 or 16 bits only")
    result = site.emit("Div", [site.input(0), scale], "divided")
    if site.source < 11:
        result = rounded(site, result, np.dtype(np.float32))
    else:
        result = site.emit("Round", [result], "rounded")
    if zero_point is not None:
        start = site.emit("Cast", [_spread(site, 2)], "zero_point", to=_FLOAT)
        result = site.emit("Add", [result, start], "moved")
    limits = np.iinfo(onnx.helper.tensor_dtype_to_np_dtype(elem_type))
    low, high = (site.const(np.array(end, np.float32), "limit") for end in (limits.min, limits.max))
    inside = site.emit("Min", [site.emit("Max", [result, low]), high], "inside")
    return [site.emit("Cast", [inside], to=elem_type)]


def _spread(site: Site, index: int) -> Value:
    """A scale or zero point in a shape that broadcasts to the data. There is one for all, one for
    each slice along the axis, or one for each block."""
    value, shape = site.input(index), site.shape(index)
    assert value is not None
    if shape is None:
        site.refuse_unknown("writing it out needs the shape of its scale, which")
    if index == 1 and site.elem_type(1) != _FLOAT:
        site.refuse("with a scale that is no 32-bit float it is not written out")
    block = site.attribute("block_size") if site.source >= 21 else 0
    if block:
        return _of_blocks(site, value, shape, block)
    if len(shape) > 1:
        site.refuse("its scale has more than one axis, but there are no blocks")
    if shape in ([], [1]):
        return value
    if site.source < 13:
        site.refuse("its scale is not one number")
    axis = site.required_axis(site.attribute("axis"), "one scale for each slice")
    whole = site.shape() or [None] * (site.rank() or 0)
    lengths = {*shape, whole[axis]} - {None}
    if len(lengths) > 1:
        site.refuse(f"its scales are not as many as the slices along axis {axis}")
    after = [1] * (len(whole) - axis - 1)
    return site.emit("Reshape", [value, site.ints([-1, *after], "shape")], "slices")


def _of_blocks(site: Site, value: Value, shape: list[int | None], block: int) -> Value:
    axis = site.required_axis(site.attribute("axis"), "a scale for each block")
    whole = site.shape() or [None] * (site.rank() or 0)
    length = whole[axis]
    if length is None:
        site.refuse_unknown(f"a scale for each block needs the length of axis {axis}, which")
    count = -(-length // block)
    if len(shape) != len(whole) or shape[axis] not in (None, count):
        site.refuse(f"its scale has the shape {shape}, which is not one for each block of {block}")
    blocks = [place // block for place in range(length)]
    return site.emit("Gather", [value, site.ints(blocks, "blocks")], "spread", axis=axis)


@downgrade(21, "QuantizeLinear")
def type_by_zero_point(site: Site) -> Outcome:
    """Before opset 21: the output type is that of the zero point, or uint8."""
    elem_type = site.attribute("output_dtype")
    site.drop("output_dtype")
    if site.input(2) is not None or elem_type in (0, onnx.TensorProto.UINT8):
        return None
    shape = site.shape(1)
    if shape is None or None in shape:
        site.refuse_unknown("output_dtype needs a zero point of the shape of the scale, which")
    dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
    site.set_input(2, site.const(np.zeros([d or 0 for d in shape], dtype), "zero_point"))
    return None


@downgrade(23, "DequantizeLinear")
def type_by_scale(site: Site) -> Outcome:
    """Before opset 23: the output type is that of the scale."""
    elem_type = site.attribute("output_dtype")
    if elem_type and elem_type != site.elem_type(1):
        site.refuse("its output has another type than its scale, which opset 22 does not allow")
    site.drop("output_dtype")
    return None


@downgrade(23, "QuantizeLinear")
def precision_of_input(site: Site) -> Outcome:
    """Before opset 23: division in the type of the input and the scale."""
    precision = site.attribute("precision")
    if precision and precision != site.elem_type(0):
        site.refuse("it divides in another type than its input has, which opset 22 cannot say")
    site.drop("precision")
    return None


# It matters for 8-bit floats only, which the older versions do not support at all.
harmless("QuantizeLinear", attribute="saturate")
