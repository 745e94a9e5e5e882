"""Data files that a result shares with what it was read from: by reference, or as hard links."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, get_args

from ..errors import SaveError
from ..option_names import by
from .write_target import Target

LinkData = Literal["reference", "hard"]
"""How a result shares data files: it refers to them where they are, or has links beside it."""

WAYS: tuple[str, ...] = get_args(LinkData)


@dataclasses.dataclass(frozen=True)
class Links:
    """How a result gets at the data files of its original.

    Attributes:
        names: what the result calls each of them.
        places: the hard links that are made, each with its file.
    """

    names: Mapping[Path, str]
    places: Mapping[Path, Path]

    @classmethod
    def of(cls, files: Iterable[Path], target: Target, how: str) -> Links:
        """The links of a result; nothing is made yet.

        Args:
            files: the data files, links followed.
            target: where the result goes.
            how: how data is shared.

        Raises:
            SaveError: there is no such way, a model cannot refer to a file from there, the file
                system cannot link it, or something would be lost.
        """
        files = list(dict.fromkeys(files))
        require_linkable(files, target, how)
        names: dict[Path, str] = {}
        places: dict[Path, Path] = {}
        for file in files:
            if how == "reference":
                names[file] = file.relative_to(target.folder).as_posix()
                continue
            place = target.data_file(taken=places, of=file)
            places[place] = file
            names[file] = place.name
        return cls(names, places)


def require_linkable(files: Iterable[Path], target: Target, how: str) -> None:
    """Check that a result can share data files, before the long work.

    Raises:
        SaveError: it cannot.
    """
    for given in files:
        file = Path(os.path.realpath(given))
        where = f"cannot write '{target.path}': its data lies in '{file}',"
        if how == "reference" and not file.is_relative_to(target.folder):
            raise SaveError(
                f"{where} and a model can refer to nothing outside its folder; write it into"
                f" '{file.parent}', or let the data be linked, with {by('--link-data hard')}, or"
                " copied, without that option"
            )
        if how == "hard" and file.exists() and file.stat().st_dev != target.folder.stat().st_dev:
            raise SaveError(
                f"{where} on another file system, and no link leads there; have it copied, without"
                f" {by('--link-data hard')}"
            )


def require_way(how: str) -> None:
    """Check that data can be shared in a way.

    Raises:
        SaveError: there is no such way.
    """
    if how not in WAYS:
        raise SaveError(f"link_data is {' or '.join(map(repr, WAYS))}, not {how!r}")
