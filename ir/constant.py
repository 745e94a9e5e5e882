"""Conversion between tensors and Constant operators."""

from pathlib import Path

import numpy as np
import onnx

from .attributes import value_of
from .kinds import takes
from .operator import Operator
from .tensor import Tensor

_DTYPES = {
    "value_float": np.float32,
    "value_floats": np.float32,
    "value_int": np.int64,
    "value_ints": np.int64,
}


@takes(op=Operator)
def constant_tensor(op: Operator, base_dir: Path | None = None) -> Tensor | None:
    """The output of a Constant operator (operator specification, Constant). None for an attribute
    of the enclosing function, a sparse tensor, or a string that is not UTF-8. `base_dir` is the
    model's folder."""
    return shared_constant(op, base_dir)


def shared_constant(op: Operator, base_dir: Path | None) -> Tensor | None:
    """The output of a Constant operator: one object for all its nodes."""
    cache = op.constant
    # External data is looked for in the folder, so a tensor serves its own folder only.
    if cache is not None and cache[0] is base_dir:
        return cache[1]
    if len(op.attributes) != 1 or op.references:
        return None
    try:
        tensor = _tensor(*next(iter(op.attributes.items())), base_dir)
    except UnicodeDecodeError:
        return None
    if tensor is not None:
        op.constant = base_dir, tensor
    return tensor


def _tensor(name: str, message: onnx.AttributeProto, base_dir: Path | None) -> Tensor | None:
    if name == "value" and message.HasField("t"):
        return Tensor(message.t, base_dir=base_dir)
    if name in _DTYPES:
        value = value_of(message)
        return Tensor(array=np.array(value, _DTYPES[name]))
    if name == "value_string":
        return Tensor(array=np.array(message.s.decode(), dtype=object))
    if name == "value_strings":
        return Tensor(array=np.array([s.decode() for s in message.strings], dtype=object))
    return None


@takes(tensor=Tensor)
def constant_operator(tensor: Tensor) -> Operator:
    """A Constant operator whose output is the tensor."""
    message = onnx.AttributeProto(name="value", type=onnx.AttributeProto.TENSOR)
    # `value` holds a dense tensor.
    if tensor.is_sparse:
        tensor = Tensor(array=tensor.numpy())
    content = tensor.message()
    assert isinstance(content, onnx.TensorProto)
    message.t.CopyFrom(content)
    return Operator("Constant", {"value": message})


FLOATS_OF_FIRST_CONSTANT = (
    onnx.TensorProto.FLOAT,
    onnx.TensorProto.DOUBLE,
    onnx.TensorProto.FLOAT16,
)
"""The element types of Constant before opset 9."""


def takes_any(opset: int, elem_type: int) -> bool:
    """Test whether a Constant node of an opset may have this element type."""
    return opset >= 9 or elem_type in FLOATS_OF_FIRST_CONSTANT


def widen(tensor: Tensor) -> Tensor | None:
    """The same numbers as doubles, from which Cast restores the element type. None for strings and
    for numbers that no double represents exactly."""
    array = tensor.numpy()
    wide = array.astype(np.float64) if array.dtype.kind in "biu" else None
    if wide is None or not np.array_equal(wide.astype(array.dtype), array):
        return None
    return Tensor(array=wide)
