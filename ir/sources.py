"""Whatever a user calls a model: a path, bytes, a message, an onnx_ir model, or ours."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, TypeAlias, TypeGuard, Union

import onnx

from .boundary import Boundary
from .deserialize import deserialize
from .errors import LoadError, SaveError
from .external_data import (
    external_tensors,
    files_of,
    load_external_data,
    refers_elsewhere,
    write_data_file,
)
from .files import encode, parse_bytes, replacing, require_graph
from .model import Model
from .ordering import nesting
from .reading import TWO_GB, folder_of, read_all, read_bytes
from .serialize import serialize
from .target import Target

if TYPE_CHECKING:
    import onnx_ir

_MAX_NESTING = 30
"""Protobuf readers take messages nested 100 deep: 3 for each graph in a node, 10 for the rest."""

_PLAIN = (str, os.PathLike, bytes, bytearray, memoryview, onnx.ModelProto, Model)
"""Kinds of models that hold no other one."""

BaseDir = str | os.PathLike[str] | None


@dataclasses.dataclass(frozen=True, eq=False)
class ModelFile:
    """A model that was read from a file or a pipe, which is not read again for it.

    Attributes:
        path: what it was read from.
        proto: its message; it is never changed.
        base_dir: the folder that its external data is relative to; None for a pipe.
        data_files: the files that hold its external data.
    """

    path: Path
    proto: onnx.ModelProto
    base_dir: Path | None
    data_files: frozenset[Path]


class Exported(Protocol):
    """What torch's exporter gives, `torch.onnx.ONNXProgram`."""

    @property
    def model(self) -> Any:
        """The model, as one of onnx_ir."""

    @property
    def model_proto(self) -> onnx.ModelProto:
        """The model as a message."""


class Scripted(Protocol):
    """A function that onnxscript's `@script` decorates."""

    def to_model_proto(self) -> onnx.ModelProto:
        """The model that the function is."""


ModelSource: TypeAlias = Union[
    str,
    os.PathLike[str],
    bytes,
    onnx.ModelProto,
    "onnx_ir.Model",
    Model,
    ModelFile,
    Exported,
    Scripted,
]


def read(source: ModelSource, max_bytes: int = TWO_GB) -> ModelSource:
    """What a path leads to, read once; the model that an exporter or a script gives; any other kind
    of model as it is.

    Raises:
        LoadError: the path cannot be read, is not a model, or holds more than `max_bytes`.
    """
    if isinstance(source, str | os.PathLike):
        return read_file(source, max_bytes)
    found: ModelSource = _unwrapped(source)
    return found


def _unwrapped(source: Any) -> Any:
    """The model in what stands for one: torch's ONNXProgram, a function of onnxscript.

    Raises:
        LoadError: it cannot be had.
    """
    if isinstance(source, _PLAIN):
        return source
    if _is_scripted(source):
        return Boundary(LoadError)(f"the script '{_name_of(source)}'", source.to_model_proto)
    model = getattr(source, "model", None)
    if _is_onnx_ir(model):
        return model
    proto = getattr(source, "model_proto", None)
    return proto if isinstance(proto, onnx.ModelProto) else source


def _is_scripted(source: Any) -> bool:
    return callable(getattr(source, "to_model_proto", None))


def _name_of(source: Any) -> str:
    return str(getattr(source, "name", type(source).__name__))


def read_file(path: str | os.PathLike[str], max_bytes: int = TWO_GB) -> ModelFile:
    """The model in a file or a pipe; external data stays where it is.

    Raises:
        LoadError: it cannot be read, is not a model, or holds more than `max_bytes`.
    """
    path = Path(path)
    content = read_bytes(path, min(max_bytes, TWO_GB))
    proto = parse_bytes(content, f"'{path}'")
    base_dir = folder_of(path)
    # Each external tensor tells its location under this key. To look for it is cheap, and spares
    # most models a walk through all attributes.
    files: frozenset[Path] = frozenset()
    if base_dir is not None and b"location" in content:
        files = files_of(external_tensors(proto), base_dir)
    return ModelFile(path, proto, base_dir, files)


def read_stream(stream: BinaryIO, name: str, max_bytes: int = TWO_GB) -> ModelFile:
    """The model that an open stream holds; external data has no folder there.

    Raises:
        LoadError: it cannot be read, is not a model, or holds more than `max_bytes`.
    """
    proto = parse_bytes(read_all(stream, name, max_bytes), name)
    return ModelFile(Path(name), proto, None, frozenset())


def to_proto(source: ModelSource) -> onnx.ModelProto:
    """The model as a message. One that is a message already is given back itself, not copied;
    external data of a file is not read.

    Raises:
        LoadError: it cannot be read or is not a model.
    """
    source = _unwrapped(source)
    if isinstance(source, onnx.ModelProto):
        return require_graph(source, "what was given")
    if isinstance(source, Model):
        return serialize(source)
    if _is_onnx_ir(source):
        from . import interop

        return interop.to_proto(source)
    if isinstance(source, bytes | bytearray | memoryview):
        return parse_bytes(bytes(source), "what was given")
    if isinstance(source, str | os.PathLike):
        return read_file(source).proto
    if isinstance(source, ModelFile):
        return source.proto
    raise LoadError(
        "a model is a path, bytes, onnx.ModelProto, onnx_ir.Model or straightline.ir.Model, or what"
        f" torch.onnx.export or onnxscript's @script give, not {type(source).__name__}"
    )


def base_dir_of(source: ModelSource, base_dir: BaseDir = None) -> Path | None:
    """The folder that the model's external data is relative to: what is given, or else what the
    source tells."""
    if base_dir is not None:
        return Path(os.path.abspath(base_dir))
    if isinstance(source, Model | ModelFile):
        return source.base_dir
    if isinstance(source, str | os.PathLike):
        return folder_of(Path(source))
    source = source if _is_scripted(source) else _unwrapped(source)
    if _is_onnx_ir(source):
        from . import interop

        return interop.base_dir_of(source)
    return None


def _is_onnx_ir(source: Any) -> TypeGuard[onnx_ir.Model]:
    """Whether it is a model of onnx_ir. Who holds one has imported it, which takes long."""
    if "onnx_ir" not in sys.modules:
        return False
    from . import interop

    return interop.is_model(source)


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
    source = read(source)
    proto, folder = to_proto(source), base_dir_of(source, base_dir)
    model = deserialize(proto, folder)
    if isinstance(source, Model):
        model.file, model.data_files = source.file, source.data_files
    elif isinstance(source, ModelFile):
        model.file, model.data_files = source.path.absolute(), source.data_files
    elif folder is not None:
        model.data_files = files_of(external_tensors(proto), folder)
    return model


def in_kind(model: Model, source: ModelSource) -> ModelSource:
    """A result in the kind in which its source was given: a message for a path, bytes or a script;
    what torch's ONNXProgram holds for one of these.

    Raises:
        LoadError: the source was a path whose external data does not fit into a message.
    """
    if isinstance(source, Model):
        return model
    proto = serialize(model)
    if _is_onnx_ir(source if _is_scripted(source) else _unwrapped(source)):
        from . import interop

        return interop.from_proto(proto, model.base_dir)
    if isinstance(source, str | os.PathLike | ModelFile):
        load_external_data(proto, model.base_dir)
    return proto


def save(
    model: Model | onnx.ModelProto,
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    keep: Iterable[Path] = (),
) -> None:
    """Write a model to a file, whole or not at all.

    External data stays where it is when the file goes into the folder it is relative to; else it
    is streamed into `<file name>.data` beside the file, as is all large data of a model over 2 GB.
    A link is followed. What the model was read from is never overwritten, save the model file
    itself by its own new version; nor is a file that is no model, or the data of another one.

    Args:
        model: an IR model or a message.
        path: where to.
        force: overwrite also what is no model, and data of other models.
        keep: further files that must not be overwritten.

    Raises:
        SaveError: the folder does not exist or cannot be written, no file can hold the model, or
            something would be lost.
        LoadError: external data that the model refers to cannot be read.
    """
    path = Path(path)
    base_dir, file, read = None, None, {*keep}
    if isinstance(model, Model):
        base_dir, file, read = model.base_dir, model.file, {*keep, *model.data_files}
    proto = serialize(model) if isinstance(model, Model) else model
    _check_nesting(proto, path)
    external = external_tensors(proto)
    if base_dir is not None:
        read |= files_of(external, base_dir)
    target = Target.of(path, read, file, force=force)
    content = None if refers_elsewhere(external, base_dir, target.folder) else encode(proto)
    if content is None or external:
        target.require_data_beside()
    if content is not None:
        with replacing(target.file) as (temporary,):
            temporary.write_bytes(content)
        return
    if proto is model:
        proto = onnx.ModelProto()
        proto.CopyFrom(model)
    _write_with_data(proto, base_dir, target)


def to_bytes(model: Model) -> bytes:
    """The model as one message, external data within it.

    Raises:
        SaveError: it is more than a message can have.
        LoadError: external data cannot be read.
    """
    proto = serialize(model)
    _check_nesting(proto, Path("standard output"))
    load_external_data(proto, model.base_dir)
    content = encode(proto)
    if content is None:
        raise SaveError("the model has more than 2 GB, which no stream can hold; name a file")
    return content


def _check_nesting(proto: onnx.ModelProto, path: Path) -> None:
    deepest = max(nesting(holder.node) for holder in (proto.graph, *proto.functions))
    if deepest > _MAX_NESTING:
        raise SaveError(
            f"cannot write '{path}': graphs are nested {deepest} deep, and readers of ONNX files"
            f" take no more than {_MAX_NESTING}"
        )


def _write_with_data(proto: onnx.ModelProto, base_dir: Path | None, target: Target) -> None:
    beside = target.data_file()
    with replacing(target.file, beside) as (temporary, data):
        with data.open("wb") as stream:
            write_data_file(proto, base_dir, stream, beside.name)
        content = encode(proto)
        if content is None:
            raise SaveError(
                f"cannot write '{target.path}': the model is over 2 GB even without its tensors"
            )
        temporary.write_bytes(content)
