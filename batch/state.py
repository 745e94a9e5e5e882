"""State of a batch, kept beside the results, from which it can resume."""

import contextlib
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from ..ir import SaveError, read_bytes
from ..ir.errors import reason
from ..ir.io.files import open_to_append, replacing
from .errors import BatchError
from .result import Record

FOLDER = ".straightline"
STATE = "state.jsonl"
_MOST_BYTES = 1 << 30
_MOST_NESTING = 20


class State:
    """Entries about the results in a folder.

    The file has a line for each model that was begun and for each that was done, which are added as
    that happens: whatever ends the work, at most its last line is torn."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lines: dict[str, bytes] = {}
        self._owned: set[str] = set()
        self._stream: BinaryIO | None = None
        self._lock = threading.Lock()

    def known(self, name: str) -> Mapping[str, Any] | None:
        """Return the entry of a model that was done."""
        entry: dict[str, Any] = json.loads(self._lines.get(name, b"{}"))
        return entry if "key" in entry else None

    def owns(self, name: str) -> bool:
        """Test whether work on a model was begun where no file of others was."""
        return name in self._owned

    def begin(self, name: str) -> None:
        """Note that the work on a model begins where no file of others is.

        An earlier entry stays: whether it holds is tested by the files that it describes.
        """
        if name not in self._owned:
            self.add({"name": name})

    def add(self, entry: Mapping[str, Any]) -> None:
        """Add the entry of a model; from any thread.

        One with the key "foreign" is about a model whose result would replace files of others.
        """
        line = _line(entry)
        with self._lock:
            self._keep(entry, line)
            self._append(line)

    def _append(self, line: bytes) -> None:
        assert self._stream is not None
        try:
            self._stream.write(line)
            self._stream.flush()
        except OSError as error:
            raise SaveError(f"cannot write '{self._file}': {reason(error)}") from error

    def _keep(self, entry: Mapping[str, Any], line: bytes) -> None:
        """Keep the text of an entry; it takes a tenth of the memory."""
        name = entry["name"]
        self._lines[name] = line
        if not entry.get("foreign"):
            self._owned.add(name)

    @contextlib.contextmanager
    def kept(self) -> "Iterator[State]":
        """Read the file, and append what is added.

        Raises:
            BatchError: it is not what was written there.
            SaveError: it cannot be written.
        """
        self._read()
        with replacing(self._file) as (temporary,):  # a line for each model
            temporary.write_bytes(b"".join(self._lines.values()))
        self._stream = open_to_append(self._file)
        try:
            yield self
        finally:
            # Each line was flushed: an error here is the one of a line that could not be.
            with contextlib.suppress(OSError):
                self._stream.close()

    def _read(self) -> None:
        if os.path.lexists(self._file):
            content = bytes(read_bytes(self._file, _MOST_BYTES))
            remedy = "delete the file, then all models are processed again"
            for entry, line in entries(content, f"'{self._file}'", remedy):
                self._keep(entry, line)


def entries(content: bytes, name: str, remedy: str) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Read lines of a state, each with its text; a torn last line is none.

    Args:
        content: the lines.
        name: names the file in errors.
        remedy: tells in errors what to do.

    Raises:
        BatchError: a line is not what straightline writes.
    """
    lines = content.splitlines()
    for number, line in enumerate(lines, 1):
        try:
            yield _entry(line), line + b"\n"
        except _NOT_OURS as error:
            if number < len(lines):
                raise BatchError(
                    f"{name}, line {number}, is not in the format of straightline; {remedy}"
                ) from error


def _line(entry: Mapping[str, Any]) -> bytes:
    return json.dumps(entry).encode("ascii") + b"\n"


_NOT_OURS = (ValueError, TypeError, KeyError, AttributeError, RecursionError)
"""The exceptions of reading JSON and its values where something else wrote them."""


def _entry(line: bytes) -> dict[str, Any]:
    """Read a line of the file.

    Raises:
        Exception: one of `_NOT_OURS`.
    """
    entry: dict[str, Any] = json.loads(line)
    if not isinstance(entry["name"], str) or not _is_shallow(entry, _MOST_NESTING):
        raise TypeError("a name is text, and nothing is nested deep")
    if "key" in entry or "record" in entry:
        Record.from_dict(entry["record"])
    if "key" in entry:
        for status in (*entry["read"].values(), *entry["written"].values()):
            if not isinstance(status["size"], int):
                raise TypeError("a size is a number")
    return entry


def _is_shallow(value: Any, most: int) -> bool:
    """Return whether lists and mappings are nested at most so deep."""
    if not isinstance(value, dict | list):
        return True
    inner = value.values() if isinstance(value, dict) else value
    return most > 0 and all(_is_shallow(each, most - 1) for each in inner)


@contextlib.contextmanager
def kept_in(out: Path) -> Iterator[tuple[State, Path]]:
    """Open the state of a folder of results, and a folder for unfinished results.

    Raises:
        BatchError: somebody else works there now, or the state is not what was written.
        SaveError: the folder cannot be written.
    """
    folder = out / FOLDER
    if folder.is_symlink():  # another folder's files would be written and removed
        raise SaveError(f"cannot write to the folder '{out}': '{folder}' is a link; remove it")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SaveError(f"cannot write to the folder '{out}': {reason(error)}") from error
    with _alone(folder), State(folder / STATE).kept() as state:
        for stale in folder.glob("made-*"):
            _remove(stale)
        yield state, Path(tempfile.mkdtemp(prefix="made-", dir=folder)).absolute()


def _remove(stale: Path) -> None:
    """Remove what an earlier run left; of a link only itself.

    Raises:
        SaveError: it cannot be removed.
    """
    try:
        if stale.is_dir() and not stale.is_symlink():
            shutil.rmtree(stale)
        else:
            stale.unlink()
    except OSError as error:
        raise SaveError(f"cannot remove '{stale}': {reason(error)}") from error


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold a folder as long as this process lives, where the system can."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    # The system releases the lock with the process, however that ends.
    with open_to_append(folder / "lock") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BatchError(
                f"another run writes to '{folder.parent}' now; wait for its end, or name another"
                " folder with -o"
            ) from None
        yield
