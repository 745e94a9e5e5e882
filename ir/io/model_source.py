"""Sources of models: paths, bytes, messages, models of onnx_ir or ours."""

from __future__ import annotations

import copyreg
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeGuard, Union

import onnx
from google.protobuf.message import DecodeError

from ...records import record, replace
from ..errors import LoadError
from ..file_reader import TWO_GB, Readable, folder_of, read_all, read_bytes
from ..kinds import PATH, require_kinds, takes
from ..model import Model
from ..onnx_errors import Boundary
from .deserialize import deserialize
from .external_data import external_tensors, files_of, load_external_data
from .foreign_content import description
from .protobuf.message_depth import is_nested_too_deep
from .serialize import serialize

if TYPE_CHECKING:
    import onnx_ir

_PLAIN = (str, os.PathLike, bytes, bytearray, memoryview, onnx.ModelProto, Model)
"""The kinds of models that wrap no other one."""

_OPTION = "--max-input-size"

BaseDir = str | os.PathLike[str] | None


@record(frozen=True, eq=False)
class ModelFile:
    """A model from a file or a pipe, read once.

    Attributes:
        path: the path of the file or pipe.
        proto: its message; immutable.
        base_dir: the base folder of external data; None for a pipe.
        data_files: the files of its external data.
        is_changed: true if the message is no longer that of the file.
    """

    path: Path
    proto: onnx.ModelProto
    base_dir: Path | None
    data_files: frozenset[Path]
    is_changed: bool = False


class Exported(Protocol):
    """The result of torch's exporter, `torch.onnx.ONNXProgram`."""

    @property
    def model(self) -> Any:
        """The model as one of onnx_ir."""

    @property
    def model_proto(self) -> onnx.ModelProto:
        """The model as a message."""


class Scripted(Protocol):
    """A function under onnxscript's decorator `@script`."""

    def to_model_proto(self) -> onnx.ModelProto:
        """Make a model of the function."""


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
    Readable,
]

MessageSource: TypeAlias = (
    str | os.PathLike[str] | bytes | onnx.ModelProto | ModelFile | Scripted | Readable
)
"""Sources of which results are messages."""


def read(source: ModelSource, max_bytes: int = TWO_GB) -> ModelSource:
    """Read a path or file object once, or unwrap an exporter's model. Others stay as they are.

    Raises:
        LoadError: the path cannot be read, is not a model, or holds more than `max_bytes`.
    """
    if isinstance(source, str | os.PathLike):
        # A file that has such a name is still a file.
        if isinstance(source, str) and "=>" in source and not os.path.exists(source):
            raise LoadError(
                "a model must be a path, not ONNX text; pass onnx.parser.parse_model(text)"
            )
        return read_file(source, max_bytes)
    source = read_open(source, max_bytes)
    model: ModelSource = source if isinstance(source, ModelFile) else _unwrap(source)
    return model


def read_open(source: ModelSource, max_bytes: int = TWO_GB) -> ModelSource:
    """Read a file object, which can be read once and not be pickled. Others stay as they are.

    Raises:
        LoadError: it cannot be read, is not a model, or holds more than `max_bytes`.
    """
    if isinstance(source, _PLAIN) or not isinstance(source, Readable):
        return source
    return _read_open(source, max_bytes)


def _read_open(stream: Readable, max_bytes: int) -> ModelFile:
    """Read a file object. External data lies beside its file, if it has one."""
    name = getattr(stream, "name", None)
    if not isinstance(name, str):
        return read_stream(stream, "the stream", max_bytes)
    result = read_stream(stream, name, max_bytes)
    folder = folder_of(Path(name))
    files = (
        frozenset[Path]() if folder is None else files_of(external_tensors(result.proto), folder)
    )
    return replace(result, base_dir=folder, data_files=files)


def _unwrap(source: Any) -> Any:
    """Unwrap the model of torch's ONNXProgram or of a function of onnxscript.

    Raises:
        LoadError: the model cannot be made.
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
    """Read the model in a file or a pipe, without external data.

    Raises:
        LoadError: it cannot be read, is not a model, or holds more than `max_bytes`.
    """
    path = Path(path)
    # Protobuf reads no message over 2 GB.
    content = read_bytes(path, min(max_bytes, TWO_GB), option=_OPTION)
    proto = parse_bytes(content, f"'{path}'")
    base_dir = folder_of(path)
    # The key of each external tensor's location. This search is cheap, and spares most models a
    # walk through all attributes.
    files: frozenset[Path] = frozenset()
    if base_dir is not None and b"location" in content:
        files = files_of(external_tensors(proto), base_dir)
    return ModelFile(path, proto, base_dir, files)


@takes(stream=Readable)
def read_stream(stream: Readable, name: str, max_bytes: int = TWO_GB) -> ModelFile:
    """Read the model in an open stream; external data has no folder there.

    Raises:
        LoadError: it cannot be read, is not a model, or holds more than `max_bytes`.
    """
    proto = parse_bytes(read_all(stream, name, max_bytes, option=_OPTION), name)
    return ModelFile(Path(name), proto, None, frozenset())


def read_proto(path: Path) -> onnx.ModelProto:
    """Read the message in a file, without external data.

    Raises:
        LoadError: there is no such file, it cannot be read, or it is not an ONNX model.
    """
    return parse_bytes(read_bytes(path), f"'{path}'")


def parse_bytes(content: bytes | bytearray, what: str) -> onnx.ModelProto:
    """Parse a message; `what` names the bytes in an error.

    Raises:
        LoadError: they are not an ONNX model.
    """
    if not content:
        raise LoadError(f"{what} is not an ONNX model: it is empty; copy or download it again")
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(content)
    except DecodeError as error:
        # Protobuf reports deep nesting like any broken message.
        if is_nested_too_deep(content):
            raise LoadError(
                f"{what} cannot be read: its graphs are nested deeper than protobuf reads, about 30"
            ) from error
        raise LoadError(f"{what} is not an ONNX model: {description(content)}") from error
    return require_graph(proto, what)


def require_graph(proto: onnx.ModelProto, what: str) -> onnx.ModelProto:
    """Return the message if it holds a graph; `what` names it in an error.

    Raises:
        LoadError: it holds none.
    """
    if not proto.HasField("graph"):
        raise LoadError(f"{what} is not an ONNX model: it holds no graph")
    return proto


def to_proto(source: ModelSource) -> onnx.ModelProto:
    """Convert a model to a message. A message is returned itself; external data of a file is not
    read.

    Args:
        source: the model.

    Raises:
        LoadError: it cannot be read or is not a model.

    Examples:
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> model = sl.ir.parse(head + "g (float[2] x) => (float[2] y) { y = Exp (x) }")
        >>> sl.ir.to_proto(model).graph.node[0].op_type
        'Exp'
    """
    source = read(source)
    if isinstance(source, onnx.ModelProto):
        return require_graph(source, "the argument")
    if isinstance(source, Model):
        return serialize(source)
    if _is_onnx_ir(source):
        from . import onnx_ir_model

        return onnx_ir_model.to_proto(source)
    if isinstance(source, bytes | bytearray | memoryview):
        return parse_bytes(bytes(source), "the argument")
    if isinstance(source, ModelFile):
        return source.proto
    raise LoadError(
        "a model must be a path, a file object, bytes, onnx.ModelProto, onnx_ir.Model,"
        " straightline.ir.Model, or a result of torch.onnx.export or onnxscript's @script,"
        f" not {type(source).__name__}"
    )


def base_dir_of(source: ModelSource, base_dir: BaseDir = None) -> Path | None:
    """The base folder of external data: the argument, or that of the source."""
    if base_dir is not None:
        require_kinds({"base_dir": base_dir}, {"base_dir": "BaseDir"})
        return Path(os.path.abspath(base_dir))
    if isinstance(source, Model | ModelFile):
        return source.base_dir
    if isinstance(source, str | os.PathLike):
        return folder_of(Path(source))
    source = source if _is_scripted(source) else _unwrap(source)
    if _is_onnx_ir(source):
        from . import onnx_ir_model

        return onnx_ir_model.base_dir_of(source)
    return None


def _is_onnx_ir(source: Any) -> TypeGuard[onnx_ir.Model]:
    """Test for a model of onnx_ir, without importing it, which takes long."""
    model_class = getattr(sys.modules.get("onnx_ir"), "Model", None)
    return model_class is not None and isinstance(source, model_class)


def load(source: ModelSource, base_dir: BaseDir = None) -> Model:
    """Load a model as straightline's IR. An IR model is copied; tensors are always shared.

    Args:
        source: the model.
        base_dir: the base folder of external data of a message or bytes.

    Raises:
        LoadError: it cannot be read or is not a model.
        ModelError: it is not well formed.

    Examples:
        >>> import onnx.parser
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> text = head + "g (float[2] x) => (float[2] y) { y = Exp (x) }"
        >>> model = sl.load(onnx.parser.parse_model(text))
        >>> [value.name for value in model.graph.inputs], model.graph.nodes()[0].op_type
        (['x'], 'Exp')
    """
    source = read(source)
    proto, folder = to_proto(source), base_dir_of(source, base_dir)
    model = deserialize(proto, folder)
    if isinstance(source, Model):
        model.file, model.data_files = source.file, source.data_files
        model.minima = source.minima
    elif isinstance(source, ModelFile):
        model.file, model.data_files = source.path.absolute(), source.data_files
    elif folder is not None:
        model.data_files = files_of(external_tensors(proto), folder)
    return model


@takes(model=Model)
def in_kind(
    model: Model, source: ModelSource, message: onnx.ModelProto | None = None
) -> ModelSource:
    """Convert a result to the kind of its source: a message for a path, bytes or a script, and a
    model of onnx_ir for torch's ONNXProgram.

    Args:
        model: the result.
        message: the message of the result, if the caller has it.

    Raises:
        LoadError: external data of a source in a file does not fit into a message.
    """
    if isinstance(source, Model):
        return model
    proto = serialize(model) if message is None else message
    if _is_onnx_ir(source if _is_scripted(source) else _unwrap(source)):
        from . import onnx_ir_model

        return onnx_ir_model.from_proto(proto, model.base_dir)
    # The receiver of a message does not know the folder of external data.
    if isinstance(source, str | os.PathLike | ModelFile | Readable) and source is not proto:
        load_external_data(proto, model.base_dir)
    return proto


def _reduce(model: Model) -> tuple[Any, ...]:
    """Reduce a model to its message and paths, for `pickle` and `copy`."""
    return _restore, (serialize(model), model.base_dir, model.file, model.data_files)


def _restore(
    proto: onnx.ModelProto, base_dir: Path | None, file: Path | None, data_files: frozenset[Path]
) -> Model:
    model = deserialize(proto, base_dir)
    model.file, model.data_files = file, data_files
    return model


copyreg.pickle(Model, _reduce)
