"""Files: replacement without partial ones, and the limit of messages."""

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

import onnx
from google.protobuf.message import EncodeError

from ..errors import SaveError, reason
from ..file_reader import TWO_GB
from ..option_names import by

_NO_LINKS: Mapping[Path, Path] = MappingProxyType({})


def encode(proto: onnx.ModelProto) -> bytes | None:
    """Encode a message; None above the 2 GB limit of messages."""
    try:
        content = proto.SerializeToString()
    except EncodeError:
        return None
    return None if too_large(len(content)) else content


def too_large(size: int) -> bool:
    """Test whether a size in bytes is above the limit of messages."""
    return size > TWO_GB


@contextlib.contextmanager
def replacing(*paths: Path, links: Mapping[Path, Path] = _NO_LINKS) -> Iterator[list[Path]]:
    """Replace files by temporary ones together on success; on failure, keep the old files.

    Args:
        paths: the files to write.
        links: hard links to make, each with its file.

    Raises:
        SaveError: a folder does not exist or cannot be written, a path is no regular file, or a
            file cannot be linked.
    """
    temporaries: list[Path] = []
    try:
        for path in paths:
            temporaries.append(_temporary(path))
        for path, file in links.items():
            temporaries.append(_link_beside(path, file))
        yield temporaries[: len(paths)]
        for path, temporary in zip(paths, temporaries, strict=False):
            _copy_mode(path, temporary)  # a link has the mode of its file
        _put_in_place(list(zip(temporaries, [*paths, *links], strict=True)))
    except OSError as error:
        raise SaveError(f"cannot write '{paths[0]}': {reason(error)}") from error
    finally:
        for temporary in temporaries:
            temporary.unlink(missing_ok=True)


def open_to_append(path: Path) -> BinaryIO:
    """Open a regular file for writing at its end, or create one.

    The content of the file stays. It follows no link, since a link could lead to any file of the
    user.

    Raises:
        SaveError: the path is a link or no regular file, or it cannot be written.
    """
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT
    for name in ("O_BINARY", "O_NOFOLLOW", "O_NONBLOCK"):  # not every system has all of them
        flags |= getattr(os, name, 0)
    try:
        if path.is_symlink():
            raise SaveError(f"cannot write '{path}': it is a link; remove it")
        handle = os.open(path, flags, 0o666)
    except OSError as error:
        raise SaveError(f"cannot write '{path}': {reason(error)}") from error
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return os.fdopen(handle, "ab")
    os.close(handle)
    raise SaveError(f"cannot write '{path}': it is not a regular file")


def require_folder(path: Path, resolved: Path) -> None:
    """Require the folder of a file to write.

    Args:
        path: the file as the caller named it.
        resolved: the same without links.
    """
    if not resolved.parent.is_dir():
        is_file = resolved.parent.exists()
        what = ("make the folder '{}' first", "'{}' is a file, not a folder")[is_file]
        raise SaveError(f"cannot write '{path}': {what.format(path.parent)}")


def _temporary(path: Path) -> Path:
    require_folder(path, path)
    if path.exists() and not path.is_file():
        raise SaveError(f"cannot write '{path}': it is not a regular file")
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
    os.close(handle)
    return Path(name)


def _link_beside(path: Path, file: Path) -> Path:
    temporary = _temporary(path)
    temporary.unlink()
    try:
        os.link(file, temporary)
    except OSError as error:
        raise SaveError(
            f"'{file}' cannot be linked into '{path.parent}': {reason(error)}; copy it by"
            f" leaving out {by('--link-data hard')}"
        ) from error
    return temporary


def _put_in_place(moves: list[tuple[Path, Path]]) -> None:
    """Rename each file to its new name; if one fails, undo the earlier ones."""
    (temporary, path), *others = moves
    with contextlib.ExitStack() as undo:
        for other, target in others:
            backup = other.with_name(f"{other.name}.old")
            if target.exists():
                os.replace(target, backup)
                undo.callback(os.replace, backup, target)
            else:
                undo.callback(target.unlink, missing_ok=True)
            os.replace(other, target)
        os.replace(temporary, path)
        undo.pop_all()
    for other, _ in others:
        other.with_name(f"{other.name}.old").unlink(missing_ok=True)


def _copy_mode(path: Path, temporary: Path) -> None:
    """Give the new file the mode of the old one, or the default mode."""
    if path.exists():
        shutil.copymode(path, temporary)
    else:
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
