"""State of a batch on shared storage, where nothing can be appended to a file."""

import contextlib
import tempfile
import time
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .addresses import Address
from .state import FOLDER, State, entries

_PATTERN = "state-*.jsonl"
_MOST_LINES = 500
_MOST_SECONDS = 5.0
"""The most entries, and seconds of entries, that a killed process loses."""


class StoredState(State):
    """Entries in files of some seconds each, which the next run joins."""

    def __init__(self, folder: Address) -> None:
        super().__init__(Path())
        self._folder = folder / FOLDER
        self._pending: list[bytes] = []
        self._since = time.monotonic()

    def begin_all(self, names: Iterable[str]) -> None:
        """Note that the work on models begins where no files of others are."""
        for name in names:
            self.begin(name)
        self._store()

    @contextlib.contextmanager
    def kept(self) -> "Iterator[StoredState]":
        """Read the files, join them, and store what is added.

        Raises:
            BatchError: one is not what was written there, or the storage does not answer.
            SaveError: it cannot be written.
        """
        files = self._folder.below(_PATTERN)
        for entry, line in lines_in(self._folder):
            self._keep(entry, line)
        if len(files) > 1:
            # The joined file is there before the others go, so that no entry is ever missing.
            self._pending.extend(self._lines.values())
            self._store()
            for file in files:
                (self._folder / file).remove()
        try:
            yield self
        finally:
            self._store()

    def _append(self, line: bytes) -> None:
        self._pending.append(line)
        late = time.monotonic() - self._since > _MOST_SECONDS
        if late or len(self._pending) >= _MOST_LINES:
            self._store()

    def _store(self) -> None:
        """Store pending entries in a file of their own; later ones have later names."""
        if self._pending:
            name = f"state-{time.time_ns():020}-{uuid.uuid4().hex[:8]}.jsonl"
            (self._folder / name).put(b"".join(self._pending))
            self._pending.clear()
        self._since = time.monotonic()


def lines_in(folder: Address) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Yield the entries of the state in a folder, each with its line.

    Raises:
        BatchError: one is not what was written there.
    """
    remedy = "delete the file, then the models in it are processed again"
    for file in folder.below(_PATTERN):
        yield from entries((folder / file).read(), f"'{folder / file}'", remedy)


@contextlib.contextmanager
def stored_in(out: Address) -> Iterator[tuple[StoredState, Path]]:
    """Open the state of a stored folder, and a local folder for unfinished results.

    Raises:
        BatchError: the storage does not answer, or the state is not what was written.
        SaveError: the folder cannot be written.
    """
    with (
        StoredState(out).kept() as state,
        tempfile.TemporaryDirectory(prefix="straightline-", ignore_cleanup_errors=True) as name,
    ):
        yield state, Path(name)
