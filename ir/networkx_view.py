"""Views of the data-flow graph for networkx, which takes long to import."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import networkx as nx

from .dataflow_graph import NO_ATTRIBUTES, Topology


def view_of(topology: Topology) -> nx.DiGraph[Any]:
    """A read-only `networkx.DiGraph` that follows a topology.

    All vertices and edges share one empty attribute dict (the "thin graph" of networkx's own
    documentation).
    """
    view: Any = nx.freeze(nx.DiGraph())
    view.graph = NO_ATTRIBUTES
    view._node = _Vertices(topology.users)
    view._succ = _Adjacency(topology.users)
    view._pred = _Adjacency(topology.sources)
    result: nx.DiGraph[Any] = view
    return result


class _Adjacency(Mapping[Any, dict[Any, Any]]):
    """The adjacency of networkx: for each vertex a dict from vertices to attributes."""

    __slots__ = ("_neighbours",)

    def __init__(self, vertices: Mapping[Any, Any]) -> None:
        self._neighbours = vertices

    def __getitem__(self, vertex: Any) -> dict[Any, Any]:
        vertices = self._neighbours[vertex]
        return dict.fromkeys(vertices, NO_ATTRIBUTES) if type(vertices) is tuple else vertices

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
