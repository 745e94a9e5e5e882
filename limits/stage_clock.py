"""Clock for the stages of a command: seconds without imports.

A module is imported when a model first needs it: networkx alone takes 0.1 s, ten times as long as a
small rewrite.

    StageClock.now ()            0.50
    import networkx              (0.10)
    StageClock.now ()            0.51

Only the command line leaves imports out, because it replaces `__import__` for the whole process.
"""

import builtins
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar


class StageClock:
    """Clock of the process.

    Attributes:
        now: returns the seconds of the clock.
        seconds: the time in imports so far.
        is_running: true within an import, whose own imports count with it.
    """

    now: ClassVar[Callable[[], float]] = time.perf_counter
    seconds = 0.0
    is_running = False


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
        if StageClock.is_running:
            return original(name, globals, locals, fromlist, level)
        StageClock.is_running, started = True, time.perf_counter()
        try:
            return original(name, globals, locals, fromlist, level)
        finally:
            StageClock.is_running = False
            StageClock.seconds += time.perf_counter() - started

    vars(builtins)["__import__"] = timed
    StageClock.now = lambda: time.perf_counter() - StageClock.seconds
