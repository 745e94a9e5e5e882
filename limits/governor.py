"""Work limits for compile-time evaluation.

Everything is counted, so that what is computed is the same on every machine. Work is counted in
steps of about a nanosecond. Only what nobody can count beforehand is timed, in a process that can
be ended.
"""

import contextlib
import math
import weakref
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any, TypeVar

from ..records import record
from .table import LIMITS, allowed

_SMALL = 1 << 10
"""Smaller constants are not counted: what they were computed by is."""

_INFERRED = 20_000
"""Steps that it takes to infer what a node gives out."""

_LARGEST_SHARE = 5
"""One node may take this share of all work at most, so that none takes it from all others."""


@record(frozen=True)
class Limits:
    """Limits of one rewrite, conversion or proof.

    Attributes:
        max_work: steps of work, of about a nanosecond each.
        max_memory: bytes of computed constants that are held at a time.
        timeout: seconds for all that nobody can count beforehand.
    """

    max_work: int = int(LIMITS["max_work"].default)
    max_memory: int = int(LIMITS["max_memory"].default)
    timeout: float = LIMITS["timeout"].default

    @classmethod
    def of(
        cls, max_work: int | None, max_memory: int | None, timeout: float | None = None
    ) -> "Limits":
        """These limits, and the default for what is None."""
        options = {"max_work": max_work, "max_memory": max_memory, "timeout": timeout}
        return cls(**{name: value for name, value in options.items() if value is not None})  # type: ignore[arg-type]


DEFAULT_LIMITS = Limits()


_Helper = TypeVar("_Helper")


class Governor:
    """Count of the work spent, and of the places that hit a limit.

    Args:
        limits: how much may be spent.

    Attributes:
        work: the steps that were taken.
        inferred: those that were taken to find out sizes.
        waited: the seconds that were spent on what nobody can count.
        held: the bytes of computed constants that are alive.
        computed: the bytes of all that were computed.
        refused: why something was not computed, with the first place, and at how many.
    """

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self.limits = limits
        self.work = 0.0
        self.inferred = 0
        self.waited = 0.0
        self.held = 0
        self.computed = 0
        self.refused: dict[str, tuple[object, int]] = {}
        self._helpers: dict[Any, Any] = {}

    def may_work(self, steps: float, place: object) -> bool:
        """Count steps at a place; False beyond the limit."""
        most = self.limits.max_work
        if steps <= most / _LARGEST_SHARE and self.work + steps <= most:
            self.work += steps
            return True
        self.refuse(place, f"needs more steps {self._more('max_work')}")
        return False

    def may_infer(self, nodes: int, place: object) -> bool:
        """Count nodes of shape inference; False beyond the limit.

        Most models take no more than a look at each node. What they take is counted apart, so that
        as much is left for computing in large ones as in small ones.
        """
        self.inferred += nodes * _INFERRED
        if self.inferred <= self.limits.max_work:
            return True
        self.refuse_sizes(place, f"needs more steps {self._more('max_work')}")
        return False

    def may_hold(self, size: int, place: object) -> bool:
        """Test whether a constant of so many bytes fits beside the others."""
        if size < _SMALL or self.held + size <= self.limits.max_memory:
            return True
        self.refuse(place, f"needs more bytes for constants {self._more('max_memory')}")
        return False

    def may_wait(self, place: object) -> float:
        """Seconds that a place of unknown cost may take; 0 where none remain."""
        seconds = max(0.0, self.limits.timeout - self.waited)
        if not seconds:
            self.refuse(place, f"needs more seconds {self._more('timeout')}")
        return seconds

    def wait(self, seconds: float, place: object) -> None:
        """Count seconds; all that are left where they were not enough."""
        self.waited = self.limits.timeout if math.isinf(seconds) else self.waited + seconds
        if math.isinf(seconds):
            self.may_wait(place)

    def hold(self, constant: Any, size: int) -> None:
        """Count a constant until nothing holds it any more."""
        if size >= _SMALL:
            self.held += size
            self.computed += size
            weakref.finalize(constant, self._release, size).atexit = False

    def helper(self, kind: Callable[[], _Helper]) -> _Helper:
        """The one helper of a kind, which is closed when this work is over."""
        if kind not in self._helpers:
            self._helpers[kind] = kind()
        helper: _Helper = self._helpers[kind]
        return helper

    def close(self) -> None:
        """End what has helped."""
        while self._helpers:
            self._helpers.popitem()[1].close()

    def _release(self, size: int) -> None:
        self.held -= size

    def refuse(self, place: object, why: str) -> None:
        """Note why something is not computed before run time."""
        self._note(place, f"computing it before run time {why}")

    def refuse_sizes(self, place: object, why: str) -> None:
        """Note why it is not found out what sizes something gives out."""
        self._note(place, f"inferring its results {why}")

    def _note(self, place: object, message: str) -> None:
        first, count = self.refused.get(message, (place, 0))
        self.refused[message] = (first, count + 1)

    def _more(self, name: str) -> str:
        most = allowed(name, getattr(self.limits, name))
        return f"than {most}; raise it with {LIMITS[name].option}"


_UNATTENDED = Limits(timeout=0)
"""Where none was appointed nobody would end what helps."""

_ACTIVE: ContextVar[Governor | None] = ContextVar("governor", default=None)


def current() -> Governor:
    """The governor of the work that is being done; a new one where none was appointed."""
    return _ACTIVE.get() or Governor(_UNATTENDED)


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
        governor.close()
