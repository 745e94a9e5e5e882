"""Clock for the stages of a command: seconds without imports.

A module is imported when a model first needs it: networkx alone takes 0.1 s, ten times as long as a
small rewrite.

    now ()                       0.50
    import networkx              (0.10)
    now ()                       0.51

Only the command line leaves imports out, because it replaces `__import__` for the whole process.
"""

from __future__ import annotations

import builtins
import time
from collections.abc import Mapping, Sequence
from typing import Any


class _Imports:
    """Imports of the process.

    Attributes:
        seconds: the time in imports so far.
        is_running: true within an import, whose own imports count with it.
    """

    seconds = 0.0
    is_running = False


def now() -> float:
    """Seconds of a clock that stands during imports."""
    return time.perf_counter() - _Imports.seconds


def leave_out_imports() -> None:
    """Let the clock stand during imports from now on."""
    original = builtins.__import__

    def timed(
        name: str,
        globals: Mapping[str, object] | None = None,
        locals: Mapping[str, object] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        if _Imports.is_running:
            return original(name, globals, locals, fromlist, level)
        _Imports.is_running, started = True, time.perf_counter()
        try:
            return original(name, globals, locals, fromlist, level)
        finally:
            _Imports.is_running = False
            _Imports.seconds += time.perf_counter() - started

    vars(builtins)["__import__"] = timed
