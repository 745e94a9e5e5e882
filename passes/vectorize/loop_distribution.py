"""Which nodes and states of a body are computed for all trips at once, and which trip by trip.

What is computed from its own result of the trip before, or has no batching rule, is computed trip
by trip, with all that lies between two such nodes. All else is computed at once: before the loop,
or behind it where it reads what the loop computes.
"""

from __future__ import annotations

from collections.abc import Callable

import networkx as nx

from ...ir import Node
from ...ops.batching import DIFFERING, Unbatchable
from ...ops.builder import RewriteError
from .dependence_graph import Dependences, Vertex
from .loop_view import State


class Division:
    """Divides the nodes and states of a body.

    Args:
        dependences: which is made of which.
        compute: computes one for all trips at once; raises Unbatchable where that cannot be.
        is_ragged: whether what one computed can neither be given out nor read trip by trip.

    Attributes:
        inside: what is computed trip by trip.
        behind: what is computed at once, but reads what is computed trip by trip.
        reasons: why the first of them is computed trip by trip; empty where nothing is.
    """

    def __init__(
        self,
        dependences: Dependences,
        compute: Callable[[Vertex], None],
        is_ragged: Callable[[Vertex], bool],
    ) -> None:
        self._graph = dependences.graph
        self._wanted = dependences.wanted
        self._compute = compute
        self._is_ragged = is_ragged
        self.inside: set[Vertex] = set()
        self.behind: set[Vertex] = set()
        self.reasons: list[str] = []
        order = self._divide()
        self._close(order)

    def _divide(self) -> list[Vertex]:
        """Compute all that can be; what cannot is inside. Returns the order of all."""
        condensed = nx.condensation(self._graph)
        order: list[Vertex] = []
        for number in nx.topological_sort(condensed):
            members = condensed.nodes[number]["members"]
            order += members
            vertex = next(iter(members))
            if len(members) > 1 or self._graph.has_edge(vertex, vertex):
                self._stay(members, _carried(members))
                continue
            try:
                self._compute(vertex)
            except (Unbatchable, RewriteError) as reason:
                self._stay(members, str(reason))
                continue
            if any(v in self.inside or v in self.behind for v in self._graph.predecessors(vertex)):
                self.behind.add(vertex)
        return order

    def _stay(self, members: set[Vertex], reason: str) -> None:
        self.inside |= members
        self.reasons.append(reason)

    def _close(self, order: list[Vertex]) -> None:
        """Keep inside what lies between two that are."""
        for vertex in reversed(order):
            if vertex in self.behind and self._leads_inside(vertex):
                self.behind.remove(vertex)
                self.inside.add(vertex)
            elif vertex not in self.inside and self._is_read_trip_by_trip(vertex):
                self.behind.discard(vertex)
                self._stay({vertex}, f"holds {vertex}, which {DIFFERING}")
        for vertex in order:
            if vertex in self.behind and self._only_names(vertex):
                self.behind.remove(vertex)
                self.inside.add(vertex)

    def _only_names(self, vertex: Vertex) -> bool:
        """Whether it is another name for what is computed inside, and so may be given out there."""
        named = isinstance(vertex, Node) and vertex.is_op("Identity")
        return named and all(v in self.inside for v in self._graph.predecessors(vertex))

    def _is_read_trip_by_trip(self, vertex: Vertex) -> bool:
        """Whether what is shorter on some trips is read or given out as it is on each."""
        if not self._is_ragged(vertex):
            return False
        users = self._graph.successors(vertex)
        return vertex in self._wanted or any(user in self.inside for user in users)

    def _leads_inside(self, vertex: Vertex) -> bool:
        if any(user in self.inside for user in self._graph.successors(vertex)):
            return True
        # A state that is only given out costs nothing where its values are computed.
        only_final = isinstance(vertex, State) and not self._graph.out_degree(vertex)
        return only_final and any(v in self.inside for v in self._graph.predecessors(vertex))


def _carried(members: set[Vertex]) -> str:
    names = sorted(vertex.given.name for vertex in members if isinstance(vertex, State))
    return f"carries '{names[0]}', which each trip makes of that of the one before"
