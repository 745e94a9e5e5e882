"""Python's cyclic garbage collector, kept from rescanning a graph while it grows."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


class _Process:
    ours = False


def take_over_process() -> None:
    """From now on what was made in a pause counts as old; for a process that ends with one
    command, where nothing has been frozen."""
    _Process.ours = True


def paused_collector(function: Callable[P, R]) -> Callable[P, R]:
    """Run a function without collections of cycles: it makes many objects and drops few.

    The collector walks all live containers again each time their number has grown by a quarter,
    which made loading and unrolling take up to twice as long. What was made is looked through
    twice afterwards, as young generations are; not in a process of our own, where that was a sixth
    of the time of a large rewrite.
    """

    @functools.wraps(function)
    def paused(*args: P.args, **kwargs: P.kwargs) -> R:
        if not gc.isenabled():
            return function(*args, **kwargs)
        gc.disable()
        try:
            return function(*args, **kwargs)
        finally:
            if _Process.ours:
                gc.freeze()
                gc.unfreeze()  # into the oldest generation, without a look at anything
            gc.enable()

    return paused
