"""Whether a model fits beside another one."""

from __future__ import annotations

import os
from pathlib import Path

_COPIES = 3
"""A runtime holds a model's bytes, its own form of them, and what it computes."""
_SMALL = 64 << 20
"""What is no larger is not weighed."""


def has_room_for(size: int) -> bool:
    """Whether so many bytes of a model can be loaded into a runtime; true where nobody tells how
    much memory there is."""
    if size <= _SMALL:
        return True
    free = available_memory()
    return free is None or _COPIES * size <= free


def available_memory() -> int | None:
    """How many bytes the system can give without swapping; None where it does not tell."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return _free_pages()
    numbers = dict(line.split(":", 1) for line in lines if ":" in line)
    told = numbers.get("MemAvailable")
    return _free_pages() if told is None else int(told.split()[0]) * 1024


def _free_pages() -> int | None:
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows, macOS
        return None
