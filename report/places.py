"""Paths of pages and pictures, without loss of other files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..ir import SaveError
from ..ir.file_reader import open_regular
from ..ir.io.write_target import place_beside


def marked_place(path: Path, others: Iterable[Path], mark: str, what: str, force: bool) -> Path:
    """Choose a file to write, which may overwrite only files with a mark.

    Raises:
        SaveError: the path is no place for a file, is one of `others`, or has other content.
    """
    file = place_beside(path, others)
    if force or not file.exists() or not file.stat().st_size:
        return file
    with open_regular(file) as opened:
        start = opened.read(1000)
    if mark.encode() not in start:
        raise SaveError(
            f"cannot write '{path}': a file is there that is not {what}; name another one, or"
            " overwrite it with --force (force=True in Python)"
        )
    return file
