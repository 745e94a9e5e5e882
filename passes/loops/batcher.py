"""The body of a Loop or Scan, computed for all its trips at once."""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
import onnx

from ...analysis.shapes.inference import ShapeInference
from ...facts.dimension import product
from ...facts.fact import Fact
from ...ir import Node, Value, captured_by, normal_domain
from ...operators import rules_of
from ...operators.batching import Batch, Operand, Unbatchable
from ...operators.randomness import find_random
from ..base import RewriteError
from .feeding import Feeding
from .repetition import Repetition, Stacked, State

_COUNTED = {6: "int32", 7: "int64"}
"""Types of counters, by `onnx.TensorProto.DataType`."""


class Batcher:
    """All trips at once, one node of the body after the other.

    Args:
        repetition: the Loop or Scan.
        inference: facts about the model's values.
        max_bytes: how large a value of all trips may be, where sizes are known.

    Raises:
        Unbatchable: something stands in the way; the message ends a sentence that begins with the
            Loop or Scan.
    """

    def __init__(self, repetition: Repetition, inference: ShapeInference, max_bytes: int) -> None:
        self.repetition = repetition
        self.max_bytes = max_bytes
        self.inference = inference
        random = find_random(repetition.body, inference.model.functions)
        if random is not None:
            raise Unbatchable(f"draws random numbers ({random})")
        self.feeding = Feeding(repetition, inference)
        self.emit = self.feeding.emit
        self._most_trips = self.feeding.most_trips()
        self._operands = self.feeding.handed()
        self._joined: dict[State, Value] = {}
        self._run()

    def _run(self) -> None:
        """Compute nodes and states in an order in which each follows what it is made of."""
        order = self._order()
        if not nx.is_directed_acyclic_graph(order):
            raise Unbatchable("carries a value that each trip makes of that of the one before")
        for vertex in nx.topological_sort(order):
            if isinstance(vertex, Node):
                self._compute(vertex)
            elif vertex not in self._joined:
                self._enter(vertex, self._shifted(vertex))

    def _order(self) -> nx.DiGraph[Node | State]:
        body = self.repetition.body
        order: nx.DiGraph[Node | State] = nx.DiGraph()
        order.add_nodes_from(body.nodes())
        wanted = {s.given: s for s in self.repetition.states if s.final or body.is_used(s.given)}
        order.add_nodes_from(wanted.values())

        def maker(value: Value | None) -> Node | State | None:
            if value in wanted:
                return wanted[value]
            producer = None if value is None else value.producer
            return producer if producer is not None and producer.graph is body else None

        for node in body.nodes():
            sources = map(maker, (*node.inputs, *captured_by(node)))
            order.add_edges_from((source, node) for source in sources if source is not None)
        for state in wanted.values():
            counter = self._counter(state)
            source = maker(state.result)
            if counter is not None:
                self._enter(state, counter)
            elif source is not None:
                order.add_edge(source, state)
        return order

    # States --------------------------------------------------------------------------------------

    def _enter(self, state: State, joined: Value) -> None:
        """Let a state be known: its values, from the initial to the final one, are `joined`."""
        self._joined[state] = joined
        fact = self.inference.fact(state.initial)
        value = self.feeding.cut(joined, [0], [-1], [0])
        self._operands[state.given] = Operand(value, True, fact.without_content())

    def _counter(self, state: State) -> Value | None:
        """The values of an integer to which every trip adds the same number; None for another."""
        node, body = state.result.producer, self.repetition.body
        if node is None or not node.is_op("Add", "Sub") or node.graph is not body:
            return None
        one, other = node.inputs
        if node.is_op("Add") and other is state.given:
            one, other = other, one
        if one is not state.given or other is None or (other.graph is body and not other.constant):
            return None
        initial, step = self.feeding.same(state.initial), self.feeding.same(other)
        shape, elem_type = initial.fact.shape, initial.fact.elem_type
        if shape is None or elem_type not in _COUNTED or step.fact.shape not in (shape, ()):
            return None
        one_more = self.emit.add("Add", [self.feeding.trips, self.feeding.integers(1)], "ends")
        numbers = self.emit.add("Cast", [self.feeding.numbers(one_more)], "numbers", to=elem_type)
        if shape:
            numbers = self.emit.unsqueeze(numbers, tuple(range(1, 1 + len(shape))), "numbers")
        added = self.emit.add("Mul", [numbers, step.value], "added")
        return self.emit.add(node.op_type, [initial.value, added], state.given.name)

    def _shifted(self, state: State) -> Value:
        """The values of a state that each trip makes of other things: results, one trip later."""
        result = self._operand(state.result)
        initial = self.inference.fact(state.initial)
        if initial.shape is None or initial.shape != result.fact.shape:
            raise Unbatchable(f"carries '{state.given.name}', whose shape may change")
        first = self.emit.unsqueeze(self.feeding.same(state.initial).value, 0, "first")
        rows = self.feeding.every(result, state.given.name)
        return self.emit.concat([first, rows], 0, state.given.name)

    # Nodes ---------------------------------------------------------------------------------------

    def _operand(self, value: Value) -> Operand:
        """What stands for a value that the body computes, is given or captures."""
        found = self._operands.get(value)
        return self.feeding.same(value) if found is None else found

    def _compute(self, node: Node) -> None:
        if node.bodies or node.op.references or normal_domain(node.domain):
            raise Unbatchable(f"holds {node}, for which there is no batching rule")
        operands = [None if value is None else self._operand(value) for value in node.inputs]
        if not any(operand is not None and operand.batched for operand in operands):
            self._keep(node, operands)
            return
        facts = [Fact() if value is None else self._fact(value) for value in node.outputs]
        given = Batch(node, operands, facts, self.emit, self.feeding.trips)
        try:
            results = rules_of(node.op).batch(given)
        except (Unbatchable, RewriteError) as error:
            raise Unbatchable(f"holds {node}, which {error}") from error
        for value, result, fact in zip(node.outputs, results, facts, strict=False):
            if value is not None:
                self._require_room(node, fact)
                self._operands[value] = Operand(result, True, fact)

    def _require_room(self, node: Node, fact: Fact) -> None:
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

    def _keep(self, node: Node, operands: list[Operand | None]) -> None:
        """Take over what is the same on every trip and could not leave the body."""
        if not node.is_op("Constant", "Identity"):
            raise Unbatchable(f"holds {node}, which must not run where there are no trips")
        inputs = [None if operand is None else operand.value for operand in operands]
        made = self.emit.apply(node.op, inputs, node.output().name)
        self._operands[node.output()] = Operand(made, False, self._fact(node.output()))

    def _fact(self, value: Value) -> Fact:
        return self.inference.fact(value)

    # What comes of it ----------------------------------------------------------------------------

    def final(self, state: State) -> Value:
        """What the last trip gave on, or the initial state where there was none."""
        last = self.emit.add("Gather", [self._joined[state], self.feeding.trips], "last", axis=0)
        return self.emit.squeeze(last, 0, state.result.name)

    def stacked(self, stacked: Stacked, dropped: Sequence[int] = ()) -> Value:
        """One element for each trip, put together along an axis of the result.

        Args:
            stacked: the output.
            dropped: axes of one element that are empty where there are no trips.
        """
        operand = self._operand(stacked.result)
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
