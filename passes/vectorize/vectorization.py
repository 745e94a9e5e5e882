"""One Loop, Scan or SequenceMap with what can be computed at once computed at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ...analysis.safety.speculation import Speculation
from ...analysis.shapes.inference import ShapeInference
from ...analysis.shapes.nonzero_trips import runs_certainly
from ...facts.fact import Fact
from ...facts.reason import Message
from ...ir import Graph, Node, Value
from ...ops.batching import Unbatchable
from ..scans.layout import replace_outputs
from ..utils.legality import can_carry
from ..utils.stacked_rows import read_rows
from .accumulators import Write, as_sequence, find_writes
from .batch_interpreter import Batcher
from .batched_inputs import Feeding
from .dependence_graph import Dependences, Vertex
from .induction_variables import counter, is_invariant
from .injective_indices import Places
from .loop_distribution import Division
from .loop_view import Repetition, Stacked, State
from .memory import IterationMemory
from .nested_control_flow import compute_nested
from .residual_loop import Plan, Remainder, rebuild
from .splice import drop_unread, give_out, is_settled, is_used, pass_on_facts, put_in_place
from .zero_trips import SizesToDrop

_FREE = ("Constant", "Identity")
_HEAVY = ("MatMul", "Gemm", "Conv", "Einsum", "MatMulInteger", "ConvTranspose")
_HEAVY_WEIGHT = 4
"""How many other nodes one with products is worth, when trips are compared with a copy more."""

_STATES_GONE = Message("states-removed", "states that no trip needs of another one are gone")
_NODE_ONCE = Message("node-vectorized", "{nodes} node runs once, for all trips")
_NODES_ONCE = Message("nodes-vectorized", "{nodes} nodes run once, for all trips")


class Vectorization:
    """What becomes of a Loop or Scan, made beside it; nothing is changed before `put_in_place`.

    Args:
        repetition: the Loop or Scan.
        inference: facts about the model's values.
        memory: holds values of all iterations to bounds.

    Attributes:
        facts: what is known of values that were put in place, sizes with numbers or names but for
            the number of trips.

    Raises:
        Unbatchable: nothing can be computed at once, or that does not pay; the message ends a
            sentence that begins with the Loop or Scan.
    """

    def __init__(
        self, repetition: Repetition, inference: ShapeInference, memory: IterationMemory
    ) -> None:
        self.repetition = repetition
        self.graph = repetition.around
        self._inference = inference
        known = Speculation(inference, inference.model.functions).outside
        self.feeding = Feeding(repetition, inference, memory)
        most = self.feeding.most_dimension() if repetition.node.is_op("SequenceMap") else None
        certain = most is not None and most.less(1) is False
        self._certain = certain or runs_certainly(repetition.node, known)
        self.remainder = Remainder(repetition, self.feeding, self._certain)
        self.batcher = Batcher(
            repetition, self.feeding, self.remainder.operand, self._certain, compute_nested
        )
        self.dependences = self._dependences()
        self.division = Division(
            self.dependences, self.batcher.compute, self.batcher.computes_ragged
        )
        self.plan: Plan | None = None
        self._sizes_to_drop = SizesToDrop(repetition, inference)
        self._left: Node | None = None
        self.facts: dict[Value, Fact] = {}
        self._asked = self._ask()
        if self.division.inside:
            self._leave_a_loop()

    @property
    def reason(self) -> str:
        """Why a loop is left."""
        return self.division.reasons[0]

    @property
    def told(self) -> str:
        """What was done where a loop is left."""
        assert self.plan is not None
        left = set(self.plan.nodes)
        nodes = [v for v in self.dependences.graph if isinstance(v, Node) and v not in left]
        count = sum(_weight(node) > 0 for node in nodes)
        if not count:
            return _STATES_GONE()
        return (_NODE_ONCE if count == 1 else _NODES_ONCE)(nodes=count)

    def _dependences(self) -> Dependences:
        """Enter the states that are known from the start."""
        repetition, known = self.repetition, []
        places = Places(repetition, self.feeding, self._certain)
        writes = list(find_writes(repetition, places))
        written = {write.state for write in writes}
        for state in repetition.states:
            if is_invariant(state) and self._may_forward(state):
                self.batcher.enter_invariant(state)
                known.append(state)
                continue
            found = None if state in written else counter(state, repetition, self.feeding)
            if found is not None:
                self.batcher.enter_state(state, *found)
                known.append(state)
        return Dependences(repetition, writes, known)

    def _may_forward(self, state: State) -> bool:
        final = state.final
        return final is None or can_carry(self.graph, final, state.initial)

    # What comes of it ----------------------------------------------------------------------------

    def _ask(self) -> list[bool]:
        """Make what the outputs of the loop become those of the graph; which are asked for."""
        results = [
            *map(self._final, self.repetition.states),
            *map(self._row, self.repetition.stacked),
        ]
        give_out(self.feeding.emit.graph, [value for value in results if value is not None])
        return [value is not None for value in results]

    def _final(self, state: State) -> Value | None:
        if not is_used(self.graph, state.final):
            return None
        inside = state in self.division.inside or any(
            isinstance(vertex, Write) and vertex.state is state for vertex in self.division.inside
        )
        return self.remainder.final(state) if inside else self.batcher.final(state)

    def _row(self, stacked: Stacked) -> Value | None:
        if not is_used(self.graph, stacked.output):
            return None
        if self.dependences.maker(stacked.result) in self.division.inside:
            return self.remainder.output(stacked)
        dropped = [] if self._certain else self._sizes_to_drop.of(stacked)
        rows = self.batcher.stacked(stacked, dropped)
        output = stacked.output
        if dropped and output is not None and output not in self.graph.outputs:
            output.info = None  # it tells sizes that are 0 if there are no trips
        if not self.repetition.node.is_op("SequenceMap"):
            return rows
        elem_type = self._inference.fact(stacked.result).elem_type
        return as_sequence(rows, elem_type, stacked.result.name, self.feeding)

    # What is left --------------------------------------------------------------------------------

    def _leave_a_loop(self) -> None:
        body = self.repetition.body
        if self.repetition.node.is_op("SequenceMap"):
            raise Unbatchable(self.reason)
        if body.annotations:
            raise Unbatchable(f"{self.reason}; its body has quantization annotations")
        inside = self._with_writers(self.division.inside)
        self.plan = Plan(self.remainder, inside, self.batcher.operands)
        scratch = self.feeding.emit.graph
        give_out(scratch, [*scratch.outputs, *self.plan.needed])
        drop_unread(scratch)
        self.remainder.drop_unread()
        if not self.plan.gives:  # nothing reads what cannot be computed at once
            self.plan = None
            return
        states, stacked = self.repetition.states, self.repetition.stacked
        given = len(states) + sum(is_used(self.graph, one.output) for one in stacked)
        if self.plan.cost(_weight) >= sum(map(_weight, body.nodes())) + given:
            raise Unbatchable(self.reason)
        self._left = rebuild(self.plan)

    def _with_writers(self, inside: Iterable[Vertex]) -> set[object]:
        """The nodes of writes that stay, and their states, in the place of the writes."""
        kept: set[object] = set()
        for vertex in inside:
            kept |= {vertex.state, vertex.node} if isinstance(vertex, Write) else {vertex}
        return kept

    # Putting it in place -------------------------------------------------------------------------

    def put_in_place(self, graph: Graph) -> Node | None:
        """Put it in the place of the Loop or Scan; the loop that is left, if there is one."""
        sequences = {
            result: self._inference.fact(element).shape for result, element in self._sequences()
        }
        outputs = iter(self.feeding.emit.graph.outputs)
        results = [next(outputs) if asked else None for asked in self._asked]
        left = [] if self._left is None else [self._left.output()]
        rows = [] if self.plan is None else self.plan.boundary
        read = [self.batcher.operands[value].value for value in rows]
        placed = put_in_place(self.feeding, [*results, *left, *read], graph)
        node, count = self.repetition.node, len(self.repetition.node.outputs)
        self.facts = pass_on_facts(self.feeding, placed)
        replace_outputs(graph, node, placed[:count])
        self._tell(placed[len(placed) - len(rows) :], rows)
        for index, shape in sequences.items():
            result = placed[index]
            made = None if result is None else result.producer
            if made is not None and made.is_op("SplitToSequence") and shape is not None:
                read_rows(graph, made, shape)
        loop = placed[len(results)] if left else None
        return None if loop is None else loop.producer

    def _tell(self, placed: Sequence[Value | None], rows: Sequence[Value]) -> None:
        """Note what is known of the rows that the loop that is left reads."""
        trips = self.feeding.trip_dimension() or self._inference.symbols.fresh()
        for new, value in zip(placed, rows, strict=True):
            fact = self.batcher.operands[value].fact
            if new is not None and is_settled(fact):
                self.facts[new] = Fact(fact.elem_type, (trips, *(fact.shape or ())))

    def _sequences(self) -> Iterator[tuple[int, Value]]:
        """Which outputs may be sequences, and an element of each."""
        for write in self.dependences.writes:
            yield self.repetition.states.index(write.state), write.element
        if self.repetition.node.is_op("SequenceMap"):
            yield from enumerate(one.result for one in self.repetition.stacked)


def _weight(node: Node) -> int:
    if node.is_op(*_FREE):
        return 0
    return _HEAVY_WEIGHT if node.is_op(*_HEAVY) or node.bodies else 1
