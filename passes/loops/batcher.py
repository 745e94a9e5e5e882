"""The body of a Loop or Scan, computed for all its trips at once, one node after the other."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import onnx

from ...analysis.safety.speculation import Speculation
from ...analysis.shapes.inference import ShapeInference
from ...facts.dimension import product
from ...facts.fact import Content, Fact
from ...ir import Node, Value, normal_domain
from ...operators import rules_of
from ...operators.batching import Batch, Extent, Operand, Unbatchable, spread
from ...operators.outputs import content_of
from ...operators.randomness import find_random_in
from ..base import RewriteError
from .collected import collected
from .dependences import Vertex
from .feeding import Feeding
from .repetition import Repetition, Stacked, State
from .states import iteration_like, shifted
from .writes import Write


class Batcher:
    """Computes nodes and states for all trips at once; each must follow what it is made of.

    Args:
        repetition: the Loop or Scan.
        feeding: what it is fed with.
        max_bytes: how large a value of all trips may be, where sizes are known.
        trip_by_trip: what stands for a value of the body that is not computed here.
        certain: whether there is one trip at least.

    Attributes:
        extent: what is known of the trips before run time.
        operands: what stands for the values of the body that are given or were computed.
    """

    def __init__(
        self,
        repetition: Repetition,
        feeding: Feeding,
        max_bytes: int,
        trip_by_trip: Callable[[Value], Operand],
        certain: bool,
    ) -> None:
        self.repetition = repetition
        self._trip_by_trip = trip_by_trip
        self.feeding = feeding
        self.max_bytes = max_bytes
        self.emit = feeding.emit
        self._inference: ShapeInference = feeding.inference
        self._most_trips = feeding.most_trips()
        self._trips = feeding.trip_dimension()
        self._speculation = Speculation(self._inference, self._inference.model.functions)
        self.extent = Extent(feeding.number, feeding.most_dimension(), certain)
        self.operands = feeding.handed()
        self._joined: dict[State, Value] = {}
        self._collected: dict[State, Value] = {}

    def operand(self, value: Value) -> Operand:
        """What stands for a value that the body computed, is given or captures."""
        found = self.operands.get(value)
        if found is not None:
            return found
        inside = value.graph is self.repetition.body and value.constant is None
        return self._trip_by_trip(value) if inside else self.feeding.same(value)

    def compute(self, vertex: Vertex) -> None:
        """Compute a node or state for all trips.

        Raises:
            Unbatchable: it cannot be; the message ends a sentence that begins with the Loop or
                Scan.
        """
        if isinstance(vertex, Node):
            self._compute(vertex)
        elif isinstance(vertex, Write):
            self._collected[vertex.state] = collected(vertex, self.operand, self.feeding)
        elif vertex not in self._joined:
            result = self.operand(vertex.result)
            self.enter_state(vertex, shifted(vertex, result, self.feeding))

    def enter_invariant(self, state: State) -> None:
        """Let a state be known that never changes."""
        self.operands[state.given] = self.feeding.same(state.initial)
        self._collected[state] = self.feeding.same(state.initial).value

    def enter_state(self, state: State, joined: Value, content: Content | None = None) -> None:
        """Let a state be known: its values, from the initial to the final one, are `joined`."""
        self._joined[state] = joined
        iteration = self.repetition.iteration
        if iteration is not None and iteration_like(state.given, self.repetition):
            self.operands[state.given] = self.operands[iteration]
            return
        fact = dataclasses.replace(self._inference.fact(state.initial), content=content)
        value = self.feeding.cut(joined, [0], [-1], [0])
        self.operands[state.given] = Operand(value, True, fact)

    # Nodes ---------------------------------------------------------------------------------------

    def _compute(self, node: Node) -> None:
        foreign = bool(normal_domain(node.domain)) or node.op.references
        random = None if foreign else find_random_in(node, self._inference.model.functions)
        if random is not None:
            raise Unbatchable(f"draws random numbers ({random})")
        if foreign or node.bodies:
            raise Unbatchable(f"holds {node}, for which there is no batching rule")
        operands = [None if value is None else self.operand(value) for value in node.inputs]
        if not any(operand is not None and operand.batched for operand in operands):
            if self._may_run(node):
                self._keep(node, operands)
                return
            operands = self._spread(node, operands)
        facts = [Fact() if v is None else self._inference.fact(v) for v in node.outputs]
        rows = self._read_row(node)
        if rows is not None:
            self.operands[node.output()] = Operand(rows, True, facts[0])
            return
        facts[0] = self._followed(node, operands, facts[0])
        given = Batch(node, operands, facts, self.emit, self.feeding.trips, self.extent)
        try:
            results = rules_of(node.op).batch(given)
        except (Unbatchable, RewriteError) as error:
            raise Unbatchable(f"holds {node}, which {error}") from error
        batched = [not given.is_unvarying(result) for result in results]
        for fact, each in zip(facts, batched, strict=False):
            if each:
                self.require_room(node, fact)
        made = map(Operand, results, batched, facts)
        for value, operand in zip(node.outputs, made, strict=False):
            if value is not None:
                self.operands[value] = operand

    def _followed(self, node: Node, operands: Sequence[Operand | None], fact: Fact) -> Fact:
        """What is known of the first output, elements that follow from the number of the trip
        included."""
        facts = [Fact() if operand is None else operand.fact for operand in operands]
        if fact.content is not None or all(known.content is None for known in facts):
            return fact
        return dataclasses.replace(fact, content=content_of(node, facts, fact.elem_type))

    def _read_row(self, node: Node) -> Value | None:
        """What a body reads row by row, where there are as many rows as trips: all of it."""
        source, index = node.input(0), node.input(1)
        if not node.is_op("Gather") or index is None or source is None or self._trips is None:
            return None
        rows, axis = self.operand(source), node.attribute("axis", 0)
        shape, each = rows.fact.shape, iteration_like(index, self.repetition)
        if rows.batched or shape is None or not each or index.shape:
            return None
        if not -len(shape) <= axis < len(shape) or shape[axis] != self._trips:
            return None
        return self.feeding.rows(rows, axis, node.output().name)

    def require_room(self, node: Node, fact: Fact) -> None:
        """Check that all trips of what a node gives are not too large.

        Raises:
            Unbatchable: they are.
        """
        elements = None if fact.shape is None else product(fact.shape).value
        if self._most_trips is None or elements is None or not fact.elem_type:
            return
        each = onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type).itemsize
        size = self._most_trips * elements * each
        if size > self.max_bytes:
            raise Unbatchable(
                f"holds {node}, of which all trips take {size} bytes, over"
                f" max_bytes={self.max_bytes}"
            )

    def _may_run(self, node: Node) -> bool:
        """Whether a node that is the same on every trip gives a result where there are none."""
        free = node.is_op("Constant", "Identity")
        return free or self.extent.certain or not self._speculation.survey([node])

    def _keep(self, node: Node, operands: Sequence[Operand | None]) -> None:
        """Take over what is the same on every trip and could not leave the body."""
        inputs = [None if operand is None else operand.value for operand in operands]
        labels = ["unread" if value is None else value.name for value in node.outputs]
        made = self.emit.several(node.op, inputs, labels)
        for value, result in zip(node.outputs, made, strict=True):
            if value is not None:
                self.operands[value] = Operand(result, False, self._inference.fact(value))

    def _spread(self, node: Node, operands: Sequence[Operand | None]) -> list[Operand | None]:
        """Operands of a node that must not run where there are no trips: what could make it fail
        is repeated for each trip, so that there is none of it then."""
        risky = rules_of(node.op).risky_inputs
        found = list(operands)
        for index in risky:
            operand = operands[index] if index < len(operands) else None
            if operand is not None and operand.fact.shape is not None:
                rank = len(operand.fact.shape)
                repeated = spread(operand.value, rank, self.feeding.trips, self.emit)
                found[index] = Operand(repeated, True, operand.fact)
        if not any(operand is not None and operand.batched for operand in found):
            raise Unbatchable(f"holds {node}, which must not run where there are no trips")
        return found

    # What comes of it ----------------------------------------------------------------------------

    def final(self, state: State) -> Value:
        """What the last trip gave on, or the initial state where there was none."""
        if state in self._collected:
            return self._collected[state]
        last = self.emit.add("Gather", [self._joined[state], self.feeding.trips], "last", axis=0)
        return self.emit.squeeze(last, 0, state.result.name)

    def stacked(self, stacked: Stacked, dropped: Sequence[int] = ()) -> Value:
        """One element for each trip, put together along an axis of the result.

        Args:
            stacked: the output.
            dropped: axes of one element that are empty where there are no trips.
        """
        operand = self.operand(stacked.result)
        value = self.feeding.every(operand, stacked.result.name)
        if operand.fact.shape is None:
            raise Unbatchable(f"gives out '{stacked.result.name}', whose rank is not known")
        if dropped:
            value = self._emptied(value, [axis + 1 for axis in dropped])
        if stacked.backward:
            value = self.feeding.reversed(value)
        rank = len(operand.fact.shape)
        axis = stacked.axis % (rank + 1)
        perm = [*range(1, axis + 1), 0, *range(axis + 1, rank + 1)]
        return self.emit.transpose(value, perm, f"{stacked.result.name}_stacked")

    def _emptied(self, value: Value, axes: list[int]) -> Value:
        """A value of which some axes are of size 0 if there are no trips."""
        feeding = self.feeding
        some = self.emit.add("Cast", [feeding.trips], "some", to=onnx.TensorProto.BOOL)
        once = self.emit.add("Cast", [some], "once", to=onnx.TensorProto.INT64)
        sizes = self.emit.add("Shape", [value], "sizes")
        sizes = self.emit.add("Gather", [sizes, feeding.integers(*axes)], "sizes")
        ends = self.emit.add("Mul", [sizes, once], "ends")
        starts = feeding.integers(*[0] * len(axes))
        return self.emit.add("Slice", [value, starts, ends, feeding.integers(*axes)], value.name)
