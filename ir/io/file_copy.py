"""Copies of parts of files, by the system where possible. They keep holes and may share blocks."""

import errno
import os
from collections.abc import Iterator
from typing import BinaryIO

_BLOCK = 1 << 22
_AT_ONCE = 1 << 26
"""The most bytes of one call to the system, so that Ctrl-C need not wait for all."""

_CANNOT = frozenset({errno.EXDEV, errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EBADF})
"""The errors of a system that cannot copy between two files, or has no holes."""


def copy_span(source: BinaryIO, start: int, target: BinaryIO, length: int) -> None:
    """Append a part of one file to another one.

    Args:
        source: the file to read, at any position.
        start: the first byte of the part.
        target: the file to write, at its end; afterwards at its new end.
        length: the length of the part in bytes.

    Raises:
        EOFError: the source ends early.
        OSError: a file cannot be read or written.
    """
    at = target.tell()
    target.flush()
    for begin, end in _data_ranges(source.fileno(), start, start + length):
        _copy(source, begin, target, at + begin - start, end - begin)
    if os.fstat(source.fileno()).st_size < start + length:  # a missing end looks like a hole
        raise EOFError
    target.truncate(at + length)
    target.seek(at + length)


def _data_ranges(handle: int, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The ranges of a part that are no holes; the whole part on a system without holes."""
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
    count = _copy_by_system(source.fileno(), start, target.fileno(), at, length)
    source.seek(start + count)
    target.seek(at + count)
    while count < length:
        block = source.read(min(length - count, _BLOCK))
        if not block:
            raise EOFError
        target.write(block)
        count += len(block)
    target.flush()


def _copy_by_system(source: int, start: int, target: int, at: int, length: int) -> int:
    """Copy by the system and return the number of bytes: zero where it cannot, and too few on
    systems that report an end too early."""
    total = 0
    try:
        while total < length:
            most = min(length - total, _AT_ONCE)
            count = os.copy_file_range(source, target, most, start + total, at + total)
            if not count:
                break
            total += count
    except AttributeError:
        pass
    except OSError as error:
        if error.errno not in _CANNOT:
            raise
    return total
