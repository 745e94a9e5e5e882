"""Batch interpreter: compute the nodes of a body for all iterations at once.

As in JAX's `vmap`, each operator has a batching rule (`OperatorRules.batch`); bodies of bodies have
the rules of `nested_control_flow`.
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Callable, Sequence

import onnx

from ...analysis.safety.speculation import Speculation
from ...facts.bounds import Known
from ...facts.fact import Content, Fact
from ...ir import Node, Value, normal_domain
from ...ops import rules_of
from ...ops.batching import Batch, Extent, Operand, Ragged, Unbatchable, spread
from ...ops.builder import Builder, RewriteError
from ...ops.outputs import content_of
from ...ops.ragged import padded
from ...ops.randomness import find_random_in
from .accumulators import Write, collected
from .batched_inputs import Feeding
from .dependence_graph import Vertex
from .induction_variables import iteration_like, shifted
from .loop_view import Repetition, Stacked, State


class NodeBatcher(abc.ABC):
    """Computes nodes for all trips at once; each must follow what it is made of.

    Args:
        feeding: what the loop is fed with.
        emit: makes the nodes.
        extent: what is known of the trips before run time.
        speculation: tells which nodes may fail; made anew where it is not given.

    Attributes:
        operands: what stands for the values of the body that are given or were computed.
        ragged: what stands for those that have fewer elements on some trips, which only operators
            that can tell may read.
        mask: on which trips the nodes run, a vector of booleans; None where on all.
    """

    mask: Value | None = None

    def __init__(
        self,
        feeding: Feeding,
        emit: Builder,
        extent: Extent,
        speculation: Speculation | None = None,
    ) -> None:
        self.feeding = feeding
        self.emit = emit
        self.extent = extent
        self.inference = feeding.inference
        self.operands: dict[Value, Operand] = {}
        self.ragged: dict[Value, tuple[Operand, Ragged]] = {}
        functions = self.inference.model.functions
        self.speculation = speculation or Speculation(self.inference, functions)

    def operand(self, value: Value) -> Operand:
        """What stands for a value that the body computed, is given or captures.

        Raises:
            Unbatchable: there is no such thing, as where it has fewer elements on some trips.
        """
        if value in self.ragged:
            raise Unbatchable(f"computes '{value.name}', which may be shorter on some trips")
        found = self.operands.get(value)
        return self.operand_around(value) if found is None else found

    @abc.abstractmethod
    def operand_around(self, value: Value) -> Operand:
        """The same for a value that is neither given to these nodes nor computed by them."""

    def known(self, value: Value) -> Known:
        """What is known of a value of the body on one trip, or of one around it."""
        return self.speculation.outside(value)

    def fact(self, value: Value) -> Fact:
        """The same without bounds."""
        return self.inference.fact(value)

    @abc.abstractmethod
    def compute_holder(self, node: Node) -> None:
        """Compute a node that holds graphs, or calls a function of the model.

        Raises:
            Unbatchable: that cannot be.
        """

    def read_rows(self, node: Node) -> Value | None:
        """What a node reads that is there for all trips as it stands; None for all others."""
        return None

    def every(self, value: Value) -> Value:
        """What stands for a value, for all trips: repeated where it is the same on every one."""
        operand = self.operand(value)
        if operand.batched:
            return operand.value
        if operand.fact.shape is None:
            raise Unbatchable(f"gives '{value.name}', whose rank is not known")
        return spread(operand.value, len(operand.fact.shape), self.feeding.trips, self.emit)

    def compute_node(self, node: Node) -> None:
        """Compute a node for all trips.

        Raises:
            Unbatchable: it cannot be; the message ends a sentence that begins with the Loop or
                Scan.
        """
        functions = self.inference.model.functions
        calls = bool(functions) and node.op.function_key in functions
        if (normal_domain(node.domain) and not calls) or node.op.references:
            raise Unbatchable(f"holds {node}, for which there is no batching rule")
        random = find_random_in(node, functions)
        if random is not None:
            raise Unbatchable(f"draws random numbers ({random})")
        if node.bodies or calls:
            self.compute_holder(node)
        else:
            self._compute_plain(node)

    def operands_of(self, node: Node) -> list[Operand | None]:
        """What stands for the inputs of a node."""
        return [None if value is None else self.operand(value) for value in node.inputs]

    def lifted(self, vector: Value, rank: int) -> Value:
        """A vector with an element for each trip, behind which come so many axes of length 1."""
        axes = tuple(range(1, 1 + rank))
        return self.emit.unsqueeze(vector, axes, f"{vector.name}_lifted") if axes else vector

    def _compute_plain(self, node: Node) -> None:
        if any(value in self.ragged for value in node.inputs):
            self._compute_ragged(node)
            return
        operands = self.operands_of(node)
        if not any(operand is not None and operand.batched for operand in operands):
            if self.may_run(node):
                self._keep(node, operands)
                return
            operands = self._spread(node, operands)
        facts = [Fact() if v is None else self.fact(v) for v in node.outputs]
        rows = self.read_rows(node)
        if rows is not None:
            self.operands[node.output()] = Operand(rows, True, facts[0])
            return
        facts[0] = self._followed(node, operands, facts[0])
        self._enter_results(node, self.apply_rule(node, operands, facts))

    def _compute_ragged(self, node: Node) -> None:
        """Compute a node that reads what is shorter on some trips."""
        found = [None if value is None else self.ragged.get(value) for value in node.inputs]
        operands = [
            self.operand(value) if pair is None and value is not None else pair and pair[0]
            for value, pair in zip(node.inputs, found, strict=True)
        ]
        facts = [Fact() if v is None else self.fact(v).without_content() for v in node.outputs]
        ragged = [None if pair is None else pair[1] for pair in found]
        self._enter_results(node, self.apply_rule(node, operands, facts, ragged))

    def apply_rule(
        self,
        node: Node,
        operands: Sequence[Operand | None],
        facts: Sequence[Fact],
        ragged: Sequence[Ragged | None] = (),
    ) -> list[tuple[Operand, Ragged | None]]:
        """Outputs of a node for all iterations, by the batching rule of its operator.

        Args:
            node: the node.
            operands: its inputs; None where one is left out.
            facts: about its outputs on one iteration.
            ragged: of which elements iterations lack some, for each input; empty where of none.

        Raises:
            Unbatchable: there is no rule, or the rule refuses, or its result has neither the axis
                of the iterations nor is said to be the same on all of them.
        """
        given = Batch(node, operands, facts, self.emit, self.feeding.trips, self.extent)
        rules = rules_of(node.op)
        for operand in operands:
            if operand is not None and operand.fact.shape is not None:
                rank = len(operand.fact.shape) + operand.batched
                self.feeding.enter_rank(operand.value, rank)
        try:
            results = rules.batch_ragged(given, ragged) if ragged else rules.batch(given)
        except (Unbatchable, RewriteError) as error:
            raise Unbatchable(f"holds {node}, which {error}") from error
        made = []
        for result, fact in zip(results, facts, strict=False):
            batched, lacking = not given.is_unvarying(result), given.raggedness(result)
            self._require_rank(node, result, batched, fact)
            fact = fact if lacking is None else padded(fact, lacking)
            made.append((Operand(result, batched, fact), lacking))
        return made

    def _enter_results(self, node: Node, made: Sequence[tuple[Operand, Ragged | None]]) -> None:
        """Let the results of a rule stand for the outputs of a node."""
        for value, (operand, ragged) in zip(node.outputs, made, strict=False):
            if operand.batched:
                self.require_room(node, operand.fact)
            if value is None:
                continue
            if ragged is None:
                self.operands[value] = operand
            else:
                self.ragged[value] = operand, ragged

    def _require_rank(self, node: Node, result: Value, batched: bool, fact: Fact) -> None:
        """Check that a result has the axis of the iterations, or is said to have none.

        Raises:
            Unbatchable: its rank is another one than the rule says.
        """
        rank = None if fact.shape is None else len(fact.shape) + batched
        made = self.feeding.ranks.of(result)
        if rank is not None and made is not None and made != rank:
            raise Unbatchable(
                f"holds {node}, whose batching rule gives rank {made}, not {rank}; report this"
            )

    def _followed(self, node: Node, operands: Sequence[Operand | None], fact: Fact) -> Fact:
        """What is known of the first output, elements that follow from the number of the trip
        included."""
        facts = [Fact() if operand is None else operand.fact for operand in operands]
        if fact.content is not None or all(known.content is None for known in facts):
            return fact
        magnitudes = self.inference.symbols.magnitudes
        content = content_of(node, facts, fact.elem_type, magnitudes)
        return dataclasses.replace(fact, content=content)

    def require_room(self, node: Node, fact: Fact) -> None:
        """Check that all trips of what a node gives are not too large.

        Raises:
            Unbatchable: they are.
        """
        self.feeding.require_room(f"holds {node}", fact)

    def may_run(self, node: Node) -> bool:
        """Whether a node that is the same on every trip gives a result where there are none."""
        free = node.is_op("Constant", "Identity")
        return free or self.extent.certain or not self.speculation.survey([node])

    def _keep(self, node: Node, operands: Sequence[Operand | None]) -> None:
        """Take over what is the same on every trip and could not leave the body."""
        inputs = [None if operand is None else operand.value for operand in operands]
        labels = ["unread" if value is None else value.name for value in node.outputs]
        made = self.emit.again(node.op, inputs, labels)
        for value, result in zip(node.outputs, made, strict=True):
            if value is not None:
                self.operands[value] = Operand(result, False, self.fact(value))

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


HolderRule = Callable[[Node, NodeBatcher], None]
"""Batching rule of a node that holds graphs or calls a function; raises Unbatchable."""


class Batcher(NodeBatcher):
    """Computes nodes and states for all trips at once; each must follow what it is made of.

    Args:
        repetition: the Loop or Scan.
        feeding: what it is fed with.
        trip_by_trip: what stands for a value of the body that is not computed here.
        certain: whether there is one trip at least.
        holder_rule: computes a node that holds graphs or calls a function.
    """

    def __init__(
        self,
        repetition: Repetition,
        feeding: Feeding,
        trip_by_trip: Callable[[Value], Operand],
        certain: bool,
        holder_rule: HolderRule,
    ) -> None:
        extent = Extent(feeding.number, feeding.most_dimension(), certain)
        super().__init__(feeding, feeding.emit, extent)
        self.repetition = repetition
        self._trip_by_trip = trip_by_trip
        self._holder_rule = holder_rule
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
        self._holder_rule(node, self)

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
