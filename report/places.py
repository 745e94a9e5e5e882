"""Paths of pages and pictures, without loss of other files."""

from collections.abc import Iterable
from pathlib import Path

from ..ir.file_reader import open_regular
from ..ir.io.write_target import place_beside


def marked_place(path: Path, others: Iterable[Path], mark: str, what: str, force: bool) -> Path:
    """Choose a file to write, which may overwrite only files with a mark.

    Raises:
        SaveError: the path is no place for a file, is one of `others`, or has other content.
    """

    def is_own(file: Path) -> bool:
        with open_regular(file) as opened:
            return mark.encode() in opened.read(1000)

    return place_beside(path, others, what, is_own, force)
