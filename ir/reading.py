"""Files that are read: once, to a bound, and never waiting for a writer that does not come.

A pipe can be read once only, so what was read is kept; a device has no end.
"""

from __future__ import annotations

import os
import re
import select
import stat
from pathlib import Path
from typing import BinaryIO

from .errors import LoadError, reason
from .ways import by

TWO_GB = 2**31 - 1
"""The most that one protobuf message can have."""

_BLOCK = 1 << 20
_WRITER_COMES_WITHIN = 5.0
"""Seconds that a named pipe is given to find its writer."""

_DESCRIPTOR = re.compile(r"/dev/(stdin|stdout|stderr|fd/\d+)|/proc/.+/fd/\d+")
_MOST_LINKS = 40


def read_bytes(path: Path, max_bytes: int = TWO_GB) -> bytes | bytearray:
    """The content of a file or a pipe.

    Raises:
        LoadError: there is no such file, it cannot be read, is neither a file nor a pipe, nothing
            writes to the pipe, or it is longer than `max_bytes`.
    """
    try:
        status = path.stat()
        if stat.S_ISREG(status.st_mode):
            return _read_all(path, os.open(path, os.O_RDONLY | _BINARY), status.st_size, max_bytes)
        if stat.S_ISFIFO(status.st_mode):
            # Opened like this, a pipe without a writer does not block.
            return _read_pipe(path, os.open(path, os.O_RDONLY | os.O_NONBLOCK), max_bytes)
    except FileNotFoundError as error:
        raise LoadError(f"there is no file '{path}'") from error
    except (OSError, ValueError) as error:  # a path with a zero byte is a ValueError
        raise LoadError(f"'{path}' cannot be read: {reason(error)}") from error
    if stat.S_ISDIR(status.st_mode):
        raise LoadError(f"'{path}' cannot be read: Is a directory")
    raise LoadError(f"'{path}' cannot be read: it is neither a file nor a pipe")


_BINARY = getattr(os, "O_BINARY", 0)


def _read_all(path: Path, handle: int, size: int, max_bytes: int) -> bytes | bytearray:
    with os.fdopen(handle, "rb") as stream:
        if size > max_bytes:
            raise _too_large(path, max_bytes)
        content: bytes | bytearray = stream.read(size)
        while block := stream.read(_BLOCK):  # it grew, or does not tell its size
            content = bytearray(content) if isinstance(content, bytes) else content
            content += block
            if len(content) > max_bytes:
                raise _too_large(path, max_bytes)
    return content


def _read_pipe(path: Path, handle: int, max_bytes: int) -> bytearray:
    try:
        content = bytearray(_first_block(path, handle))
        os.set_blocking(handle, True)
        while block := os.read(handle, _BLOCK):
            content += block
            if len(content) > max_bytes:
                raise _too_large(path, max_bytes)
        return content
    finally:
        os.close(handle)


def _first_block(path: Path, handle: int) -> bytes:
    """What can be read now; nothing where a writer is there but slow."""
    if not is_descriptor(path):  # the other end of an open pipe is there already, or never comes
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        poll.poll(_WRITER_COMES_WITHIN * 1000)
    try:
        block = os.read(handle, _BLOCK)
    except BlockingIOError:
        return b""
    if not block:
        raise LoadError(
            f"'{path}' is a pipe that nothing writes to; start first what writes the model"
        )
    return block


def read_all(stream: BinaryIO, name: str, max_bytes: int = TWO_GB) -> bytearray:
    """What a stream that is open holds to its end; `name` is for errors.

    Raises:
        LoadError: it holds nothing, cannot be read, or holds more than `max_bytes`.
    """
    content = bytearray()
    try:
        while block := stream.read(_BLOCK):
            content += block
            if len(content) > max_bytes:
                raise _too_large(Path(name), max_bytes)
    except OSError as error:
        raise LoadError(f"{name} cannot be read: {reason(error)}") from error
    if not content:
        raise LoadError(f"{name} is empty; pipe a model into it")
    return content


def _too_large(path: Path, max_bytes: int) -> LoadError:
    if max_bytes >= TWO_GB:
        return LoadError(f"'{path}' is larger than 2 GB, which no single ONNX file can be")
    return LoadError(
        f"'{path}' is larger than {max_bytes} bytes; allow more with {by('--max-input-size')}"
    )


def is_descriptor(path: Path) -> bool:
    """Whether a path stands for an open stream of a process, such as /dev/stdin or /dev/fd/63."""
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
    """The folder that external data of a model in `path` is relative to; a pipe has none."""
    return None if path.is_fifo() or is_descriptor(path) else Path(os.path.abspath(path)).parent
