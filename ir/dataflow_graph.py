"""The record of who feeds whom: a networkx directed graph, thinned and guarded."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, TypeVar, cast

import networkx as nx

from .errors import ModelError
from .kinds import takes
from .lazy import lazy_property

# One for all, so nobody may write into it.
NO_ATTRIBUTES = cast("dict[str, Any]", MappingProxyType({}))
FEW = 8
"""So many neighbours of a vertex are held in a tuple, more in a dict."""
Neighbours = tuple[Any, ...] | dict[Any, Any]
_NONE = cast("set[Any]", frozenset())
"""No vertices yet."""
_Vertex = TypeVar("_Vertex", bound=Hashable)


def _no_attributes() -> dict[str, Any]:
    return NO_ATTRIBUTES


class Topology(nx.DiGraph):  # type: ignore[type-arg]
    """A `networkx.DiGraph` in which an edge a -> b says that b uses something of a.

    All vertices and edges share one empty attribute dict (the "thin graph" of networkx's own
    documentation). Most vertices have one or two neighbours, for which a dict each would take more
    room than the nodes themselves, and more time than making these: few neighbours are a tuple.
    networkx is shown dicts, made when it asks. It cannot change them; `insert`, `connect`,
    `disconnect` and `discard` do.

    There may be one for each of 100,000 functions, so nothing is made before it is asked for.

    Attributes:
        sink: the vertex that stands for what is given out, if there is one. It feeds nothing.
        users: for each vertex those that use something of it, each once.
        sources: for each vertex those that it uses something of, each once.
        changes: how often it was changed so far.
        late: the vertices but the sink that were given sources after they were inserted; all
            sources of any other vertex stand before it.
    """

    __slots__ = ("changes", "late", "sink", "sources", "users")

    node_attr_dict_factory = staticmethod(_no_attributes)
    edge_attr_dict_factory = staticmethod(_no_attributes)
    graph = NO_ATTRIBUTES

    def __new__(cls, sink: Hashable = None) -> Topology:
        """Without the search for other backends that networkx makes for each graph."""
        return object.__new__(cls)

    def __init__(self, sink: Hashable = None) -> None:
        self.sink = sink
        self.users: dict[Any, Neighbours] = {}
        self.sources: dict[Any, Neighbours] = {}
        self.changes = 0
        self.late = _NONE
        if sink is not None:
            self.insert(sink)

    # What `nx.DiGraph` sets up in its constructor, made when networkx asks.

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
            held = users[source]
            if not held:
                users[source] = (vertex,)
            elif vertex in held:
                continue
            elif type(held) is dict:
                held[vertex] = NO_ATTRIBUTES
            else:
                users[source] = neighbours((*held, vertex))
            feeding.append(source)
        self.sources[vertex] = neighbours(feeding)
        users[vertex] = ()

    def feed(self, source: Hashable, users: Sequence[Hashable]) -> None:
        """Note new users of a vertex, whose `sources` tell of it already."""
        self.changes += 1
        held = self.users[source]
        if type(held) is dict:
            for user in users:
                held[user] = NO_ATTRIBUTES
        else:
            self.users[source] = _with(held, users)

    def connect(self, source: Hashable, target: Hashable) -> None:
        """Record that `target` uses something of `source`; both must be present."""
        self.changes += 1
        users, sources = self.users[source], self.sources[target]
        self.users[source] = _with(users, (target,)) if users else (target,)
        self.sources[target] = _with(sources, (source,)) if sources else (source,)
        if target is not self.sink:
            if not self.late:
                self.late = set()
            self.late.add(target)

    def disconnect(self, source: Hashable, target: Hashable) -> None:
        """Forget that `target` uses something of `source`."""
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
        """A view that networkx itself refuses to change."""
        return nx.graphviews.generic_graph_view(self, nx.DiGraph)

    def ordered(self) -> list[Any]:
        """Every vertex but the sink after those that feed it, otherwise in order of insertion.

        A depth-first walk against the edges: linear, deterministic, and a graph that was inserted
        in a topological order comes out in exactly that order. `networkx.topological_sort` keeps
        no such order and takes 0.43 s for 200,000 nodes, where this takes 0.11 s.

        Raises:
            ModelError: the graph has a cycle.
        """
        late, sink = self.late, self.sink
        if not late:
            return [vertex for vertex in self.sources if vertex is not sink]
        done: dict[Any, None] = {}
        for root in self.sources:
            if root in late and root not in done:
                self._order_above(root, done)
            elif root is not sink:
                done[root] = None
        return list(done)

    def _order_above(self, root: Any, done: dict[Any, None]) -> None:
        """Put a vertex, and before it all that feeds it, among those that are done."""
        pred = self.sources
        stack = [(root, iter(pred[root]))]
        open_vertices = {root}
        while stack:
            vertex, sources = stack[-1]
            for source in sources:
                if source not in done:
                    if source in open_vertices:
                        raise ModelError(f"the graph has a cycle through {source}")
                    stack.append((source, iter(pred[source])))
                    open_vertices.add(source)
                    break
            else:
                stack.pop()
                done[vertex] = None


@takes(graph=nx.DiGraph, vertices=Iterable)
def upstream(graph: nx.DiGraph[_Vertex], vertices: Iterable[_Vertex]) -> set[_Vertex]:
    """Some vertices and all that they depend on: `networkx.ancestors` of many at once."""
    return downstream(graph.reverse(copy=False), vertices)


@takes(graph=nx.DiGraph, vertices=Iterable)
def downstream(graph: nx.DiGraph[_Vertex], vertices: Iterable[_Vertex]) -> set[_Vertex]:
    """Some vertices and all that depends on them: `networkx.descendants` of many at once."""
    found = set(vertices)
    waiting = list(found)
    while waiting:
        for other in graph.successors(waiting.pop()):
            if other not in found:
                found.add(other)
                waiting.append(other)
    return found


def neighbours(vertices: Sequence[Any]) -> Neighbours:
    """As neighbours are held, all of which differ."""
    return tuple(vertices) if len(vertices) <= FEW else dict.fromkeys(vertices, NO_ATTRIBUTES)


def _with(held: Neighbours, more: Sequence[Any]) -> Neighbours:
    """Neighbours, then those of some others that are not among them; all of these differ."""
    if type(held) is tuple:
        return neighbours([*held, *[vertex for vertex in more if vertex not in held]])
    held.update(dict.fromkeys(more, NO_ATTRIBUTES))  # type: ignore[union-attr]
    return held


def _without(held: Neighbours, vertex: Any) -> Neighbours:
    """Neighbours without one that is among them."""
    if isinstance(held, tuple):
        at = held.index(vertex)
        return held[:at] + held[at + 1 :]
    del held[vertex]
    return held


class _Adjacency(Mapping[Any, dict[Any, Any]]):
    """Neighbours as networkx looks at them: for each vertex a dict from vertices to attributes."""

    __slots__ = ("_held",)

    def __init__(self, held: dict[Any, Neighbours]) -> None:
        self._held = held

    def __getitem__(self, vertex: Any) -> dict[Any, Any]:
        held = self._held[vertex]
        return dict.fromkeys(held, NO_ATTRIBUTES) if type(held) is tuple else held  # type: ignore[return-value]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)


class _Vertices(_Adjacency):
    """Vertices as networkx looks at them: for each its attributes."""

    __slots__ = ()

    def __getitem__(self, vertex: Any) -> dict[Any, Any]:
        if vertex not in self._held:
            raise KeyError(vertex)
        return NO_ATTRIBUTES
