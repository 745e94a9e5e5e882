"""Write rows of a buffer by one ScatterND in each iteration.

t = Concat (s[:i], row, s[i + 1:])            ->   t = ScatterND (s, [[i]], row)

p = ScatterND (s, [[2 * i]], u)                    t = ScatterND (s, [[2 * i], [2 * i + 1]],
t = ScatterND (p, [[2 * i + 1]], v)           ->                  Concat (u, v))

p = Concat (s, u)                             ->   t = Concat (s, Concat (u, v))
t = Concat (p, v)

Where the place may lie outside of the buffer, the first form makes a longer one, so it must be
inside for certain.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from ...analysis.shapes.inference import ShapeInference
from ...facts.fact import Shape
from ...facts.polynomial import Dimension
from ...facts.reason import Message
from ...ir import Node, Value
from ...ops.builder import Builder
from ...ops.views import SliceView, read_slice
from ..iteration.iterations import Iterations
from ..iteration.loop_view import LoopView, State, read
from ..iteration.places import Places, moving_indices, unmoved
from ..iteration.row_accesses import Row, RowAccesses, distinct, reduction_of, sizes_of
from ..utils.sites import Site, SitePass
from .write_spellings import carry_rows_first, slice_writes

_STORED = Message("row-stored", "'{state}' is written by one ScatterND in each iteration")
_MOVED = Message("state-moved", "'{state}' is carried with the axis first that the body writes")
_SLICED = Message("write-sliced", "'{state}' is written between slices of it")
_OLDEST = 11
"""The first opset of ScatterND."""
_MOST_ROWS = 16
"""The limit of rows that an iteration writes one by one."""


class _Store(NamedTuple):
    """Rows that an iteration writes.

    Attributes:
        node: the node that returns the buffer.
        places: the values of one element each that say where, or a vector of each as [1, 1].
        updates: the rows, one after the other along their first axis.
    """

    node: Node
    places: Sequence[Value]
    updates: Sequence[Value]


@dataclasses.dataclass(frozen=True)
class StoreRows(SitePass):
    """Write rows of a buffer by one ScatterND in each iteration."""

    name: ClassVar[str] = "store-rows"
    works_on: ClassVar[tuple[str, ...]] = ("Concat", "ScatterND", "Split", "Where")
    sites: ClassVar[tuple[str, ...]] = ("Loop", "Scan")
    repeats: ClassVar[bool] = True
    keeps_facts_of_others: ClassVar[bool] = False

    def visit(self, site: Site) -> None:
        """Rewrite the stores of one loop."""
        if site.graph.root.opset() < _OLDEST or not site.holds(*self.works_on):
            return
        loop_view = read(site.node)
        places = Places(Iterations(loop_view, site.inference), site.is_certain)
        for name in slice_writes(loop_view, places):
            site.rewritten(_SLICED(state=name))
        loop_view = read(site.node)
        moved = carry_rows_first(loop_view, site.inference)
        if moved is not None:
            site.rewritten(_MOVED(state=moved))
            return
        places = Places(Iterations(loop_view, site.inference), site.is_certain)
        for name in _Stores(loop_view, places).rewrite():
            site.rewritten(_STORED(state=name))


class _Stores:
    """The stores of rows in one loop.

    Args:
        loop_view: the Loop or Scan.
        places: the places of its body.
    """

    def __init__(self, loop_view: LoopView, places: Places) -> None:
        self._loop_view = loop_view
        self._body = loop_view.body
        self._inference, self._places = places.inference, places

    def rewrite(self) -> list[str]:
        """Rewrite the stores, and return the names of their buffers."""
        names = []
        for state in filter(self._may_store, self._loop_view.states):
            # Both rewrite the body, so the state is read again.
            changed = self._join_appended(state) or self._store_slices(state)
            state = self._again(state)
            store = self._of_scatters(state) or self._of_range(state)
            if store is not None:
                self._write(state.argument, store)
            if store is not None or changed:
                names.append(state.argument.name)
        return names

    def _again(self, state: State) -> State:
        """The state with its present result."""
        states = read(self._loop_view.node).states
        return next(each for each in states if each.argument is state.argument)

    def _may_store(self, state: State) -> bool:
        """Test for a state that a Concat of several parts, or a second ScatterND, returns."""
        node = state.result.producer
        if node is None or node.graph is not self._body or state.result.pinned:
            return False
        if node.is_op("Concat"):
            return len(node.inputs) > 2 or any(
                part is not None and part.producer is not None and part.producer.is_op("Concat")
                for part in node.inputs
            )
        return node.is_op("ScatterND")

    # Appended rows -------------------------------------------------------------------------------

    def _join_appended(self, state: State) -> bool:
        """Join what a body appends to a state by one Concat, or by several."""
        parts, value = list[Value](), state.result
        axes = set()
        while value is not state.argument:
            node = value.producer
            if node is None or node.graph is not self._body or not node.is_op("Concat"):
                return False
            if value is not state.result and len(self._body.uses(value)) != 1:
                return False
            first, *rest = _present(node.inputs)
            axes.add(node.attribute("axis"))
            parts[:0] = rest
            value = first
        if len(parts) < 2 or len(axes) != 1 or state.argument in parts:
            return False
        emit, axis, old = Builder(self._body), axes.pop(), state.result.producer
        assert old is not None
        rows = emit.add("Concat", parts, "rows", axis=axis)
        result = emit.add("Concat", [state.argument, rows], state.result.name, axis=axis)
        self._body.replace_uses(state.result, result)
        self._body.remove(old)
        return True

    # Slices --------------------------------------------------------------------------------------

    def _store_slices(self, state: State) -> bool:
        """Write the rows between the slices before and behind them by a ScatterND."""
        shape, buffers, changed = self._inference.fact(state.initial).shape, {state.argument}, False
        if not shape:
            return False
        facts = RowAccesses(self._loop_view, self._places).facts_of_rows(state, 0, grows=False)
        for node in self._body.nodes():
            if not node.is_op("Concat") or node.attribute("axis") not in (0, -len(shape)):
                continue
            buffer = self._cut_buffer(node, buffers)
            store = None if buffer is None else self._of_slices(node, buffer, shape, facts)
            if buffer is not None and store is not None:
                buffers.add(self._write(buffer, store))
                changed = True
        if changed:
            self._places.indices.update(moving_indices(self._loop_view, self._inference))
        return changed

    def _cut_buffer(self, node: Node, buffers: Collection[Value]) -> Value | None:
        """The buffer of which the first operand of a Concat is a Slice."""
        first = node.inputs[0]
        cut = None if first is None else first.producer
        source = cut.input(0) if cut is not None and cut.is_op("Slice") else None
        return source if source in buffers and len(node.inputs) > 2 else None

    def _of_slices(
        self, node: Node, buffer: Value, shape: Shape, facts: ShapeInference
    ) -> _Store | None:
        """The store of rows between two slices of a buffer."""
        first, *rows, last = node.inputs
        before, after = self._cut(first, buffer), self._cut(last, buffer)
        shapes = [None if row is None else facts.fact(row).shape for row in rows]
        if before is None or after is None or any(not own for own in shapes):
            return None
        counts = [own[0].value for own in shapes if own]
        place, behind = before.bounds[1], after.bounds[0]
        ends = before.start == 0 and _is_end(after.end, shape[0])
        if None in counts or not ends or place is None or behind is None:
            return None
        count = sum(number for number in counts if number is not None)
        spans = self._places.spans(place, behind)
        # A gap or an overlap would change the number of rows.
        if spans is None or spans[1] != count or count > _MOST_ROWS:
            return None
        inside = self._places.is_inside(spans[0], shape[0], count)
        return _Store(node, self._following(place, count), _present(rows)) if inside else None

    def _cut(self, value: Value | None, buffer: Value) -> SliceView | None:
        """The view of a Slice of a buffer along its first axis."""
        view = read_slice(None if value is None else value.producer, self._inference.fact)
        return None if view is None or view.source is not buffer or view.axis else view

    def _following(self, place: Value, count: int) -> list[Value]:
        """Emit the places of consecutive rows."""
        emit = Builder(self._body)
        if not sizes_of(self._inference, place):
            place = emit.unsqueeze(place, 0, "place")
        offsets = [emit.vector((offset,), "offset") for offset in range(1, count)]
        return [place, *(emit.add("Add", [place, offset], "place") for offset in offsets)]

    # Scatters ------------------------------------------------------------------------------------

    def _of_scatters(self, state: State) -> _Store | None:
        """The store of rows by ScatterNDs one after the other, at different places."""
        node, places, updates = state.result.producer, list[Value](), list[Value]()
        last = node
        while node is not None and node.graph is self._body and node.is_op("ScatterND"):
            buffer, at, rows = node.inputs
            if buffer is None or at is None or rows is None or len(places) == _MOST_ROWS:
                return None
            if reduction_of(node) != "none" or node.op.references or not self._is_row(at):
                return None
            places.insert(0, at)
            updates.insert(0, rows)
            if buffer is state.argument:
                break
            # Another reader sees the buffer with the first rows alone.
            if len(self._body.uses(buffer)) != 1 or buffer.pinned:
                return None
            node = buffer.producer
        ends = node is not None and node.is_op("ScatterND") and last is not None
        if not ends or last is None or len(places) < 2:
            return None
        stored = [Row(self._places.indices[place], place) for place in places]
        return _Store(last, places, updates) if distinct(stored) else None

    def _of_range(self, state: State) -> _Store | None:
        """The store of consecutive rows at the numbers of a Range."""
        node = state.result.producer
        if node is None or not node.is_op("ScatterND") or node.input(0) is not state.argument:
            return None
        if reduction_of(node) != "none" or node.op.references:
            return None
        _, at, update = node.inputs
        assert at is not None
        numbers, shape = unmoved(at).producer, self._inference.fact(at).shape
        start = None if numbers is None or not numbers.is_op("Range") else numbers.inputs[0]
        if start is None or update is None or len(shape or ()) != 2:
            return None
        match = self._places.consecutive(at)
        if match is None or match[1] > _MOST_ROWS:
            return None
        return _Store(node, self._following(start, match[1]), [update])

    def _is_row(self, at: Value) -> bool:
        """Test for the place of one row that is never negative."""
        is_one = at in self._places.indices and sizes_of(self._inference, at) == [1, 1]
        return is_one and self._places.sign(at) == 1

    # Result --------------------------------------------------------------------------------------

    def _write(self, buffer: Value, store: _Store) -> Value:
        """Replace the last node of a store by one ScatterND."""
        result = store.node.output()
        emit, label = Builder(self._body), result.name
        places = [
            place
            if sizes_of(self._inference, place) == [1, 1]
            else emit.reshape(place, (1, 1), "place")
            for place in store.places
        ]
        at, rows = (
            parts[0] if len(parts) == 1 else emit.concat(list(parts), 0, name)
            for parts, name in ((places, "places"), (store.updates, "rows"))
        )
        new = emit.add("ScatterND", [buffer, at, rows], label)
        self._body.replace_uses(result, new)
        self._body.remove(store.node)
        return new


def _present(values: Sequence[Value | None]) -> list[Value]:
    return [value for value in values if value is not None]


def _is_end(bound: Dimension | None, size: Dimension) -> bool:
    """Test for a bound at the end of an axis or beyond."""
    if bound is None or bound == size or bound.value is None:
        return bound is not None and bound == size
    return bound.value >= (np.iinfo(np.int32).max if size.value is None else size.value)
