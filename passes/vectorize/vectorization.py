"""Vectorization of one Loop, Scan or SequenceMap."""

import functools
from collections.abc import Iterator, Sequence

from ...analysis.constants.folding import Folder
from ...analysis.shapes.inference import ShapeInference
from ...analysis.shapes.single_node_model import reads_of
from ...facts.fact import Fact, is_settled
from ...facts.reason import Message
from ...ir import Graph, Node, Value
from ...ir.copying import copy_node
from ...ops.batching import Unbatchable
from ...ops.cost_estimates import LONG
from ...ops.flat_rows import SHORT
from ..iteration.batched_inputs import Feeding
from ..iteration.dependence_graph import DependenceGraph, Write, producers
from ..iteration.iterations import IterationMemory, ZeroIterationSizes
from ..iteration.loop_view import LoopView, ScanOutput, State
from ..iteration.places import Places
from ..iteration.splice import (
    TripCountGuard,
    emit_choice,
    is_used,
    propagate_facts,
    set_results,
    splice,
)
from ..utils.legality import can_carry
from ..utils.replace_all_uses import replace_outputs
from ..utils.stacked_rows import read_rows
from .accumulators import as_sequence, find_writes
from .batch_interpreter import Batcher
from .nested_control_flow import compute_nested
from .residual_loop import (
    Distribution,
    ResidualOutputs,
    ResidualPlan,
    plan_residual_loop,
    rebuild,
    weight,
)

_STATES_GONE = Message("states-removed", "states that carry nothing between iterations are removed")
_NODE_ONCE = Message("node-vectorized", "{nodes} node runs once, for all iterations")
_NODES_ONCE = Message("nodes-vectorized", "{nodes} nodes run once, for all iterations")


class Vectorization:
    """The batched form of a Loop or Scan, in a scratch graph until `splice`.

    Args:
        exact: true if floats must be added and multiplied in the order of the loop.
        certain: true if there is a first iteration where the batched form runs.

    Attributes:
        facts: the facts of spliced values, with sizes by number or name besides the trip count.

    Raises:
        Unbatchable: no batched part, or no gain; the message continues a sentence about the Loop or
            Scan.
    """

    def __init__(
        self,
        loop_view: LoopView,
        inference: ShapeInference,
        memory: IterationMemory,
        exact: bool = False,
        certain: bool = False,
    ) -> None:
        self.loop_view = loop_view
        self.graph = loop_view.around
        self._inference = inference
        self.feeding = Feeding(loop_view, inference, memory, exact)
        most = self.feeding.most_dimension if loop_view.node.is_op("SequenceMap") else None
        certain = certain or (most is not None and most.less(1) is False)
        self._certain = certain or loop_view.runs_certainly(inference)
        self.residual = ResidualOutputs(loop_view, self.feeding, self._certain)
        self.batcher = Batcher(
            loop_view, self.feeding, self.residual.operand, self._certain, compute_nested
        )
        self.dependences = self._dependences()
        self.distribution = Distribution(
            self.dependences,
            self.batcher.compute,
            self.batcher.computes_partial,
            self.batcher.stacks_partial,
        )
        self.plan: ResidualPlan | None = None
        self._sizes_to_drop = ZeroIterationSizes(loop_view, inference)
        self._loop: Node | None = None
        self.facts: dict[Value, Fact] = {}
        self._used = self._set_results()
        if self.distribution.inside:
            self._emit_residual_loop()

    @property
    def reason(self) -> str:
        """The obstacle that leaves a residual loop."""
        return self.distribution.reasons[0]

    @property
    def summary(self) -> str:
        """The text of the remark about the residual loop."""
        assert self.plan is not None
        residual_nodes = set(self.plan.nodes)
        nodes = [
            v for v in self.dependences.readers if isinstance(v, Node) and v not in residual_nodes
        ]
        count = sum(weight(node) > 0 for node in nodes)
        if not count:
            return _STATES_GONE()
        return (_NODE_ONCE if count == 1 else _NODES_ONCE)(nodes=count)

    def _dependences(self) -> DependenceGraph:
        """Enter the independent states, and build the dependence graph."""
        loop_view = self.loop_view
        places = Places(self.feeding, self._certain)
        writes = list(find_writes(loop_view, places))
        accumulators = {write.state for write in writes}
        independent = self.batcher.enter_independent(accumulators, self._may_forward)
        return DependenceGraph(loop_view, writes, independent)

    def _may_forward(self, state: State) -> bool:
        final = state.final
        return final is None or can_carry(self.graph, final, state.initial)

    # Outputs -------------------------------------------------------------------------------------

    def _set_results(self) -> list[bool]:
        """Set the results as outputs of the scratch graph; the flags of used outputs."""
        results = [
            *map(self._final, self.loop_view.states),
            *map(self._row, self.loop_view.scan_outputs),
        ]
        set_results(self.feeding.emit.graph, [value for value in results if value is not None])
        return [value is not None for value in results]

    def _final(self, state: State) -> Value | None:
        if not is_used(self.graph, state.final):
            return None
        inside = state in self.distribution.inside or any(
            isinstance(vertex, Write) and vertex.state is state
            for vertex in self.distribution.inside
        )
        return self.residual.final(state) if inside else self.batcher.final(state)

    def _row(self, stacked: ScanOutput) -> Value | None:
        if not is_used(self.graph, stacked.output):
            return None
        if self.dependences.maker(stacked.result) in self.distribution.inside:
            return self.residual.output(stacked)
        dropped = [] if self._certain else self._sizes_to_drop.of(stacked)
        sizes = [] if self._certain else self._sizes_to_drop.sizes(stacked)
        rows = self.batcher.stack(stacked, dropped, sizes)
        output = stacked.output
        if dropped and output is not None and output not in self.graph.outputs:
            output.info = None  # its sizes are 0 without iterations
        if not self.loop_view.node.is_op("SequenceMap"):
            return rows
        elem_type = self._inference.fact(stacked.result).elem_type
        return as_sequence(rows, elem_type, stacked.result.name, self.feeding)

    # Residual loop -------------------------------------------------------------------------------

    def _emit_residual_loop(self) -> None:
        if self.loop_view.node.is_op("SequenceMap"):
            raise Unbatchable(self.reason)
        if self.loop_view.body.annotations:
            raise Unbatchable(f"{self.reason}; its body has quantization annotations")
        self.plan = plan_residual_loop(
            self.residual, self.dependences, self.distribution, self.batcher.operands
        )
        if self.plan is not None:
            self._loop = rebuild(self.plan)

    # Splicing ------------------------------------------------------------------------------------

    def splice_guarded(self, guard: TripCountGuard) -> None:
        """Replace the Loop by an If around what has no residual loop."""
        results = self._results()
        fold = Folder(self._inference.model).fold
        emitted = guard.emit(self.graph, lambda some: splice(self.feeding, results, some), fold)
        replace_outputs(self.graph, self.loop_view.node, emitted)

    def splice_by_length(self) -> None:
        """Replace the Loop by an If that keeps it where blocks of rows are long."""
        graph, node, values = self.graph, self.loop_view.node, dict[Value, Value]()
        values |= {own: outer for outer, own in self.feeding.outside.items()}
        results, short = self._results(), self._are_short()

        def condition() -> Value:
            self._copy([short], graph, values)
            return values[short]

        emitted = emit_choice(
            *(graph, node, self._inference),
            ("short", LONG),
            condition,
            (
                lambda body: self._copy(results, body, values),
                lambda body: copy_node(node, body, {}).outputs,
            ),
        )
        replace_outputs(graph, node, emitted)

    def _are_short(self) -> Value:
        """Emit the test for blocks that are short on average."""
        emit, flats = self.feeding.emit, self.batcher.combined
        total = functools.reduce(
            lambda one, other: emit.add("Add", [one, other], "total"),
            [flat.total for flat in flats],
        )
        most = emit.vector((SHORT * len(flats),), "most")
        most = emit.add("Mul", [self.feeding.iterations, most], "most")
        return emit.squeeze(emit.add("Less", [total, most], "short"), 0, "short")

    def _copy(
        self, results: Sequence[Value | None], graph: Graph, values: dict[Value, Value]
    ) -> list[Value | None]:
        """Copy what computes results in the scratch graph, but for values that have copies."""
        present = [value for value in results if value is not None]
        nodes = producers(self.feeding.graph.nodes(), present, values)
        for value in dict.fromkeys([*present, *(v for node in nodes for v in reads_of(node))]):
            if value not in values and value.constant is not None and value.producer is None:
                values[value] = graph.add_initializer(value.name, value.constant)
        for node in nodes:
            copy_node(node, graph, values)
        return [value and values[value] for value in results]

    def _results(self) -> list[Value | None]:
        """The outputs of the Loop or Scan in the scratch graph; None for unused ones."""
        outputs = iter(self.feeding.emit.graph.outputs)
        return [next(outputs) if flag else None for flag in self._used]

    def splice(self, graph: Graph) -> Node | None:
        """Replace the Loop or Scan, and return the residual loop, if any."""
        sequences = {
            result: self._inference.fact(element).shape for result, element in self._sequences()
        }
        results = self._results()
        loops = [] if self._loop is None else [self._loop.output()]
        rows = [] if self.plan is None else self.plan.boundary
        read = [self.batcher.operands[value].value for value in rows]
        copies = splice(self.feeding, [*results, *loops, *read], graph)
        node, count = self.loop_view.node, len(self.loop_view.node.outputs)
        self.facts = propagate_facts(self.feeding, copies)
        replace_outputs(graph, node, copies[:count])
        self._record_facts(copies[len(copies) - len(rows) :], rows)
        for index, shape in sequences.items():
            result = copies[index]
            producer = None if result is None else result.producer
            if producer is not None and producer.is_op("SplitToSequence") and shape is not None:
                read_rows(graph, producer, shape)
        loop = copies[len(results)] if loops else None
        return None if loop is None else loop.producer

    def _record_facts(self, copies: Sequence[Value | None], rows: Sequence[Value]) -> None:
        """Record the facts of the rows that the residual loop reads."""
        iterations = self.feeding.iteration_dimension or self._inference.symbols.fresh()
        for new, value in zip(copies, rows, strict=True):
            fact = self.batcher.operands[value].fact
            if new is not None and is_settled(fact):
                self.facts[new] = Fact(fact.elem_type, (iterations, *(fact.shape or ())))

    def _sequences(self) -> Iterator[tuple[int, Value]]:
        """Yield the outputs that may be sequences, with an element of each."""
        for write in self.dependences.writes:
            yield self.loop_view.states.index(write.state), write.element
        if self.loop_view.node.is_op("SequenceMap"):
            yield from enumerate(one.result for one in self.loop_view.scan_outputs)
