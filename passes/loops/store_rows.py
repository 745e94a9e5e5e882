"""Write rows of a buffer by one ScatterND in each iteration.

t = Concat (s[:i], row, s[i + 1:])            ->   t = ScatterND (s, [[i]], row)

p = ScatterND (s, [[2 * i]], u)                    t = ScatterND (s, [[2 * i], [2 * i + 1]],
t = ScatterND (p, [[2 * i + 1]], v)           ->                  Concat (u, v))

p = Concat (s, u)                             ->   t = Concat (s, Concat (u, v))
t = Concat (p, v)

Where the place may lie outside of the buffer, the first form makes a longer one, so it must be
inside for certain. Other spellings of it come first: a mask of places, a Split, another layout.

t = Where (Equal (Range (0, n, 1), i), row, s)     ->   t = Concat (s[:i], row, s[i + 1:])

a, old, z = Split (s, [i, 1, n - 1 - i])                a = s[:i], old = s[i:i + 1],
t = Concat (a, row, z)                             ->   z = s[i + 1:], t = Concat (a, row, z)

a = Slice (s, 0, i, axis 1)                             a = Slice (u, 0, i, axis 0)
z = Slice (s, i + 1, n, axis 1)                         z = Slice (u, i + 1, n, axis 0)
t = Concat <axis = 1> (a, column, z)               ->   v = Concat <axis = 0> (a, row, z)

A mask has no place outside, where the write changes nothing, and a Split of other sizes fails. A
state that a body transposes, changes and transposes back is carried transposed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import ClassVar, NamedTuple

import numpy as np
import onnx

from ...analysis.shapes.inference import ShapeInference
from ...facts.fact import Shape
from ...facts.magnitudes import LAST_OF_64_BITS
from ...facts.polynomial import Dimension
from ...facts.reason import Message
from ...ir import Graph, Node, Value
from ...ops.builder import Builder
from ...ops.views import SliceView, read_slice
from ..iteration.iterations import Iterations
from ..iteration.loop_view import LoopView, State, move_axis, read
from ..iteration.places import Places, counts_all, moving_indices, unmoved
from ..iteration.row_accesses import Row, RowAccesses, column_of, distinct, reduction_of, sizes_of
from ..utils.replace_all_uses import replace_values
from ..utils.sites import Site, SitePass

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
            site.rewritten(_MOVED(state=moved.argument.name))
            return
        places = Places(Iterations(loop_view, site.inference), site.is_certain)
        for name in _Stores(loop_view, places).rewrite():
            site.rewritten(_STORED(state=name))


class _Stores:
    """The stores of rows in one loop."""

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
            store = self._of_scatters(state)
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


def slice_writes(loop_view: LoopView, places: Places) -> list[str]:
    """Write rows between slices, and return the names of their buffers."""
    body, names = loop_view.body, list[str]()
    if not any(body.nodes_of("Where", "Split")):
        return names
    writes = _Writes(body, places)
    for state in loop_view.states:
        users = [node for node in body.users(state.argument) if isinstance(node, Node)]
        changed = [
            writes.cut_split(state, node) if node.is_op("Split") else writes.cut_mask(state, node)
            for node in users
            if node.is_op("Split", "Where") and node.graph is body and not node.op.references
        ]
        if any(changed):
            names.append(state.argument.name)
    return names


class _Writes:
    """The spelled writes of one loop."""

    def __init__(self, body: Graph, places: Places) -> None:
        self._body, self._places = body, places
        self._inference, self._indices = places.inference, places.indices

    # Splits --------------------------------------------------------------------------------------

    def cut_split(self, state: State, node: Node) -> bool:
        """Replace a Split of a state into parts of moving sizes by Slices."""
        shape, sizes = self._inference.fact(state.initial).shape, node.input(1)
        extent = self._places.extent
        joined = None if sizes is None else sizes.producer
        axis = node.attribute("axis", 0)
        if not shape or joined is None or not joined.is_op("Concat") or node.input(0) is None:
            return False
        parts = [value for value in joined.inputs if value is not None]
        counts = [self._count(value) for value in parts]
        if not -len(shape) <= axis < len(shape) or len(parts) != len(node.outputs):
            return False
        certain = [count for count in counts if count is not None]
        rest = shape[axis] - sum((start for start, _ in certain), Dimension.constant(0))
        # The sizes add up to the axis in each iteration: else the Split fails, and Slices do not.
        is_whole = rest == 0 and not sum(step for _, step in certain)
        if (
            len(certain) < len(parts)
            or not is_whole
            or not all(
                extent.never_negative(start + extent.number * step) for start, step in certain
            )
        ):
            return False
        emit, cuts = Builder(self._body), dict[Value, Value]()
        start: Value | int = 0
        for part, value in zip(parts, node.outputs, strict=True):
            end: Value | int = LAST_OF_64_BITS if part is parts[-1] else part
            if isinstance(start, Value) and isinstance(end, Value):
                end = emit.add("Add", [start, end], "end")
            if value is not None:
                cuts[value] = emit.cut(state.argument, start, end, axis, value.name)
            start = end
        replace_values(self._body, cuts)
        self._body.remove(node)
        return True

    def _count(self, value: Value) -> tuple[Dimension, int] | None:
        """The start and the step of a size; None for another one."""
        sizes = self._inference.fact(value).shape
        if sizes is None or [size.value for size in sizes] != [1]:
            return None
        index = self._indices.get(value)
        if index is not None:
            return index.start, index.step
        number = self._inference.number(value)
        return None if number is None else (number, 0)

    # Masks ---------------------------------------------------------------------------------------

    def cut_mask(self, state: State, node: Node) -> bool:
        """Replace a Where with a mask of one place by a Concat."""
        shape = self._inference.fact(state.initial).shape
        match = self._mask(node, state, shape) if shape else None
        if match is None or not shape:
            return False
        place, axis, row = match
        own = self._inference.fact(row).shape
        whole = (*shape[:axis], Dimension.constant(1), *shape[axis + 1 :])
        if own is None or any(
            size not in (1, other) for size, other in zip(own[::-1], whole[::-1], strict=False)
        ):
            return False
        emit, sizes = Builder(self._body), [dim.value for dim in whole]
        missing = len(whole) - len(own)
        if own == whole[missing:] and {1}.issuperset(sizes[:missing]):
            row = emit.unsqueeze(row, tuple(range(missing)), "row")
        elif not all(sizes):
            return False
        else:
            target = emit.vector(tuple(size or 0 for size in sizes), "sizes")
            row = emit.add("Expand", [row, target], "row")
        at = emit.add("Reshape", [place, emit.vector((1,), "one")], "place")
        behind = emit.add("Add", [at, emit.vector((1,), "one")], "behind")
        before = emit.cut(state.argument, 0, at, axis, "before")
        after = emit.cut(state.argument, behind, LAST_OF_64_BITS, axis, "after")
        new = emit.add("Concat", [before, row, after], node.output().name, axis=axis)
        replace_values(self._body, {node.output(): new})
        self._body.remove(node)
        return True

    def _mask(self, node: Node, state: State, shape: Shape) -> tuple[Value, int, Value] | None:
        """The place that a mask has, its axis and the row; None for another Where."""
        mask, (one, other) = node.operand(0), node.inputs[1:]
        sizes = self._inference.fact(mask).shape
        source, is_opposite = unmoved(mask).producer, False
        if source is not None and source.is_op("Not") and source.inputs[0] is not None:
            source, is_opposite = unmoved(source.inputs[0]).producer, True
        row, old = (other, one) if is_opposite else (one, other)
        if source is None or not source.is_op("Equal") or old is not state.argument or row is None:
            return None
        long = [axis for axis, size in enumerate(sizes or ()) if size != 1]
        if sizes is None or len(long) != 1:
            return None
        axis = long[0] + len(shape) - len(sizes)
        for place, places in (source.inputs, source.inputs[::-1]):
            index = None if place is None else self._indices.get(place)
            if index is None or place is None or places is None or axis < 0:
                continue
            if sizes[long[0]] == shape[axis] and counts_all(places, shape[axis], self._inference):
                inside = self._places.is_inside(index, shape[axis])
                return (place, axis, row) if inside else None
        return None


def carry_rows_first(loop_view: LoopView, inference: ShapeInference) -> State | None:
    """Carry one state in another layout, and return it; None without such a state."""
    for position, state in enumerate(loop_view.states):
        perm = _layout(loop_view, state, inference)
        if perm is not None:
            _Layout(loop_view, position, perm, inference).carry()
            return state
    return None


def _layout(loop_view: LoopView, state: State, inference: ShapeInference) -> list[int] | None:
    """The permutation of the axes in which a body writes a state; None for the usual one."""
    node, body = state.result.producer, loop_view.body
    shape = inference.fact(state.initial).shape
    if node is None or node.graph is not body or shape is None or state.argument.pinned:
        return None
    if state.result.pinned or node.op.references or len(body.uses(state.result)) != 1:
        return None
    if node.is_op("Concat") and len(node.inputs) > 2:
        axis, rank = node.attribute("axis"), len(shape)
        if not -rank <= axis < rank or axis % rank == 0:
            return None
        parts = [v.producer for v in node.inputs if v is not None]
        views = [read_slice(part, inference.fact) for part in parts]
        mine = any(view is not None and view.axis == axis % rank for view in views)
        return move_axis(rank, axis % rank, 0) if mine else None
    if node.is_op("ScatterND"):
        column = column_of(node, inference) if len(body.uses(state.argument)) > 1 else None
        return None if column is None else move_axis(len(shape), 1, 0)
    if not node.is_op("Transpose"):
        return None
    back = list(node.attribute("perm", list(range(len(shape)))[::-1]))
    perm = _inverse(back)
    users = [use.user for use in body.uses(state.argument)]
    turned = all(isinstance(user, Node) and _turns(user, perm) for user in users)
    return perm if turned and perm != back[:0] and perm != sorted(perm) and users else None


def _turns(node: Node, perm: Sequence[int]) -> bool:
    own = node.attribute("perm", list(range(len(perm)))[::-1]) if node.is_op("Transpose") else None
    return own is not None and list(own) == list(perm)


def _inverse(perm: Sequence[int]) -> list[int]:
    return [perm.index(axis) for axis in range(len(perm))]


class _Layout:
    """A state in another layout.

    Args:
        position: the state, by the order of states.
        perm: the axes of the state in their new order.
    """

    def __init__(
        self, loop_view: LoopView, position: int, perm: list[int], inference: ShapeInference
    ) -> None:
        self._loop_view = loop_view
        self._position = position
        self._state = loop_view.states[position]
        self._perm, self._back = perm, _inverse(perm)
        self._inference = inference
        self._emit = Builder(loop_view.body)
        self._moved: dict[Value, Value] = {}
        self._done: list[Node] = []

    def carry(self) -> None:
        """Move the axes of the state, and of its parts in the body."""
        body, state = self._loop_view.body, self._state
        uses = body.uses(state.argument)
        self._moved[state.argument] = state.argument
        for node in body.nodes():
            self._visit(node)
        result = self._moved.get(state.result) or self._turn(state.result)
        for old, new in self._moved.items():
            others = uses if old is state.argument else body.uses(old)
            others = [use for use in others if use.user not in self._done]
            others = [
                use for use in others if isinstance(use.user, Node) or old is not state.result
            ]
            if not others:
                continue
            value = self._emit.transpose(new, self._back, f"{old.name}_back")
            for use in others:
                if isinstance(use.user, Node):
                    use.user.parent.set_input(use.user, use.position, value)
                else:
                    outputs = [value if each is old else each for each in body.outputs]
                    body.set_outputs(outputs)
        self._set_state(result)
        # Readers go before what they read.
        for node in reversed(self._done):
            body.remove(node)

    def _visit(self, node: Node) -> None:
        """Emit a node that cuts, joins or transposes the moved state, or reads its rows."""
        source = node.input(0) if node.inputs else None
        moved = None if source is None else self._moved.get(source)
        axis, rank, emit = self._perm[0], len(self._perm), self._emit
        label = "" if not node.outputs or node.outputs[0] is None else node.outputs[0].name
        if node.op.references or not label:
            return
        if node.is_op("Concat") and node.attribute("axis") % rank == axis:
            if any(value in self._moved for value in node.inputs):
                parts = [self._moved.get(v) or self._turn(v) for v in node.inputs if v is not None]
                self._enter(node, emit.concat(parts, 0, label))
        elif moved is None:
            return
        elif node.is_op("ScatterND") and axis == 1 and (at := column_of(node, self._inference)):
            place = emit.reshape(at, (1, 1), "place")
            row = emit.unsqueeze(node.operand(2), 0, "row")
            self._enter(node, emit.apply(node.op, [moved, place, row], label))
        elif node.is_op("Transpose") and _turns(node, self._perm):
            self._enter(node, None)
            self._loop_view.body.replace_uses(node.output(), moved)
        elif (view := read_slice(node, self._inference.fact)) and view.axis == axis:
            inputs = [moved, *node.inputs[1:3], emit.vector((0,), "axis"), *node.inputs[4:]]
            self._enter(node, emit.apply(node.op, inputs, label))
        elif node.is_op("Gather") and node.attribute("axis", 0) % rank == axis:
            at = node.inputs[1]
            if at is not None and self._inference.fact(at).shape == ():
                value = emit.add("Gather", [moved, at], label, axis=0)
                self._loop_view.body.replace_uses(node.output(), value)
                self._enter(node, None)

    def _enter(self, node: Node, value: Value | None) -> None:
        self._done.append(node)
        if value is not None:
            self._moved[node.output()] = value

    def _turn(self, value: Value) -> Value:
        node = value.producer
        if node is not None and node.graph is self._loop_view.body and node.is_op("Transpose"):
            source = node.input(0)
            if source is not None and _turns(node, self._back):
                return source
        return self._emit.transpose(value, self._perm, f"{value.name}_moved")

    def _set_state(self, result: Value) -> None:
        """Set the initial state, its next value, the final state, and their declarations."""
        node, body, graph = self._loop_view.node, self._loop_view.body, self._loop_view.around
        inputs, results = (2, 1) if node.is_op("Loop") else (0, 0)
        state, outside, position = self._state, Builder(graph), self._position
        initial = outside.transpose(state.initial, self._perm, f"{state.initial.name}_moved")
        graph.set_input(node, inputs + position, initial)
        if state.argument.info is not None:
            state.argument.info = self._declared(state.argument.info)
        outputs, infos = list(body.outputs), list(body.output_infos)
        outputs[results + position] = result
        infos[results + position] = self._declared(infos[results + position])
        body.set_outputs(outputs, infos)
        if state.final is None:
            return
        final = state.final
        # Readers of the final state have the old layout.
        turned = outside.transpose(final, self._back, final.name)
        back = turned.producer
        assert back is not None
        replace_values(graph, {final: turned})
        # The replacement made the Transpose read itself.
        graph.set_input(back, 0, final)
        if final.info is not None:
            final.info = self._declared(final.info)

    def _declared(self, info: onnx.ValueInfoProto) -> onnx.ValueInfoProto:
        """A declaration with the sizes in their new order."""
        moved = onnx.ValueInfoProto()
        moved.CopyFrom(info)
        dims = info.type.tensor_type.shape.dim
        if len(dims) == len(self._perm):
            del moved.type.tensor_type.shape.dim[:]
            moved.type.tensor_type.shape.dim.extend([dims[axis] for axis in self._perm])
        return moved
