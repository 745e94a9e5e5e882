"""Types as ONNX writes them: what two of them agree on, and how one completes another."""

import onnx

_HOLDING = ("sequence_type", "optional_type")

INTEGER_BITS = {
    onnx.TensorProto.DataType.Value(f"{kind}{bits}"): bits
    for kind in ("INT", "UINT")
    for bits in (8, 16, 32, 64)
}
"""The element types of integers, with their bits."""
PLAIN_FLOATS = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE)
"""The element types of floats in which runtimes compute."""
IEEE_FLOATS = (onnx.TensorProto.FLOAT16, *PLAIN_FLOATS)
"""The element types of floats that numpy has, too."""
FLOATS = (*IEEE_FLOATS, onnx.TensorProto.BFLOAT16)
"""The element types of floats in which models compute."""
PLAIN_INTEGERS = (onnx.TensorProto.INT32, onnx.TensorProto.INT64)
"""The element types of integers for which most operators have kernels."""
PLAIN_NUMBERS = (*PLAIN_FLOATS, *PLAIN_INTEGERS)


def agreed(one: onnx.TypeProto | None, other: onnx.TypeProto | None) -> onnx.TypeProto | None:
    """Join two types; None where their kinds or element types differ.

    Sizes that differ are left out, and so is a rank that differs.
    """
    if one is None or other is None or one == other:
        return one if one == other else None
    kind = one.WhichOneof("value")
    if kind is None or kind != other.WhichOneof("value"):
        return None
    common = onnx.TypeProto()
    common.CopyFrom(one)
    if kind in _HOLDING:
        inner = agreed(getattr(one, kind).elem_type, getattr(other, kind).elem_type)
        if inner is None:
            return None
        getattr(common, kind).elem_type.CopyFrom(inner)
        return common
    if kind != "tensor_type" or one.tensor_type.elem_type != other.tensor_type.elem_type:
        return None
    _loosen(common.tensor_type, other.tensor_type)
    return common


def _loosen(tensor: onnx.TypeProto.Tensor, other: onnx.TypeProto.Tensor) -> None:
    if not other.HasField("shape") or len(other.shape.dim) != len(tensor.shape.dim):
        tensor.ClearField("shape")
        return
    for dim, also in zip(tensor.shape.dim, other.shape.dim, strict=True):
        if dim != also:
            dim.Clear()


def completed(one: onnx.TypeProto, other: onnx.TypeProto) -> onnx.TypeProto:
    """Complete a type with the sizes of another of the same kind."""
    kind = one.WhichOneof("value")
    if kind is None or kind != other.WhichOneof("value"):
        return one
    whole = onnx.TypeProto()
    whole.CopyFrom(one)
    if kind in _HOLDING:
        inner = completed(getattr(one, kind).elem_type, getattr(other, kind).elem_type)
        getattr(whole, kind).elem_type.CopyFrom(inner)
    elif kind == "tensor_type" and one.tensor_type.elem_type == other.tensor_type.elem_type:
        _fill(whole.tensor_type, other.tensor_type)
    return whole


def _fill(tensor: onnx.TypeProto.Tensor, other: onnx.TypeProto.Tensor) -> None:
    if not other.HasField("shape"):
        return
    if not tensor.HasField("shape"):
        tensor.shape.CopyFrom(other.shape)
    elif len(tensor.shape.dim) == len(other.shape.dim):
        for dim, also in zip(tensor.shape.dim, other.shape.dim, strict=True):
            if dim.WhichOneof("value") is None:
                dim.CopyFrom(also)
