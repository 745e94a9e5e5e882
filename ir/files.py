"""Models in files: loading by path, saving so that a failure leaves nothing behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError

from .errors import LoadError, SaveError

TWO_GB = 2**31 - 1


def read_proto(path: Path) -> onnx.ModelProto:
    """The message in a file; external data stays where it is.

    Raises:
        LoadError: there is no such file, it cannot be read, or it is not an ONNX model.
    """
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise LoadError(f"there is no file '{path}'") from error
    except OSError as error:
        raise LoadError(f"'{path}' cannot be read: {error.strerror or error}") from error
    return parse_bytes(content, f"'{path}'")


def parse_bytes(content: bytes, what: str) -> onnx.ModelProto:
    """The message that bytes hold; `what` names them in an error.

    Raises:
        LoadError: they are not an ONNX model.
    """
    proto = onnx.ModelProto()
    try:
        proto.ParseFromString(content)
    except DecodeError as error:
        raise LoadError(f"{what} is not an ONNX model: its bytes do not parse") from error
    if not proto.HasField("graph"):
        raise LoadError(f"{what} is not an ONNX model: it holds no graph")
    return proto


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` that takes its place if all goes well, else vanishes.

    Raises:
        SaveError: the folder does not exist or cannot be written.
    """
    if not path.parent.is_dir():
        raise SaveError(f"cannot write '{path}': the folder '{path.parent}' does not exist")
    if path.is_dir():
        raise SaveError(f"cannot write '{path}': it is a folder")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise SaveError(f"cannot write '{path}': {error.strerror or error}") from error
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        _copy_mode(path, temporary)
        os.replace(temporary, path)
    except OSError as error:
        raise SaveError(f"cannot write '{path}': {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)


def _copy_mode(path: Path, temporary: Path) -> None:
    """Give the new file the mode of the one it replaces, or that of any new file."""
    if path.exists():
        shutil.copymode(path, temporary)
    else:
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
