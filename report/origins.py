"""Which node of the original a node of the rewritten model comes from, as far as names tell.

A rewrite names what it makes after what it was made of: a copy of a body's node for trip 3 is
called like it with `_3` behind, one of a function's node with the label of the call behind. What
takes a node's place takes the name of its output, and what helps it a name that begins so. So a
name that is found in the original says where a node comes from; a node without such a name has no
known origin, and none is guessed.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator
from typing import Literal

from .model_data import ModelData, NodeData, Place

Kind = Literal["same", "copy", "instead", "for"]

_NUMBERS = re.compile(r"\d+(?:_\d+)*")
_MOST_PARTS = 12
"""So many ends of a name are tried, the shortest first."""


@dataclasses.dataclass(frozen=True)
class Origin:
    """Where a node comes from.

    Attributes:
        kind: "same" where the original has a node of this name and operator, "copy" where its name
            is one of the original's with an end that passes append, "instead" where another
            operator now gives what a node of the original gave, "for" where the name only begins
            with one of the original's, of a node or of an input of its bodies.
        place: of the node in the original.
        end: what was appended to the name, such as "_3" for trip 3.
        others: how many other nodes of the original it may come from just as well.
    """

    kind: Kind
    place: Place
    end: str = ""
    others: int = 0


def origins(before: ModelData, after: ModelData) -> dict[Place, Origin]:
    """The origin of each node of a rewritten model that has a known one."""
    known = _Known(before)
    found = {}
    for place, node in after.places():
        origin = known.origin(node, after.operators[node.operator].name)
        if origin is not None:
            found[place] = origin
    return found


class _Known:
    """The nodes of the original by their names and those of what they give; those that hold bodies
    also by the inputs of these."""

    def __init__(self, before: ModelData) -> None:
        self.model = before
        self.named: dict[str, dict[str, list[Place]]] = {}  # by operator, the first one first
        self.counts: Counter[str] = Counter()
        self.inner: dict[str, Place] = {}
        self.calls: set[str] = set()
        for place, node in before.places():
            operator = before.operators[node.operator].name
            for name in dict.fromkeys(filter(None, (*node.outputs, node.name))):
                self.named.setdefault(name, {}).setdefault(operator, []).append(place)
                self.counts[name] += 1
            if node.graphs:
                self.calls.add(node.label)
            for graph in node.graphs:
                for value in before.graphs[graph].inputs:
                    self.inner.setdefault(value.name, place)

    def origin(self, node: NodeData, operator: str) -> Origin | None:
        """Where a node comes from: what has its very name goes first, then the same operator."""
        names = list(dict.fromkeys(filter(None, (*node.outputs, node.name))))
        for alike in (True, False):
            for name in names:
                found = self._of(name, "", operator, alike)
                if found is not None:
                    return found
        for alike in (True, False):
            for name in names:
                for start, end in self._parted(name):
                    if self._is_appended(end[1:]):
                        found = self._of(start, end, operator, alike)
                        if found is not None:
                            return found
        return next(filter(None, map(self._helped, names)), None)

    def _helped(self, name: str) -> Origin | None:
        """The node for which something was made whose name begins with one of its own."""
        for start, end in self._parted(name):
            known = self.named.get(start)
            if known:
                return Origin("for", next(iter(known.values()))[0], end, self.counts[start] - 1)
            if start in self.inner:
                return Origin("for", self.inner[start], end)
        return None

    def _of(self, name: str, end: str, operator: str, alike: bool) -> Origin | None:
        known = self.named.get(name, {})
        same = known.get(operator, ())
        if alike:
            kind: Kind = "copy" if end else "same"
            return Origin(kind, same[0], end, len(same) - 1) if same else None
        places = next((places for other, places in known.items() if other != operator), None)
        others = self.counts[name] - len(same) - 1
        return None if places is None else Origin("instead", places[0], end, others)

    def _parted(self, name: str) -> Iterator[tuple[str, str]]:
        """A name parted before its last words, the shortest end first."""
        position = len(name)
        for _ in range(_MOST_PARTS):
            position = name.rfind("_", 0, position)
            if position <= 0:
                return
            yield name[:position], name[position:]

    def _is_appended(self, end: str) -> bool:
        """Whether an end is a number of a copy, or the label of a call that was inlined."""
        if _NUMBERS.fullmatch(end):
            return True
        parts = end.split("_")
        return any("_".join(parts[:count]) in self.calls for count in range(1, len(parts) + 1))
