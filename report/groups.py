"""Groups of nodes that the page folds: loops and their iterations, calls, modules.

The names of a rewrite tell the loop, the iteration and the call that a node comes from (see
`origins.py`); metadata and names of exporters tell its modules (see `scopes.py`).
"""

import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Literal

from ..records import record
from .model_data import GraphData, ModelData, NodeData, Place
from .origins import Origin
from .scopes import scopes_in

GroupKind = Literal["loop", "iteration", "call", "module"]
_Path = tuple[tuple[GroupKind, str], ...]

_LOOPS = ("Loop", "Scan", "SequenceMap")
_LEADING = re.compile(r"(?:_\d+)+")
_LEAST = 2
"""The least nodes of a group; a smaller one shows nothing that the node does not."""
_MOST_GROUPS = 10_000
"""The most groups of a graph, the largest ones."""


@record(frozen=True)
class Group:
    """A group: its kind and label, and the number of the group around it (-1 for none)."""

    kind: GroupKind
    label: str
    around: int


@record(frozen=True)
class Grouping:
    """The groups of the nodes of one graph.

    Attributes:
        groups: the groups, outer before inner.
        runs: the group of each node, as numbers of groups (-1 for none) with numbers of nodes.
    """

    groups: tuple[Group, ...]
    runs: tuple[tuple[int, int], ...]


@record(frozen=True)
class Groupings:
    """The groups of one graph by origin and by module; None where there are none."""

    origin: Grouping | None
    module: Grouping | None


def groupings(
    model: ModelData, before: ModelData | None = None, origins: Mapping[Place, Origin] | None = None
) -> tuple[Groupings, ...]:
    """The groups of each graph of a model.

    Args:
        before: the original, where the model is its rewrite.
    """
    paths = None if before is None else _OriginPaths(before)
    result = []
    for number, graph in enumerate(model.graphs):
        by_origin = None
        if paths is not None and origins:
            sources = [origins.get((number, index)) for index in range(len(graph.nodes))]
            by_origin = _grouping([() if o is None else paths.of(o) for o in sources])
        result.append(Groupings(by_origin, _grouping(_modules(model, graph))))
    return tuple(result)


class _OriginPaths:
    """The loops, iterations and calls that origins in a model stand for."""

    def __init__(self, before: ModelData) -> None:
        self._model = before
        self._holders: dict[int, Place] = {}
        self._calls: dict[int, set[str]] = defaultdict(set)
        for place, node in before.places():
            for graph in node.graphs:
                self._holders.setdefault(graph, place)
                self._calls[graph].add(node.label)

    def of(self, origin: Origin) -> _Path:
        """The path of a node with an origin, outer before inner."""
        around = [place for place in self._around(origin.place) if self._is_group(place)]
        numbers, label = _numbers_of(origin.end)
        loops = sum(self._operator(place) in _LOOPS for place in around)
        if self._operator(origin.place) in _LOOPS and len(numbers) < loops:
            loops -= 1  # what replaces a loop, or helps it, is in no iteration of it
        iterations = iter(
            numbers[::-1] if len(numbers) == loops else ()
        )  # inner loops unroll first
        path: list[tuple[GroupKind, str]] = []
        for place in around:
            name = self._node(place).label
            if self._operator(place) not in _LOOPS:
                calls = self._calls[self._node(place).graphs[-1]]
                starts = [c for c in calls if label == c or label.startswith(f"{c}_")]
                path.append(
                    ("call", f"{self._operator(place)} {max(starts, key=len, default=name)}")
                )
                continue
            path.append(("loop", f"{self._operator(place)} {name}"))
            iteration = next(iterations, None)
            if iteration is not None:
                path.append(("iteration", f"iteration {iteration}"))
        return tuple(path)

    def _around(self, place: Place) -> list[Place]:
        """The nodes around a place and itself, outer before inner."""
        chain = [place]
        while chain[0][0] in self._holders and self._holders[chain[0][0]] not in chain:
            chain.insert(0, self._holders[chain[0][0]])
        return chain

    def _is_group(self, place: Place) -> bool:
        """Test for a loop or a call; branches of an If make no group."""
        graphs = self._node(place).graphs
        is_call = bool(graphs) and self._model.graphs[graphs[-1]].is_function
        return bool(graphs) and (is_call or self._operator(place) in _LOOPS)

    def _node(self, place: Place) -> NodeData:
        return self._model.graphs[place[0]].nodes[place[1]]

    def _operator(self, place: Place) -> str:
        return self._model.operators[self._node(place).operator].name


def _numbers_of(end: str) -> tuple[list[int], str]:
    """Split the suffix of a copy into numbers of iterations and a label."""
    match = _LEADING.match(end) or re.search(r"(?:_\d+)+$", end)
    if match is None:
        return [], end.strip("_")
    numbers = [int(part) for part in match[0].split("_") if part]
    return numbers, end.replace(match[0], "", 1).strip("_")


def _modules(model: ModelData, graph: GraphData) -> list[_Path]:
    """The modules of each node, from metadata, else from names with slashes."""
    recorded = [model.operators[node.operator].scopes for node in graph.nodes]
    if not any(recorded):
        recorded = [scopes_in(node.label) for node in graph.nodes]
    return [tuple([("module", scope) for scope in scopes]) for scopes in recorded]


def _grouping(paths: Sequence[_Path]) -> Grouping | None:
    """Group nodes by paths, without groups of one node, and without one around all nodes."""
    counts = Counter(path[:depth] for path in paths for depth in range(1, len(path) + 1))
    candidates = [path for path, count in counts.items() if _LEAST <= count < len(paths)]
    candidates.sort(key=lambda path: (-counts[path], len(path)))  # outer groups come first
    large = set(candidates[:_MOST_GROUPS])
    numbers: dict[_Path, int] = {}
    groups: list[Group] = []
    of_nodes = []
    for path in paths:
        number = -1
        for depth in range(1, len(path) + 1):
            prefix = path[:depth]
            if prefix not in large:
                continue
            if prefix not in numbers:
                numbers[prefix] = len(groups)
                groups.append(Group(*prefix[-1], number))
            number = numbers[prefix]
        of_nodes.append(number)
    if not groups:
        return None
    runs = tuple([(number, len(list(run))) for number, run in itertools.groupby(of_nodes)])
    return Grouping(tuple(groups), runs)
