"""Inputs that a caller gives: in Python, as `.npz`, or as a folder in ONNX's test-data layout."""

import io
import os
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import DecodeError
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from ..ir import Tensor, no_input, read_bytes
from ..ir.errors import BindingError, Error, LoadError
from ..ir.message_contents import check_tensor
from ..ir.onnx_errors import Boundary
from ..reference.signature import Signature, dims_of, fit, type_text
from .session import Feeds

Given = Mapping[str, Any] | Iterable[Mapping[str, Any]] | str | os.PathLike[str]


class FeedError(BindingError):
    """Given inputs do not fit the model, or their file cannot be read."""


_ask_onnx = Boundary(FeedError)


def read_feeds(feeds: Given, model: onnx.ModelProto, bound: Mapping[str, Any]) -> list[Feeds]:
    """Read the caller's samples and check them against the original's inputs.

    Args:
        feeds: one sample by input name, several of them, the path of an `.npz` file or of a folder
            of them, or of a `test_data_set_*` folder (or one that holds such folders).
        model: the original; an input that has an initializer may be left out.
        bound: values of inputs that were fixed; a sample need not repeat them.

    Raises:
        FeedError: a name, type or shape does not fit, an input lacks, a file cannot be read.
    """
    if isinstance(feeds, (str, os.PathLike)):
        samples = _from_path(Path(feeds), model)
    elif isinstance(feeds, Mapping):
        samples = [feeds]
    else:
        source: Any = feeds
        # An array of rank 0 is an Iterable that cannot be iterated.
        is_single = isinstance(source, np.ndarray) or not isinstance(source, Iterable)
        samples = [source] if is_single else list(source)
    for sample in samples:
        if not isinstance(sample, Mapping):
            raise FeedError(
                "feeds must be a mapping of input names to values, several of them, or a path, not"
                f" {sample!r}"
            )
    if not samples:
        raise FeedError("feeds are empty; pass at least one sample, or None for drawn samples")
    return [check_feeds({**bound, **sample}, model) for sample in samples]


def files_of(source: Given) -> list[Path]:
    """Files behind a path of inputs."""
    if not isinstance(source, (str, os.PathLike)):
        return []
    path = Path(source)
    if not path.is_dir():
        return [path]
    files = [file for folder in _data_sets(path) for file in _numbered(folder, "*.pb")]
    return files or _numbered(path, "*.npz")


def check_feeds(values: Mapping[str, Any], model: onnx.ModelProto, partial: bool = False) -> Feeds:
    """One sample with each value in the type of its input; `partial` lets inputs be left out.

    Raises:
        FeedError: a name, type or shape does not fit, or an input lacks.
    """
    if not isinstance(values, Mapping):
        raise FeedError(f"values must be a mapping of input names to values, not {values!r}")
    types = {info.name: info.type for info in model.graph.input}
    unknown = [name for name in values if name not in types]
    if unknown:
        raise FeedError(no_input(unknown[0], types))
    required = Signature.of(model).inputs
    missing = [name for name in required if name not in values]
    if missing and not partial:
        raise FeedError(f"no value for input '{missing[0]}'")
    return {name: _convert(name, value, types[name]) for name, value in values.items()}


def _convert(name: str, value: Any, proto: onnx.TypeProto) -> Any:
    """A value as the runtimes take it, in the declared type."""
    kind = proto.WhichOneof("value")
    if kind == "optional_type":
        return None if value is None else _convert(name, value, proto.optional_type.elem_type)
    if kind == "sequence_type":
        if not isinstance(value, (list, tuple)):
            raise FeedError(
                f"input '{name}' is a sequence; pass a list, not {type(value).__name__}"
            )
        return [_convert(name, element, proto.sequence_type.elem_type) for element in value]
    if kind != "tensor_type":
        return value
    return _convert_tensor(name, value, proto)


def _convert_tensor(name: str, value: Any, proto: onnx.TypeProto) -> NDArray[Any]:
    dtype = helper.tensor_dtype_to_np_dtype(proto.tensor_type.elem_type)
    if value is None:
        raise FeedError(f"input '{name}' is not an optional; pass a tensor, not None")
    if isinstance(value, TensorProto):
        value = _to_array(value, f"the value of input '{name}'")
    try:
        # Python numbers take the declared type, but an array must have it.
        typed = isinstance(value, (np.ndarray, np.generic))
        array = np.asarray(value) if typed or dtype.kind == "O" else np.asarray(value, dtype=dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise FeedError(f"input '{name}' cannot be read as {dtype}: {error}") from error
    if array.dtype == np.dtype(f"V{dtype.itemsize}"):  # .npz forgets the types numpy lacks
        array = array.view(dtype)
    if dtype.kind == "O" and array.dtype.kind in "OSU":
        array = array.astype(object)
    if array.dtype != dtype:
        raise FeedError(f"input '{name}' is {_name(dtype)}, the value is {array.dtype}")
    dims = dims_of(proto.tensor_type)
    if dims is not None and not fit(dims, array.shape):
        raise FeedError(f"input '{name}' is {type_text(proto)}, the value has {list(array.shape)}")
    return array


def _from_path(path: Path, model: onnx.ModelProto) -> list[Mapping[str, Any]]:
    if not os.path.exists(path):
        raise FeedError(f"{path}: no such file or folder with inputs")
    if not path.is_dir():
        return [_from_npz(path)]
    folders, archives = _data_sets(path), _numbered(path, "*.npz")
    if not folders and archives:
        return [_from_npz(file) for file in archives]
    if not folders:
        raise FeedError(
            f"{path}: holds no .npz file, no input_0.pb and no test_data_set_0/input_0.pb"
        )
    return [_from_data_set(folder, model) for folder in folders]


def _data_sets(path: Path) -> list[Path]:
    """The folders that hold inputs: this one, or those in it."""
    folders = [path] if _numbered(path, "input_*.pb") else _numbered(path, "test_data_set_*")
    return [folder for folder in folders if _numbered(folder, "input_*.pb")]


def _content(path: Path) -> bytes | bytearray:
    try:
        return read_bytes(path)
    except LoadError as error:
        raise FeedError(str(error)) from error


def _from_npz(path: Path, content: bytes | None = None) -> Mapping[str, Any]:
    # A file may be larger than memory; a pipe cannot be read by parts.
    read = content is not None or not path.is_file()
    source = io.BytesIO(content or _content(path)) if read else path
    try:
        with np.load(source, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except (OSError, EOFError, ValueError, TypeError, zipfile.BadZipFile) as error:
        # NumPy takes any other file for a pickle, and advises to load it unsafely.
        what = "it holds no arrays of numbers" if "allow_pickle" in str(error) else error
        raise FeedError(f"{path}: cannot be read as .npz: {what}") from error


def read_array(path: Path) -> NDArray[Any]:
    """The array in a file: .npy, .npz with one array, or a tensor as ONNX writes it, .pb.

    Raises:
        FeedError: it cannot be read, or does not hold one array.
    """
    content = bytes(_content(path))
    if content.startswith(_NPY):
        try:
            return np.asarray(np.load(io.BytesIO(content), allow_pickle=False))
        except (OSError, EOFError, ValueError, TypeError) as error:
            raise FeedError(f"{path}: cannot be read as .npy: {error}") from error
    if content.startswith(_ZIP):
        arrays = list(_from_npz(path, content).values())
        if len(arrays) != 1:
            raise FeedError(f"{path}: holds {len(arrays)} arrays; a value is one")
        (array,) = arrays
        return np.asarray(array)
    message = TensorProto()
    try:
        message.ParseFromString(content)
    except DecodeError as error:
        raise FeedError(f"{path}: is not a .npy, .npz or .pb file with a tensor") from error
    try:
        return _to_array(message, "the tensor", path.parent)
    except Error as error:
        raise FeedError(f"{path}: {error}") from error


_NPY, _ZIP = b"\x93NUMPY", b"PK"


def _from_data_set(folder: Path, model: onnx.ModelProto) -> Mapping[str, Any]:
    """input_N.pb belongs to the N-th graph input; inputs with an initializer may be left out."""
    files = _numbered(folder, "input_*.pb")
    infos = list(model.graph.input)
    required = Signature.of(model).inputs
    if len(files) < len(infos):
        infos = [info for info in infos if info.name in required]
    if len(files) != len(infos):
        raise FeedError(f"{folder}: {len(files)} inputs for a model with {len(infos)}")
    pairs = zip(infos, files, strict=True)
    return {info.name: _read_message(path, info.type) for info, path in pairs}


def _read_message(path: Path, proto: onnx.TypeProto) -> Any:
    readers: dict[str | None, tuple[Any, Callable[[Any], Any]]] = {
        "sequence_type": (onnx.SequenceProto, numpy_helper.to_list),
        "optional_type": (onnx.OptionalProto, _to_optional),
        "map_type": (onnx.MapProto, numpy_helper.to_dict),
    }
    default = (TensorProto, lambda message: _to_array(message, "the tensor", path.parent))
    message_type, to_value = readers.get(proto.WhichOneof("value"), default)
    message = message_type()
    try:
        message.ParseFromString(_content(path))
    except (OSError, DecodeError) as error:
        raise FeedError(f"{path}: cannot be read as {type_text(proto)}: {error}") from error
    return _ask_onnx(f"{path}: cannot be read as {type_text(proto)}", to_value, message)


def _to_array(tensor: TensorProto, what: str, folder: Path | None = None) -> NDArray[Any]:
    """The elements of a tensor; those of an external one lie in `folder`."""
    check_tensor(tensor, what)
    return Tensor(tensor, base_dir=folder).numpy()


def _to_optional(message: onnx.OptionalProto) -> Any:
    """The value, or None; onnx itself writes an absent tensor as one of undefined type."""
    empty = message.HasField("tensor_value") and not message.tensor_value.data_type
    kinds = ("tensor", "sparse_tensor", "sequence", "map", "optional")
    if empty or not any(message.HasField(f"{kind}_value") for kind in kinds):
        return None
    return numpy_helper.to_optional(message)


def _numbered(folder: Path, pattern: str) -> list[Path]:
    """The entries that match, by the number in their name."""

    def number(path: Path) -> int:
        digits = re.findall(r"\d+", path.name)
        return int(digits[-1]) if digits else -1

    return sorted(folder.glob(pattern), key=number)


def _name(dtype: np.dtype[Any]) -> str:
    return "string" if dtype.kind == "O" else dtype.name
