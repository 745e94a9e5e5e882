"""What a body computes of what: its nodes and states, each after those that it is made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import networkx as nx

from ...ir import Node, Value, captured_by
from .accumulators import Write
from .loop_view import Repetition, State
from .splice import is_used

Vertex = Node | State | Write


class Dependences:
    """The nodes and states that outputs of a Loop or Scan are made of.

    A state comes after what gives it on; unless it is computed without (`known`), which a counter
    is, and where it begins.

    Args:
        repetition: the Loop or Scan.
        writes: states that collect what each trip adds.
        known: states that need nothing of the body to be known for all trips.

    Attributes:
        writes: as given.
        wanted: those that outputs are made of at once.
        graph: an edge from what is read to what reads it.
    """

    def __init__(
        self, repetition: Repetition, writes: Sequence[Write], known: Iterable[State]
    ) -> None:
        self._body = repetition.body
        self.writes = writes
        self._writes = {write.state: write for write in writes}
        self._makers: dict[Value, Vertex] = {}
        for state in repetition.states:
            self._makers[state.given] = self._writes.get(state, state)
        self._known = frozenset(known)
        self.graph: nx.DiGraph[Vertex] = nx.DiGraph()
        self.wanted = dict.fromkeys(self._find_wanted(repetition))
        self._include(self.wanted)

    def maker(self, value: Value | None) -> Vertex | None:
        """The node or state that a value comes from; None if it comes from elsewhere."""
        if value is None:
            return None
        producer = value.producer
        if producer is not None and producer.graph is self._body:
            return producer
        return self._makers.get(value)

    def _find_wanted(self, repetition: Repetition) -> Iterator[Vertex]:
        for state in repetition.states:
            if is_used(repetition.around, state.final):
                yield self._writes.get(state, state)
        for stacked in repetition.stacked:
            if is_used(repetition.around, stacked.output):
                maker = self.maker(stacked.result)
                if maker is not None:
                    yield maker

    def _include(self, wanted: Iterable[Vertex]) -> None:
        waiting = list(wanted)
        self.graph.add_nodes_from(waiting)
        seen = set(waiting)
        while waiting:
            vertex = waiting.pop()
            for value in self.reads(vertex):
                source = self.maker(value)
                if source is not None:
                    self.graph.add_edge(source, vertex)
                    if source not in seen:
                        seen.add(source)
                        waiting.append(source)

    def reads(self, vertex: Vertex) -> Iterable[Value | None]:
        """What a node reads, or what a state is given on as."""
        if isinstance(vertex, Node):
            return (*vertex.inputs, *captured_by(vertex))
        if isinstance(vertex, Write):
            return (vertex.element, vertex.place)
        return () if vertex in self._known else (vertex.result,)
