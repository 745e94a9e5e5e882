"""Where a model is written, and what must not be lost there."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Collection, Iterable
from pathlib import Path

from ..errors import LoadError, SaveError
from ..file_reader import is_descriptor
from ..option_names import by
from .external_data import external_tensors, files_of
from .header_scan import skim

Key = str | tuple[int, int]


@dataclasses.dataclass(frozen=True)
class Target:
    """A file that a model may be written to.

    Attributes:
        path: as the caller names it.
        file: the file itself, links followed.
        read: the files that must stay, by their keys.
        own: the data files of the model that is there now, by their keys.
        force: overwrite what belongs to nobody known.
    """

    path: Path
    file: Path
    read: frozenset[Key]
    own: frozenset[Key]
    force: bool

    @classmethod
    def of(
        cls,
        path: Path,
        read: Iterable[Path] = (),
        source: Path | None = None,
        *,
        force: bool = False,
    ) -> Target:
        """The target that a path names; nothing is touched.

        Args:
            path: where the model is to be written.
            read: files that must stay as they are: data of the model, inputs to compare on.
            source: the file that the model was read from. Its new version may take its place.
            force: allow that what is there is no ONNX model.

        Raises:
            SaveError: the path is no place for a file, is among those read, or holds something
                else than a model.
        """
        file = _place(path)
        taken = _keys_of_all(read)
        if taken & _keys(file):
            raise SaveError(
                f"cannot write '{path}': it is read itself, as data of the model or as inputs;"
                " name another file"
            )
        own = _own_data(path, file, force)
        return cls(path, file, taken | _keys_of_all([source] if source else ()), own, force)

    @property
    def folder(self) -> Path:
        """The folder of the file itself."""
        return self.file.parent

    def require_data_beside(self) -> None:
        """Check that data beside the file is found by whoever opens the path.

        Raises:
            SaveError: the path is a link into another folder; data is looked for beside the link
                by those who open it, and beside the file by those who open that.
        """
        if self.folder != Path(os.path.realpath(self.path.parent)):
            raise SaveError(
                f"cannot write '{self.path}': it is a link into another folder, and the model has"
                f" external data, which must lie beside it; name the file itself, '{self.file}'"
            )

    def data_file(self, taken: Collection[Path] = (), of: Path | None = None) -> Path:
        """Where data of the model goes: none of the files that are read.

        Args:
            taken: places that are given away already.
            of: a file that shall have this place as another name; it may be one already.

        Raises:
            SaveError: a file is there that is not the data of the model to be replaced.
        """
        path, number = self.folder / f"{self.file.name}.data", 0
        while path in taken or (self.read & _keys(path) and not _is_name_of(path, of)):
            number += 1
            path = self.folder / f"{self.file.name}.{number}.data"
        own = not path.is_symlink() and bool(self.own & _keys(path) or _is_name_of(path, of))
        if os.path.lexists(path) and not own and not self.force:
            raise SaveError(
                f"cannot write '{self.path}': its data would overwrite '{path}', which is no data"
                f" of a model there; name another file, or allow it with {by('--force')}"
            )
        return path


def _is_name_of(path: Path, file: Path | None) -> bool:
    """Whether a path is a second name of a file."""
    if file is None or not path.exists() or os.path.realpath(path) == os.path.realpath(file):
        return False
    return path.samefile(file)


def place_beside(path: Path, taken: Iterable[Path]) -> Path:
    """The file that something else than a model may be written to; nothing is touched.

    Args:
        path: as the caller names it.
        taken: the files that are read or written beside it.

    Raises:
        SaveError: the path is no place for a file, or one of those.
    """
    file = _place(path)
    if _keys_of_all(taken) & _keys(file):
        raise SaveError(
            f"cannot write '{path}': it is read, or the result itself; name another file"
        )
    return file


def _place(path: Path) -> Path:
    """The file behind a path, which need not exist."""
    if "\0" in os.fspath(path):
        raise SaveError(f"cannot write {os.fspath(path)!r}: it holds a zero byte")
    if is_descriptor(path):
        raise SaveError(f"cannot write '{path}': it is an open stream, not a regular file")
    file = Path(os.path.realpath(path))
    if not file.parent.is_dir():
        raise SaveError(f"cannot write '{path}': make the folder '{path.parent}' first")
    if file.is_dir():
        raise SaveError(f"cannot write '{path}': it is a folder, not a regular file")
    if file.exists() and not file.is_file():
        raise SaveError(f"cannot write '{path}': it is not a regular file")
    return file


def _own_data(path: Path, file: Path, force: bool) -> frozenset[Key]:
    """The data files of the model that is there; an empty file holds nothing to lose."""
    if not file.exists() or not file.stat().st_size:
        return frozenset()
    try:
        proto = skim(file)
    except LoadError as error:
        if force:
            return frozenset()
        raise _not_a_model(path) from error
    # Some other bytes happen to parse; hardly any name an output of a graph.
    if not any(info.name for info in proto.graph.output):
        if force:
            return frozenset()
        raise _not_a_model(path)
    return _keys_of_all(files_of(external_tensors(proto), file.parent))


def _not_a_model(path: Path) -> SaveError:
    return SaveError(
        f"cannot write '{path}': a file that is no ONNX model is there; name another file, or"
        f" overwrite it with {by('--force')}"
    )


def _keys_of_all(paths: Iterable[Path]) -> frozenset[Key]:
    return frozenset(key for path in paths for key in _keys(path))


def _keys(path: Path) -> set[Key]:
    """What a file is known by: its path without links, and where it exists its place on disk, which
    hard links share."""
    try:
        status = path.stat()
    except (OSError, ValueError):  # there is no such file; no file has a zero byte in its name
        return set() if "\0" in os.fspath(path) else {os.path.realpath(path)}
    return {os.path.realpath(path), (status.st_dev, status.st_ino)}
