"""A number for what a model is: that of its message, wherever its tensors lie and however they are
written."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TypeVar

import numpy as np
import onnx

from ..tensor import Array, Tensor
from .external_data import tensors_of
from .model_source import BaseDir, ModelSource, base_dir_of, read, to_proto
from .raw_data_splicing import without

M = TypeVar("M", onnx.ModelProto, onnx.GraphProto)


def digest_of(model: ModelSource, base_dir: BaseDir = None) -> str:
    """The SHA-256 of a model, in hexadecimal: of its deterministic serialization, where a digest
    stands for the elements of each tensor. Tensors are read one after the other.

    Args:
        model: in any form.
        base_dir: the folder of the external data of a model in memory.

    Raises:
        LoadError: the model, or external data of it, cannot be read.
    """
    source = read(model)
    proto, folder = to_proto(source), base_dir_of(source, base_dir)
    bare = without(proto, {"graph"})
    bare.graph.CopyFrom(without(proto.graph, {"initializer"}))
    for tensor in list(tensors_of(bare)):
        tensor.CopyFrom(_summary(tensor, folder))
    found = hashlib.sha256(_framed(bare.SerializeToString(deterministic=True)))
    for tensor in proto.graph.initializer:
        found.update(_framed(_summary(tensor, folder).SerializeToString(deterministic=True)))
    return found.hexdigest()


def digest_of_array(array: Array) -> bytes:
    """The SHA-256 of the elements of an array."""
    if array.dtype.hasobject:
        content = json.dumps([str(element) for element in array.reshape(-1)]).encode()
        return hashlib.sha256(content).digest()
    return hashlib.sha256(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data).digest()


def _summary(tensor: onnx.TensorProto, folder: Path | None) -> onnx.TensorProto:
    """A tensor with the digest of its elements in their place."""
    made = onnx.TensorProto(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims)
    made.doc_string = tensor.doc_string
    held = Tensor(tensor, base_dir=folder)
    if tensor.data_type == onnx.TensorProto.STRING:
        made.raw_data = digest_of_array(held.numpy())
        return made
    found = hashlib.sha256()
    for block in held.content():
        found.update(block)
    made.raw_data = found.digest()
    return made


def _framed(content: bytes) -> bytes:
    """Bytes that tell their own length, so that two of them are not taken for others."""
    return len(content).to_bytes(8, "little") + content
