"""A body of which most is computed for all trips at once, and the circles of states in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping

import networkx as nx

from ....analysis.shapes.inference import ShapeInference
from ....facts.fact import Fact
from ....ir import Node, Value, captured_by
from ....ir.lazy import lazy_property
from ....ops.batching import Operand, Unbatchable
from ....ops.builder import Builder
from ...utils.costs import Costs
from ...vectorize.batch_interpreter import Batcher
from ...vectorize.batched_inputs import Feeding
from ...vectorize.dependence_graph import Dependences, Vertex
from ...vectorize.induction_variables import counter, is_invariant
from ...vectorize.loop_view import Repetition, State
from ...vectorize.memory import IterationMemory, MemoryBounds
from ...vectorize.nested_control_flow import compute_nested


@dataclasses.dataclass(frozen=True)
class Replacement:
    """What an operator makes of the states of a recurrence.

    Attributes:
        what: the operator, as a remark calls it.
        exact: whether it gives the bits that the trips give.
        every: for each state what all trips give on, the trips first; a state may be missing of
            which only the last value is there.
        final: for each state what makes the value that the last trip gives on, which is the initial
            one where there is no trip; a state may be missing whose last value is to be taken from
            `every`.
        aliases: values of the body that are what a state is on the next trip, with that state; axes
            of size 1 apart.
    """

    what: str
    exact: bool
    every: Mapping[State, Value]
    final: Mapping[State, Callable[[], Value]] = dataclasses.field(default_factory=dict)
    aliases: Mapping[Value, State] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Recurrence:
    """States of one Loop or Scan that depend on each other in a circle.

    Attributes:
        states: the states, in the order of the Loop or Scan.
        nodes: the nodes of the body in that circle, in order.
        trips: computes what does not depend on them for all trips at once.
        certain: whether there is a first trip, whatever is fed.
    """

    states: tuple[State, ...]
    nodes: tuple[Node, ...]
    trips: AllTrips
    certain: bool

    @property
    def repetition(self) -> Repetition:
        """The Loop or Scan."""
        return self.trips.repetition

    @property
    def inference(self) -> ShapeInference:
        """Facts about the model's values."""
        return self.trips.inference

    @property
    def emit(self) -> Builder:
        """Makes nodes in the graph that will take the place of the Loop or Scan."""
        return self.trips.emit

    def fact(self, value: Value) -> Fact:
        """What is known of a value of the body on one trip."""
        return self.trips.inference.fact(value)

    def free(self, value: Value) -> Operand:
        """A value that does not depend on the states: for all trips, or the same on every trip.

        Raises:
            Unbatchable: it does, or cannot be computed for all trips at once.
        """
        return self.trips.operand(value)


Raiser = Callable[[Recurrence], "Replacement | str"]
"""Makes an operator of a recurrence, or says why it is none, in words that complete "it is no
GRU: ...". It may leave nodes behind that nothing reads."""


class AllTrips(Batcher):
    """All trips at once, with operators for the recurrences among the states.

    Args:
        repetition: the Loop or Scan.
        inference: facts about the model's values.
        bounds: how large values of all iterations may be.
        certain: whether there is a first trip, whatever is fed.
        raisers: what is tried on a recurrence, in this order.
        max_identity: how many columns of an input may be multiplied by ones and zeros, as an
            operator must whose gates are given to it.
        straight: whether no Loop may be made.
        costs: whose costs decide whether an operator is made.
        spread_nan: whether an infinity or NaN may spread to other gates and columns.
        keep_nan: whether cells of which an operator may lose a NaN stay.

    Attributes:
        max_identity: as given.
        straight: as given.
        costs: as given.
        spread_nan: as given.
        keep_nan: as given.
        made: the operators that were made, and what comes of them.

    Raises:
        Unbatchable: something stands in the way; the message ends a sentence that begins with the
            Loop or Scan.
    """

    def __init__(
        self,
        repetition: Repetition,
        inference: ShapeInference,
        bounds: MemoryBounds,
        certain: bool,
        raisers: Iterable[Raiser],
        max_identity: int = 384,
        straight: bool = False,
        costs: Costs = "none",
        spread_nan: bool = False,
        keep_nan: bool = False,
    ) -> None:
        self.max_identity = max_identity
        self.straight = straight
        self.costs = costs
        self.spread_nan = spread_nan
        self.keep_nan = keep_nan
        self._raisers = tuple(raisers)
        self._finals: dict[State, Callable[[], Value]] = {}
        self._solved: dict[Value, tuple[State, Value]] = {}
        self.replacements: list[Replacement] = []
        feeding = Feeding(repetition, inference, IterationMemory(repetition, inference, bounds))
        super().__init__(repetition, feeding, feeding.same, certain, compute_nested)
        self._solve_all()

    def placeholder(self, name: str, operand: Operand) -> Value:
        """A value that the body might have, for what is known of it for all trips."""
        value = Value(name)
        self.operands[value] = operand
        self.inference.assume(value, operand.fact)
        return value

    def varies(self, value: Value) -> bool:
        """Whether a value depends on what the body is given anew on each trip."""
        return value in self._varying or value.producer in self._varying

    @lazy_property
    def _varying(self) -> set[object]:
        body = self.repetition.body
        same = {state.given for state in self.repetition.states if is_invariant(state)}
        return body.dependents([v for v in body.inputs if v not in same])

    def count_along(self, source: Value, axis: int) -> None:
        """Count the trips of a Scan along an axis that is certainly as long as its first one, so
        that nothing of what is scanned is computed for its length alone."""
        if self.repetition.maximum is not None:
            return
        first = self.repetition.scanned[0]
        own, other = (self.inference.fact(value).shape for value in (first.source, source))
        if not own or not other or own[first.axis] != other[axis]:
            return
        shape = self.emit.add("Shape", [self.feeding.same(source).value], "shape")
        count = self.emit.add("Gather", [shape, self.feeding.integers(axis)], "trips")
        self.emit.graph.replace_uses(self.feeding.trips, count)
        self.feeding.trips = count

    def final(self, state: State) -> Value:
        """What the last trip gave on, or the initial state where there was none."""
        found = self._finals.get(state)
        if found is not None:
            return found()
        self._join(state.given)
        return super().final(state)

    # States --------------------------------------------------------------------------------------

    def _solve_all(self) -> None:
        """Find the states, those first that others are made of."""
        graph = Dependences(self.repetition, (), self._known_states()).graph
        positions = {state: index for index, state in enumerate(self.repetition.states)}
        places = {node: index for index, node in enumerate(self.repetition.body.nodes())}
        for members in self._components(graph):
            states = [vertex for vertex in members if isinstance(vertex, State)]
            nodes = [vertex for vertex in members if isinstance(vertex, Node)]
            if not states or states[0].given in self.operands:
                continue
            (first, *others) = sorted(states, key=positions.__getitem__)
            if len(members) > 1 or graph.has_edge(first, first):
                nodes.sort(key=places.__getitem__)
                self._solve((first, *others), tuple(nodes))
            else:
                self.compute(first)

    def _components(self, graph: nx.DiGraph[Vertex]) -> list[set[Vertex]]:
        """What depends on each other, those first that others are made of. Mostly all states that
        are not known stand in one circle; then nothing else need be put in order."""
        found = list(nx.strongly_connected_components(graph))
        open_ones = [members for members in found if any(map(self._is_open, members))]
        if len(open_ones) <= 1:
            return open_ones
        condensed = nx.condensation(graph, found)
        return [condensed.nodes[c]["members"] for c in nx.topological_sort(condensed)]

    def _is_open(self, vertex: Vertex) -> bool:
        return isinstance(vertex, State) and vertex.given not in self.operands

    def _known_states(self) -> list[State]:
        """Enter the states that are known from the start: those that never change, and counters."""
        known = []
        for state in self.repetition.states:
            if is_invariant(state):
                self.enter_invariant(state)
                known.append(state)
                continue
            found = counter(state, self.repetition, self.feeding)
            if found is not None:
                self.enter_state(state, *found)
                known.append(state)
        return known

    def _solve(self, states: tuple[State, ...], nodes: tuple[Node, ...]) -> None:
        """Let an operator compute some states."""
        recurrence = Recurrence(states, nodes, self, self.extent.certain)
        raised = self._raised(recurrence)
        self.replacements.append(raised)
        self._finals.update(raised.final)
        for value, state in raised.aliases.items():
            if state in raised.every:
                self.operands[value] = self._reshaped(raised.every[state], state, value)
        for state, every in raised.every.items():
            fact = self.inference.fact(state.initial).without_content()
            self.operands[state.result] = Operand(every, True, fact)
            self._solved[state.given] = state, every

    def _join(self, given: Value) -> bool:
        """Enter a state that an operator computes: what is given to each trip begins with the
        initial one. Seldom is it asked for."""
        if given not in self._solved:
            return False
        state, every = self._solved.pop(given)
        first = self.emit.unsqueeze(self.feeding.same(state.initial).value, 0, "first")
        self.enter_state(state, self.emit.concat([first, every], 0, given.name))
        return True

    def _reshaped(self, every: Value, state: State, value: Value) -> Operand:
        """The values of a state in the shape of another one, which differs by axes of size 1."""
        own, other = self.inference.fact(state.initial), self.inference.fact(value)
        gone, new = (
            tuple([1 + axis for axis, dim in enumerate(fact.shape or ()) if dim == 1])
            for fact in (own, other)
        )
        if gone != new:
            every = self.emit.squeeze(every, gone, value.name) if gone else every
            every = self.emit.unsqueeze(every, new, value.name) if new else every
        return Operand(every, True, other.without_content())

    def _raised(self, recurrence: Recurrence) -> Replacement:
        names = " and ".join(f"'{state.given.name}'" for state in recurrence.states)
        reasons: list[str] = []
        for raiser in self._raisers:
            raised = raiser(recurrence)
            if isinstance(raised, Replacement):
                return raised
            reasons.append(raised)
        raise Unbatchable(f"carries {names}, which no operator computes: {'; '.join(reasons)}")

    # Values --------------------------------------------------------------------------------------

    def operand(self, value: Value) -> Operand:
        """What stands for a value; what it is made of is computed when it is first asked for."""
        found = self.operands.get(value)
        if found is not None:
            return found
        stack = [value]
        while stack:
            node = self._missing(stack[-1])
            if node is None:
                stack.pop()
                continue
            read = (*node.inputs, *captured_by(node))
            needed = [v for v in read if v is not None and self._missing(v) is not None]
            stack += needed
            if not needed:
                self.compute_node(node)
        return super().operand(value)

    def compute_node(self, node: Node) -> None:
        """Compute a node; what an Identity gives is what it is given."""
        source = node.inputs[0] if node.is_op("Identity") else None
        if source is None:
            super().compute_node(node)
        else:
            self.operands[node.output()] = super().operand(source)

    def _missing(self, value: Value) -> Node | None:
        """The node of the body that must still be computed for a value."""
        if value in self.operands or value in self.ragged:
            return None
        if value.constant is not None or self._join(value):
            return None
        body = self.repetition.body
        if value.owner is body and value in body.inputs:
            raise Unbatchable(
                f"needs all values of '{value.name}', of which only the last is there"
            )
        node = value.producer
        return node if node is not None and node.graph is body else None
