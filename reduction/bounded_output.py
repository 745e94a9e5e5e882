"""Output of a command, without the middle where it is long."""

import os
import select
import threading
from types import TracebackType

_HALF = 1 << 20
"""Bytes that are kept of the beginning, and as many of the end."""
_CHUNK = 1 << 16
_GRACE = 1.0
"""Seconds for a process outside the group of the command, which may hold the pipe open."""
_POLL = 0.1


class BoundedOutput:
    """A pipe for the output of a command; its first and last megabyte stay.

    A file would grow as long as the command writes, and a pipe that nobody reads would stop it. The
    pipe is open inside a `with` block.

    Attributes:
        end: the descriptor for the command; `release` it once the command has it.
    """

    def __init__(self) -> None:
        self._source, self.end = os.pipe()
        self._head, self._tail, self._left_out = bytearray(), bytearray(), 0
        self._over = threading.Event()
        self._reader = threading.Thread(target=self._read, daemon=True)

    def __enter__(self) -> "BoundedOutput":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not self._reader.ident:
            self.release()
        self._reader.join(_GRACE)
        self._over.set()
        self._reader.join(_GRACE)

    def release(self) -> None:
        """Close the descriptor here, so that the pipe ends with the command; begin to read."""
        os.close(self.end)
        self._reader.start()

    def text(self) -> str:
        """Return the output; a line in its middle counts the bytes that are left out."""
        gap = f"\n... {self._left_out} bytes ...\n".encode() if self._left_out else b""
        return bytes(self._head + gap + self._tail).decode(errors="replace")

    def _read(self) -> None:
        while not self._over.is_set():
            if not _is_readable(self._source):
                continue
            chunk = os.read(self._source, _CHUNK)
            if not chunk:
                break
            room = _HALF - len(self._head)
            self._head += chunk[:room]
            self._tail += chunk[room:]
            if (surplus := len(self._tail) - _HALF) > 0:
                self._left_out += surplus
                del self._tail[:surplus]
        os.close(self._source)


def _is_readable(handle: int) -> bool:
    """Wait a moment for output, where the system can wait for a pipe."""
    return os.name != "posix" or bool(select.select([handle], [], [], _POLL)[0])
