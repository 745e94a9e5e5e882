"""Origins of rewritten nodes in the original, inferred from names.

A rewrite derives names from the original: a copy of a body's node in iteration 3 gets the suffix
`_3`, a copy of a function's node the label of the call. A replacement of a node takes the name of
its output, and its helpers take names with that prefix. So a name in the original identifies the
origin of a node; a node without such a name has none.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Literal

from ..records import record
from .model_data import ModelData, NodeData, Place

Kind = Literal["same", "copy", "instead", "for"]

_NUMBERS = re.compile(r"\d+(?:_\d+)*")
_MOST_PARTS = 12
"""The most suffixes of a name to try, the shortest first."""


@record(frozen=True)
class Origin:
    """The origin of a node.

    Attributes:
        kind: "same" for a node of this name and operator in the original, "copy" for one of its
            names with a suffix of passes, "instead" for another operator with the same output,
            "for" for a name that only begins with one of the original's, of a node or of an input
            of its bodies.
        place: the place of the node in the original.
        end: the suffix of the name, such as "_3" for iteration 3.
        others: the number of other possible origins.
    """

    kind: Kind
    place: Place
    end: str = ""
    others: int = 0


def origins(before: ModelData, after: ModelData) -> dict[Place, Origin]:
    """The known origins of the nodes of a rewritten model."""
    original = _Original(before)
    result = {}
    for place, node in after.places():
        origin = original.origin(node, after.operators[node.operator].name)
        if origin is not None:
            result[place] = origin
    return result


class _Original:
    """The nodes of the original by their names, output names, and inputs of their bodies."""

    def __init__(self, before: ModelData) -> None:
        self.model = before
        self.by_name: dict[str, dict[str, list[Place]]] = {}  # by operator, the first one first
        self.counts: Counter[str] = Counter()
        self.inner: dict[str, Place] = {}
        self.calls: set[str] = set()
        for place, node in before.places():
            operator = before.operators[node.operator].name
            for name in dict.fromkeys(filter(None, (*node.outputs, node.name))):
                self.by_name.setdefault(name, {}).setdefault(operator, []).append(place)
                self.counts[name] += 1
            if node.graphs:
                self.calls.add(node.label)
            for graph in node.graphs:
                for value in before.graphs[graph].inputs:
                    self.inner.setdefault(value.name, place)

    def origin(self, node: NodeData, operator: str) -> Origin | None:
        """Find the origin of a node: by its exact name first, then by the same operator."""
        names = list(dict.fromkeys(filter(None, (*node.outputs, node.name))))
        for alike in (True, False):
            for name in names:
                match = self._of(name, "", operator, alike)
                if match is not None:
                    return match
        for alike in (True, False):
            for name in names:
                for start, end in self._splits(name):
                    if self._is_pass_suffix(end[1:]):
                        match = self._of(start, end, operator, alike)
                        if match is not None:
                            return match
        return next(filter(None, map(self._prefix_origin, names)), None)

    def _prefix_origin(self, name: str) -> Origin | None:
        """Find the node whose name is a prefix of another one's."""
        for start, end in self._splits(name):
            nodes = self.by_name.get(start)
            if nodes:
                return Origin("for", next(iter(nodes.values()))[0], end, self.counts[start] - 1)
            if start in self.inner:
                return Origin("for", self.inner[start], end)
        return None

    def _of(self, name: str, end: str, operator: str, alike: bool) -> Origin | None:
        nodes = self.by_name.get(name, {})
        same = nodes.get(operator, ())
        if alike:
            kind: Kind = "copy" if end else "same"
            return Origin(kind, same[0], end, len(same) - 1) if same else None
        places = next((places for other, places in nodes.items() if other != operator), None)
        others = self.counts[name] - len(same) - 1
        return None if places is None else Origin("instead", places[0], end, others)

    def _splits(self, name: str) -> Iterator[tuple[str, str]]:
        """Split a name before its last words, the shortest suffix first."""
        position = len(name)
        for _ in range(_MOST_PARTS):
            position = name.rfind("_", 0, position)
            if position <= 0:
                return
            yield name[:position], name[position:]

    def _is_pass_suffix(self, end: str) -> bool:
        """Test for a suffix of passes: the number of a copy, or the label of an inlined call."""
        if _NUMBERS.fullmatch(end):
            return True
        parts = end.split("_")
        return any("_".join(parts[:count]) in self.calls for count in range(1, len(parts) + 1))
