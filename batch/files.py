"""Digests of files, by which it is seen whether they are what they were."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

_BLOCK = 1 << 20


def digest_of_file(path: Path) -> str:
    """The SHA-256 of what a file holds, in hexadecimal; it is read in blocks.

    Raises:
        OSError: it cannot be read.
    """
    found = hashlib.sha256()
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            found.update(block)
    return found.hexdigest()


def digests_of(paths: Iterable[Path], folder: Path) -> dict[str, str]:
    """The digest of each file, by its path from a folder: both may move together.

    Raises:
        OSError: a file cannot be read.
    """
    return {os.path.relpath(path, folder): digest_of_file(path) for path in sorted(paths)}


def are_as_before(digests: Mapping[str, str], folder: Path) -> bool:
    """Whether all files are there and hold what they held."""
    try:
        return all(digest_of_file(folder / name) == found for name, found in digests.items())
    except OSError:  # one is missing, or can no longer be read: the work on it tells
        return False
