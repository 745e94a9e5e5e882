"""Ctrl-C, SIGTERM and SIGHUP in a process of our own: one line and an exit code, at any time.

While a command's modules are imported there is nothing to clean up, and imports may swallow
KeyboardInterrupt or turn it into another error: the process ends at once. During the work the
exception is raised, so that nothing half-written and no child process stays; where the work imports
what only some models need, once that is done. When the work is over, what was written stands, and
nothing is left to interrupt.
"""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False  # what this module imports delays the moment from which it works
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

_LINES = {"SIGINT": "interrupted", "SIGTERM": "terminated", "SIGHUP": "the terminal is gone"}
_ENDINGS = {
    number: (128 + number, line)
    for name, line in _LINES.items()
    if (number := getattr(signal, name, None)) is not None
}
"""The exit code and the line for each signal: 128 and its number, as shells have it."""
EXIT_CODES = frozenset(code for code, _ in _ENDINGS.values())

_SOON = 0.001
"""Seconds: less than the least work takes between its last import and the file that it writes."""


_last = signal.SIGINT
"""The signal that the work was interrupted by."""


def ending() -> tuple[int, str]:
    """Return the exit code of an interrupt, and the line that tells of it."""
    return _ENDINGS[_last]


def _leave(number: int, frame: FrameType | None) -> None:
    code, line = _ENDINGS[signal.Signals(number)]
    try:
        os.write(2, f"error: {line}\n".encode())
    finally:  # nobody may be there to be told
        os._exit(code)


def _raise(number: int, frame: FrameType | None) -> None:
    global _last  # noqa: PLW0603 - a handler has no other place for what it learns
    if number in _ENDINGS:  # else the alarm that stands for one that came before
        _last = signal.Signals(number)
    if _imports(frame) and _raise_soon():
        return
    raise KeyboardInterrupt


def _imports(frame: FrameType | None) -> bool:
    """Return whether an import is under way."""
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
        frame = frame.f_back
    return False


def _raise_soon() -> bool:
    """Interrupt again a little later; False where that cannot be."""
    if not hasattr(signal, "SIGALRM"):
        return False
    signal.setitimer(signal.ITIMER_REAL, _SOON)
    return True


def take_over() -> None:
    """End the process at once from now on; not where whoever started it has a signal ignored."""
    for number in _ENDINGS:
        if signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL):
            signal.signal(number, _leave)


def raise_from_now_on() -> None:
    """Raise KeyboardInterrupt; the work begins."""
    ours = [number for number in _ENDINGS if signal.getsignal(number) is _leave]
    for number in ours:
        signal.signal(number, _raise)
    if ours:
        sys.unraisablehook = _raise_again
        if hasattr(signal, "SIGALRM"):
            signal.signal(signal.SIGALRM, _raise)


def _raise_again(lost: Any) -> None:
    """Raise it a little later where it hit a destructor, which can raise nothing."""
    if lost.exc_type is not KeyboardInterrupt or not _raise_soon():
        sys.__unraisablehook__(lost)


def over() -> None:
    """Do nothing any more: what was done stands."""
    ours = [number for number in _ENDINGS if signal.getsignal(number) in (_leave, _raise)]
    for number in ours:
        signal.signal(number, signal.SIG_IGN)
    if ours and hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
