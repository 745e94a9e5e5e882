"""Which nodes made the terms that differ: recorded when a question that stayed open is asked once
more, so that the way to an answer keeps nothing of it.

A term has the path of the node of each model that first gave it ("Loop 'y' / body / Add 'a3'"). One
that was made where terms are compared, a trip of a loop or a part of a result, has that of what it
was made of; where nothing is known, what needed it tells the place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...reference.bodies import label
from .compile_graph import Step
from .mismatch import Pair
from .symbolic_execution import Execution, Frame, Value
from .terms import Term

_MOST_SOURCES = 1_000
_WITHIN = ("view", "narrow", "reversed", "state", "final", "stacked")


class Trace:
    """What was recorded of a proof.

    Attributes:
        stands_in: by which attribute the node around a node holds it.
    """

    def __init__(self) -> None:
        self.stands_in: dict[Step, tuple[str, ...]] = {}
        self._given: dict[str, dict[Term, str]] = {"before": {}, "after": {}}
        self._sources: dict[Term, list[Term]] = {}

    def gave(self, side: str, term: Term, path: str) -> None:
        """A node of one model gave a term."""
        self._given[side].setdefault(term, path)

    def came(self, term: Term, source: Term) -> None:
        """A term was made of another one where terms are compared."""
        if term is not source:
            self._sources.setdefault(term, []).append(source)

    def path(self, side: str, term: Term) -> str:
        """The path of the node that a term is from; empty where that is not known."""
        given, seen, waiting = self._given[side], {term}, [term]
        for at in waiting:
            if at in given:
                return given[at]
            if at.head.name == "input":
                return f"input {at.head.key!r}"
            below = [*self._sources.get(at, ()), *at.args[: at.head.name in _WITHIN]]
            found = [source for source in below if source is not None and source not in seen]
            seen.update(found)
            if len(seen) <= _MOST_SOURCES:
                waiting.extend(found)
        return ""


class TracedExecution(Execution):
    """An execution that tells the trace of its terms which node gave which term."""

    _path: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        """Where the node that is run stands."""
        return " / ".join(self._path)

    def step(self, step: Step, args: tuple[Value, ...], frame: Frame) -> Sequence[Value]:
        """The outputs of a node, which are from there."""
        around, trace = self._path, self.terms.trace
        assert trace is not None
        for name, body in step.bodies.items():
            trace.stands_in.update(dict.fromkeys(body.steps, (name,)))
        self._path = (*around, *trace.stands_in.get(step, ()), label(step.node))
        results = super().step(step, args, frame)
        step.operation.outcomes.clear()  # so that each run of it is seen here
        for result in results:
            if result is not None:
                trace.gave(self.side, result, self.path)
        self._path = around
        return results


def places(
    trace: Trace, before: Term | None, after: Term | None, needed: Mapping[Pair, Sequence[Pair]]
) -> tuple[str, str]:
    """The paths of two terms that differ, or of what needs them equal.

    Args:
        trace: what was recorded.
        before: a term of the original.
        after: that of the rewrite.
        needed: what must be equal for a pair to be equal.
    """
    found = ["", ""]
    for both in [(before, after), *users(before, after, needed)]:
        for k, (side, term) in enumerate(zip(("before", "after"), both, strict=True)):
            if term is not None and not found[k]:
                found[k] = trace.path(side, term)
    return found[0], found[1]


def users(
    before: Term | None, after: Term | None, needed: Mapping[Pair, Sequence[Pair]]
) -> list[Pair]:
    """The pairs for which two terms must be equal, the nearest one first."""
    above: dict[Pair, Pair] = {}
    for pair, pairs in needed.items():
        for each in pairs:
            above.setdefault(each, pair)
    found: dict[Pair, None] = {}
    at = None if before is None or after is None else above.get((before, after))
    while at is not None and at not in found:
        found[at] = None
        at = above.get(at)
    return list(found)
