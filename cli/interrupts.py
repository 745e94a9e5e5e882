"""Ctrl-C in a process of our own: one line and an exit code, whenever it comes.

While a command's modules are imported there is nothing to clean up, and imports may swallow
KeyboardInterrupt or turn it into another error: the process ends at once. During the work the
exception is raised, so that nothing half-written and no child process stays; where the work imports
what only some models need, once that is done. When the work is over, what was written stands, and
nothing is left to interrupt.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from types import FrameType
from typing import Any

EXIT_INTERRUPTED = 130

_SOON = 0.001
"""Seconds: less than the least work takes between its last import and the file that it writes."""


def _leave(number: int, frame: FrameType | None) -> None:
    with contextlib.suppress(OSError):  # nobody is there to be told
        os.write(2, b"error: interrupted\n")
    os._exit(EXIT_INTERRUPTED)


def _raise(number: int, frame: FrameType | None) -> None:
    if _imports(frame) and _raise_soon():
        return
    raise KeyboardInterrupt


def _imports(frame: FrameType | None) -> bool:
    """Whether an import is under way."""
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
    """End the process at once from now on; not where whoever started it has Ctrl-C ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def raise_from_now_on() -> None:
    """Raise KeyboardInterrupt; the work begins."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, _raise)
        sys.unraisablehook = _raise_again
        if hasattr(signal, "SIGALRM"):
            signal.signal(signal.SIGALRM, _raise)


def _raise_again(lost: Any) -> None:
    """Raise it a little later where it hit a destructor, which can raise nothing."""
    if lost.exc_type is not KeyboardInterrupt or not _raise_soon():
        sys.__unraisablehook__(lost)


def over() -> None:
    """Do nothing any more: what was done stands."""
    if signal.getsignal(signal.SIGINT) in (_leave, _raise):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        if hasattr(signal, "SIGALRM"):
            signal.signal(signal.SIGALRM, signal.SIG_IGN)
