"""All that a body is fed with on its trips, side by side: the trips are the first axis of each."""

from __future__ import annotations

import numpy as np
import onnx

from ...analysis.shapes.inference import ShapeInference
from ...analysis.shapes.ranks import Ranks
from ...facts.fact import Fact, Shape, constant_fact, content_from, decided, element
from ...facts.polynomial import Dimension
from ...ir import Array, Graph, Model, Node, Value, captured_by
from ...ir.lazy import lazy_property
from ...ops.batching import Operand, Unbatchable, spread
from ...ops.builder import Builder, Room
from .loop_view import Repetition, Scanned
from .memory import IterationMemory, MemoryBounds

OLDEST_OPSET = 11
"""Range exists from here on, and axes may be negative."""

_FROM_THE_END = np.iinfo(np.int64).min


def around(node: Node) -> list[Value]:
    """The values around a Loop or Scan that it reads, each once."""
    read = [value for value in (*node.inputs, *captured_by(node)) if value is not None]
    return list(dict.fromkeys(read))


def room_beside(body: Graph) -> Room:
    """Room for what comes of a body when all iterations are computed at once."""
    room = Room(0)
    room.admit(100 + sum(len(graph) for graph in body.walk()))
    return room


_ONE = (Dimension.constant(1),)


class Feeding:
    """The values around a Loop or Scan, and what it hands to its body, in a graph of their own.

    The graph is put in place of the Loop or Scan when all of it stands.

    Args:
        repetition: the Loop or Scan.
        inference: facts about the model's values.
        memory: holds values of all iterations to bounds; to the default ones where it is None.

    Attributes:
        memory: as given.
        emit: adds nodes to the graph.
        trips: how many trips there are, a vector of one int64.
        number: that of any trip, a symbol.
        reversals: for values what has their first axis from the end, both ways.
        outside: for values around the Loop or Scan the graph's inputs that stand for them.
        ranks: those of the graph's values.
        depth: how many calls stand around the node that is being computed.

    Raises:
        Unbatchable: something is not known that decides the form.
    """

    def __init__(
        self,
        repetition: Repetition,
        inference: ShapeInference,
        memory: IterationMemory | None = None,
    ) -> None:
        self.repetition = repetition
        self.inference = inference
        self.memory = memory or IterationMemory(repetition, inference, MemoryBounds())
        graph = repetition.node.graph
        assert graph is not None
        scratch = Model(onnx.ModelProto(ir_version=max(inference.model.ir_version, 4)))
        scratch.opset_imports = dict(graph.root.opset_imports)
        self.emit = Builder(scratch.graph, room=room_beside(repetition.body))
        if self.emit.opset < OLDEST_OPSET:
            raise Unbatchable(f"is of opset {self.emit.opset}; convert to {OLDEST_OPSET} first")
        self.outside: dict[Value, Value] = {}
        self.reversals: dict[Value, Value] = {}
        self._same: dict[Value, Operand] = {}
        self._ranks: dict[Value, int] = {}
        self.ranks = Ranks(scratch, self._rank_beyond)
        self.depth = 0
        self.number = inference.symbols.fresh()
        self.trips = self._count()

    def same(self, value: Value) -> Operand:
        """A value from outside the body, which is the same on every trip."""
        if value not in self._same:
            self._same[value] = self._enter(value)
        return self._same[value]

    def _enter(self, value: Value) -> Operand:
        graph = self.emit.graph
        if value.constant is not None and not self.repetition.around.sees(value):
            copy = graph.add_initializer(value.name, value.constant)
            return Operand(copy, False, constant_fact(value.constant))
        fact = self.inference.fact(value)
        info = onnx.ValueInfoProto(name=value.name)
        type_ = fact.type_proto(private=False)
        if type_ is not None:
            info.type.CopyFrom(type_)
        self.outside[value] = graph.add_input(value.name, info)
        return Operand(self.outside[value], False, fact)

    def enter_rank(self, value: Value, rank: int) -> None:
        """Take note of a rank that does not follow from the graph."""
        if value not in self._ranks:
            self._ranks[value] = rank
            self.ranks.forget(value)

    def _rank_beyond(self, value: Value) -> int | None:
        """The rank of a value about which operators say nothing; None where it is not known."""
        return self._ranks.get(value, None if value.shape is None else len(value.shape))

    def size(self, dim: Dimension) -> Value:
        """A size that is the same on every trip, a vector of one int64.

        Raises:
            Unbatchable: no value around the Loop or Scan is known to have an axis of it.
        """
        if dim.value is not None:
            return self.integers(dim.value)
        for value in around(self.repetition.node):
            shape = self.same(value).fact.shape or ()
            if dim in shape:
                sizes = self.emit.add("Shape", [self.same(value).value], "sizes")
                return self.emit.add("Gather", [sizes, self.integers(shape.index(dim))], "size")
        raise Unbatchable(f"computes values of a size {dim} that only run time tells")

    def integers(self, *numbers: int) -> Value:
        """A constant vector of int64."""
        return self.emit.vector(numbers, "k")

    def _constant(self, array: Array) -> Value:
        return self.emit.constant(array, "k")

    # How many trips ------------------------------------------------------------------------------

    def _count(self) -> Value:
        repetition = self.repetition
        if repetition.maximum is None:
            return self._length(repetition.scanned)
        count = self._vector(repetition.maximum)
        most = self.most_dimension()
        if most is None or most.less(0) is not False:
            count = self._at_least_none(count)
        if repetition.start is None or self._starts:
            return count
        start = self._vector(repetition.start)
        return self.emit.add("Where", [start, count, self.integers(0)], "trips")

    @lazy_property
    def _starts(self) -> bool:
        """Whether the condition of a Loop certainly holds before the first trip."""
        start = self.repetition.start
        known = None if start is None else decided(self.same(start).fact)
        return known is not None and bool(known.all())

    def _vector(self, value: Value) -> Value:
        """A tensor of one element, of whatever rank, as a vector: of a scalar in the form that
        exporters write, since not every compiler takes a Reshape of a size."""
        own = self.same(value)
        if own.fact.shape == ():
            return self.emit.unsqueeze(own.value, 0, "vector")
        if own.fact.shape == _ONE:
            return own.value
        return self.emit.add("Reshape", [own.value, self.integers(1)], "vector")

    def _at_least_none(self, number: Value) -> Value:
        zero = self.integers(0)
        if self.emit.opset >= 12:
            return self.emit.add("Max", [number, zero], "trips")
        return self.emit.add(
            "Where", [self.emit.add("Less", [number, zero], "none"), zero, number], "trips"
        )

    def _length(self, scanned: tuple[Scanned, ...]) -> Value:
        first = scanned[0]
        if first.size is not None and first.size > 1:
            return self.integers(first.count(self._shape(first)).value or 0)
        axis = first.axis % len(self._shape(first))
        shape = self.emit.add("Shape", [self.same(first.source).value], "shape")
        return self.emit.add("Gather", [shape, self.integers(axis)], "trips")

    def _shape(self, scanned: Scanned) -> Shape:
        shape = self.same(scanned.source).fact.shape
        if shape is None or not -len(shape) <= scanned.axis < len(shape):
            raise Unbatchable(f"scans '{scanned.source.name}', whose rank is not known")
        return shape

    @lazy_property
    def _most_trips(self) -> int | None:
        return self.most_trips()

    def require_room(self, what: str, fact: Fact) -> None:
        """Check that the values of all iterations are not too large.

        Args:
            what: makes the value; the reason begins with it.
            fact: about the value of one iteration.

        Raises:
            Unbatchable: they are too large.
        """
        self.memory.require(what, fact, self._most_trips)

    def most_trips(self) -> int | None:
        """How many trips there are at most; None where only run time tells."""
        if self.repetition.maximum is None:
            first = self.repetition.scanned[0]
            return first.count(self._shape(first)).value
        maximum = decided(self.same(self.repetition.maximum).fact)
        return None if maximum is None or maximum.size != 1 else max(int(maximum.item()), 0)

    def most_dimension(self) -> Dimension | None:
        """The same with symbols for sizes."""
        if self.repetition.maximum is None:
            first = self.repetition.scanned[0]
            return first.count(self._shape(first))
        most = element(self.same(self.repetition.maximum).fact)
        return most if isinstance(most, Dimension) else None

    def trip_dimension(self) -> Dimension | None:
        """How many trips there are, no more and no fewer; None where that is not known."""
        return self._trip_dimension

    @lazy_property
    def _trip_dimension(self) -> Dimension | None:
        start, most = self.repetition.start, self.most_dimension()
        if most is None or most.less(0) is not False:
            return None
        return most if start is None or self._starts else None

    # What the body is handed ---------------------------------------------------------------------

    def handed(self) -> dict[Value, Operand]:
        """What stands for the inputs of the body but its states."""
        repetition, found = self.repetition, {}
        iteration, condition = repetition.iteration, repetition.condition
        if iteration is not None:
            found[iteration] = self._iteration(len(iteration.shape or ()))
        if condition is not None:
            holds = np.ones([1] * len(condition.shape or ()), np.bool_)
            value = self._constant(holds)
            assert value.constant is not None
            found[condition] = Operand(value, False, constant_fact(value.constant))
        for scanned in repetition.scanned:
            found[scanned.given] = self.elements(scanned)
        for outside, given in repetition.same:
            found[given] = self.same(outside)
        return found

    def _iteration(self, rank: int) -> Operand:
        """The numbers of the trips, of the rank that the body declares for one."""
        numbers = self._range(self._limit())
        if rank:
            numbers = self.emit.unsqueeze(numbers, tuple(range(1, 1 + rank)), "trip")
        shape = (Dimension.constant(1),) * rank
        number = content_from(self.number).reshape((1,) * rank)
        return Operand(numbers, True, Fact(onnx.TensorProto.INT64, shape, number))

    def _limit(self) -> Value:
        """How many trips there are, a scalar; it may be negative where there are none."""
        maximum, start = self.repetition.maximum, self.repetition.start
        if maximum is None or (start is not None and not self._starts):
            return self.emit.squeeze(self.trips, 0, "limit")
        given = self.same(maximum)
        if given.fact.shape == ():
            return given.value
        if given.fact.shape == _ONE:
            return self.emit.squeeze(given.value, 0, "limit")
        return self.emit.scalar(given.value, "limit")

    def is_number(self, fact: Fact) -> bool:
        """Whether a value of one element is the number of the trip, on every trip."""
        content = fact.content
        return content is not None and content.size == 1 and content.item() == self.number

    def numbers(self, end: Value) -> Value:
        """The numbers from 0 to before the element of a vector."""
        return self._range(self.emit.squeeze(end, 0, "limit"))

    def _range(self, limit: Value) -> Value:
        zero, one = (self._constant(np.array(n, np.int64)) for n in (0, 1))
        return self.emit.add("Range", [zero, limit, one], "numbers")

    def elements(self, scanned: Scanned) -> Operand:
        """What is scanned, its elements first and in the order of the trips."""
        source, shape = self.same(scanned.source), self._shape(scanned)
        value = self.rows(source, scanned.axis, scanned.given.name)
        if scanned.backward:
            value = self.reversed(value)
        axis = scanned.axis % len(shape)
        before, behind = shape[:axis], shape[axis + 1 :]
        if scanned.size is None:
            return Operand(value, True, Fact(source.fact.elem_type, (*before, *behind)))
        each = (*before, Dimension.constant(scanned.size), *behind)
        value = self._in_parts(value, scanned.size, axis, (*before, *behind))
        return Operand(value, True, Fact(source.fact.elem_type, each))

    def _in_parts(self, rows: Value, size: int, axis: int, rest: Shape) -> Value:
        """Rows, so many at a time, which then stand along an axis of their own."""
        if size == 1:
            return self.emit.unsqueeze(rows, axis + 1, rows.name)
        sizes = [dim.value for dim in rest]
        if not all(sizes):
            raise Unbatchable("takes parts of a tensor of sizes that only run time tells")
        shape = self.integers(-1, size, *(number or 0 for number in sizes))
        parts = self.emit.add("Reshape", [rows, shape], rows.name)
        perm = [0, *range(2, axis + 2), 1, *range(axis + 2, len(rest) + 2)]
        return self.emit.transpose(parts, perm, rows.name)

    def rows(self, source: Operand, axis: int, label: str) -> Value:
        """A value with one of its axes first."""
        rank = len(source.fact.shape or ())
        axis %= rank
        perm = [axis, *(other for other in range(rank) if other != axis)]
        return self.emit.transpose(source.value, perm, label)

    def reversed(self, value: Value) -> Value:
        """A value with its first axis from the end; what was made so is as it was before."""
        if value not in self.reversals:
            other = self.cut(value, [-1], [_FROM_THE_END], [0], [-1])
            self.reversals[value], self.reversals[other] = other, value
        return self.reversals[value]

    def cut(self, value: Value, *bounds: list[int]) -> Value:
        """A slice: starts, ends, axes, steps."""
        vectors = [self.integers(*numbers) for numbers in bounds]
        return self.emit.add("Slice", [value, *vectors], f"{value.name}_cut")

    # For all trips -------------------------------------------------------------------------------

    def every(self, operand: Operand, what: str) -> Value:
        """A value for all trips, repeated where it is the same on every one.

        Args:
            operand: what stands for it.
            what: how errors call it.
        """
        if operand.batched:
            return operand.value
        if operand.fact.shape is None:
            raise Unbatchable(f"gives '{what}', whose rank is not known")
        return spread(operand.value, len(operand.fact.shape), self.trips, self.emit)
