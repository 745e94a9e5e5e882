"""The one who is asked before anything is computed before run time.

Everything is counted, nothing is timed, so that what is computed is the same on every machine.
Work is counted in steps of about a nanosecond.
"""

from __future__ import annotations

import contextlib
import dataclasses
import weakref
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

_SMALL = 1 << 10
"""Smaller constants are not counted: what they were computed by is."""

_LARGEST_SHARE = 5
"""One node may take this share of all work at most, so that none takes it from all others."""


@dataclasses.dataclass(frozen=True)
class Limits:
    """How much one rewrite, conversion or proof may compute before run time.

    Attributes:
        max_work: steps of work, of about a nanosecond each.
        max_memory: bytes of computed constants that are held at a time.
    """

    max_work: int = 10_000_000_000
    max_memory: int = 1 << 28

    @classmethod
    def of(cls, max_work: int | None, max_memory: int | None) -> Limits:
        """These limits, and the default for what is None."""
        given = {"max_work": max_work, "max_memory": max_memory}
        return cls(**{name: value for name, value in given.items() if value is not None})


DEFAULT_LIMITS = Limits()


class Governor:
    """What has been spent, and on what there was nothing left.

    Args:
        limits: how much may be spent.

    Attributes:
        work: the steps that were taken.
        held: the bytes of computed constants that are alive.
        computed: the bytes of all that were computed.
        refused: why something was not computed, with the first place, and at how many.
    """

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self.limits = limits
        self.work = 0.0
        self.held = 0
        self.computed = 0
        self.refused: dict[str, tuple[object, int]] = {}

    def may_work(self, steps: float, place: object) -> bool:
        """Whether so many steps may be taken at a place; counts them."""
        most = self.limits.max_work
        if steps <= most / _LARGEST_SHARE and self.work + steps <= most:
            self.work += steps
            return True
        self._refuse(place, "takes more steps than", "max_work", most)
        return False

    def may_hold(self, size: int, place: object) -> bool:
        """Whether a constant of so many bytes may be held besides the others."""
        most = self.limits.max_memory
        if size < _SMALL or self.held + size <= most:
            return True
        self._refuse(place, "makes more bytes of constants than", "max_memory", most)
        return False

    def hold(self, constant: Any, size: int) -> None:
        """Count a constant until nothing holds it any more."""
        if size >= _SMALL:
            self.held += size
            self.computed += size
            weakref.finalize(constant, self._release, size).atexit = False

    def _release(self, size: int) -> None:
        self.held -= size

    def _refuse(self, place: object, what: str, name: str, most: int) -> None:
        why = (
            f"computing it before run time {what} {name}={most} allows; raise it with"
            f" --{name.replace('_', '-')}"
        )
        first, count = self.refused.get(why, (place, 0))
        self.refused[why] = (first, count + 1)


_ACTIVE: ContextVar[Governor | None] = ContextVar("governor", default=None)


def current() -> Governor:
    """The governor of the work that is being done; a new one where none was appointed."""
    return _ACTIVE.get() or Governor()


@contextlib.contextmanager
def governed(limits: Limits = DEFAULT_LIMITS, *, anew: bool = False) -> Iterator[Governor]:
    """Let one governor count all that is done inside.

    Args:
        limits: how much may be spent, where no one counts yet.
        anew: do not go on with the count of the governor around, but only with its limits.
    """
    around = _ACTIVE.get()
    if around is not None and anew:
        limits = around.limits
    elif around is not None:
        yield around
        return
    governor = Governor(limits)
    token = _ACTIVE.set(governor)
    try:
        yield governor
    finally:
        _ACTIVE.reset(token)
