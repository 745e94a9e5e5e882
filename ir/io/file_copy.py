"""Copying a part of a file: by the system where it can, which may share the blocks, and leaving
holes, which take no room, as holes."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from typing import BinaryIO

_BLOCK = 1 << 22
_AT_ONCE = 1 << 26
"""So many bytes are handed to the system at a time, so that Ctrl-C need not wait for all."""

_CANNOT = frozenset({errno.EXDEV, errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EBADF})
"""How a system says that two files are none between which it copies, or that it knows no holes."""


def copy_span(source: BinaryIO, start: int, target: BinaryIO, length: int) -> None:
    """Append a part of one file to another one, which is being written and holds nothing behind.

    Args:
        source: the file to read; where it stands does not matter.
        start: the first byte of the part.
        target: the file to write; it stands behind the part afterwards.
        length: how many bytes.

    Raises:
        EOFError: the source ends before.
        OSError: it cannot be read or written.
    """
    at = target.tell()
    target.flush()
    for begin, end in _filled(source.fileno(), start, start + length):
        _copy(source, begin, target, at + begin - start, end - begin)
    if os.fstat(source.fileno()).st_size < start + length:  # what is missing looks like a hole
        raise EOFError
    target.truncate(at + length)
    target.seek(at + length)


def _filled(handle: int, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Where a part of a file holds more than a hole; all of it where that is not told."""
    while start < end:
        try:
            start = os.lseek(handle, start, os.SEEK_DATA)
            stop = os.lseek(handle, start, os.SEEK_HOLE)
        except AttributeError:  # a system without holes
            stop = end
        except OSError as error:
            if error.errno == errno.ENXIO:  # a hole up to the end of the file
                return
            if error.errno not in _CANNOT:
                raise
            stop = end
        if start < end:
            yield start, min(stop, end)
        start = stop


def _copy(source: BinaryIO, start: int, target: BinaryIO, at: int, length: int) -> None:
    done = _copied_by_system(source.fileno(), start, target.fileno(), at, length)
    source.seek(start + done)
    target.seek(at + done)
    while done < length:
        block = source.read(min(length - done, _BLOCK))
        if not block:
            raise EOFError
        target.write(block)
        done += len(block)
    target.flush()


def _copied_by_system(source: int, start: int, target: int, at: int, length: int) -> int:
    """How many bytes the system has copied: none where it cannot, and not all where it says that
    the file ends, which some say of files that do not."""
    done = 0
    try:
        while done < length:
            most = min(length - done, _AT_ONCE)
            count = os.copy_file_range(source, target, most, start + done, at + done)
            if not count:
                break
            done += count
    except AttributeError:
        pass
    except OSError as error:
        if error.errno not in _CANNOT:
            raise
    return done
