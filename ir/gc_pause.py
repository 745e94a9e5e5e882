"""Pauses of Python's cyclic garbage collector while a graph grows."""

import contextlib
import functools
import gc
from collections.abc import Callable, Iterator
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class _Process:
    owned = False


def take_over_process() -> None:
    """Count objects of a pause as old from now on. For a process of one command, in which nothing
    is frozen."""
    _Process.owned = True


def paused_collector(function: Callable[P, R]) -> Callable[P, R]:
    """Run a function without collections of cycles: it makes many objects and drops few.

    The collector walks all live containers again each time their number has grown by a quarter,
    which made loading and unrolling take up to twice as long. Afterwards it scans the new objects
    twice, as young generations. A process of our own skips these scans, which took a sixth of the
    time of a large rewrite.
    """

    @functools.wraps(function)
    def paused(*args: P.args, **kwargs: P.kwargs) -> R:
        with collector_pause():
            return function(*args, **kwargs)

    return paused


@contextlib.contextmanager
def collector_pause() -> Iterator[None]:
    """Pause the collector in a block, as `paused_collector` does."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if _Process.owned:
            gc.freeze()
            gc.unfreeze()  # into the oldest generation, without a scan
        elif gc.get_count()[0] > gc.get_threshold()[0]:
            gc.collect(0)  # one that begins by itself may scan all objects of the process
        gc.enable()
