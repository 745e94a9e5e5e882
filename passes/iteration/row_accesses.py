"""Rows of a state that an iteration writes, and those that it reads.

t = ScatterND (s, [[i + 1]], row)     writes row i + 1
t = Concat (s, row)                   writes the row after the last one, as SequenceInsert does
e = Gather (s, i)                     reads row i, which the iteration before wrote
"""

from collections.abc import Sequence

import numpy as np

from ...analysis.shapes.inference import ShapeInference
from ...facts.polynomial import Dimension
from ...ir import Node, Value
from ...ops.builder import Builder
from ...ops.views import read_slice
from ...records import record, replace
from .loop_view import LoopView, State
from .places import Index, Places, certain_sizes, counts_all, repeated, with_sizes


@record(frozen=True)
class Row:
    """One row of a state.

    Attributes:
        index: its place in each iteration.
        at: the value of one element that holds the place; None if counted from the newest row.
        from_zero: true if 0 replaces the place of the first iteration, which is -1.
    """

    index: Index
    at: Value | None
    from_zero: bool = False


@record(frozen=True)
class Store:
    """The node that returns the next value of a state, with its rows.

    Attributes:
        node: a ScatterND, ScatterElements, Concat or SequenceInsert.
        axis: the axis of the rows; None for a sequence.
        keeps: true if the written rows have that axis, with a size of 1.
        grows: true if the state gets one row more in each iteration.
    """

    state: State
    node: Node
    rows: tuple[Row, ...]
    axis: int | None
    keeps: bool = True
    grows: bool = False

    @property
    def update(self) -> Value:
        """The written rows."""
        return self.node.operand(1 if self.grows else 2)

    @property
    def keeps_axis(self) -> bool:
        """Test for one written row with the axis of the rows."""
        return self.keeps and self.axis is not None and len(self.rows) == 1

    def row(self, position: int, emit: Builder, keeps: bool) -> Value:
        """Emit one of the written rows, with or without its axis."""
        label = f"{self.state.argument.name}_written"
        if len(self.rows) > 1:
            place = emit.integer(position, "place")
            return emit.add("Gather", [self.update, place], label, axis=0)
        if keeps or not self.keeps_axis or self.axis is None:
            return emit.add("Identity", [self.update], label)
        return emit.squeeze(self.update, self.axis, label)


@record(frozen=True)
class Load:
    """A node that reads one row of a state, or only its sizes.

    Attributes:
        node: a Gather, GatherND, Slice or SequenceAt; a Shape or Size of no row.
        row: the row; None for the sizes.
        keeps: true if the axis of the rows stays, with a size of 1.
        count: the number of rows, of which `row` is the first.
    """

    node: Node
    row: Row | None
    keeps: bool
    count: int = 1

    @property
    def rows(self) -> list[Row]:
        """The rows that it reads."""
        if self.row is None or self.count == 1:
            return [] if self.row is None else [self.row]
        start, step = self.row.index.start, self.row.index.step
        return [Row(Index(start + more, step), self.row.at) for more in range(self.count)]


class RowAccesses:
    """The reader of the rows that a Loop writes and reads."""

    def __init__(self, loop_view: LoopView, places: Places) -> None:
        self._loop_view = loop_view
        self._places = places
        self._inference = places.inference
        self._indices = places.indices

    # Stores --------------------------------------------------------------------------------------

    def store(self, state: State) -> Store | None:
        """The store of a state; None for other states."""
        node, body = state.result.producer, self._loop_view.body
        if node is None or node.graph is not body or node.op.references:
            return None
        # Whoever else reads the state after the store reads all rows, not one.
        if state.argument.pinned or state.result.pinned or len(body.uses(state.result)) != 1:
            return None
        # A state with one use is only written: there is no read to forward.
        if node.input(0) is not state.argument or len(body.uses(state.argument)) < 2:
            return None
        if node.is_op("ScatterND", "ScatterElements"):
            return self._scattered(state, node)
        return self._appended(state, node)

    def _scattered(self, state: State, node: Node) -> Store | None:
        at, update, shape = node.input(1), node.input(2), self._inference.fact(state.initial).shape
        if at is None or update is None or not shape:
            return None
        # With a reduction the written row depends on the old one.
        if reduction_of(node) != "none":
            return None
        own = sizes_of(self._inference, at)
        if node.is_op("ScatterElements"):
            axis, place = node.attribute("axis", 0), repeated(at, self._indices.__contains__)
            whole = (Dimension.constant(1), *shape[1:])
            fits = self._inference.fact(at).shape == self._inference.fact(update).shape == whole
            if axis not in (0, -len(shape)) or place is None or not fits:
                return None
            return Store(state, node, (Row(self._indices[place], place),), 0)
        if own == [1]:
            places = [at]
        elif own is not None and len(own) == 2 and own[1] == 1:
            joined = at.producer
            is_joined = joined is not None and joined.is_op("Concat")
            places = list(joined.inputs) if joined is not None and is_joined else [at]  # type: ignore[arg-type]
            if len(places) != own[0]:
                return None
        else:
            return None
        if not all(place in self._indices for place in places):
            return None
        rows = tuple([Row(self._indices[place], place) for place in places])
        return Store(state, node, rows, 0, own != [1])

    def _appended(self, state: State, node: Node) -> Store | None:
        """Match one more row behind the others."""
        first: Dimension | None = None
        if node.is_op("SequenceInsert") and len(node.inputs) == 2:
            count = self._inference.fact(state.initial).count
            first = None if count is None else Dimension.constant(count)
            axis = None
        elif node.is_op("Concat") and len(node.inputs) == 2 and node.inputs[1] is not None:
            shape, axis = self._inference.fact(state.initial).shape, node.attribute("axis")
            if not shape or not -len(shape) <= axis < len(shape):
                return None
            axis, first = axis % len(shape), shape[axis]
            more = self.facts_of_rows(state, axis, grows=True).fact(node.inputs[1]).shape
            if not more or more[axis] != 1:
                return None
        else:
            return None
        # Distances count, not places: any symbol serves for an unknown number of first rows.
        first = self._inference.symbols.fresh() if first is None else first
        return Store(state, node, (Row(Index(first, 1), None),), axis, grows=True)

    # Loads ---------------------------------------------------------------------------------------

    def loads(self, store: Store) -> list[Load] | None:
        """The nodes that read the state, but for its store; None for another kind of use."""
        loads = []
        for use in self._loop_view.body.uses(store.state.argument):
            if use.user is store.node and use.position == 0:
                continue
            node = use.user
            if not isinstance(node, Node) or use.position != 0 or node.op.references:
                return None
            load = self._load(node, store)
            if load is None:
                return None
            loads.append(load)
        return loads

    def _load(self, node: Node, store: Store) -> Load | None:
        if node.is_op("Shape", "Size"):
            # The sizes of a state that grows differ from iteration to iteration.
            return None if store.grows else Load(node, None, False)
        if node.output().pinned:
            return None
        if node.is_op("Slice"):
            return self._slice(node, store)
        at = node.input(1)
        sizes = None if at is None else sizes_of(self._inference, at)
        if at is None or sizes is None:
            return None
        if node.is_op("Gather"):
            rank = len(self._inference.fact(store.state.initial).shape or ())
            axis, keeps = node.attribute("axis", 0), len(sizes) == 1
            if store.axis is None or axis not in (store.axis, store.axis - rank) or len(sizes) > 1:
                return None
        elif node.is_op("GatherND"):
            keeps = len(sizes) == 2
            if store.axis != 0 or sizes not in ([1], [1, 1]) or node.attribute("batch_dims", 0):
                return None
        elif node.is_op("SequenceAt"):
            keeps = False
        else:
            return None
        row = self._row(at, store) if all(size == 1 for size in sizes) else None
        return None if row is None else Load(node, row, keeps)

    def _row(self, at: Value, store: Store) -> Row | None:
        """The row at a place; that at a negative number is counted from the newest one."""
        index = self._indices.get(at)
        if index is not None:
            return Row(index, at)
        bounded = self._places.at_least_zero(at)
        if bounded is not None:
            return Row(bounded, at, from_zero=True)
        place = self._inference.number(at)
        number = None if place is None else place.value
        # Of a state of fixed length -1 is the same row in each iteration; only where it grows is
        # that the newest.
        if number is None or not store.grows or number >= 0:
            return None
        return Row(Index(store.rows[0].index.start + number, 1), None)

    def _slice(self, node: Node, store: Store) -> Load | None:
        """Match a Slice of some rows; it has them only where they are inside."""
        view = read_slice(node, self._inference.fact)
        if view is None or store.axis is None or view.axis != store.axis:
            return None
        start, end = view.bounds
        if start is None or end is None:
            return None
        first, last = self._indices.get(start), self._indices.get(end)
        if first is not None and last is not None:
            count = (last.start - first.start).value if first.step == last.step else None
            return Load(node, Row(first, start), True, count) if count and count > 0 else None
        number, behind = view.numbers
        if number is None or behind is None or not store.grows:
            return None
        is_one = behind == number + 1 or (number == -1 and behind >= np.iinfo(np.int32).max)
        row = self._row(start, store) if is_one else None
        return None if row is None else Load(node, row, True)

    # Facts ---------------------------------------------------------------------------------------

    def facts_of_rows(self, state: State, axis: int, grows: bool) -> ShapeInference:
        """Facts of one iteration, with the sizes of Slices whose rows are certainly there.

        Args:
            axis: the axis of its rows.
            grows: true if each iteration adds a row at the end; else it must keep its sizes.
        """
        body = self._loop_view.body
        store = Store(
            state, body.nodes()[0], (Row(self._end(state, axis), None),), axis, True, grows
        )
        sizes = {} if grows else dict(certain_sizes(self._places, state, axis))
        for use in body.uses(state.argument) if grows else ():
            node = use.user
            if isinstance(node, Node) and node.graph is body and node.is_op("Slice"):
                load = self._slice(node, store)
                if load is not None and self.is_inside(load, store):
                    sizes[node] = axis, load.count
        return with_sizes(self._inference, body, sizes)

    def _end(self, state: State, axis: int) -> Index:
        """The place behind the rows of a state, of which each iteration adds one."""
        shape = self._inference.fact(state.initial).shape
        return Index(self._inference.symbols.fresh() if shape is None else shape[axis], 1)

    # Rows ----------------------------------------------------------------------------------------

    def place_before(self, row: Row, steps: int, emit: Builder) -> Value | None:
        """Emit, before the Loop, the place of a row some iterations before the first one.

        Returns:
            a scalar; None for a place that nothing outside the body determines.
        """
        start, distance = row.index.start, row.index.step * steps
        if row.at is None:
            return emit.integer(-steps, "place")
        if start.value is not None:
            return emit.integer(start.value - distance, "place")
        first = self._before(row.at, emit)
        if first is None:
            return None
        first = emit.scalar(first, "place")
        return emit.add("Sub", [first, emit.integer(distance, "k")], "place")

    def _before(self, value: Value, emit: Builder) -> Value | None:
        """Emit an index as the first iteration has it."""
        body = self._loop_view.body
        if value is self._loop_view.iteration:
            zero = np.zeros([1] * len(value.shape or ()), np.int64)
            return emit.constant(zero, "first")
        for state in self._loop_view.states:
            if value is state.argument:
                return state.initial
        # A constant of the body is out of sight before the loop, and is written once more.
        if value.constant is not None and not emit.graph.sees(value):
            return emit.constant(value.constant.numpy(), "k")
        if value.graph is not body:
            return value
        node = value.producer
        if node is None or value not in self._indices:
            return None  # other nodes might fail without iterations
        inputs = [None if v is None else self._before(v, emit) for v in node.inputs]
        if any(
            new is None and old is not None for new, old in zip(inputs, node.inputs, strict=True)
        ):
            return None
        return emit.add_unchecked(node.op, inputs, [value.name])[0]

    def is_inside(self, load: Load, store: Store) -> bool:
        """Test for a row that the state certainly has in each iteration.

        Another one of a Slice is empty; other reads of it fail.
        """
        # An index out of range fails, so other reads tell that the row is there (Gather,
        # SequenceAt).
        if not load.node.is_op("Slice"):
            return True
        assert load.row is not None and store.axis is not None
        if store.grows and load.row.at is None:
            return load.row.index.start.less(0) is False
        shape = self._inference.fact(store.state.initial).shape
        if shape is None:
            return False
        size = shape[store.axis] + (self._places.extent.number if store.grows else 0)
        return self._places.is_inside(load.row.index, size, load.count)


def reduction_of(node: Node) -> str:
    """The reduction of a ScatterND or ScatterElements."""
    name = node.attribute("reduction", "none")
    return name.decode() if isinstance(name, bytes) else str(name)


def written_line(node: Node, places: Places) -> tuple[int, Index] | None:
    """Match a Scatter that writes all of one line of its buffer in each iteration.

    t = ScatterND (s, [[i]], row)                       (0, i)
    t = ScatterND (s, [[0, i], [1, i]], column)         (1, i)
    t = ScatterElements <axis = 1> (s, [[i], [i]], column)

    Returns:
        the axis and the place; None for others.
    """
    inference, at = places.inference, node.operand(1)
    buffer, indices, update = (inference.fact(value).shape for value in node.inputs[:3] if value)
    if not buffer or not indices or update is None:
        return None
    axis, column, line = 0, column_of(node, inference), (*indices[:-1], *buffer[1:])
    is_line = {1}.issuperset(indices)
    if node.is_op("ScatterElements"):
        axis = node.attribute("axis", 0) % len(buffer)
        line = (*buffer[:axis], Dimension.constant(1), *buffer[axis + 1 :])
        is_line = indices == line
    elif column is not None:
        at, axis, line, is_line = column, 1, (buffer[0], *buffer[2:]), True
    place = places.one_number(at) if is_line and update == line else None
    if place is not None and places.is_negative(place):
        place = replace(place, start=place.start + buffer[axis])
    return None if place is None else (axis, place)


def column_of(node: Node, inference: ShapeInference) -> Value | None:
    """The place of the column that a ScatterND writes at pairs of indices; None for others.

    t = ScatterND (s, [[0, j], [1, j], [2, j]], column)
    """
    buffer, at = node.inputs[:2]
    pairs = None if at is None else at.producer
    shape = None if buffer is None else inference.fact(buffer).shape
    plain = reduction_of(node) == "none" and not node.op.references
    if not plain or pairs is None or not pairs.is_op("Concat") or len(pairs.inputs) != 2:
        return None
    sizes = [None if v is None else inference.fact(v).shape for v in pairs.inputs]
    if shape is None or pairs.attribute("axis") not in (-1, 1):
        return None
    if any(own is None or len(own) != 2 or own[0] != shape[0] or own[1] != 1 for own in sizes):
        return None
    place = pairs.inputs[1]
    if not counts_all(pairs.operand(0), shape[0], inference):
        return None

    def is_one(value: Value) -> bool:
        sizes = sizes_of(inference, value)
        return sizes is not None and {1}.issuperset(sizes)

    return repeated(place, is_one)


def sizes_of(inference: ShapeInference, value: Value) -> list[int | None] | None:
    """The sizes of a value as numbers; None for an unknown rank."""
    shape = inference.fact(value).shape
    return None if shape is None else [dim.value for dim in shape]


def written_before(store: Store, row: Row) -> tuple[int, int] | None:
    """The newest write of a row: which of those of the store, and how many iterations before.

    Returns:
        None for a row that no iteration before has written; then it is that of the initial state.

    Raises:
        ValueError: only run time tells.
    """
    match: tuple[int, int] | None = None
    for position, other in enumerate(store.rows):
        apart = (row.index.start - other.index.start).value
        if row.index.step != other.index.step or apart is None:
            raise ValueError("the distance of the places is not known")
        if apart % row.index.step:
            continue
        steps = -(apart // row.index.step)
        if steps >= 1 and (match is None or steps <= match[1]):
            match = position, steps
    return match


def distinct(rows: Sequence[Row]) -> bool:
    """Test for places of one step that differ within an iteration."""
    starts = [(row.index.start - rows[0].index.start).value for row in rows]
    steps = {row.index.step for row in rows}
    return len(steps) == 1 and None not in starts and len(set(starts)) == len(starts)
