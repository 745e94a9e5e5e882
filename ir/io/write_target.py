"""Targets of saved models, and the files that writing must not destroy."""

import os
import stat
from collections.abc import Callable, Collection, Iterable
from pathlib import Path

from ...records import record
from ..errors import LoadError, SaveError, reason
from ..file_reader import is_descriptor
from ..option_names import by
from .external_data import external_tensors, files_of
from .files import require_folder
from .header_scan import skim

Key = str | tuple[int, int]


@record(frozen=True)
class Target:
    """A file to which a model may be written.

    Attributes:
        path: as the caller names it.
        file: the path with links followed.
        read: the keys of files that must stay.
        own: the keys of the data files of the present model.
        force: overwrite also other files.
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
    ) -> "Target":
        """Make the target of a path, without writing.

        Args:
            path: the path of the model file.
            read: files that must stay: data of the model, inputs to compare on.
            source: the file of the original, which the result may replace.
            force: overwrite also a file that is no ONNX model.

        Raises:
            SaveError: the path is no place for a file, is among those read, or has other content
                than a model.
        """
        file = _place(path)
        in_use = _keys_of_all(read)
        if in_use & _keys(file):
            raise SaveError(
                f"cannot write '{path}': it is read itself, as data of the model or as inputs;"
                " name another file"
            )
        own = _own_data(path, file, force)
        return cls(path, file, in_use | _keys_of_all([source] if source else ()), own, force)

    @property
    def folder(self) -> Path:
        """The folder of the file itself."""
        return self.file.parent

    def require_data_beside(self) -> None:
        """Check that readers of the path find data beside the file.

        Raises:
            SaveError: the path is a link into another folder. Readers look for data beside the path
                that they open, link or file.
        """
        if self.folder != Path(os.path.realpath(self.path.parent)):
            raise SaveError(
                f"cannot write '{self.path}': it is a link into another folder, and the model has"
                f" external data, which must lie beside it; name the file itself, '{self.file}'"
            )

    def data_file(self, in_use: Collection[Path] = (), of: Path | None = None) -> Path:
        """Choose the data file of the model: none of the files that must stay.

        Args:
            in_use: the paths in use already.
            of: a file to link there; the path may be such a link already.

        Raises:
            SaveError: a file is there that is not the data of the model to be replaced.
        """
        path, number = self.folder / f"{self.file.name}.data", 0
        while path in in_use or (self.read & _keys(path) and not _is_name_of(path, of)):
            number += 1
            path = self.folder / f"{self.file.name}.{number}.data"
        own = not path.is_symlink() and bool(self.own & _keys(path) or _is_name_of(path, of))
        if os.path.lexists(path) and not own and not self.force:
            raise SaveError(
                f"cannot write '{self.path}': its data would overwrite '{path}', which is not data"
                f" of a model there; name another file, or allow it with {by('--force')}"
            )
        return path


def _is_name_of(path: Path, file: Path | None) -> bool:
    """Test whether a path is a second name of a file."""
    if file is None or not path.exists() or os.path.realpath(path) == os.path.realpath(file):
        return False
    return path.samefile(file)


def place_beside(
    path: Path, others: Iterable[Path], what: str, is_own: Callable[[Path], bool], force: bool
) -> Path:
    """Choose the file of another output than a model, without writing.

    Args:
        path: as the caller names it.
        others: the other files that are read or written.
        what: the kind of the output.
        is_own: tests a file for this kind.
        force: overwrite also a file of another kind.

    Raises:
        SaveError: the path is no place for a file, is among `others`, or has other content.
    """
    file = _place(path)
    if _keys_of_all(others) & _keys(file):
        raise SaveError(
            f"cannot write '{path}': it is read, or the result itself; name another file"
        )
    # An empty file has nothing to lose.
    if not force and file.exists() and file.stat().st_size and not is_own(file):
        raise _not_of_kind(path, what)
    return file


def _place(path: Path) -> Path:
    """Resolve a path to a file, which need not exist."""
    if "\0" in os.fspath(path):
        raise SaveError(f"cannot write {os.fspath(path)!r}: it holds a zero byte")
    if is_descriptor(path):
        raise SaveError(f"cannot write '{path}': it is an open stream, not a regular file")
    file = Path(os.path.realpath(path))
    require_folder(path, file)
    try:
        mode = file.stat().st_mode
    except FileNotFoundError:
        return file
    except OSError as error:
        raise SaveError(f"cannot write '{path}': {reason(error)}") from error
    if not stat.S_ISREG(mode):
        what = "a folder, not" if stat.S_ISDIR(mode) else "not"
        raise SaveError(f"cannot write '{path}': it is {what} a regular file")
    return file


def _own_data(path: Path, file: Path, force: bool) -> frozenset[Key]:
    """List the data files of the present model; none for an empty file."""
    if not file.exists() or not file.stat().st_size:
        return frozenset()
    try:
        proto = skim(file)
    except LoadError as error:
        if force:
            return frozenset()
        raise _not_of_kind(path, "ONNX model") from error
    # Some other bytes parse by chance; hardly any have an output of a graph.
    if not any(info.name for info in proto.graph.output):
        if force:
            return frozenset()
        raise _not_of_kind(path, "ONNX model")
    return _keys_of_all(files_of(external_tensors(proto), file.parent))


def _not_of_kind(path: Path, what: str) -> SaveError:
    article = "an" if what[0] in "AEIOU" else "a"
    return SaveError(
        f"cannot write '{path}': the file there is not {article} {what}; name another file, or"
        f" overwrite it with {by('--force')}"
    )


def _keys_of_all(paths: Iterable[Path]) -> frozenset[Key]:
    return frozenset(key for path in paths for key in _keys(path))


def _keys(path: Path) -> set[Key]:
    """The keys of a file: its resolved path, and for an existing one its inode, which hard links
    share."""
    try:
        status = path.stat()
    except (OSError, ValueError):  # a missing file, or a name with a zero byte
        return set() if "\0" in os.fspath(path) else {os.path.realpath(path)}
    return {os.path.realpath(path), (status.st_dev, status.st_ino)}
