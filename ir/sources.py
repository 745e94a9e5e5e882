"""Whatever a user calls a model: a path, bytes, a message, an onnx_ir model, or ours."""

from __future__ import annotations

import os
from pathlib import Path

import onnx
import onnx_ir

from .deserialize import deserialize
from .errors import LoadError, SaveError
from .external_data import (
    data_file_name,
    load_external_data,
    refers_elsewhere,
    write_data_file,
)
from .files import encode, parse_bytes, read_proto, replacing, require_graph
from .model import Model
from .ordering import nesting
from .serialize import serialize

_MAX_NESTING = 30
"""Protobuf readers take messages nested 100 deep: 3 for each graph in a node, 10 for the rest."""

BaseDir = str | os.PathLike[str] | None
ModelSource = str | os.PathLike[str] | bytes | onnx.ModelProto | onnx_ir.Model | Model


def to_proto(source: ModelSource) -> onnx.ModelProto:
    """The model as a message. One that is a message already is given back itself, not copied;
    external data of a file is not read.

    Raises:
        LoadError: it cannot be read or is not a model.
    """
    if isinstance(source, onnx.ModelProto):
        return require_graph(source, "what was given")
    if isinstance(source, Model):
        return serialize(source)
    if isinstance(source, onnx_ir.Model):
        return onnx_ir.to_proto(source)
    if isinstance(source, bytes | bytearray | memoryview):
        return parse_bytes(bytes(source), "what was given")
    if isinstance(source, str | os.PathLike):
        return read_proto(Path(source))
    raise LoadError(
        f"a model is a path, bytes, onnx.ModelProto, onnx_ir.Model or straightline.ir.Model, not"
        f" {type(source).__name__}"
    )


def base_dir_of(source: ModelSource, base_dir: BaseDir = None) -> Path | None:
    """The folder that the model's external data is relative to: what is given, or else what the
    source tells."""
    if base_dir is not None:
        return Path(os.path.abspath(base_dir))
    if isinstance(source, Model):
        return source.base_dir
    if isinstance(source, str | os.PathLike):
        return Path(os.path.abspath(source)).parent
    if isinstance(source, onnx_ir.Model):
        return _base_dir_of_onnx_ir(source)
    return None


def _base_dir_of_onnx_ir(model: onnx_ir.Model) -> Path | None:
    values = (v for graph in model.graphs() for v in graph.initializers.values())
    tensors = (value.const_value for value in values)
    folders = {
        os.path.abspath(tensor.base_dir)
        for tensor in tensors
        if isinstance(tensor, onnx_ir.ExternalTensor)
    }
    if len(folders) > 1:
        raise LoadError(f"the model's external data is relative to several folders: {folders}")
    return Path(folders.pop()) if folders else None


def load(source: ModelSource, base_dir: BaseDir = None) -> Model:
    """The model as straightline's IR. An IR model is copied; tensors are always shared.

    Args:
        source: the model.
        base_dir: the folder that its external data is relative to, where the source does not tell
            it: a message, bytes.

    Raises:
        LoadError: it cannot be read or is not a model.
        ModelError: it is not well formed.
    """
    return deserialize(to_proto(source), base_dir_of(source, base_dir))


def in_kind(model: Model, source: ModelSource) -> ModelSource:
    """A result in the kind in which its source was given: a message for a path or bytes.

    Raises:
        LoadError: the source was a path whose external data does not fit into a message.
    """
    if isinstance(source, Model):
        return model
    proto = serialize(model)
    if isinstance(source, onnx_ir.Model):
        result = onnx_ir.from_proto(proto)
        if model.base_dir is not None:
            for graph in (result.graph, *(f.graph for f in result.functions.values())):
                onnx_ir.external_data.set_base_dir(graph, model.base_dir)
        return result
    if isinstance(source, str | os.PathLike):
        load_external_data(proto, model.base_dir)
    return proto


def save(model: Model | onnx.ModelProto, path: str | os.PathLike[str]) -> None:
    """Write a model to a file, whole or not at all.

    External data stays where it is when the file goes into the folder it is relative to; else it
    is streamed into `<file name>.data` beside the file, as is all large data of a model over 2 GB.

    Raises:
        SaveError: the folder does not exist or cannot be written, or no file can hold the model.
        LoadError: external data that the model refers to cannot be read.
    """
    path = Path(path)
    base_dir = model.base_dir if isinstance(model, Model) else None
    proto = serialize(model) if isinstance(model, Model) else model
    deepest = max(nesting(holder.node) for holder in (proto.graph, *proto.functions))
    if deepest > _MAX_NESTING:
        raise SaveError(
            f"cannot write '{path}': graphs are nested {deepest} deep, and readers of ONNX files"
            f" take no more than {_MAX_NESTING}"
        )
    # A link is followed for the model itself; its data belongs beside the link, where readers look.
    target = Path(os.path.realpath(path))
    content = None if refers_elsewhere(proto, base_dir, path.parent) else encode(proto)
    if content is not None:
        with replacing(target) as (temporary,):
            temporary.write_bytes(content)
        return
    if proto is model:
        proto = onnx.ModelProto()
        proto.CopyFrom(model)
    name = data_file_name(proto, base_dir, path)
    with replacing(target, path.parent / name) as (temporary, data):
        with data.open("wb") as stream:
            write_data_file(proto, base_dir, stream, name)
        content = encode(proto)
        if content is None:
            raise SaveError(
                f"cannot write '{path}': the model is over 2 GB even without its tensors"
            )
        temporary.write_bytes(content)
