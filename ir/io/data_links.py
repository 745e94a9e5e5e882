"""Data files shared between a result and its original: by reference, or as hard links."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from ...records import record
from ..errors import SaveError
from ..option_names import by
from .write_target import Target

LinkData = Literal["reference", "hard"]
"""The ways to share data files: references to their place, or links beside the result."""


@record(frozen=True)
class Links:
    """The data files that a result shares with its original.

    Attributes:
        names: the name of each file in the result.
        places: the hard links to make, each with its file.
    """

    names: Mapping[Path, str]
    places: Mapping[Path, Path]

    @classmethod
    def of(cls, files: Iterable[Path], target: Target, how: str) -> "Links":
        """Plan the links of a result, without making them.

        Args:
            files: the data files, links followed.
            how: the way to share data.

        Raises:
            SaveError: there is no such way, a model cannot refer to a file from there, the file
                system cannot link it, or a file would be lost.
        """
        files = list(dict.fromkeys(files))
        require_linkable(files, target, how)
        names: dict[Path, str] = {}
        places: dict[Path, Path] = {}
        for file in files:
            if how == "reference":
                names[file] = file.relative_to(target.folder).as_posix()
                continue
            place = target.data_file(in_use=places, of=file)
            places[place] = file
            names[file] = place.name
        return cls(names, places)


def require_linkable(files: Iterable[Path], target: Target, how: str) -> None:
    """Check before the long work that a result can share data files.

    Raises:
        SaveError: it cannot.
    """
    for path in files:
        file = Path(os.path.realpath(path))
        where = f"cannot write '{target.path}': its data lies in '{file}',"
        if how == "reference" and not file.is_relative_to(target.folder):
            raise SaveError(
                f"{where} and a model cannot refer to a file outside its folder; write it into"
                f" '{file.parent}', link the data with {by('--link-data hard')}, or copy it by"
                " leaving out that option"
            )
        if how == "hard" and file.exists() and file.stat().st_dev != target.folder.stat().st_dev:
            raise SaveError(
                f"{where} on another file system, where no hard link can lead; copy it by leaving"
                f" out {by('--link-data hard')}"
            )
