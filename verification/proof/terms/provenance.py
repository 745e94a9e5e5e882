"""Provenance of terms: the node of each model that first computed a term.

A term has the path of its node ("Loop 'y' / body / Add 'a3'"). A term made during the comparison,
such as one iteration of a loop or a slice, has the path of the term it was made from. Provenance is
recorded only when a proof that stayed open runs again, so that a proof that succeeds costs nothing
more.
"""

from .term import Term

_MOST_SOURCES = 1_000
_WITHIN = ("view", "narrow", "reversed", "state", "final", "stacked")


class Trace:
    """Record of the nodes and terms that terms come from."""

    def __init__(self) -> None:
        self._given: dict[str, dict[Term, str]] = {"before": {}, "after": {}}
        self._sources: dict[Term, list[Term]] = {}

    def gave(self, side: str, term: Term, path: str) -> None:
        """Record that a node of one model computed a term."""
        self._given[side].setdefault(term, path)

    def came(self, term: Term, source: Term) -> None:
        """Record that the comparison made a term from another one."""
        if term is not source:
            self._sources.setdefault(term, []).append(source)

    def path(self, side: str, term: Term) -> str:
        """Path of the node that a term comes from; empty if unknown."""
        paths, visited, waiting = self._given[side], {term}, [term]
        for at in waiting:
            if at in paths:
                return paths[at]
            if at.head.name == "input":
                return f"input {at.head.key!r}"
            below = [*self._sources.get(at, ()), *at.args[: at.head.name in _WITHIN]]
            sources = [source for source in below if source is not None and source not in visited]
            visited.update(sources)
            if len(visited) <= _MOST_SOURCES:
                waiting.extend(sources)
        return ""
