"""The tensor that a Constant node stands for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx

from .operator import Operator
from .tensor import Tensor

_DTYPES = {
    "value_float": np.float32,
    "value_floats": np.float32,
    "value_int": np.int64,
    "value_ints": np.int64,
}


def constant_tensor(op: Operator, base_dir: Path | None = None) -> Tensor | None:
    """What a Constant operator gives (operator specification, Constant); None where its attribute
    comes from the function around it, or is a sparse tensor. `base_dir` is the model's folder."""
    if len(op.attributes) != 1 or op.references:
        return None
    ((name, message),) = op.attributes.items()
    if name == "value":
        return Tensor(message.t, base_dir=base_dir)
    if name in _DTYPES:
        value = onnx.helper.get_attribute_value(message)
        return Tensor(array=np.array(value, _DTYPES[name]))
    if name == "value_string":
        return Tensor(array=np.array(message.s.decode(), dtype=object))
    if name == "value_strings":
        return Tensor(array=np.array([s.decode() for s in message.strings], dtype=object))
    return None


def constant_operator(tensor: Tensor) -> Operator:
    """A Constant operator that gives the tensor."""
    message = onnx.AttributeProto(name="value", type=onnx.AttributeProto.TENSOR)
    if tensor.is_sparse:
        tensor = Tensor(array=tensor.numpy())
    content = tensor.message()
    assert isinstance(content, onnx.TensorProto)
    message.t.CopyFrom(content)
    return Operator("Constant", {"value": message})
