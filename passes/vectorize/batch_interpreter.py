"""The body of a Loop or Scan, computed for all its trips at once, one node after the other."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import onnx

from ...facts.fact import Content
from ...ir import Node, Value
from ...ops.batching import Extent, Operand, Unbatchable
from .accumulators import Write
from .batched_inputs import Feeding
from .collected_states import collected
from .dependence_graph import Vertex
from .induction_variables import iteration_like, shifted
from .loop_view import Repetition, Stacked, State
from .nested_control_flow import compute_nested
from .node_batcher import NodeBatcher


class Batcher(NodeBatcher):
    """Computes nodes and states for all trips at once; each must follow what it is made of.

    Args:
        repetition: the Loop or Scan.
        feeding: what it is fed with.
        trip_by_trip: what stands for a value of the body that is not computed here.
        certain: whether there is one trip at least.
    """

    def __init__(
        self,
        repetition: Repetition,
        feeding: Feeding,
        trip_by_trip: Callable[[Value], Operand],
        certain: bool,
    ) -> None:
        extent = Extent(feeding.number, feeding.most_dimension(), certain)
        super().__init__(feeding, feeding.emit, extent)
        self.repetition = repetition
        self._trip_by_trip = trip_by_trip
        self._trips = feeding.trip_dimension()
        self.operands = feeding.handed()
        self._joined: dict[State, Value] = {}
        self._collected: dict[State, Value] = {}

    def operand_around(self, value: Value) -> Operand:
        """What stands for a value from around, or one that is computed trip by trip."""
        inside = value.graph is self.repetition.body and value.constant is None
        return self._trip_by_trip(value) if inside else self.feeding.same(value)

    def compute(self, vertex: Vertex) -> None:
        """Compute a node or state for all trips.

        Raises:
            Unbatchable: it cannot be; the message ends a sentence that begins with the Loop or
                Scan.
        """
        if isinstance(vertex, Node):
            self.compute_node(vertex)
        elif isinstance(vertex, Write):
            self._collected[vertex.state] = collected(vertex, self.operand, self.feeding)
        elif vertex not in self._joined and vertex not in self._collected:
            result = self.operand(vertex.result)
            self.enter_state(vertex, shifted(vertex, result, self.feeding))

    def computes_ragged(self, vertex: Vertex) -> bool:
        """Whether a node gives something that has fewer elements on some trips."""
        return isinstance(vertex, Node) and any(value in self.ragged for value in vertex.outputs)

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
        fact = dataclasses.replace(self.inference.fact(state.initial), content=content)
        value = self.feeding.cut(joined, [0], [-1], [0])
        self.operands[state.given] = Operand(value, True, fact)

    # Nodes ---------------------------------------------------------------------------------------

    def compute_holder(self, node: Node) -> None:
        """Compute an If, Loop or Scan whose bodies can be computed for all trips."""
        compute_nested(node, self)

    def read_rows(self, node: Node) -> Value | None:
        """What a body reads row by row, where there are as many rows as trips: all of it."""
        source, index = node.input(0), node.input(1)
        if not node.is_op("Gather") or index is None or source is None or self._trips is None:
            return None
        rows, axis = self.operand(source), node.attribute("axis", 0)
        shape, place = rows.fact.shape, self.operand(index).fact
        if rows.batched or shape is None or not self.feeding.is_number(place):
            return None
        if not -len(shape) <= axis < len(shape) or shape[axis] != self._trips:
            return None
        found, axis = self.feeding.rows(rows, axis, node.output().name), axis % len(shape)
        kept = tuple(range(1 + axis, 1 + axis + len(place.shape or ())))
        return self.emit.unsqueeze(found, kept, node.output().name) if kept else found

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
