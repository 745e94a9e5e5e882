"""Digests of files, by which it is seen whether they are what they were."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from ..ir import LoadError
from ..ir.errors import reason

_BLOCK = 1 << 20


def digest_of_file(path: Path) -> str:
    """The SHA-256 of what a file holds, in hexadecimal; it is read in blocks.

    Raises:
        LoadError: it cannot be read.
    """
    found = hashlib.sha256()
    try:
        with path.open("rb") as stream:
            while block := stream.read(_BLOCK):
                found.update(block)
    except OSError as error:
        raise LoadError(f"cannot read '{path}': {reason(error)}") from error
    return found.hexdigest()


def digests_of(paths: Iterable[Path], folder: Path) -> dict[str, str]:
    """The digest of each file, by its path from a folder: both may move together.

    Raises:
        LoadError: a file cannot be read.
    """
    return {os.path.relpath(path, folder): digest_of_file(path) for path in sorted(paths)}


def are_as_before(digests: Mapping[str, str], folder: Path) -> bool:
    """Whether all files are there and hold what they held."""
    try:
        return all(digest_of_file(folder / name) == found for name, found in digests.items())
    except LoadError:  # one is missing, or can no longer be read: the work on it tells
        return False
