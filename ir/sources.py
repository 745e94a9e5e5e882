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
    needs_data_file,
    write_data_file,
)
from .files import parse_bytes, read_proto, replacing
from .model import Model
from .serialize import serialize

ModelSource = str | os.PathLike[str] | bytes | onnx.ModelProto | onnx_ir.Model | Model


def to_proto(source: ModelSource) -> onnx.ModelProto:
    """The model as a message. One that is a message already is given back itself, not copied;
    external data of a file is not read.

    Raises:
        LoadError: it cannot be read or is not a model.
    """
    if isinstance(source, onnx.ModelProto):
        return source
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


def base_dir_of(source: ModelSource) -> Path | None:
    """The folder that the model's external data is relative to, where the source tells it."""
    if isinstance(source, Model):
        return source.base_dir
    if isinstance(source, str | os.PathLike):
        return Path(source).parent
    return None


def load(source: ModelSource) -> Model:
    """The model as straightline's IR. An IR model is copied; tensors are always shared.

    Raises:
        LoadError: it cannot be read or is not a model.
        ModelError: it is not well formed.
    """
    return deserialize(to_proto(source), base_dir_of(source))


def in_kind(model: Model, source: ModelSource) -> ModelSource:
    """A result in the kind in which its source was given: a message for a path or bytes.

    Raises:
        LoadError: the source was a path whose external data does not fit into a message.
    """
    if isinstance(source, Model):
        return model
    proto = serialize(model)
    if isinstance(source, onnx_ir.Model):
        return onnx_ir.from_proto(proto)
    if isinstance(source, str | os.PathLike):
        load_external_data(proto, model.base_dir)
    return proto


def save(model: Model | onnx.ModelProto, path: str | os.PathLike[str]) -> None:
    """Write a model to a file, whole or not at all.

    External data stays where it is when the file goes into the folder it is relative to; else it
    is streamed into `<file name>.data` beside the file, as is all large data of a model over 2 GB.

    Raises:
        SaveError: the folder does not exist or cannot be written.
        LoadError: external data that the model refers to cannot be read.
    """
    path = Path(path)
    base_dir = model.base_dir if isinstance(model, Model) else None
    proto = serialize(model) if isinstance(model, Model) else model
    with replacing(path) as temporary:
        if not needs_data_file(proto, base_dir, path.parent):
            _write(proto, temporary)
            return
        if proto is model:
            proto = onnx.ModelProto()
            proto.CopyFrom(model)
        name = data_file_name(proto, path)
        with replacing(path.parent / name) as data:
            with data.open("wb") as target:
                write_data_file(proto, base_dir, target, name)
            _write(proto, temporary)


def _write(proto: onnx.ModelProto, path: Path) -> None:
    try:
        content = proto.SerializeToString()
    except Exception as error:  # protobuf's own error class differs between its versions
        raise SaveError(f"the model cannot be written: {error}") from error
    path.write_bytes(content)
