"""Isolation: a fault of one pass costs the caller its rewrite of one construct, and no more."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from ...facts.reason import Message
from ...ir.faults import described
from ...limits import governed
from ...ops.builder import RewriteError
from ..faults import Fault, ObserverFault, Place
from ..vetoes import Veto, Vetoes

_FAULT = Message("internal-error", "internal error in {pass_name}{place}")
_MOST_GUESSES = 4
"""Constructs that are tried in vain before a pass is left out."""
_MOST_CONSTRUCTS = 16
"""Constructs at which a pass may fail before it is left out: each costs a run of all passes."""

_log = logging.getLogger(__name__)
T = TypeVar("T")


class StrictError(RewriteError):
    """A pass left a construct alone although strict mode asked for all of them."""


@dataclasses.dataclass(frozen=True)
class Reproduction:
    """The model and the options of a rewrite, as a shell takes them.

    Attributes:
        file: the file of the model; "" for a model in memory.
        options: the options of the command; None where these cannot be written.
        command: "rewrite" or "convert".
    """

    file: str = ""
    options: Sequence[str] | None = None
    command: str = "rewrite"

    def advice(self, message: str, *options: str, what: str = "") -> str:
        """Return how to report a failure.

        Args:
            message: words of the message with which `rewrite --strict` fails.
            options: more options of that command.
            what: the failure.
        """
        please = f"; please report ({what})" if what else "; please report"
        if self.options is None:
            return please
        again = shlex.join([*self.options, "--strict", *options])
        source = self.file or "model.onnx"
        command = ["straightline", "reduce", source, "smallest.onnx"]
        command += ["--while", f"straightline {self.command} {{}} - {again}", "--match", message]
        saved = "" if self.file else f"save the model as {source} and run "
        return f"{please}; for the smallest model {saved}{shlex.join(command)}"


class Isolation:
    """Runs of the same passes, each under one more veto, until one ends.

    Args:
        vetoes: those in force from the beginning.
        reproduce: return how to make a failure again.
        strict: raise for the first fault.

    Attributes:
        vetoes: those of the next run, or of the one that came to its end.
        done: true after that run.
    """

    def __init__(
        self,
        vetoes: Vetoes,
        reproduce: Callable[[], Reproduction] = Reproduction,
        *,
        strict: bool = False,
    ) -> None:
        self.vetoes, self.done = vetoes, False
        self._strict, self._is_first = strict, True
        self._history = _History(reproduce)

    @contextlib.contextmanager
    def attempt(self) -> Iterator[None]:
        """Let the block be one run, on a new copy of the caller's model.

        Raises:
            StrictError: (`strict`) a pass raised an unexpected exception.
        """
        is_first, self._is_first = self._is_first, False
        try:
            with self.vetoes.in_force(), governed(anew=not is_first):
                yield
            self.done = True
        except ObserverFault as fault:
            assert fault.__cause__ is not None
            raise fault.__cause__ from None
        except Fault as fault:
            assert fault.__cause__ is not None
            _log.info("%s raised", fault.pass_name, exc_info=fault.__cause__)
            self.vetoes = self._history.after(fault, self.vetoes)
            if self._strict:
                veto = self.vetoes.entries[-1]
                raise StrictError(f"{veto.why}{veto.advice}") from fault.__cause__


def isolated(
    run: Callable[[], T],
    vetoes: Vetoes,
    reproduce: Callable[[], Reproduction] = Reproduction,
    *,
    strict: bool = False,
) -> tuple[T, Vetoes]:
    """Run passes, and again with a veto for each fault; return the result and all vetoes.

    Args:
        run: the run of the passes on a new copy of the caller's model.
        vetoes, reproduce, strict: as of `Isolation`.

    Raises:
        StrictError: (`strict`) a pass raised an unexpected exception.
    """
    isolation = Isolation(vetoes, reproduce, strict=strict)
    while not isolation.done:
        with isolation.attempt():
            result = run()
    return result, isolation.vetoes


class _History:
    """The faults of the runs so far."""

    def __init__(self, reproduce: Callable[[], Reproduction]) -> None:
        self._reproduce = reproduce
        self._tried: dict[str, set[Place]] = {}
        self._last: dict[str, Place] = {}

    def after(self, fault: Fault, vetoes: Vetoes) -> Vetoes:
        """Return vetoes by which the next run may come further.

        A construct that the pass still visits at its fault, although it could not know it, was a
        wrong guess.
        """
        name, error = fault.pass_name, fault.__cause__
        assert error is not None
        tried = self._tried.setdefault(name, set())
        last = self._last.get(name)
        if last is not None and last in fault.places:
            vetoes = vetoes.without(name, last)
        effective = len(vetoes.places(name))
        place = next((place for place in fault.places if place not in tried), None)
        if effective >= _MOST_CONSTRUCTS or len(tried) - effective >= _MOST_GUESSES:
            place = None
        if place is not None:
            tried.add(place)
            self._last[name] = place
        at = "" if place is None else f" at {place[0]} '{place[1]}'"
        why = _FAULT(pass_name=name, place=at)
        message = _FAULT(pass_name=name, place="")
        advice = self._reproduce().advice(message, "--no-verify", what=described(error))
        return vetoes.with_veto(Veto(name, place, why, advice))
