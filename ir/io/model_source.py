"""Whatever a user calls a model: a path, bytes, a message, an onnx_ir model, or ours."""

from __future__ import annotations

import copyreg
import dataclasses
import os
import sys
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Any,
    BinaryIO,
    Protocol,
    TypeAlias,
    TypeGuard,
    Union,
    runtime_checkable,
)

import onnx

from ..errors import LoadError
from ..file_reader import TWO_GB, folder_of, read_all, read_bytes
from ..kinds import PATH, takes
from ..model import Model
from ..onnx_errors import Boundary
from .deserialize import deserialize
from .external_data import external_tensors, files_of, load_external_data
from .files import parse_bytes, require_graph
from .serialize import serialize

if TYPE_CHECKING:
    import onnx_ir

_PLAIN = (str, os.PathLike, bytes, bytearray, memoryview, onnx.ModelProto, Model)
"""Kinds of models that hold no other one."""

_OPTION = "--max-input-size"

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


@runtime_checkable
class Readable(Protocol):
    """A stream of bytes."""

    def read(self, size: int = -1, /) -> bytes:
        """Read at most so many bytes."""


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


@takes(path=PATH)
def read_file(path: str | os.PathLike[str], max_bytes: int = TWO_GB) -> ModelFile:
    """The model in a file or a pipe; external data stays where it is.

    Raises:
        LoadError: it cannot be read, is not a model, or holds more than `max_bytes`.
    """
    path = Path(path)
    content = read_bytes(path, min(max_bytes, TWO_GB), option=_OPTION)
    proto = parse_bytes(content, f"'{path}'")
    base_dir = folder_of(path)
    # Each external tensor tells its location under this key. To look for it is cheap, and spares
    # most models a walk through all attributes.
    files: frozenset[Path] = frozenset()
    if base_dir is not None and b"location" in content:
        files = files_of(external_tensors(proto), base_dir)
    return ModelFile(path, proto, base_dir, files)


@takes(stream=Readable)
def read_stream(stream: BinaryIO, name: str, max_bytes: int = TWO_GB) -> ModelFile:
    """The model that an open stream holds; external data has no folder there.

    Raises:
        LoadError: it cannot be read, is not a model, or holds more than `max_bytes`.
    """
    proto = parse_bytes(read_all(stream, name, max_bytes, option=_OPTION), name)
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
        from . import onnx_ir_model

        return onnx_ir_model.to_proto(source)
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
        from . import onnx_ir_model

        return onnx_ir_model.base_dir_of(source)
    return None


def _is_onnx_ir(source: Any) -> TypeGuard[onnx_ir.Model]:
    """Whether it is a model of onnx_ir. Who holds one has imported it, which takes long."""
    if "onnx_ir" not in sys.modules:
        return False
    from . import onnx_ir_model

    return onnx_ir_model.is_model(source)


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


@takes(model=Model)
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
        from . import onnx_ir_model

        return onnx_ir_model.from_proto(proto, model.base_dir)
    if isinstance(source, str | os.PathLike | ModelFile):
        load_external_data(proto, model.base_dir)
    return proto


def _reduced(model: Model) -> tuple[Any, ...]:
    """Give `pickle` and `copy` what a model is made of: its message and where its data lies."""
    return _restored, (serialize(model), model.base_dir, model.file, model.data_files)


def _restored(
    proto: onnx.ModelProto, base_dir: Path | None, file: Path | None, data_files: frozenset[Path]
) -> Model:
    model = deserialize(proto, base_dir)
    model.file, model.data_files = file, data_files
    return model


copyreg.pickle(Model, _reduced)
