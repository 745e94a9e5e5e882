"""One Loop or Scan with what can be computed at once computed at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import onnx

from ...analysis.constants.folding import Folder
from ...analysis.safety.speculation import Speculation
from ...analysis.shapes.inference import ShapeInference
from ...analysis.trips.certainty import runs_certainly
from ...ir import Graph, Node, Template, Value
from ...operators.batching import Unbatchable
from ..scans.layout import replace_outputs
from ..tools.stacked_rows import read_rows
from .batcher import Batcher
from .dependences import Dependences, Vertex
from .division import Division
from .feeding import Feeding
from .rebuilding import Plan, rebuild
from .remainder import Remainder
from .repetition import Repetition, Stacked, State
from .states import Places, counter
from .writes import Write, find_writes
from .zero_trips import sizes_to_drop

_FREE = ("Constant", "Identity")
_HEAVY = ("MatMul", "Gemm", "Conv", "Einsum", "MatMulInteger", "ConvTranspose")
_HEAVY_WEIGHT = 4
"""How many other nodes one with products is worth, when trips are compared with a copy more."""


class Vectorization:
    """What becomes of a Loop or Scan, made beside it; nothing is changed before `put_in_place`.

    Args:
        repetition: the Loop or Scan.
        inference: facts about the model's values.
        max_bytes: how large a value of all trips may be, where sizes are known.

    Raises:
        Unbatchable: nothing can be computed at once, or that does not pay; the message ends a
            sentence that begins with the Loop or Scan.
    """

    def __init__(self, repetition: Repetition, inference: ShapeInference, max_bytes: int) -> None:
        self.repetition = repetition
        self._inference = inference
        known = Speculation(inference, inference.model.functions).outside
        self._certain = runs_certainly(repetition.node, known)
        self.feeding = Feeding(repetition, inference)
        self.remainder = Remainder(repetition, self.feeding, self._certain)
        self.batcher = Batcher(repetition, self.feeding, max_bytes, self.remainder.operand)
        self.dependences = self._dependences()
        self.division = Division(self.dependences, self.batcher.compute)
        self.plan: Plan | None = None
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
            return "states that no trip needs of another one are gone"
        return f"{count} {'node runs' if count == 1 else 'nodes run'} once, for all trips"

    def _dependences(self) -> Dependences:
        """Enter the states that are known from the start."""
        repetition, known = self.repetition, []
        writes = list(find_writes(repetition, Places(repetition, self.feeding).is_place))
        written = {write.state for write in writes}
        for state in repetition.states:
            joined = None if state in written else counter(state, repetition, self.feeding)
            if joined is not None:
                self.batcher.enter_state(state, joined)
                known.append(state)
        return Dependences(repetition, writes, known)

    # What comes of it ----------------------------------------------------------------------------

    def _ask(self) -> list[bool]:
        """Make what the outputs of the loop become those of the graph; which are asked for."""
        results = [
            *map(self._final, self.repetition.states),
            *map(self._row, self.repetition.stacked),
        ]
        given = [value for value in results if value is not None]
        infos = [onnx.ValueInfoProto(name=value.name) for value in given]
        self.feeding.emit.graph.set_outputs(given, infos)
        return [value is not None for value in results]

    def _final(self, state: State) -> Value | None:
        if not self._is_used(state.final):
            return None
        inside = state in self.division.inside or any(
            isinstance(vertex, Write) and vertex.state is state for vertex in self.division.inside
        )
        return self.remainder.final(state) if inside else self.batcher.final(state)

    def _row(self, stacked: Stacked) -> Value | None:
        if not self._is_used(stacked.output):
            return None
        if self.dependences.maker(stacked.result) in self.division.inside:
            return self.remainder.output(stacked)
        dropped = [] if self._certain else sizes_to_drop(self.repetition, stacked, self._inference)
        return self.batcher.stacked(stacked, dropped)

    def _is_used(self, value: Value | None) -> bool:
        graph = self.repetition.node.graph
        assert graph is not None
        return value is not None and graph.is_used(value)

    # What is left --------------------------------------------------------------------------------

    def _leave_a_loop(self) -> None:
        body = self.repetition.body
        if body.annotations:
            raise Unbatchable(f"{self.reason}; its body has quantization annotations")
        inside = self._with_writers(self.division.inside)
        self.plan = Plan(self.remainder, inside, self.batcher.operands)
        self._drop_unread(self.plan.needed)
        self.remainder.drop_unread()
        states, stacked = self.repetition.states, self.repetition.stacked
        given = len(states) + sum(self._is_used(one.output) for one in stacked)
        if self.plan.cost(_weight) >= sum(map(_weight, body.nodes())) + given:
            raise Unbatchable(self.reason)
        rebuild(self.plan)

    def _with_writers(self, inside: Iterable[Vertex]) -> set[object]:
        """The nodes of writes that stay, and their states, in the place of the writes."""
        kept: set[object] = set()
        for vertex in inside:
            kept |= {vertex.state, vertex.node} if isinstance(vertex, Write) else {vertex}
        return kept

    # Putting it in place -------------------------------------------------------------------------

    def put_in_place(self, graph: Graph) -> Node | None:
        """Put it in the place of the Loop or Scan; the loop that is left, if there is one."""
        self._drop_unread()
        shapes = [self._inference.fact(w.element).shape for w in self.dependences.writes]
        scratch, folder = self.feeding.emit.graph, Folder(self._inference.model)
        for value in list(scratch.initializers):
            if not scratch.is_used(value):
                scratch.remove_initializer(value)
        template = Template(scratch, graph, fold=folder.fold)
        made = iter(template.instantiate(list(self.feeding.outside)))
        results = [next(made) if asked else None for asked in self._asked]
        node = self.repetition.node
        replace_outputs(graph, node, results[: len(node.outputs)])
        for write, shape in zip(self.dependences.writes, shapes, strict=True):
            result = results[self.repetition.states.index(write.state)]
            made = None if result is None else result.producer
            if made is not None and made.is_op("SplitToSequence") and shape is not None:
                read_rows(graph, made, shape)
        if self.plan is None:
            return None
        return next(holder for holder in template.holders if holder.is_op(node.op_type))

    def _drop_unread(self, more: Sequence[Value] = ()) -> None:
        """Remove what was made for values that nobody asked for, and that nothing more needs."""
        scratch, count = self.feeding.emit.graph, sum(self._asked)
        given = [*scratch.outputs[:count], *more]
        scratch.set_outputs(given, [onnx.ValueInfoProto(name=value.name) for value in given])
        for node in reversed(scratch.nodes()):
            if not scratch.is_needed(node):
                scratch.remove(node)


def _weight(node: Node) -> int:
    if node.is_op(*_FREE):
        return 0
    return _HEAVY_WEIGHT if node.is_op(*_HEAVY) or node.bodies else 1
