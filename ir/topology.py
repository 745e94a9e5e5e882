"""The record of who feeds whom: a networkx directed graph, thinned and guarded."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from types import MappingProxyType
from typing import Any, TypeVar, cast

import networkx as nx

from .errors import ModelError

# One for all, so nobody may write into it.
NO_ATTRIBUTES = cast("dict[str, Any]", MappingProxyType({}))
_Vertex = TypeVar("_Vertex", bound=Hashable)


def _no_attributes() -> dict[str, Any]:
    return NO_ATTRIBUTES


class Topology(nx.DiGraph):  # type: ignore[type-arg]
    """A `networkx.DiGraph` in which an edge a -> b says that b uses something of a.

    All vertices and edges share one empty attribute dict (the "thin graph" of networkx's own
    documentation), which halves the memory of an edge. `insert` writes the adjacency of a whole
    vertex at once; it is `add_node` and `add_edges_from` without their per-edge bookkeeping.

    Attributes:
        users: for each vertex those that use something of it.
        sources: for each vertex those that it uses something of.
        changes: how often it was changed so far.
        late: the vertices that were given sources after they were inserted; all sources of any
            other vertex stand before it.
    """

    _adj: dict[Any, dict[Any, Any]]
    _succ: dict[Any, dict[Any, Any]]
    _pred: dict[Any, dict[Any, Any]]
    _node: dict[Any, dict[str, Any]]
    node_attr_dict_factory = staticmethod(_no_attributes)
    edge_attr_dict_factory = staticmethod(_no_attributes)

    def __new__(cls) -> Topology:
        """Without the search for other backends that networkx makes for each graph."""
        return object.__new__(cls)

    def __init__(self) -> None:
        # What `nx.DiGraph` sets up, of which there may be one for each of 100,000 functions.
        self.graph = NO_ATTRIBUTES
        self._node = {}
        self._adj = self.users = cast("dict[Any, dict[Any, Any]]", {})
        self._pred = self.sources = cast("dict[Any, dict[Any, Any]]", {})
        self.__networkx_cache__: dict[str, Any] = {}
        self.changes = 0
        self.late: set[Any] = set()

    def insert(self, vertex: Hashable, sources: Iterable[Hashable] = ()) -> None:
        """Add a new vertex fed by `sources`, all of which must be present already."""
        self.changes += 1
        users, empty = self.users, NO_ATTRIBUTES
        feeding: dict[Any, Any] = {}
        for source in sources:
            feeding[source] = users[source][vertex] = empty
        self.sources[vertex] = feeding
        users[vertex] = {}
        self._node[vertex] = empty

    def added(self, vertices: Iterable[Hashable]) -> None:
        """Take up new vertices of which `users` and `sources` tell already, as `insert` would."""
        self.changes += 1
        self._node.update(dict.fromkeys(vertices, NO_ATTRIBUTES))

    def connect(self, source: Hashable, target: Hashable) -> None:
        """Record that `target` uses something of `source`; both must be present."""
        self.changes += 1
        self.users[source][target] = self.sources[target][source] = NO_ATTRIBUTES
        self.late.add(target)

    def disconnect(self, source: Hashable, target: Hashable) -> None:
        """Forget that `target` uses something of `source`."""
        self.changes += 1
        del self.users[source][target], self.sources[target][source]

    def discard(self, vertex: Hashable) -> None:
        """Remove a vertex that feeds nothing, with the edges into it."""
        self.changes += 1
        for source in self.sources.pop(vertex):
            del self.users[source][vertex]
        del self.users[vertex], self._node[vertex]
        self.late.discard(vertex)

    def view(self) -> nx.DiGraph[Any]:
        """A view that networkx itself refuses to change."""
        return nx.graphviews.generic_graph_view(self, nx.DiGraph)

    def ordered(self, sink: Hashable = None) -> list[Any]:
        """Every vertex but `sink` after those that feed it, otherwise in order of insertion.

        A depth-first walk against the edges: linear, deterministic, and a graph that was inserted
        in a topological order comes out in exactly that order. `networkx.topological_sort` keeps
        no such order and takes 0.43 s for 200,000 nodes, where this takes 0.11 s.

        Raises:
            ModelError: the graph has a cycle.
        """
        late = self.late - {sink}
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


def upstream(graph: nx.DiGraph[_Vertex], vertices: Iterable[_Vertex]) -> set[_Vertex]:
    """Some vertices and all that they depend on: `networkx.ancestors` of many at once."""
    return downstream(graph.reverse(copy=False), vertices)


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
