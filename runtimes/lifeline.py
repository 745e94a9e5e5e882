"""Lifeline: a pipe whose closed end tells child processes that their parent has ended.

The kernel closes the parent's end, however the parent ends. On Linux it then kills the child at
once, through a signal on the pipe. PR_SET_PDEATHSIG would not do: it kills when the thread ends
that started the child. A thread notices, too, as soon as Python code runs again.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

try:
    import fcntl
except ImportError:  # Windows, where nothing opens the end again
    fcntl = None  # type: ignore[assignment]

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
    own = _opened_again(handle)
    if own is not None:
        _kill_at_close(own, os.getpid())
    threading.Thread(target=_wait, args=(handle,), daemon=True).start()


def start_tied(command: str, **settings: Any) -> subprocess.Popen[bytes]:
    """Start a shell command in its own process group, which ends with this process.

    On Linux the kernel kills the group, however this process ends; elsewhere nothing does.

    Args:
        settings: those of `subprocess.Popen`.
    """
    own = _opened_again(lifeline().fileno())
    if own is None:
        return subprocess.Popen(command, shell=True, start_new_session=True, **settings)
    try:
        return subprocess.Popen(
            command,
            shell=True,
            start_new_session=True,
            pass_fds=(own,),
            # In the child, since this process may end before it could tie a child that runs. It
            # takes no lock that a thread of this process might hold. A negative owner is a group.
            preexec_fn=lambda: _kill_at_close(own, -os.getpid()),  # noqa: PLW1509
            **settings,
        )
    finally:
        os.close(own)  # the group holds it


def _opened_again(handle: int) -> int | None:
    """Open the end for children once more; None where the system cannot.

    The receiver of a signal belongs to an opened file, and all children share an inherited one.
    """
    try:
        return os.open(f"/proc/self/fd/{handle}", os.O_RDONLY | os.O_NONBLOCK)
    except (AttributeError, OSError):
        return None  # not Linux


def _kill_at_close(own: int, owner: int) -> None:
    """Have the kernel kill a process or a group when this process ends."""
    control: Callable[..., object] = fcntl.fcntl
    control(own, fcntl.F_SETOWN, owner)
    control(own, fcntl.F_SETSIG, signal.SIGKILL)
    control(own, fcntl.F_SETFL, os.O_NONBLOCK | os.O_ASYNC)
    with contextlib.suppress(BlockingIOError):  # nothing to read: the parent lives
        os.read(own, 1)
        os._exit(1)  # closed before the signal was asked for


def _wait(handle: int) -> None:
    with contextlib.suppress(OSError):
        os.read(handle, 1)
    os._exit(1)  # nobody wants what is not done, and nobody is left to be told
