"""Lifeline: a pipe whose closed end tells child processes that their parent has ended.

The kernel closes the parent's end, however the parent ends. On Linux it then kills the child at
once, through a signal on the pipe. PR_SET_PDEATHSIG would not do: it kills when the thread ends
that started the child. A thread notices, too, as soon as Python code runs again.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_ends: list[Connection] = []
"""The end for children and the end of this process, once made."""


def lifeline() -> Connection:
    """Return the end for child processes; the other one stays open until this process ends."""
    if not _ends:
        from multiprocessing.connection import Pipe

        _ends.extend(Pipe(duplex=False))
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_cut)
    return _ends[0]


def _cut() -> None:
    """Close the ends in a forked child, which would keep children of its parent alive."""
    for end in _ends:
        end.close()
    _ends.clear()


def end_with_parent(handle: int) -> None:
    """End this process when the parent ends, by a lifeline's descriptor."""
    _kill_at_close(handle)
    threading.Thread(target=_wait, args=(handle,), daemon=True).start()


def _kill_at_close(handle: int) -> None:
    """Have the kernel kill this process then, in native code too, where it can."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl

        control: Callable[..., object] = fcntl.fcntl
        # The receiver belongs to an opened file: an inherited one is shared by all children.
        own = os.open(f"/proc/self/fd/{handle}", os.O_RDONLY | os.O_NONBLOCK)
        control(own, fcntl.F_SETOWN, os.getpid())
        control(own, fcntl.F_SETSIG, signal.SIGKILL)
        control(own, fcntl.F_SETFL, os.O_NONBLOCK | os.O_ASYNC)
        with contextlib.suppress(BlockingIOError):  # nothing to read: the parent lives
            os.read(own, 1)
            os._exit(1)  # closed before the signal was asked for


def _wait(handle: int) -> None:
    with contextlib.suppress(OSError):
        os.read(handle, 1)
    os._exit(1)  # nobody wants what is not done, and nobody is left to be told
