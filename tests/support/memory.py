"""How much memory a piece of work takes at its peak, as the system counts it."""

import contextlib
import gc
from dataclasses import dataclass
from pathlib import Path

import pytest

_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass
class Grown:
    """So many bytes more than before were held at once."""

    peak: int = 0


@contextlib.contextmanager
def growth():
    """Measure what is done inside."""
    if not _RESET.exists():
        pytest.skip("this system does not count the peak anew")
    gc.collect()
    _RESET.write_text("5")
    before, found = _kilobytes("VmHWM"), Grown()
    yield found
    found.peak = (_kilobytes("VmHWM") - before) << 10


def _kilobytes(name: str) -> int:
    (line,) = (line for line in _STATUS.read_text().splitlines() if line.startswith(name))
    return int(line.split()[1])
