"""Detection of changed files: by their status, and by their content where that is not enough."""

import hashlib
import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..ir import LoadError
from ..ir.errors import reason
from ..ir.file_reader import open_regular

_BLOCK = 1 << 20
LARGE = 1 << 26
"""A file of more bytes is not read to see whether it has changed: its size, time and place on disk
decide, and where they differ it counts as changed."""

_TICK = 50_000_000
"""Within so many nanoseconds two changes of a file may get one time."""
_COARSE = 1_000_000
_COARSE_TICK = 2_000_000_000
"""The same where the time is a multiple of a millisecond: some file systems count whole seconds."""

Seen = dict[str, Any]
"""Description of a file: size, place on disk, time (None where a change after it may not show in
the time), and for one that is not large the digest of what it holds."""


def digest_of_file(path: Path) -> str:
    """Return the SHA-256 of the content of a file, in hexadecimal; the file is read in blocks.

    Raises:
        LoadError: it cannot be read.
    """
    digest = hashlib.sha256()
    try:
        with open_regular(path) as stream:
            while block := stream.read(_BLOCK):
                digest.update(block)
    except OSError as error:
        raise LoadError(f"cannot read '{path}': {reason(error)}") from error
    return digest.hexdigest()


def seen(paths: Iterable[Path], folder: Path) -> dict[str, Seen]:
    """Describe each file, by its path from a folder: both may move together.

    Raises:
        LoadError: a file cannot be read.
    """
    return {os.path.relpath(path, folder): _seen(path) for path in sorted(paths)}


def _seen(path: Path) -> Seen:
    status = _status(path)  # before the content: a change in between is seen later
    if status.st_size <= LARGE:
        settled = None if _unsettled(status) else status.st_mtime_ns
        return {**_place(status), "mtime_ns": settled, "sha256": digest_of_file(path)}
    wait = _unsettled(status)
    if wait:
        time.sleep(wait)
        status = _status(path)
    return {**_place(status), "mtime_ns": status.st_mtime_ns}


def are_as_before(entries: Mapping[str, Seen], folder: Path) -> bool:
    """Return whether all files are there and hold what they held."""
    try:
        return all(_is_as_before(folder / name, entry) for name, entry in entries.items())
    except LoadError:  # one is missing, or can no longer be read: the work on it tells
        return False


def _is_as_before(path: Path, entry: Seen) -> bool:
    status = _status(path)
    if status.st_size != entry["size"]:
        return False
    if {**_place(status), "mtime_ns": status.st_mtime_ns}.items() <= entry.items():
        return True
    return "sha256" in entry and digest_of_file(path) == entry["sha256"]


def _status(path: Path) -> os.stat_result:
    with open_regular(path) as stream:  # the status of a pipe tells nothing of its content
        return os.fstat(stream.fileno())


def _place(status: os.stat_result) -> Seen:
    return {"size": status.st_size, "inode": status.st_ino}


def _unsettled(status: os.stat_result) -> float:
    """Return the seconds until a change certainly shows in the time of a file."""
    tick = _TICK if status.st_mtime_ns % _COARSE else _COARSE_TICK
    return max(0, min(status.st_mtime_ns + tick - time.time_ns(), tick)) / 1e9
