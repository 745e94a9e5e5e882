"""Terminal output: text without control characters, on streams that may fail."""

import io
import os
import sys
from collections.abc import Callable
from typing import TextIO

from ..display.plain import visible

_closed: set[str] = set()
"""The standard streams that were closed when the process started."""


def is_terminal(stream: TextIO) -> bool:
    """Test for a stream that shows colours, by the variables that rich reads."""
    compatible, forced = map(os.environ.get, ("TTY_COMPATIBLE", "FORCE_COLOR"))
    if compatible in ("0", "1"):
        return compatible == "1"
    return stream.isatty() if forced is None else forced != ""


def shown(text: str) -> str:
    """Escape characters that would steer the terminal, break the line or cannot be encoded."""
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return visible(text).encode(encoding, "backslashreplace").decode(encoding)


def prepare_streams() -> None:
    """Prepare the standard streams of a process for any text.

    Something is put in the place of those that were closed when the process started. Else the next
    file that is opened takes their number, and whatever a library prints lands in it. Unbuffered
    output gets a buffer: a raw file writes a part where a disk is full, and Python drops the rest.
    """
    for number, name, flags in (
        (0, "stdin", os.O_RDONLY),
        (1, "stdout", os.O_RDONLY),  # writing fails, so that it is known
        (2, "stderr", os.O_WRONLY),
    ):
        if getattr(sys, name) is None:
            _closed.add(name)
            os.open(os.devnull, flags)  # takes the lowest number that is free
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115
    raw = getattr(sys.stdout, "buffer", None)
    if isinstance(raw, io.RawIOBase):  # PYTHONUNBUFFERED is set
        sys.stdout = io.TextIOWrapper(
            io.BufferedWriter(raw), sys.stdout.encoding, line_buffering=True
        )
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def has_reader() -> bool:
    """Return whether anything can be shown: else the exit code is the whole answer."""
    return not {"stdout", "stderr"} <= _closed


def delivered(write: Callable[[], None]) -> str:
    """Write to stdout, to the end; return why that failed, "" where it did not.

    A reader that left early has what it wanted.
    """
    try:
        write()
        sys.stdout.flush()
    except BrokenPipeError:
        silence(sys.stdout)
    except OSError as error:
        silence(sys.stdout)
        return error.strerror or str(error)
    return ""


def complain(line: str) -> None:
    """Write a line to stderr."""
    try:
        print(line, file=sys.stderr, flush=True)
    except OSError:  # there is nobody left to tell; the exit code says it
        silence(sys.stderr)


def silence(stream: TextIO) -> None:
    """Throw away what a stream still holds, which else fails again when the process ends."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, stream.fileno())
    os.close(nothing)
