"""Batch interpreter: compute the nodes of a body for all iterations at once.

As in JAX's `vmap`, each operator has a batching rule (`OperatorRules.batch`); bodies of bodies have
the rules of `nested_control_flow`.
"""

import abc
import dataclasses
from collections.abc import Callable, Container, Sequence
from typing import Any

import onnx

from ...analysis.peak_memory import bytes_of
from ...analysis.safety.speculation import Speculation
from ...analysis.shapes.inference import ShapeInference
from ...facts.bounds import Bounds, Known, known
from ...facts.fact import UNKNOWN, Content, Fact, is_named
from ...facts.polynomial import Dimension
from ...facts.safety_context import Premises, Unproven
from ...ir import Node, Operator, Value, normal_domain
from ...ops import OperatorRules, rules_of
from ...ops.batching import DIFFERING, Batch, Extent, Flat, Operand, Unbatchable
from ...ops.builder import Builder, RewriteError
from ...ops.cost_estimates import FREE
from ...ops.departures import other_numbers
from ...ops.flat_rows import COMBINED, flattened, of_one_length
from ...ops.outputs import content_of
from ...ops.partial_axes import common_length, padded
from ...ops.randomness import find_random_in
from ...ops.rules import OLDEST_OPSET
from ...ops.schema_queries import ElementTypes, schema_at
from ..iteration.batched_inputs import Feeding
from ..iteration.dependence_graph import Vertex, Write
from ..iteration.loop_view import LoopView, ScanOutput, State, move_axis
from ..iteration.places import counter, is_invariant, iteration_like, shift
from ..scans.parallel_prefix import MOST_STEP_BYTES, OneOperator, parallel_prefix
from ..utils.zero_signs import readers_of
from .accumulators import FinalValue

_ZERO = Dimension.constant(0)


def _is_of_nine(node: Node) -> bool:
    """Test for an operator that opset 9 changes in its element types at most."""
    old, new = (schema_at(node.op_type, opset) for opset in (8, OLDEST_OPSET))
    return old is not None and new is not None and old.attributes.keys() == new.attributes.keys()


class NodeBatcher(abc.ABC):
    """A batch interpreter of nodes, producers first.

    Args:
        extent: the facts of the trip count before run time.
        speculation: the test for nodes that may fail; a new one by default.

    Attributes:
        operands: the operands of arguments and computed values of the body.
        mask: the flags of iterations that run the nodes, a vector of booleans; None for all.
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
        self._shared: dict[object, Any] = {}
        functions = self.inference.model.functions
        self.speculation = speculation or Speculation(self.inference, functions)

    def operand(self, value: Value) -> Operand:
        """The operand of a value that the body computes, receives or captures.

        Raises:
            Unbatchable: no operand, or a partial one.
        """
        operand = self._any_operand(value)
        if operand.partial is not None:
            raise Unbatchable(f"computes '{value.name}', which may be shorter on some iterations")
        return operand

    def _any_operand(self, value: Value) -> Operand:
        """The operand of a value, also a partial one."""
        match = self.operands.get(value)
        return self.operand_around(value) if match is None else match

    def _flattened(self, value: Value) -> Operand:
        """The operand of a value, flat where bounds tell its elements."""
        return flattened(self.emit, self._any_operand(value), self._shared)

    @property
    def combined(self) -> list[Flat]:
        """The blocks of rows that reductions combine."""
        return [*self._shared.get(COMBINED, ())]

    def is_partial(self, value: Value | None) -> bool:
        """Test for a value with elements that have no meaning in some iterations."""
        operand = None if value is None else self.operands.get(value)
        return operand is not None and operand.partial is not None

    @abc.abstractmethod
    def operand_around(self, value: Value) -> Operand:
        """The operand of a value from outside these nodes."""

    def known(self, value: Value) -> Known:
        """The bounds of an outside value, or of a body's value in one iteration."""
        return self.speculation.outside(value)

    def fact(self, value: Value) -> Fact:
        """The fact of a value, without bounds."""
        return self.inference.fact(value)

    @abc.abstractmethod
    def compute_holder(self, node: Node) -> None:
        """Compute a node that holds graphs, or calls a function of the model.

        Raises:
            Unbatchable: no batching rule.
        """

    def read_rows(self, node: Node) -> Value | None:
        """The batched rows that a node reads in order; None for other nodes."""
        return None

    def every(self, value: Value) -> Value:
        """The batched value, repeated if it is loop-invariant."""
        return self.feeding.every(self.operand(value), value.name, self.emit)

    def compute_node(self, node: Node) -> None:
        """Compute a node for all iterations.

        Raises:
            Unbatchable: an obstacle; the message continues a sentence about the Loop or Scan.
        """
        functions, calls = self.inference.model.functions, self.inference.callee(node) is not None
        # A reference to an attribute of a call means another operator in each call.
        if (normal_domain(node.domain) and not calls) or node.op.references:
            raise Unbatchable(f"holds {node}, for which there is no batching rule")
        # In a loop a seeded generator advances from draw to draw; one batched draw has
        # other numbers.
        random = find_random_in(node, functions)
        if random is not None:
            raise Unbatchable(f"draws random numbers ({random})")
        if node.bodies or calls:
            self.compute_holder(node)
        else:
            self._compute_plain(node)

    def operands_of(self, node: Node) -> list[Operand | None]:
        """The operands of a node."""
        return [None if value is None else self.operand(value) for value in node.inputs]

    def lift(self, vector: Value, rank: int) -> Value:
        """Append axes of size 1 to a vector with an element for each iteration."""
        return self.emit.lift(vector, rank, f"{vector.name}_lifted")

    def _compute_plain(self, node: Node) -> None:
        if any(map(self.is_partial, node.inputs)):
            pairs = [None if value is None else self._any_operand(value) for value in node.inputs]
            if any(each and each.partial and each.partial.flat for each in pairs):
                pairs = self._flattened_inputs(node, pairs)
            facts = [Fact() if v is None else self.fact(v).without_content() for v in node.outputs]
            try:
                results = self.apply_rule(node, pairs, facts)
            except Unbatchable:
                flat = self._flattened_inputs(node, pairs)
                # Blocks add integers exactly, and onnxruntime's sums as doubles.
                if flat == pairs or other_numbers(node, ElementTypes()) is not None:
                    raise
                results = self.apply_rule(node, flat, facts)
            self._enter_results(node, results)
            return
        operands = self.operands_of(node)
        if not any(operand is not None and operand.batched for operand in operands):
            # Without iterations the loop does not run it, so a failure must not appear.
            if self.may_run(node):
                self._reuse(node, operands)
                return
            operands = self._repeat_risky(node, operands)
        facts = [Fact() if v is None else self.fact(v) for v in node.outputs]
        rows = self.read_rows(node)
        # The Gather reads row i in iteration i: all its results together are the tensor that it
        # reads from.
        if rows is not None:
            self.operands[node.output()] = Operand(rows, True, facts[0])
            return
        facts[0] = self._with_numbers(node, operands, facts[0])
        results = self.apply_rule(node, operands, facts)
        self._require_sizes(node, operands)
        self._enter_results(node, results)

    def _flattened_inputs(
        self, node: Node, operands: Sequence[Operand | None]
    ) -> list[Operand | None]:
        """The operands of a node, partial ones as flat rows."""
        results = list[Operand | None]()
        for value, operand in zip(node.inputs, operands, strict=True):
            flat = operand and flattened(self.emit, operand, self._shared)
            if value is not None and flat is not None and flat is not operand:
                # An iteration may have fewer elements than the padded ones.
                flat = dataclasses.replace(flat, fact=self.fact(value).without_content())
            results.append(flat)
        return results

    def apply_rule(
        self, node: Node, operands: Sequence[Operand | None], facts: Sequence[Fact]
    ) -> list[Operand]:
        """Outputs of a node for all iterations, by the batching rule of its operator.

        Args:
            operands: its operands; None for an omitted one.
            facts: the facts of its outputs in one iteration.

        Raises:
            Unbatchable: no rule, a rule that refuses, or an output that neither has the batch axis
                nor is declared loop-invariant.
        """
        feeding = self.feeding
        if not (feeding.model.graph.root.opset() >= OLDEST_OPSET or _is_of_nine(node)):
            raise Unbatchable(f"holds {node}, whose rule is for opset {OLDEST_OPSET} on")
        batch = Batch(
            *(node, operands, facts, self.emit, feeding.iterations, self.extent),
            windows=feeding.windows,
            outside=feeding.outside,
            operand_of=self._find,
            running=self._running,
            exact=feeding.exact,
            shared=self._shared,
        )
        rules = rules_of(node.op)
        for operand in operands:
            if operand is not None and operand.fact.shape is not None:
                rank = len(operand.fact.shape) + operand.batched
                self.feeding.enter_rank(operand.value, rank)
        try:
            with readers_of(self.emit, node.outputs):
                is_whole = not batch.partials_of_inputs()
                results = rules.batch(batch) if is_whole else rules.batch_partial(batch)
        except (Unbatchable, RewriteError) as error:
            raise Unbatchable(f"holds {node}, which {error}") from error
        outputs = []
        for result, fact in zip(results, facts, strict=False):
            batched, part = result not in batch.invariant, batch.partials.get(result)
            self._require_rank(node, result, batched, fact)
            outputs.append(Operand(result, batched, padded(fact, part), partial=part))
        return outputs

    def _find(self, value: Value) -> Operand | None:
        """The operand of a value; None where it is not computed."""
        if value not in self.operands and value in self.feeding.outside:
            return self.operand_around(value)
        return self.operands.get(value)

    def _running(
        self, op_type: str, rows: Value, fact: Fact, most: int | None, reach: Value | None
    ) -> Value:
        """Emit the reductions of the rows up to each one, all or the last `reach`.

        Raises:
            Unbatchable: rows too large for steps of doubling distance.
        """
        size = bytes_of(fact)
        if size is None or size.value is None or size.value > MOST_STEP_BYTES:
            raise Unbatchable(DIFFERING)
        monoid = OneOperator(Operator(op_type))
        # Where only run time tells the number of steps, a Loop may make them.
        self.feeding.adds_loops |= most is None
        return parallel_prefix(self.emit, monoid, [rows], [fact], most, reach=reach)[0]

    def _enter_results(self, node: Node, results: Sequence[Operand]) -> None:
        """Enter the results of a rule as operands for the outputs of a node."""
        for value, operand in zip(node.outputs, results, strict=False):
            if operand.batched:
                self.require_room(node, operand.fact)
            if value is not None:
                self.operands[value] = operand

    def _require_rank(self, node: Node, result: Value, batched: bool, fact: Fact) -> None:
        """Check the rank of a result, with or without the batch axis.

        Raises:
            Unbatchable: a rank that contradicts the rule.
        """
        rank = None if fact.shape is None else len(fact.shape) + batched
        inferred = self.feeding.ranks.of(result)
        if rank is not None and inferred is not None and inferred != rank:
            raise Unbatchable(
                f"holds {node}, whose batching rule has rank {inferred}, not {rank}; report this"
            )

    def _with_numbers(self, node: Node, operands: Sequence[Operand | None], fact: Fact) -> Fact:
        """The fact of the first output, with elements and sizes from the iteration number."""
        facts = [Fact() if operand is None else operand.fact for operand in operands]
        if fact.shape and any(dim.value is None and not is_named(dim) for dim in fact.shape):
            # Range (2 * i, 2 * i + 4) has four elements.
            sizes = self.inference.infer(node, facts)[0].shape or ()
            if len(sizes) == len(fact.shape):
                pairs = zip(fact.shape, sizes, strict=True)
                shape = tuple([own if size.value is None else size for own, size in pairs])
                fact = dataclasses.replace(fact, shape=shape)
        is_full = fact.content is not None and all(each is not None for each in fact.content.flat)
        if is_full or all(operand_fact.content is None for operand_fact in facts):
            return fact
        magnitudes = self.inference.symbols.magnitudes
        content = content_of(node, facts, fact.elem_type, magnitudes)
        return dataclasses.replace(fact, content=content)

    def require_room(self, node: Node, fact: Fact) -> None:
        """Check the size of a batched output.

        Raises:
            Unbatchable: an output over the limit.
        """
        self.feeding.require_room(f"holds {node}", fact)

    def may_run(self, node: Node) -> bool:
        """Test whether a loop-invariant node may run without iterations."""
        free = node.is_op(*FREE)
        return free or self.extent.certain or not self.speculation.survey([node])

    def _require_sizes(self, node: Node, operands: Sequence[Operand | None]) -> None:
        """Check that a batched node cannot fail where there are no iterations.

        Raises:
            Unbatchable: sizes that may not fit each other.
        """
        rules = rules_of(node.op)
        if self.extent.certain or not rules.defines(OperatorRules.prove_safe):
            return
        facts = [self._known_in_one(*each) for each in zip(node.inputs, operands, strict=True)]
        # Elements are read only beside those of a batched operand, of which there are none.
        empty = {i for i, each in enumerate(operands) if each is not None and each.batched}
        empty |= {*rules.risky_inputs}
        try:
            try:
                rules.require_safe(_Nothing(node, facts, empty))
            except Unproven:
                facts = self._emitted(operands, facts)
                rules.require_safe(_Nothing(node, facts, empty))
        except _NoElements:
            pass
        except Unproven as unproven:
            self.feeding.memory.needs_iteration = True
            why = f"which may fail where there are no iterations: {unproven}"
            raise Unbatchable(f"holds {node}, {why}") from unproven

    def _known_in_one(self, value: Value | None, operand: Operand | None) -> Known:
        """The facts of an operand in one iteration."""
        if value is None or operand is None:
            return Known(UNKNOWN)
        return known(operand.fact) if operand.batched else self.known(value)

    def _emitted(self, operands: Sequence[Operand | None], facts: Sequence[Known]) -> list[Known]:
        """The facts of emitted operands: rules may fix sizes that vary between iterations."""
        inference = ShapeInference(self.feeding.model, symbols=self.inference.symbols)
        results = list(facts)
        for index, operand in enumerate(operands):
            if operand is not None and operand.batched:
                shape = inference.fact(operand.value).shape
                fact = dataclasses.replace(operand.fact, shape=shape and shape[1:])
                results[index] = Known(fact, facts[index].bounds)
        return results

    def _reuse(self, node: Node, operands: Sequence[Operand | None]) -> None:
        """Emit a loop-invariant node once."""
        inputs = [None if operand is None else operand.value for operand in operands]
        labels = ["unread" if value is None else value.name for value in node.outputs]
        results = self.emit.add_unchecked(node.op, inputs, labels)
        for value, result in zip(node.outputs, results, strict=True):
            if value is not None:
                self.operands[value] = Operand(result, False, self.fact(value))

    def _repeat_risky(self, node: Node, operands: Sequence[Operand | None]) -> list[Operand | None]:
        """Repeat the risky operands of a node that must not run without iterations.

        Batched, they are empty without iterations, so the node cannot fail.
        """
        results = list(operands)
        for index in rules_of(node.op).risky_inputs:
            operand = operands[index] if index < len(operands) else None
            if operand is not None and operand.fact.shape is not None:
                repeated = self.feeding.every(operand, node.label, self.emit)
                results[index] = Operand(repeated, True, operand.fact)
        if not any(operand is not None and operand.batched for operand in results):
            self.feeding.memory.needs_iteration = True
            raise Unbatchable(f"holds {node}, which must not run where there are no iterations")
        return results


class _NoElements(Unproven):
    """The elements of a batched operand decide: without iterations there are none."""


class _Nothing(Premises):
    """Premises of a node some operands of which have no elements."""

    def __init__(self, node: Node, inputs: Sequence[Known], empty: Container[int]) -> None:
        super().__init__(node, inputs, node.root.opset())
        self._empty = empty

    def bounds(self, index: int) -> Bounds:
        """No numbers."""
        return Bounds(_ZERO, _ZERO - 1) if index in self._empty else super().bounds(index)

    def content(self, index: int) -> Content:
        """The elements of an invariant operand."""
        if index in self._empty:
            raise _NoElements
        return super().content(index)


HolderRule = Callable[[Node, NodeBatcher], None]
"""A batching rule of a node that holds graphs or calls a function; raises Unbatchable."""


class Batcher(NodeBatcher):
    """A batch interpreter of nodes and states, producers first.

    Args:
        iteration_by_iteration: the operand of a value of the residual loop.
        certain: true if there is a first iteration.
        holder_rule: the rule of a node that holds graphs or calls a function.
    """

    def __init__(
        self,
        loop_view: LoopView,
        feeding: Feeding,
        iteration_by_iteration: Callable[[Value], Operand],
        certain: bool,
        holder_rule: HolderRule,
    ) -> None:
        extent = feeding.extent(certain)
        super().__init__(feeding, feeding.emit, extent)
        self.loop_view = loop_view
        self._iteration_by_iteration = iteration_by_iteration
        self._holder_rule = holder_rule
        self._iterations = feeding.iteration_dimension
        self.operands = feeding.body_operands()
        self._values: dict[State, Value] = {}
        self._collected: dict[State, Value] = {}

    def operand_around(self, value: Value) -> Operand:
        """The operand of an outside value, or of a value of the residual loop."""
        inside = value.graph is self.loop_view.body and value.constant is None
        return self._iteration_by_iteration(value) if inside else self.feeding.same(value)

    def compute(self, vertex: Vertex) -> None:
        """Compute a node or state for all iterations.

        Raises:
            Unbatchable: an obstacle; the message continues a sentence about the Loop or Scan.
        """
        if isinstance(vertex, Node):
            self.compute_node(vertex)
        elif isinstance(vertex, Write):
            value = FinalValue(vertex, self._flattened, self.feeding)
            self._collected[vertex.state] = value.emit()
        elif vertex not in self._values and vertex not in self._collected:
            result = self.operand(vertex.result)
            self.enter_state(vertex, shift(vertex, result, self.feeding))

    def computes_partial(self, vertex: Vertex) -> bool:
        """Test for a node with a partial output."""
        return isinstance(vertex, Node) and any(map(self.is_partial, vertex.outputs))

    def stacks_partial(self, vertex: Vertex) -> bool:
        """Test for partial outputs that have one size in all iterations where they are stacked."""
        values = vertex.outputs if isinstance(vertex, Node) else ()
        parts = [self.operands[value].partial for value in values if value in self.operands]
        return all(part is None or part.present or part.flat for part in parts)

    def enter_independent(
        self,
        accumulators: Container[State] = (),
        may_forward: Callable[[State], bool] = lambda state: True,
    ) -> list[State]:
        """Enter the states whose values do not depend on the body, and return them.

        Args:
            accumulators: states to leave alone.
            may_forward: the test for an invariant state whose initial value may be the final one.
        """
        independent = []
        for state in self.loop_view.states:
            if is_invariant(state) and may_forward(state):
                self._enter_invariant(state)
                independent.append(state)
                continue
            values = None
            if state not in accumulators:
                values = counter(state, self.loop_view, self.feeding)
            if values is not None:
                self.enter_state(state, *values)
                independent.append(state)
        return independent

    def _enter_invariant(self, state: State) -> None:
        self.operands[state.argument] = self.feeding.same(state.initial)
        self._collected[state] = self.feeding.same(state.initial).value

    def enter_state(self, state: State, joined: Value, content: Content | None = None) -> None:
        """Enter a state by its values, from the initial to the final one."""
        self._values[state] = joined
        iteration = self.loop_view.iteration
        if iteration is not None and iteration_like(state.argument, self.loop_view):
            self.operands[state.argument] = self.operands[iteration]
            return
        fact = dataclasses.replace(self.inference.fact(state.initial), content=content)
        # An iteration reads the state before it: all values but the final one.
        self.operands[state.argument] = Operand(self.feeding.before(joined), True, fact)

    # Nodes ---------------------------------------------------------------------------------------

    def compute_holder(self, node: Node) -> None:
        """Compute an If, Loop, Scan or call by its rule."""
        self._holder_rule(node, self)

    def read_rows(self, node: Node) -> Value | None:
        """The rows that a Gather reads in order, if there are as many as iterations."""
        source, index = node.input(0), node.input(1)
        if not node.is_op("Gather") or index is None or source is None or self._iterations is None:
            return None
        rows, axis = self.operand(source), node.attribute("axis", 0)
        shape, place = rows.fact.shape, self.operand(index).fact
        if rows.batched or shape is None or not self.feeding.is_number(place):
            return None
        if not -len(shape) <= axis < len(shape) or shape[axis] != self._iterations:
            return None
        all_rows, axis = self.feeding.rows(rows, axis, node.output().name), axis % len(shape)
        inner = tuple(range(1 + axis, 1 + axis + len(place.shape or ())))
        return self.emit.unsqueeze(all_rows, inner, node.output().name)

    # Outputs -------------------------------------------------------------------------------------

    def final(self, state: State) -> Value:
        """Emit the state after the last iteration, or the initial one without iterations."""
        if state in self._collected:
            return self._collected[state]
        # There is one value more than iterations: at index 0, without iterations, the initial one.
        return self.feeding.final(self._values[state], state.result.name)

    def stack(
        self, stacked: ScanOutput, dropped: Sequence[int] = (), sizes: Sequence[int] = ()
    ) -> Value:
        """Stack one element for each iteration along an axis of the output.

        Args:
            dropped: axes of one element that are empty without iterations.
            sizes: the sizes of one element without iterations; empty if there are some.
        """
        operand, value = self._of_one_size(stacked.result, sizes)
        if operand.fact.shape is None:
            raise Unbatchable(f"returns '{stacked.result.name}', whose rank is not known")
        if dropped:
            # With zero iterations a size that the body does not declare is 0 (Loop, scan outputs).
            value = self._empty_axes(value, [axis + 1 for axis in dropped])
        # Direction 1 of a scan output prepends each element (Scan, scan_output_directions).
        if stacked.backward:
            value = self.feeding.reverse(value)
        rank = len(operand.fact.shape)
        perm = move_axis(rank + 1, 0, stacked.axis % (rank + 1))
        return self.emit.transpose(value, perm, f"{stacked.result.name}_stacked")

    def _of_one_size(self, result: Value, sizes: Sequence[int]) -> tuple[Operand, Value]:
        """The operand of a stacked value; with differing sizes the loop fails.

        Returns:
            the operand, and its value for each iteration.
        """
        operand = self._any_operand(result)
        part = operand.partial
        is_open = part is None or (part.present is None and part.flat is None)
        if part is None or is_open or operand.fact.shape is None:
            operand = self.operand(result)
            return operand, self.feeding.every(operand, result.name)
        place = len(operand.fact.shape) + part.axis
        size = operand.fact.shape[place].value
        if part.flat is not None and size is not None:
            numbers = self.emit.vector(tuple(range(size)), "numbers")
            return operand, of_one_length(self.emit, operand, numbers)
        length = common_length(self.emit, part)
        if sizes:
            some = self.emit.add(
                "Cast", [self.feeding.iterations], "some", to=onnx.TensorProto.BOOL
            )
            alone = self.feeding.integers(sizes[place])
            length = self.emit.add("Where", [some, length, alone], "length")
        if part.flat is not None:
            numbers = self.feeding.numbers(length)
            return operand, of_one_length(self.emit, operand, numbers)
        return operand, self.emit.cut(operand.value, 0, length, place + 1, result.name)

    def _empty_axes(self, value: Value, axes: list[int]) -> Value:
        """Cut some axes of a value to size 0 without iterations."""
        feeding = self.feeding
        some = self.emit.add("Cast", [feeding.iterations], "some", to=onnx.TensorProto.BOOL)
        once = self.emit.add("Cast", [some], "once", to=onnx.TensorProto.INT64)
        sizes = self.emit.add("Shape", [value], "sizes")
        sizes = self.emit.add("Gather", [sizes, feeding.integers(*axes)], "sizes")
        ends = self.emit.add("Mul", [sizes, once], "ends")
        starts = feeding.integers(*[0] * len(axes))
        return self.emit.add("Slice", [value, starts, ends, feeding.integers(*axes)], value.name)
