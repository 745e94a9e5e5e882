"""Fingerprints of models, independent of the place and encoding of tensors."""

import hashlib
import json
from pathlib import Path
from typing import TypeVar

import numpy as np
import onnx

from ..tensor import Array, Tensor
from .external_data import tensors_of
from .model_source import BaseDir, ModelSource, base_dir_of, read, to_proto
from .protobuf.message_headers import copy_without

M = TypeVar("M", onnx.ModelProto, onnx.GraphProto)


def digest_of(model: ModelSource, base_dir: BaseDir = None) -> str:
    """The SHA-256 of a model, in hexadecimal. It hashes the deterministic serialization with
    digests in place of elements, and reads one tensor at a time.

    Args:
        base_dir: the base folder of external data of a model in memory.

    Raises:
        LoadError: the model or its external data cannot be read.
    """
    source = read(model)
    proto, folder = to_proto(source), base_dir_of(source, base_dir)
    bare = copy_without(proto, {"graph"})
    bare.graph.CopyFrom(copy_without(proto.graph, {"initializer"}))
    for tensor in list(tensors_of(bare)):
        tensor.CopyFrom(_summary(tensor, folder))
    digest = hashlib.sha256(_frame(bare.SerializeToString(deterministic=True)))
    for tensor in proto.graph.initializer:
        digest.update(_frame(_summary(tensor, folder).SerializeToString(deterministic=True)))
    return digest.hexdigest()


def digest_of_array(array: Array) -> bytes:
    """The SHA-256 of the elements of an array."""
    if array.dtype.hasobject:
        content = json.dumps([str(element) for element in array.reshape(-1)]).encode()
        return hashlib.sha256(content).digest()
    return hashlib.sha256(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data).digest()


def _summary(tensor: onnx.TensorProto, folder: Path | None) -> onnx.TensorProto:
    """A tensor with a digest in place of its elements."""
    summary = onnx.TensorProto(name=tensor.name, data_type=tensor.data_type, dims=tensor.dims)
    summary.doc_string = tensor.doc_string
    content = Tensor(tensor, base_dir=folder)
    if tensor.data_type == onnx.TensorProto.STRING:
        summary.raw_data = digest_of_array(content.numpy())
        return summary
    digest = hashlib.sha256()
    for block in content.content():
        digest.update(block)
    summary.raw_data = digest.digest()
    return summary


def _frame(content: bytes) -> bytes:
    """Prefix bytes with their length, so that concatenations are unambiguous."""
    return len(content).to_bytes(8, "little") + content
