"""Loop distribution: the split of a body into batched parts and a residual loop.

Recurrences and nodes without a batching rule stay in the loop, with all nodes between two of them.
All others are batched: before the loop, or after it if they read values of the loop.
"""

from __future__ import annotations

from collections.abc import Callable

from ...ir import Node
from ...ops.batching import DIFFERING, Unbatchable
from ...ops.builder import RewriteError
from ..iteration.dependence_graph import DependenceGraph, Vertex
from ..iteration.loop_view import State


class Distribution:
    """The distribution of the nodes and states of a body.

    Args:
        dependences: the dependence graph.
        compute: the batch interpreter; raises Unbatchable.
        is_partial: the test for outputs that cannot be read in each iteration.
        is_stackable: the test for such outputs that may be emitted.

    Attributes:
        inside: the nodes and states of the residual loop.
        after: the batched nodes and states that read values of the residual loop.
        reasons: the obstacles to batching, first one first; empty without a residual loop.
    """

    def __init__(
        self,
        dependences: DependenceGraph,
        compute: Callable[[Vertex], None],
        is_partial: Callable[[Vertex], bool],
        is_stackable: Callable[[Vertex], bool] = lambda vertex: False,
    ) -> None:
        self._graph = dependences.graph
        self._roots = dependences.roots
        self._compute = compute
        self._is_partial = is_partial
        self._is_stackable = is_stackable
        self.inside: set[Vertex] = set()
        self.after: set[Vertex] = set()
        self.reasons: list[str] = []
        order = self._divide()
        self._close(order)

    def _divide(self) -> list[Vertex]:
        """Batch all vertices without an obstacle, and return the topological order."""
        import networkx as nx

        condensed = nx.condensation(self._graph)
        order: list[Vertex] = []
        for number in nx.topological_sort(condensed):
            members = condensed.nodes[number]["members"]
            order += members
            vertex = next(iter(members))
            if len(members) > 1 or self._graph.has_edge(vertex, vertex):
                self._stay(members, _recurrence_reason(members))
                continue
            try:
                self._compute(vertex)
            except (Unbatchable, RewriteError) as reason:
                self._stay(members, str(reason))
                continue
            if any(v in self.inside or v in self.after for v in self._graph.predecessors(vertex)):
                self.after.add(vertex)
        return order

    def _stay(self, members: set[Vertex], reason: str) -> None:
        self.inside |= members
        self.reasons.append(reason)

    def _close(self, order: list[Vertex]) -> None:
        """Keep vertices between two inner ones inside."""
        # Readers come first: whether one of them is inside decides for what it reads.
        for vertex in reversed(order):
            if vertex in self.after and self._leads_inside(vertex):
                self.after.remove(vertex)
                self.inside.add(vertex)
            elif vertex not in self.inside and self._is_read_iteration_by_iteration(vertex):
                self.after.discard(vertex)
                self._stay({vertex}, f"holds {vertex}, which {DIFFERING}")
        for vertex in order:
            # In the order of the nodes, so that an Identity of an Identity follows it inside.
            if vertex in self.after and self._only_names(vertex):
                self.after.remove(vertex)
                self.inside.add(vertex)

    def _only_names(self, vertex: Vertex) -> bool:
        """Test for an Identity of values of the residual loop, which may be its output."""
        is_name = isinstance(vertex, Node) and vertex.is_op("Identity")
        return is_name and all(v in self.inside for v in self._graph.predecessors(vertex))

    def _is_read_iteration_by_iteration(self, vertex: Vertex) -> bool:
        """Test for a partial value that is an output or that the residual loop reads."""
        if not self._is_partial(vertex):
            return False
        if vertex in self._roots and not self._is_stackable(vertex):
            return True
        return any(user in self.inside for user in self._graph.successors(vertex))

    def _leads_inside(self, vertex: Vertex) -> bool:
        if any(user in self.inside for user in self._graph.successors(vertex)):
            return True
        # A state that is only an output costs nothing where its values are computed.
        only_final = isinstance(vertex, State) and not self._graph.out_degree(vertex)
        return only_final and any(v in self.inside for v in self._graph.predecessors(vertex))


def _recurrence_reason(members: set[Vertex]) -> str:
    names = sorted(vertex.argument.name for vertex in members if isinstance(vertex, State))
    return f"carries '{names[0]}', whose next value depends on the one before"
