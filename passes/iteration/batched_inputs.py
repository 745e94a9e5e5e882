"""Batched inputs of a body, with the batch axis first."""

import numpy as np
import onnx

from ...analysis.shapes.inference import ShapeInference
from ...analysis.shapes.ranks import Ranks
from ...analysis.shapes.single_node_model import reads_of
from ...facts.fact import Fact, Shape, constant_fact, content_from
from ...facts.magnitudes import LAST_OF_64_BITS
from ...facts.polynomial import Dimension
from ...ir import Model, Operator, Value
from ...ir.lazy import lazy_property
from ...ops.batching import Operand, Unbatchable, Window, spread
from ...ops.builder import Builder, Room
from ...ops.rules import OLDEST_OPSET
from ...ops.schema_queries import MIN_OF_INTEGERS
from .iterations import IterationMemory, Iterations, MemoryBounds
from .loop_view import LoopView, ScanInput, State, declaration, move_axis

_OLDEST = 8
"""The first opset of Expand."""
_ONE = (Dimension.constant(1),)


class Feeding(Iterations):
    """The outside values and body arguments of a Loop or Scan, in a scratch graph.

    The complete graph replaces the Loop or Scan.

    Args:
        memory: the limits of batched values; the default ones if None.
        exact: true if floats must be added and multiplied in the order of the loop.

    Attributes:
        model, graph: the scratch model, and its graph.
        iterations: the trip count, int64 of shape [1].
        reversals: the values with a reversed first axis, both ways.
        outside: the graph's inputs for outside values.
        ranks: the ranks of the graph's values.
        depth: the number of calls around the current node.
        windows: the batched values that are windows of rows.
        defined: the operators outside of ONNX that their definitions replaced.
        of_rows: those that stayed, on all rows, although their kernels may round.
        adds_loops: true after the emission of loops that may be vectorized themselves.

    Raises:
        Unbatchable: an unknown fact that decides the form.
    """

    def __init__(
        self,
        loop_view: LoopView,
        inference: ShapeInference,
        memory: IterationMemory | None = None,
        exact: bool = False,
    ) -> None:
        super().__init__(loop_view, inference)
        self.exact = exact
        self.memory = memory or IterationMemory(loop_view, inference, MemoryBounds())
        graph = loop_view.node.graph
        assert graph is not None
        # Below IR version 4 each initializer would have to be an input as well.
        scratch = Model(onnx.ModelProto(ir_version=max(inference.model.ir_version, 4)))
        scratch.opset_imports = dict(graph.root.opset_imports)
        room = Room(0)
        room.admit(100 + sum(len(graph) for graph in loop_view.body.walk()))
        self.model, self.graph = scratch, scratch.graph
        self.emit = Builder(self.graph, room=room)
        if self.emit.opset < _OLDEST:
            raise Unbatchable(f"is of opset {self.emit.opset}; convert to {_OLDEST} first")
        self.outside: dict[Value, Value] = {}
        self.reversals: dict[Value, Value] = {}
        self._same: dict[Value, Operand] = {}
        self._ranks: dict[Value, int] = {}
        self.ranks = Ranks(scratch, self._rank_beyond)
        self.windows: dict[Value, Window] = {}
        self._first_rows: dict[State, Value] = {}
        self._tails: dict[Value, Value] = {}
        self.depth = 0
        self.defined: dict[str, None] = {}
        self.of_rows: dict[str, None] = {}
        self.adds_loops = False
        self.iterations = self._count()

    def same(self, value: Value) -> Operand:
        """The loop-invariant operand of an outside value."""
        if value not in self._same:
            self._same[value] = self._enter(value)
        return self._same[value]

    def enter(self, value: Value, operand: Operand) -> None:
        """Record the loop-invariant operand of a value that no graph has."""
        self._same[value] = operand
        self.inference.assume(value, operand.fact)

    def _enter(self, value: Value) -> Operand:
        graph = self.graph
        # An initializer of the body is not visible outside, and comes along as a copy.
        if value.constant is not None and not self.loop_view.around.sees(value):
            copy = graph.add_initializer(value.name, value.constant)
            return Operand(copy, False, constant_fact(value.constant))
        fact = self.inference.fact(value)
        info = declaration(value.name, fact.type_proto(private=False))
        self.outside[value] = graph.add_input(value.name, info)
        return Operand(self.outside[value], False, fact, value.constant)

    def enter_rank(self, value: Value, rank: int) -> None:
        """Record a rank that does not follow from the graph."""
        if value not in self._ranks:
            self._ranks[value] = rank
            self.ranks.forget(value)

    def _rank_beyond(self, value: Value) -> int | None:
        """The recorded or declared rank of a value; None if unknown."""
        return self._ranks.get(value, None if value.shape is None else len(value.shape))

    def size(self, dim: Dimension) -> Value:
        """Emit a loop-invariant size, int64 of shape [1].

        Raises:
            Unbatchable: no outside value with an axis of that size.
        """
        if dim.value is not None:
            return self.integers(dim.value)
        for value in reads_of(self.loop_view.node):
            shape = self.same(value).fact.shape or ()
            if dim in shape:
                return self.emit.size(self.same(value).value, shape.index(dim), "size")
        raise Unbatchable(f"computes values of size {dim}, known only at run time")

    def integers(self, *numbers: int) -> Value:
        """Emit a constant vector of int64."""
        return self.emit.vector(numbers, "k")

    # Trip count ----------------------------------------------------------------------------------

    def _count(self) -> Value:
        loop_view = self.loop_view
        if loop_view.maximum is None:
            return self._length(loop_view.scan_inputs)
        # A negative maximum makes no iterations (operator specification, Loop).
        count = self._vector(loop_view.maximum)
        most = self.most_dimension
        if most is None or most.less(0) is not False:
            count = self._at_least_none(count)
        if loop_view.start is None or self.starts:
            return count
        start = self._vector(loop_view.start)
        # A condition that is false at first means zero iterations, whatever the trip count.
        return self.emit.add("Where", [start, count, self.integers(0)], "iterations")

    def _vector(self, value: Value) -> Value:
        """Convert a tensor of one element, of any rank, to a vector.

        A scalar is unsqueezed, as exporters do: some compilers reject a Reshape of a size.
        """
        own = self.same(value)
        if own.fact.shape == ():
            return self.emit.unsqueeze(own.value, 0, "vector")
        if own.fact.shape == _ONE:
            return own.value
        return self.emit.add("Reshape", [own.value, self.integers(1)], "vector")

    def _at_least_none(self, number: Value) -> Value:
        return self.emit.add("Max", [number, self.integers(0)], "iterations")

    def _length(self, scanned: tuple[ScanInput, ...]) -> Value:
        first = scanned[0]
        if first.size is not None and first.size > 1:
            return self.integers(first.count(self.shape(first)).value or 0)
        axis = first.axis % len(self.shape(first))
        return self.emit.size(self.same(first.source).value, axis, "iterations")

    def require_room(self, what: str, fact: Fact) -> None:
        """Check the size of a batched value.

        Args:
            what: the start of the message, which names the producer.
            fact: the fact of one iteration's value.

        Raises:
            Unbatchable: a value over the limit.
        """
        self.memory.require(what, fact, self.most_iterations)

    # Arguments of the body -----------------------------------------------------------------------

    def body_operands(self) -> dict[Value, Operand]:
        """The operands of the body's arguments, except states."""
        loop_view, operands = self.loop_view, {}
        iteration, condition = loop_view.iteration, loop_view.condition
        if iteration is not None:
            operands[iteration] = self._iteration(len(iteration.shape or ()))
        if condition is not None:
            # An iteration runs only if the condition held before it.
            holds = np.ones([1] * len(condition.shape or ()), np.bool_)
            value = self.emit.constant(holds, "k")
            assert value.constant is not None
            operands[condition] = Operand(value, False, constant_fact(value.constant))
        for scanned in loop_view.scan_inputs:
            operands[scanned.argument] = self.elements(scanned)
        for outside, argument in loop_view.same:
            operands[argument] = self.same(outside)
        return operands

    def _iteration(self, rank: int) -> Operand:
        """Emit the iteration numbers, of the rank that the body declares."""
        numbers = self.emit.lift(self._range(self._limit()), rank, "iteration")
        shape = (Dimension.constant(1),) * rank
        number = content_from(self.number).reshape((1,) * rank)
        return Operand(numbers, True, Fact(onnx.TensorProto.INT64, shape, number))

    def _limit(self) -> Value:
        """The trip count as a scalar, at least 0.

        onnxruntime reads a Gather by a Range as a Slice, of which a negative end counts from the
        end of the axis.
        """
        maximum, start = self.loop_view.maximum, self.loop_view.start
        most = self.most_dimension
        if maximum is None or (start is not None and not self.starts):
            return self.emit.squeeze(self.iterations, 0, "limit")
        bound, is_open = self.same(maximum), most is None or most.less(0) is not False
        if is_open and bound.fact.shape == () and self.emit.opset >= MIN_OF_INTEGERS:
            return self.emit.add("Max", [bound.value, self._zero], "limit")
        if is_open:
            return self.emit.squeeze(self.iterations, 0, "limit")
        if bound.fact.shape == ():
            return bound.value
        if bound.fact.shape == _ONE:
            return self.emit.squeeze(bound.value, 0, "limit")
        return self.emit.scalar(bound.value, "limit")

    def numbers(self, end: Value) -> Value:
        """Emit the numbers from 0 to below the element of a vector."""
        return self._range(self.emit.squeeze(end, 0, "limit"))

    def _range(self, limit: Value) -> Value:
        if self.emit.opset >= OLDEST_OPSET:
            return self.emit.numbers(limit, "numbers", self._zero)
        # Rows that are read in order need no numbers; `splice` refuses results that do.
        operands = [self._zero, limit, self.integers(1)]
        return self.emit.add_unchecked(Operator("Range"), operands, ["numbers"])[0]

    @lazy_property
    def _zero(self) -> Value:
        return self.emit.integer(0, "k")

    def elements(self, scanned: ScanInput) -> Operand:
        """Emit a scan input, elements first and in the order of iteration."""
        source, shape = self.same(scanned.source), self.shape(scanned)
        value = self.rows(source, scanned.axis, scanned.argument.name)
        if scanned.backward:
            value = self.reverse(value)
        axis = scanned.axis % len(shape)
        before, after = shape[:axis], shape[axis + 1 :]
        if scanned.size is None:
            return Operand(value, True, Fact(source.fact.elem_type, (*before, *after)))
        each = (*before, Dimension.constant(scanned.size), *after)
        value = self._in_parts(value, scanned.size, axis, (*before, *after))
        return Operand(value, True, Fact(source.fact.elem_type, each))

    def _in_parts(self, rows: Value, size: int, axis: int, rest: Shape) -> Value:
        """Group rows by `size`, along an axis of their own."""
        if size == 1:
            return self.emit.unsqueeze(rows, axis + 1, rows.name)
        sizes = [dim.value for dim in rest]
        # Reshape infers -1 only where all other sizes are known, and none of them is 0.
        if not all(sizes):
            raise Unbatchable("reads parts of run-time sizes of a tensor")
        shape = self.integers(-1, size, *(number or 0 for number in sizes))
        pieces = self.emit.add("Reshape", [rows, shape], rows.name)
        return self.emit.transpose(pieces, move_axis(len(rest) + 2, 1, axis + 1), rows.name)

    def rows(self, source: Operand, axis: int, label: str) -> Value:
        """Move an axis of a value to the front."""
        rank = len(source.fact.shape or ())
        return self.emit.transpose(source.value, move_axis(rank, axis % rank, 0), label)

    def reverse(self, value: Value) -> Value:
        """Reverse the first axis of a value; a second reversal restores the value."""
        if value not in self.reversals:
            other = self.emit.reverse(value, f"{value.name}_cut")
            self.reversals[value], self.reversals[other] = other, value
        return self.reversals[value]

    def cut(self, value: Value, start: int, end: int, axis: int = 0) -> Value:
        """Emit a part of an axis."""
        return self.emit.cut(value, start, end, axis, f"{value.name}_cut")

    def before(self, rows: Value) -> Value:
        """Emit all rows but the last: of states, those before each iteration."""
        return self.cut(rows, 0, -1)

    def after(self, rows: Value) -> Value:
        """Emit all rows but the first: of states, those after each iteration."""
        return self._tails.get(rows) or self.cut(rows, 1, LAST_OF_64_BITS)

    def first_row(self, state: State) -> Value:
        """Emit the initial value of a state as the first row, once."""
        if state not in self._first_rows:
            initial = self.same(state.initial).value
            self._first_rows[state] = self.emit.unsqueeze(initial, 0, "first")
        return self._first_rows[state]

    def from_first(self, state: State, after: Value) -> Value:
        """Emit rows of a state after its initial value."""
        rows = self.emit.concat([self.first_row(state), after], 0, state.argument.name)
        self._tails[rows] = after
        return rows

    def final(self, rows: Value, label: str) -> Value:
        """Emit the row after the last iteration, of rows with the initial one first."""
        row = self.emit.add("Gather", [rows, self.iterations], "last", axis=0)
        return self.emit.squeeze(row, 0, label)

    # Batched values ------------------------------------------------------------------------------

    def every(self, operand: Operand, what: str, emit: Builder | None = None) -> Value:
        """The batched value of an operand, repeated if it is loop-invariant.

        Args:
            what: its name in errors.
            emit: the builder of a body inside, if any.
        """
        if operand.batched:
            return operand.value
        if operand.fact.shape is None:
            raise Unbatchable(f"returns '{what}', whose rank is not known")
        return spread(operand.value, len(operand.fact.shape), self.iterations, emit or self.emit)
