"""QuantizeLinear and DequantizeLinear: scales, and output types.

- 10: the operators appear; one scale for the whole tensor.
- 13: a scale for each slice along `axis`.
- 19: data of 16-bit floats; 8-bit floats, and `saturate`, for these only.
- 21: a scale for each block; `output_dtype` of QuantizeLinear; 4 and 16-bit integers.
- 23: `precision` of QuantizeLinear and `output_dtype` of DequantizeLinear; float4e2m1.
- 24: scales of float8e8m0.
- 25 and 28: more types.
"""

import numpy as np
import onnx

from ...ir import Value
from ..registry import AdapterResult, NodeDraft, downgrade, harmless, longer_form
from ..snippets import pick, round_half_even
from ..types import shape_text
from ..via_wider_type import SHORT

_FLOAT = onnx.TensorProto.FLOAT
_SMALL_FLOATS = tuple(
    getattr(onnx.TensorProto, f"FLOAT8{kind}")
    for kind in ("E4M3FN", "E4M3FNUZ", "E5M2", "E5M2FNUZ")
)
_PAIR = ("QuantizeLinear", "DequantizeLinear")


@downgrade(13, *_PAIR)
def require_one_scale(draft: NodeDraft) -> None:
    """Before opset 13: one scale for the whole tensor."""
    shape = draft.shape(1)
    if shape is None:
        draft.refuse_unknown("opset 12 supports one scale, and the shape of this one")
    if any(dim != 1 for dim in shape):
        draft.refuse("opset 12 supports one scale for the whole tensor, and this one has more")
    draft.drop("axis")


@longer_form(19, "DequantizeLinear")
def scale_in_32_bits(draft: NodeDraft) -> AdapterResult:
    """Below opset 19: with a scale of 32 bits, and a result that is rounded once. Constant floats
    of 8 bits are multiplied."""
    if draft.elem_type(0) in _SMALL_FLOATS:
        return _multiply_floats(draft)
    own = draft.required_elem_type(1, "a scale")
    draft.set_input(1, draft.cast(draft.required(1), _FLOAT))
    (value,) = draft.repeat()
    return [draft.emit("Cast", [value], to=own)]


def _multiply_floats(draft: NodeDraft) -> list[Value]:
    """The product of constant floats of 8 bits, which 16 bits hold, with the scale."""
    own = draft.required_elem_type(1, "a scale")
    if draft.input(2) is not None and draft.required_constant(2, "the zero point").any():
        draft.refuse("a zero point of floats has no agreed meaning")
    numbers = draft.required_constant(0, "data of 8-bit floats").astype(np.float16)
    data = draft.emit("Cast", [draft.const(numbers, "numbers")], to=_FLOAT)
    scale = _spread(draft, 1)
    if own == _FLOAT:
        return [draft.emit("Mul", [data, scale])]
    product = draft.emit("Mul", [data, draft.emit("Cast", [scale], to=_FLOAT)], "product")
    return [draft.emit("Cast", [product], to=own)]


@longer_form(21, "DequantizeLinear")
@longer_form(13, "DequantizeLinear")
@longer_form(10, "DequantizeLinear")
def subtract_and_scale(draft: NodeDraft) -> AdapterResult:
    """The definition in full: integers minus the zero point, times the scale."""
    dtype, zero_point = draft.required_dtype(0, "a difference"), draft.input(2)
    if draft.elem_type(1) in (onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16):
        return scale_in_32_bits(draft)
    scale = _spread(draft, 1)
    if zero_point is None:
        return [draft.emit("Mul", [draft.emit("Cast", [draft.data], to=_FLOAT), scale])]
    # Of 8 and 16 bits a difference is exact as a float; one of 32 bits is rounded once.
    inner = onnx.TensorProto.INT32 if dtype == np.int32 else _FLOAT
    parts = [draft.emit("Cast", [value], to=inner) for value in (draft.data, _spread(draft, 2))]
    difference = draft.emit("Sub", parts, "difference")
    return [draft.emit("Mul", [draft.emit("Cast", [difference], to=_FLOAT), scale])]


@longer_form(21, "QuantizeLinear")
@longer_form(13, "QuantizeLinear")
@longer_form(10, "QuantizeLinear")
def divide_and_round(draft: NodeDraft) -> AdapterResult:
    """The definition in full: divide by the scale, round half to even, add the zero point,
    saturate."""
    scale, zero_point = _spread(draft, 1), draft.input(2)
    elem_type = onnx.TensorProto.UINT8 if zero_point is None else draft.elem_type(2)
    if draft.source >= 21:
        elem_type = draft.attribute("output_dtype") or elem_type
    if draft.elem_type(0) != _FLOAT or elem_type not in SHORT:
        draft.refuse("it is written out from 32-bit floats to integers of 8 or 16 bits only")
    result = draft.emit("Div", [draft.input(0), scale], "divided")
    # Round appears in opset 11.
    if draft.source < 11:
        result = round_half_even(draft, result, np.dtype(np.float32))
    else:
        result = draft.emit("Round", [result], "rounded")
    if zero_point is not None:
        start = draft.emit("Cast", [_spread(draft, 2)], "zero_point", to=_FLOAT)
        result = draft.emit("Add", [result, start], "moved")
    limits = np.iinfo(onnx.helper.tensor_dtype_to_np_dtype(elem_type))
    low, high = (
        draft.const(np.array(end, np.float32), "limit") for end in (limits.min, limits.max)
    )
    # Kernels quantize a NaN to the lowest number; of a NaN, Max makes another one.
    inside = draft.emit("Min", [pick(draft, "Greater", result, low), high], "inside")
    return [draft.emit("Cast", [inside], to=elem_type)]


def _spread(draft: NodeDraft, index: int) -> Value:
    """A scale or zero point in a shape that broadcasts to the data. There is one for all, one for
    each slice along the axis, or one for each block."""
    value, shape = draft.required(index), draft.shape(index)
    if shape is None:
        draft.refuse_unknown("writing it out needs the shape of its scale, which")
    if index == 1 and draft.elem_type(1) != _FLOAT:
        draft.refuse("it has a longer form for 32-bit scales only")
    block = draft.attribute("block_size") if draft.source >= 21 else 0
    if block:
        return _of_blocks(draft, value, shape, block)
    if len(shape) > 1:
        draft.refuse("its scale has more than one axis, but there are no blocks")
    if shape in ([], [1]):
        return value
    if draft.source < 13:
        draft.refuse("its scale is not one number")
    axis = draft.required_axis(draft.attribute("axis"), "one scale for each slice")
    whole = draft.shape() or [None] * (draft.rank() or 0)
    lengths = {*shape, whole[axis]} - {None}
    if len(lengths) > 1:
        draft.refuse(f"its scales are not as many as the slices along axis {axis}")
    # The slices may be of an unknown number; axes of length 1 behind them broadcast.
    after = [1] * (len(whole) - axis - 1)
    return draft.emit("Reshape", [value, draft.ints([-1, *after], "shape")], "slices")


def _of_blocks(draft: NodeDraft, value: Value, shape: list[int | None], block: int) -> Value:
    axis = draft.required_axis(draft.attribute("axis"), "a scale for each block")
    whole = draft.shape() or [None] * (draft.rank() or 0)
    length = whole[axis]
    if length is None:
        draft.refuse_unknown(f"a scale for each block needs the length of axis {axis}, which")
    # The last block may be shorter than the others.
    count = -(-length // block)
    if len(shape) != len(whole) or shape[axis] not in (None, count):
        draft.refuse(
            f"its scale has the shape {shape_text(shape)}, which is not one for each block of"
            f" {block}"
        )
    blocks = [place // block for place in range(length)]
    return draft.emit("Gather", [value, draft.ints(blocks, "blocks")], "spread", axis=axis)


@downgrade(21, "QuantizeLinear")
def infer_type_from_zero_point(draft: NodeDraft) -> None:
    """Before opset 21: the output type is that of the zero point, or uint8."""
    elem_type = draft.attribute("output_dtype")
    draft.drop("output_dtype")
    # A zero point decides the type, and without one it is uint8; 0 stands for no output_dtype.
    if draft.input(2) is not None or elem_type in (0, onnx.TensorProto.UINT8):
        return
    shape = draft.shape(1)
    if shape is None or None in shape:
        draft.refuse_unknown("output_dtype needs a zero point of the shape of the scale, which")
    dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
    draft.set_input(2, draft.const(np.zeros([d or 0 for d in shape], dtype), "zero_point"))


@downgrade(23, "DequantizeLinear")
def infer_type_from_scale(draft: NodeDraft) -> None:
    """Before opset 23: the output type is that of the scale."""
    elem_type = draft.attribute("output_dtype")
    if elem_type and elem_type != draft.elem_type(1):
        draft.refuse("its output has another type than its scale, which opset 22 does not allow")
    draft.drop("output_dtype")


@downgrade(23, "QuantizeLinear")
def require_input_precision(draft: NodeDraft) -> None:
    """Before opset 23: division in the type of the input and the scale."""
    precision = draft.attribute("precision")
    if precision and precision != draft.elem_type(0):
        draft.refuse(
            "it divides in another type than its input has, which opset 22 does not support"
        )
    draft.drop("precision")


# It matters for 8-bit floats only, which the older versions do not support at all.
harmless("QuantizeLinear", attribute="saturate")
