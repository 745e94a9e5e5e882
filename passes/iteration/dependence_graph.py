"""Dependence graph of a body's nodes and states."""

import itertools
from collections.abc import Container, Iterable, Iterator, Sequence

from ...analysis.shapes.single_node_model import reads_of
from ...ir import Node, Value, captured_by
from ...records import record
from .loop_view import LoopView, State
from .places import Index
from .splice import is_used


@record(frozen=True)
class Write:
    """A state to which every iteration adds an element.

    Attributes:
        node: the node that adds the element: SequenceInsert, Concat with one other value,
            ScatterND or ScatterElements; for sums of blocks, Add or Sub.
        index: the indices of a Scatter, distinct in every iteration unless it reduces; None for
            the others.
        reduction: the reduction by which a Scatter combines elements; "none" if it overwrites.
        reads: the nodes that read the state at the index, and combine it with the element; those
            that insert the earlier elements.
        earlier: the elements that the iteration inserts before the element.
        chooser: the If or Where by which only some iterations write; None if all do.
        flag: its condition.
        negated: true if the iterations write in which the condition does not hold.
        line: the axis and the place of a line of the state that the element is; None for others.
    """

    state: State
    node: Node
    element: Value
    index: Value | None = None
    reduction: str = "none"
    reads: tuple[Node, ...] = ()
    earlier: tuple[Value, ...] = ()
    chooser: Node | None = None
    flag: Value | None = None
    negated: bool = False
    line: tuple[int, Index] | None = None


Vertex = Node | State | Write


def producers(
    nodes: Sequence[Node], values: Iterable[Value], sources: Container[Value] = ()
) -> list[Node]:
    """The nodes that compute values, down to the sources, in order."""
    needed, own = {value for value in values if value not in sources}, list[Node]()
    for node in reversed(nodes):
        if not needed.isdisjoint(node.outputs):
            needed.update(value for value in reads_of(node) if value not in sources)
            own.append(node)
    return own[::-1]


class DependenceGraph:
    """The nodes and states that used outputs of a Loop or Scan depend on.

    A state depends on its next value, unless it is independent of the body, like a counter.

    Args:
        independent: the states whose values do not depend on the body.

    Attributes:
        roots: the direct producers of outputs.
        readers: the vertices that read each vertex.
        sources: the vertices that each vertex reads.
    """

    def __init__(
        self, loop_view: LoopView, writes: Sequence[Write], independent: Iterable[State]
    ) -> None:
        self._body = loop_view.body
        self.writes = writes
        self._writes = {write.state: write for write in writes}
        self._makers: dict[Value, Vertex] = {}
        for state in loop_view.states:
            self._makers[state.argument] = self._writes.get(state, state)
        self._independent = frozenset(independent)
        self.readers: dict[Vertex, dict[Vertex, None]] = {}
        self.sources: dict[Vertex, dict[Vertex, None]] = {}
        self.roots = dict.fromkeys(self._find_roots(loop_view))
        self._include()

    def maker(self, value: Value | None) -> Vertex | None:
        """The node or state of the body that computes a value; None for others."""
        if value is None:
            return None
        producer = value.producer
        if producer is not None and producer.graph is self._body:
            return producer
        return self._makers.get(value)

    def _find_roots(self, loop_view: LoopView) -> Iterator[Vertex]:
        for state in loop_view.states:
            if is_used(loop_view.around, state.final):
                yield self._writes.get(state, state)
        for stacked in loop_view.scan_outputs:
            if is_used(loop_view.around, stacked.output):
                maker = self.maker(stacked.result)
                if maker is not None:
                    yield maker

    def _include(self) -> None:
        waiting = list(self.roots)
        for vertex in waiting:
            self.readers[vertex], self.sources[vertex] = {}, {}
        while waiting:
            vertex = waiting.pop()
            for value in self.reads(vertex):
                source = self.maker(value)
                if source is not None:
                    if source not in self.readers:
                        self.readers[source], self.sources[source] = {}, {}
                        waiting.append(source)
                    self.readers[source][vertex] = self.sources[vertex][source] = None

    def components(self) -> list[set[Vertex]]:
        """The strongly connected components, each after those that depend on it (Tarjan)."""
        number: dict[Vertex, int] = {}
        low: dict[Vertex, int] = {}
        open_: dict[Vertex, None] = {}
        components = []
        for root in self.readers:
            waiting = [] if root in number else [(root, iter(self.readers[root]))]
            while waiting:
                vertex, rest = waiting[-1]
                if vertex not in number:
                    number[vertex] = low[vertex] = len(number)
                    open_[vertex] = None
                for reader in rest:
                    if reader not in number:
                        waiting.append((reader, iter(self.readers[reader])))
                        break
                    if reader in open_:
                        low[vertex] = min(low[vertex], number[reader])
                else:
                    waiting.pop()
                    if waiting:
                        outer = waiting[-1][0]
                        low[outer] = min(low[outer], low[vertex])
                    if low[vertex] == number[vertex]:
                        members: set[Vertex] = set()
                        while vertex not in members:
                            members.add(open_.popitem()[0])
                        components.append(members)
        return components

    def components_in_order(self) -> Iterator[set[Vertex]]:
        """The components, each after those that it depends on; the nearest to the inputs first."""
        components = self.components()
        place = {vertex: k for k, members in enumerate(components) for vertex in members}
        readers: list[dict[int, None]] = [{} for _ in components]
        for vertex, others in self.readers.items():
            own = place[vertex]
            readers[own].update(dict.fromkeys(place[r] for r in others if place[r] != own))
        awaited = [0] * len(components)
        for other in itertools.chain(*readers):
            awaited[other] += 1
        ready = [k for k, count in enumerate(awaited) if not count]
        for own in ready:
            yield components[own]
            for other in readers[own]:
                awaited[other] -= 1
                if not awaited[other]:
                    ready.append(other)

    def reads(self, vertex: Vertex) -> Iterable[Value | None]:
        """The values that a node reads, or the next value of a state."""
        if isinstance(vertex, Node):
            return (*vertex.inputs, *captured_by(vertex))
        if isinstance(vertex, Write):
            places = [value for node in vertex.reads for value in node.inputs]
            # Reads of the state are part of the write, which would else depend on itself.
            own = {vertex.state.argument, *(v for node in vertex.reads for v in node.outputs)}
            places = [value for value in places if value not in own]
            return (vertex.element, vertex.index, vertex.flag, *places)
        return () if vertex in self._independent else (vertex.result,)
