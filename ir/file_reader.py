"""Reader of files and pipes: once, up to a limit, with a timeout for pipes.

A pipe can be read only once; a device has no end.
"""

import os
import re
import select
import stat
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Protocol, runtime_checkable

from .did_you_mean import nearest
from .errors import LoadError, reason
from .kinds import PATH, takes
from .option_names import by

TWO_GB = 2**31 - 1
"""The largest size of a protobuf message, in bytes."""

_BLOCK = 1 << 20
_WRITER_COMES_WITHIN = 5.0
"""Seconds to wait for the writer of a named pipe."""

_TEXT_STREAM = "{} is a text stream; open it in binary mode, 'rb'"
_DESCRIPTOR = re.compile(r"/dev/(stdin|stdout|stderr|fd/\d+)|/proc/.+/fd/\d+")
_MOST_LINKS = 40
_MOST_NAMES = 1000
"""Names of a folder that may be compared with a wrong one."""


@runtime_checkable
class Readable(Protocol):
    """A stream of bytes."""

    def read(self, size: int = -1, /) -> bytes:
        """Read at most so many bytes."""


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading; links are followed.

    The check uses the open descriptor instead of the path, and never waits for a pipe.

    Raises:
        LoadError: there is no such file, it cannot be read, or it is not a regular file.
    """
    handle = _open(path)
    kind = os.fstat(handle).st_mode
    if stat.S_ISREG(kind):
        return os.fdopen(handle, "rb")
    os.close(handle)
    raise _unreadable(path, kind, "it is not a regular file")


@takes(path=PATH)
def read_bytes(path: Path, max_bytes: int = TWO_GB, *, option: str = "") -> bytes | bytearray:
    """Read the content of a file or a pipe.

    Args:
        path: the file or pipe.
        max_bytes: the limit of its length.
        option: the option of the command line that raises the limit.

    Raises:
        LoadError: there is no such file, it cannot be read, is neither a file nor a pipe, nothing
            writes to the pipe, or it is longer than `max_bytes`.
    """
    path = Path(path)
    handle = _open(path)
    status = os.fstat(handle)
    try:
        if stat.S_ISREG(status.st_mode):
            return _read_all(path, handle, status.st_size, max_bytes, option)
        if stat.S_ISFIFO(status.st_mode):
            return _read_pipe(path, handle, max_bytes, option)
    except OSError as error:
        raise LoadError(f"'{path}' cannot be read: {reason(error)}") from error
    os.close(handle)
    raise _unreadable(path, status.st_mode, "it is neither a file nor a pipe")


_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
"""Opening a pipe without a writer does not block with these flags."""


def _open(path: Path) -> int:
    try:
        return os.open(path, _FLAGS)
    except FileNotFoundError as error:
        raise LoadError(f"there is no file '{path}'{similar_file(path)}") from error
    except (OSError, ValueError) as error:  # a path with a zero byte is a ValueError
        raise LoadError(f"'{path}' cannot be read: {reason(error)}") from error


def similar_file(path: Path) -> str:
    """The end of an error about a missing file: a similar name in its folder; may be empty."""
    try:
        with os.scandir(path.parent) as entries:
            paths = [Path(entry.name) for entry in islice(entries, _MOST_NAMES)]
    except (OSError, ValueError):  # no folder, or a path with a zero byte
        return ""
    endings = {path.suffix.lower(), ".onnx"}
    names = {other.stem: other.name for other in paths if other.suffix.lower() in endings}
    match = nearest(path.stem, names)
    return "" if match is None else f"; did you mean '{path.with_name(names[match])}'?"


def _unreadable(path: Path, kind: int, why: str) -> LoadError:
    what = "it is a folder, not a file" if stat.S_ISDIR(kind) else why
    return LoadError(f"'{path}' cannot be read: {what}")


def _read_all(path: Path, handle: int, size: int, max_bytes: int, option: str) -> bytes | bytearray:
    with os.fdopen(handle, "rb") as stream:
        if size > max_bytes:
            raise _too_large(path, max_bytes, option)
        content: bytes | bytearray = stream.read(size)
        while block := stream.read(_BLOCK):  # the file grew, or has no size
            content = bytearray(content) if isinstance(content, bytes) else content
            content += block
            if len(content) > max_bytes:
                raise _too_large(path, max_bytes, option)
    return content


def _read_pipe(path: Path, handle: int, max_bytes: int, option: str) -> bytearray:
    try:
        content, block = bytearray(), _first_block(path, handle)
        os.set_blocking(handle, True)
        while block or (block := os.read(handle, _BLOCK)):
            content += block
            if len(content) > max_bytes:
                raise _too_large(path, max_bytes, option)
            block = b""
        return content
    finally:
        os.close(handle)


def _first_block(path: Path, handle: int) -> bytes:
    """Read the bytes that are available; none while a connected writer is slow."""
    if not is_descriptor(path):  # an open pipe has its writer already, or never gets one
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        poll.poll(_WRITER_COMES_WITHIN * 1000)
    try:
        block = os.read(handle, _BLOCK)
    except BlockingIOError:
        return b""
    if not block:
        raise LoadError(
            f"'{path}' is a pipe without a writer; start the program that writes the model first"
        )
    return block


def read_all(
    stream: Readable, name: str, max_bytes: int = TWO_GB, *, option: str = ""
) -> bytearray:
    """Read an open stream to its end; `name` and `option` are for errors.

    Raises:
        LoadError: it holds nothing, cannot be read, or holds more than `max_bytes`.
    """
    content = bytearray()
    try:
        while block := stream.read(_BLOCK):
            if not isinstance(block, bytes):
                raise LoadError(_TEXT_STREAM.format(name))
            content += block
            if len(content) > max_bytes:
                raise _too_large(Path(name), max_bytes, option)
    except UnicodeDecodeError as error:
        raise LoadError(_TEXT_STREAM.format(name)) from error
    except (OSError, ValueError) as error:  # a closed stream is a ValueError
        raise LoadError(f"{name} cannot be read: {reason(error)}") from error
    if not content:
        raise LoadError(f"{name} is empty; pipe a model into it")
    return content


def _too_large(path: Path, max_bytes: int, option: str) -> LoadError:
    if max_bytes >= TWO_GB:
        return LoadError(f"'{path}' is larger than 2 GB, which no single ONNX file can be")
    more = f"; allow more with {by(option)}" if option else ""
    return LoadError(f"'{path}' is larger than {max_bytes} bytes{more}")


def is_descriptor(path: Path) -> bool:
    """Test whether a path names an open stream, such as /dev/stdin or /dev/fd/63."""
    name = os.fspath(path)
    for _ in range(_MOST_LINKS):
        folder, last = os.path.split(os.path.abspath(name))
        for home in (folder, os.path.realpath(folder)):
            if _DESCRIPTOR.fullmatch(os.path.join(home, last)):
                return True
        if not os.path.islink(name):
            return False
        name = os.path.join(folder, os.readlink(name))
    return False


def folder_of(path: Path) -> Path | None:
    """The base folder of external data for a model in `path`; none for a pipe."""
    return None if path.is_fifo() or is_descriptor(path) else Path(os.path.abspath(path)).parent
