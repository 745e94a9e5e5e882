"""Python's cyclic garbage collector, kept from rescanning a graph while it grows."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def paused_collector(function: Callable[P, R]) -> Callable[P, R]:
    """Run a function without collections of cycles: it makes many objects and drops few.

    The collector walks all live containers again each time their number has grown by a quarter,
    which made loading and unrolling take up to twice as long.
    """

    @functools.wraps(function)
    def paused(*args: P.args, **kwargs: P.kwargs) -> R:
        if not gc.isenabled():
            return function(*args, **kwargs)
        gc.disable()
        try:
            return function(*args, **kwargs)
        finally:
            gc.enable()

    return paused
