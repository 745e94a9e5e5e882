"""Memory limits of a model's run."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..limits import current

_COPIES = 3
"""A runtime holds a model's bytes, its own form of them, and what it computes."""
_SMALL = 64 << 20
"""What is no larger is not weighed."""
_OWN = 1 << 28
"""What a runtime takes before it has a model, at most, with one thread."""
_COMPUTED = 4
"""So many times the memory for constants, or the inputs where they are more, may be taken in a run:
there is more at a time than what is read and what is given out."""
_OUTPUTS = 3
"""This share of the memory may be outputs: those of both models are held when they are compared."""


ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
"""The environment of a process that is held: each thread of numpy's BLAS library takes a buffer of
32 MB and a stack, so many threads would leave no room."""


def allowance(models: int, feeds: int) -> int:
    """Bytes that the process of a runtime may take.

    Args:
        models: the bytes of the models that are loaded there.
        feeds: those of the inputs of a run.
    """
    computed = max(current().limits.max_memory, feeds)
    return _OWN + _COPIES * models + _COMPUTED * computed


def hold(process: int, most: int) -> bool:
    """Let a process take so many bytes and no more; false where the system cannot."""
    if sys.platform != "linux":
        return False
    import resource

    _, hard = resource.prlimit(process, resource.RLIMIT_DATA)
    soft = min(most, sys.maxsize if hard == resource.RLIM_INFINITY else hard)
    resource.prlimit(process, resource.RLIMIT_DATA, (soft, hard))
    return True


def require_light(outputs: Iterable[Any]) -> None:
    """Check, in such a process, that outputs can be held beside those of another model.

    Raises:
        MemoryError: they cannot.
    """
    if sys.platform != "linux":
        return
    import resource

    most, _ = resource.getrlimit(resource.RLIMIT_DATA)
    size = bytes_of(outputs)
    if most != resource.RLIM_INFINITY and _OUTPUTS * size > most:
        raise MemoryError(f"its outputs need {size >> 20} MB")


def bytes_of(values: Iterable[Any]) -> int:
    """Bytes of arrays and sequences; absent ones count 0."""
    return sum(
        bytes_of(value) if isinstance(value, list | tuple) else getattr(value, "nbytes", 0)
        for value in values
    )


def has_room_for(size: int) -> bool:
    """Test whether a model of so many bytes can be loaded; True where the memory is unknown."""
    if size <= _SMALL:
        return True
    free = available_memory()
    return free is None or _COPIES * size <= free


def available_memory() -> int | None:
    """Bytes available without swapping; None where the system does not report them."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return _free_pages()
    numbers = dict(line.split(":", 1) for line in lines if ":" in line)
    available = numbers.get("MemAvailable")
    return _free_pages() if available is None else int(available.split()[0]) * 1024


def _free_pages() -> int | None:
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows, macOS
        return None
