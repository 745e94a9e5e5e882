"""What is done already, kept beside the results, so that the work can be gone on with."""

from __future__ import annotations

import contextlib
import json
import shutil
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from ..ir import SaveError
from ..ir.errors import reason
from ..ir.files import replacing
from .errors import BatchError

FOLDER = ".straightline"
_FILE = "state.jsonl"


class State:
    """What is known of the results in a folder.

    The file has a line for each model that was begun and for each that was done, which are added as
    that happens: whatever ends the work, at most its last line is torn.

    Args:
        file: the file.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lines: dict[str, dict[str, Any]] = {}
        self._stream: IO[str] | None = None
        self._lock = threading.Lock()

    def known(self, name: str) -> Mapping[str, Any] | None:
        """What is known of a model that was done."""
        found = self._lines.get(name, {})
        return found if "key" in found else None

    def owns(self, name: str) -> bool:
        """Whether a result of a model was begun here, be it done or not, with nothing of others in
        its place."""
        return name in self._lines

    def begin(self, name: str) -> None:
        """Note that the work on a model begins, and nothing of others is in its place. What was
        known of it before is kept: whether it holds is seen by what is kept of its files."""
        if name not in self._lines:
            self.add({"name": name})

    def add(self, entry: Mapping[str, Any]) -> None:
        """Note what was done with a model; from any thread."""
        with self._lock:
            self._lines[entry["name"]] = dict(entry)
            assert self._stream is not None
            self._stream.write(json.dumps(entry) + "\n")
            self._stream.flush()

    @contextlib.contextmanager
    def kept(self) -> Iterator[State]:
        """Read it, and keep what is added.

        Raises:
            BatchError: it is not what was written there.
            SaveError: it cannot be written.
        """
        self._read()
        with replacing(self._file) as (temporary,):  # a line for each model
            temporary.write_text("".join(json.dumps(e) + "\n" for e in self._lines.values()))
        with self._file.open("a", encoding="ascii") as self._stream:
            yield self

    def _read(self) -> None:
        if not self._file.exists():
            return
        lines = self._file.read_text(encoding="ascii", errors="replace").splitlines()
        for number, line in enumerate(lines, 1):
            try:
                entry = json.loads(line)
                self._lines[entry["name"]] = entry
            except (json.JSONDecodeError, TypeError, KeyError) as error:
                if number < len(lines):
                    raise BatchError(
                        f"'{self._file}', line {number}, is not what straightline writes there;"
                        " delete the file, then all models are done anew"
                    ) from error


@contextlib.contextmanager
def kept_in(out: Path) -> Iterator[tuple[State, Path]]:
    """The state of a folder of results, which is made if need be, and a folder beside it where
    results are made before they take their places.

    Raises:
        BatchError: somebody else works there now, or the state is not what was written.
        SaveError: the folder cannot be written.
    """
    folder = out / FOLDER
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SaveError(f"cannot write to the folder '{out}': {reason(error)}") from error
    with _alone(folder), State(folder / _FILE).kept() as state:
        for stale in folder.glob("made-*"):
            shutil.rmtree(stale)
        yield state, Path(tempfile.mkdtemp(prefix="made-", dir=folder)).absolute()


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold a folder as long as this process lives, where the system can."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    with (folder / "lock").open("w") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BatchError(
                f"another run writes to '{folder.parent}' now; wait for its end, or name another"
                " folder with -o"
            ) from None
        yield
