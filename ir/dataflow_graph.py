"""The data-flow graph of a graph, and reachability in it."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from .errors import ModelError
from .kinds import takes

if TYPE_CHECKING:
    import networkx as nx

# Shared by all, therefore read-only.
NO_ATTRIBUTES = cast("dict[str, Any]", MappingProxyType({}))
FEW = 8
"""The most neighbours of a vertex that are kept in a tuple instead of a dict."""
Neighbours = tuple[Any, ...] | dict[Any, Any]
_NONE = cast("set[Any]", frozenset())
"""The empty set of vertices."""
_Vertex = TypeVar("_Vertex", bound=Hashable)


class Topology:
    """Directed graph with an edge from each provider of a value to its user.

    Most vertices have one or two neighbours: a dict each would take more memory than the nodes and
    more time than their construction, so few neighbours are a tuple. `networkx_view.py` shows it to
    networkx.

    Attributes:
        sink: the vertex of the graph's outputs, if there is one. It feeds nothing.
        users: for each vertex the users of its values, each once.
        sources: for each vertex the vertices whose values it uses, each once.
        changes: the number of changes so far.
        late: the vertices with sources connected after their insertion, without the sink; all
            sources of any other vertex precede it.
    """

    __slots__ = ("changes", "late", "sink", "sources", "users")

    def __init__(self, sink: Hashable = None) -> None:
        self.sink = sink
        self.users: dict[Any, Neighbours] = {}
        self.sources: dict[Any, Neighbours] = {}
        self.changes = 0
        self.late = _NONE
        if sink is not None:
            self.insert(sink)

    def insert(self, vertex: Hashable, sources: Iterable[Hashable] = ()) -> None:
        """Add a new vertex fed by `sources`, all of which must be present already."""
        self.changes += 1
        users = self.users
        feeding: list[Any] = []
        for source in sources:
            current = users[source]
            if not current:
                users[source] = (vertex,)
            elif vertex in current:
                continue
            elif type(current) is dict:
                current[vertex] = NO_ATTRIBUTES
            else:
                users[source] = extended(current, (vertex,))
            feeding.append(source)
        self.sources[vertex] = tuple(feeding) if len(feeding) <= FEW else neighbours(feeding)
        users[vertex] = ()

    def feed(self, rows: Iterable[tuple[Hashable, Sequence[Hashable]]]) -> None:
        """Add users of vertices that already list these among their sources."""
        self.changes += 1
        users = self.users
        for source, more in rows:
            current = users[source]
            if type(current) is dict:
                for user in more:
                    current[user] = NO_ATTRIBUTES
            else:
                users[source] = extended(current, more)

    def connect(self, source: Hashable, target: Hashable) -> None:
        """Add the edge from `source` to `target`; both must be present."""
        self.changes += 1
        users, sources = self.users[source], self.sources[target]
        if not users:
            self.users[source] = (target,)
        elif target not in users:
            self.users[source] = extended(users, (target,))
        if not sources:
            self.sources[target] = (source,)
        elif source not in sources:
            self.sources[target] = extended(sources, (source,))
        if target is not self.sink:
            if not self.late:
                self.late = set()
            self.late.add(target)

    def disconnect(self, source: Hashable, target: Hashable) -> None:
        """Remove the edge from `source` to `target`."""
        self.changes += 1
        self.users[source] = _without(self.users[source], target)
        self.sources[target] = _without(self.sources[target], source)

    def rewire(self, target: Hashable, sources: Iterable[Hashable]) -> list[Any]:
        """Replace the edges into a vertex, and return the former sources."""
        self.changes += 1
        users, before, now = self.users, self.sources[target], dict.fromkeys(sources)
        for source in now:
            if source not in before:
                current = users[source]
                users[source] = extended(current, (target,)) if current else (target,)
        dropped = [source for source in before if source not in now]
        for source in dropped:
            users[source] = _without(users[source], target)
        self.sources[target] = tuple(now) if len(now) <= FEW else neighbours(list(now))
        self.late = self.late or set()
        self.late.add(target)
        return dropped

    def discard(self, vertex: Hashable) -> None:
        """Remove a vertex that feeds nothing, with the edges into it."""
        self.changes += 1
        for source in self.sources.pop(vertex):
            self.users[source] = _without(self.users[source], vertex)
        del self.users[vertex]
        if self.late:
            self.late.discard(vertex)

    def dependents(self, vertices: Iterable[Hashable]) -> set[Any]:
        """Some vertices and all vertices that depend on them."""
        return reach(self.users.__getitem__, vertices)

    def requirements(self, vertices: Iterable[Hashable]) -> set[Any]:
        """Some vertices and all vertices that they depend on."""
        return reach(self.sources.__getitem__, vertices)

    def ordered(self) -> list[Any]:
        """The vertices without the sink in topological order, ties in order of insertion.

        A depth-first walk against the edges: linear, deterministic, and stable for vertices
        inserted in a topological order. `networkx.topological_sort` is not stable and takes 0.43 s
        for 200,000 nodes; this takes 0.11 s.

        Raises:
            ModelError: the graph has a cycle.
        """
        late, sink = self.late, self.sink
        # The order of insertion is topological until a vertex gets a further source.
        if not late:
            return [vertex for vertex in self.sources if vertex is not sink]
        order: dict[Any, None] = {}
        for root, sources in self.sources.items():
            if root not in late:
                if root is not sink:
                    order[root] = None
            elif root not in order:
                for source in sources:
                    if source not in order:
                        self._order_above(root, order)
                        break
                else:
                    order[root] = None
        return list(order)

    def _order_above(self, root: Any, order: dict[Any, None]) -> None:
        """Append a vertex to `order`, after all vertices that feed it."""
        pred = self.sources
        # An explicit stack, because chains of nodes are deeper than Python's recursion limit.
        stack = [(root, iter(pred[root]))]
        open_vertices = {root}
        while stack:
            vertex, sources = stack[-1]
            for source in sources:
                if source not in order:
                    if source in open_vertices:
                        raise ModelError(f"the graph has a cycle through {source}")
                    stack.append((source, iter(pred[source])))
                    open_vertices.add(source)
                    break
            else:
                stack.pop()
                order[vertex] = None


@takes(graph="networkx.DiGraph", vertices=Iterable)
def upstream(graph: nx.DiGraph[_Vertex], vertices: Iterable[_Vertex]) -> set[_Vertex]:
    """Some vertices and all vertices that they depend on: `networkx.ancestors` of many.

    Args:
        graph: edges lead from a vertex to those that depend on it.
        vertices: the vertices.

    Raises:
        KindError: another kind of graph.

    Examples:
        >>> import networkx as nx
        >>> from straightline import ir
        >>> sorted(ir.upstream(nx.DiGraph([(1, 2), (2, 3), (4, 5)]), [2]))
        [1, 2]
    """
    return reach(graph.predecessors, vertices)


@takes(graph="networkx.DiGraph", vertices=Iterable)
def downstream(graph: nx.DiGraph[_Vertex], vertices: Iterable[_Vertex]) -> set[_Vertex]:
    """Some vertices and all vertices that depend on them: `networkx.descendants` of many.

    Args:
        graph: edges lead from a vertex to those that depend on it.
        vertices: the vertices.

    Raises:
        KindError: another kind of graph.

    Examples:
        >>> import networkx as nx
        >>> from straightline import ir
        >>> sorted(ir.downstream(nx.DiGraph([(1, 2), (2, 3), (4, 5)]), [2]))
        [2, 3]
    """
    return reach(graph.successors, vertices)


def reach(
    next_of: Callable[[_Vertex], Iterable[_Vertex]], vertices: Iterable[_Vertex]
) -> set[_Vertex]:
    """Some vertices and all that follow them, by the next ones of each."""
    reached = set(vertices)
    waiting = list(reached)
    while waiting:
        for other in next_of(waiting.pop()):
            if other not in reached:
                reached.add(other)
                waiting.append(other)
    return reached


def neighbours(vertices: Sequence[Any]) -> Neighbours:
    """Make a `Neighbours` of distinct vertices."""
    return tuple(vertices) if len(vertices) <= FEW else dict.fromkeys(vertices, NO_ATTRIBUTES)


def extended(present: Neighbours, more: Sequence[Any]) -> Neighbours:
    """Append distinct vertices to neighbours, without those that are already there."""
    if type(present) is tuple:
        if len(more) == 1 and len(present) < FEW:
            return present if more[0] in present else (*present, more[0])
        return neighbours([*present, *[vertex for vertex in more if vertex not in present]])
    present.update(dict.fromkeys(more, NO_ATTRIBUTES))  # type: ignore[union-attr]
    return present


def _without(present: Neighbours, vertex: Any) -> Neighbours:
    """Remove a vertex from neighbours."""
    if isinstance(present, tuple):
        at = present.index(vertex)
        return present[:at] + present[at + 1 :]
    del present[vertex]
    return present
