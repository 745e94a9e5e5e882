"""The data-flow graph of a graph: a thin networkx directed graph."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar, cast

import networkx as nx

from .errors import ModelError
from .kinds import takes
from .lazy import lazy_property

# Shared by all, therefore read-only.
NO_ATTRIBUTES = cast("dict[str, Any]", MappingProxyType({}))
FEW = 8
"""The most neighbours of a vertex that are kept in a tuple instead of a dict."""
Neighbours = tuple[Any, ...] | dict[Any, Any]
_NONE = cast("set[Any]", frozenset())
"""The empty set of vertices."""
_Vertex = TypeVar("_Vertex", bound=Hashable)


def _no_attributes() -> dict[str, Any]:
    return NO_ATTRIBUTES


class Topology(nx.DiGraph):  # type: ignore[type-arg]
    """A `networkx.DiGraph` with an edge a -> b where b uses a value of a.

    All vertices and edges share one empty attribute dict (the "thin graph" of networkx's own
    documentation). Most vertices have one or two neighbours: a dict each would take more memory
    than the nodes and more time than their construction, so few neighbours are a tuple. networkx
    gets dicts on demand. It cannot change them; `insert`, `connect`, `disconnect` and `discard` do.

    A model may have 100,000 functions, so each part is made on demand.

    Attributes:
        sink: the vertex of the graph's outputs, if there is one. It feeds nothing.
        users: for each vertex the users of its values, each once.
        sources: for each vertex the vertices whose values it uses, each once.
        changes: the number of changes so far.
        late: the vertices with sources connected after their insertion, without the sink; all
            sources of any other vertex precede it.
    """

    __slots__ = ("changes", "late", "sink", "sources", "users")

    node_attr_dict_factory = staticmethod(_no_attributes)
    edge_attr_dict_factory = staticmethod(_no_attributes)
    graph = NO_ATTRIBUTES

    def __new__(cls, sink: Hashable = None) -> Topology:
        """Skip networkx's search for other backends."""
        return object.__new__(cls)

    def __init__(self, sink: Hashable = None) -> None:
        self.sink = sink
        self.users: dict[Any, Neighbours] = {}
        self.sources: dict[Any, Neighbours] = {}
        self.changes = 0
        self.late = _NONE
        if sink is not None:
            self.insert(sink)

    # The attributes of `nx.DiGraph`, made on demand.

    @lazy_property
    def _node(self) -> Mapping[Any, dict[Any, Any]]:
        return _Vertices(self.users)

    @lazy_property
    def _adj(self) -> Mapping[Any, dict[Any, Any]]:
        return _Adjacency(self.users)

    @lazy_property
    def _pred(self) -> Mapping[Any, dict[Any, Any]]:
        return _Adjacency(self.sources)

    @property
    def _succ(self) -> Mapping[Any, dict[Any, Any]]:
        return self._adj

    @_succ.setter
    def _succ(self, adjacency: Mapping[Any, dict[Any, Any]]) -> None:
        self._adj = adjacency

    @lazy_property
    def __networkx_cache__(self) -> dict[str, Any]:
        return {}

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
            elif len(current) < FEW:
                users[source] = (*current, vertex)
            else:
                users[source] = neighbours((*current, vertex))
            feeding.append(source)
        self.sources[vertex] = tuple(feeding) if len(feeding) <= FEW else neighbours(feeding)
        users[vertex] = ()

    def feed(self, source: Hashable, users: Sequence[Hashable]) -> None:
        """Add users of a vertex that already list it among their sources."""
        self.changes += 1
        current = self.users[source]
        if type(current) is dict:
            for user in users:
                current[user] = NO_ATTRIBUTES
        else:
            self.users[source] = _with(current, users)

    def connect(self, source: Hashable, target: Hashable) -> None:
        """Add the edge from `source` to `target`; both must be present."""
        self.changes += 1
        for present, one, other in ((self.users, source, target), (self.sources, target, source)):
            current = present[one]
            if not current:
                present[one] = (other,)
            elif other not in current:
                present[one] = _with(current, (other,))
        if target is not self.sink:
            if not self.late:
                self.late = set()
            self.late.add(target)

    def disconnect(self, source: Hashable, target: Hashable) -> None:
        """Remove the edge from `source` to `target`."""
        self.changes += 1
        self.users[source] = _without(self.users[source], target)
        self.sources[target] = _without(self.sources[target], source)

    def discard(self, vertex: Hashable) -> None:
        """Remove a vertex that feeds nothing, with the edges into it."""
        self.changes += 1
        for source in self.sources.pop(vertex):
            self.users[source] = _without(self.users[source], vertex)
        del self.users[vertex]
        if self.late:
            self.late.discard(vertex)

    def view(self) -> nx.DiGraph[Any]:
        """A read-only view for networkx."""
        return nx.graphviews.generic_graph_view(self, nx.DiGraph)

    def ordered(self) -> list[Any]:
        """The vertices without the sink in topological order, ties in order of insertion.

        A depth-first walk against the edges: linear, deterministic, and stable for vertices
        inserted in a topological order. `networkx.topological_sort` is not stable and takes 0.43 s
        for 200,000 nodes; this takes 0.11 s.

        Raises:
            ModelError: the graph has a cycle.
        """
        late, sink = self.late, self.sink
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


@takes(graph=nx.DiGraph, vertices=Iterable)
def upstream(graph: nx.DiGraph[_Vertex], vertices: Iterable[_Vertex]) -> set[_Vertex]:
    """Some vertices and all vertices that they depend on: `networkx.ancestors` of many."""
    return downstream(graph.reverse(copy=False), vertices)


@takes(graph=nx.DiGraph, vertices=Iterable)
def downstream(graph: nx.DiGraph[_Vertex], vertices: Iterable[_Vertex]) -> set[_Vertex]:
    """Some vertices and all vertices that depend on them: `networkx.descendants` of many."""
    reached = set(vertices)
    waiting = list(reached)
    while waiting:
        for other in graph.successors(waiting.pop()):
            if other not in reached:
                reached.add(other)
                waiting.append(other)
    return reached


def neighbours(vertices: Sequence[Any]) -> Neighbours:
    """Make a `Neighbours` of distinct vertices."""
    return tuple(vertices) if len(vertices) <= FEW else dict.fromkeys(vertices, NO_ATTRIBUTES)


def _with(present: Neighbours, more: Sequence[Any]) -> Neighbours:
    """Append distinct vertices to neighbours, without those that are already there."""
    if type(present) is tuple:
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


class _Adjacency(Mapping[Any, dict[Any, Any]]):
    """The adjacency of networkx: for each vertex a dict from vertices to attributes."""

    __slots__ = ("_neighbours",)

    def __init__(self, vertices: dict[Any, Neighbours]) -> None:
        self._neighbours = vertices

    def __getitem__(self, vertex: Any) -> dict[Any, Any]:
        vertices = self._neighbours[vertex]
        return dict.fromkeys(vertices, NO_ATTRIBUTES) if type(vertices) is tuple else vertices  # type: ignore[return-value]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._neighbours)

    def __len__(self) -> int:
        return len(self._neighbours)


class _Vertices(_Adjacency):
    """The vertices of networkx: for each its attributes."""

    __slots__ = ()

    def __getitem__(self, vertex: Any) -> dict[Any, Any]:
        if vertex not in self._neighbours:
            raise KeyError(vertex)
        return NO_ATTRIBUTES
