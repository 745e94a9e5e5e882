"""The least time of several runs, which the load of the machine disturbs least."""

import gc
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def timed(
    work: Callable[[], T], runs: int = 3, clock: Callable[[], float] = time.process_time
) -> tuple[float, T]:
    """Return the least time of some runs, by default of the processor, and the last result."""
    times = []
    for _ in range(runs):
        result = None
        gc.collect()
        started = clock()
        result = work()
        times.append(clock() - started)
    assert result is not None
    return min(times), result
