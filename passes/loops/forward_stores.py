"""Forward what a Loop writes to a state to the reads of it (store-to-load forwarding).

y = Loop (n, , y0) <                        y = Loop (n, , y0, r0) <
   body = b (i, c, s) => (c2, t) {             body = b (i, c, s, r) => (c2, t, v) {
      k = Sub (i, one)
      r = Gather (s, k)               ->
      v = Add (r, e)                              v = Add (r, e)
      t = ScatterND (s, [[i]], [v])               t = ScatterND (s, [[i]], [v])
   }                                           }
>                                           >

A read of a row that is not written yet reads the state before the loop. A read of the row that was
written some iterations before reads new states, one for each of these iterations. Then the state
is only written.
"""

from collections.abc import Iterator, Sequence
from typing import ClassVar

import numpy as np
import onnx

from ...facts.polynomial import Dimension
from ...facts.reason import Message
from ...facts.types import IEEE_FLOATS, PLAIN_INTEGERS
from ...ir import Graph, Value
from ...ops.builder import Builder
from ...ops.views import read_slice
from ...records import record, replace
from ..iteration.iterations import Iterations
from ..iteration.loop_view import LoopView, add_states, declaration, read
from ..iteration.places import Index, Places, certain_sizes
from ..iteration.row_accesses import Load, Row, RowAccesses, Store, distinct, written_before
from ..iteration.splice import own_output
from ..utils.replace_all_uses import replace_values
from ..utils.sites import Site, SitePass

_FORWARDED = Message("stores-forwarded", "{count} reads of '{state}' need no buffer")
_OLDEST = 11
"""The first opset of ScatterND and of sequences."""
_MOST_STATES = 16
"""The limit of iterations whose rows new states hold."""
_FILLED = (
    *(*IEEE_FLOATS, *PLAIN_INTEGERS, onnx.TensorProto.BOOL),
    *(onnx.TensorProto.INT8, onnx.TensorProto.UINT8),
)
"""The element types of which a row stands for one that is not there."""


class ForwardStores(SitePass):
    """Forward what a Loop writes to a buffer or list to the reads of it."""

    name: ClassVar[str] = "forward-stores"
    works_on: ClassVar[tuple[str, ...]] = (
        *("ScatterND", "ScatterElements", "Concat", "SequenceInsert"),
    )
    sites: ClassVar[tuple[str, ...]] = ("Loop",)
    repeats: ClassVar[bool] = True
    keeps_facts_of_others: ClassVar[bool] = False

    def visit(self, site: Site) -> None:
        """Forward the stores to one buffer."""
        if site.graph.root.opset() < _OLDEST or not site.holds(*self.works_on):
            return
        loop_view = read(site.node)
        places = Places(Iterations(loop_view, site.inference), site.is_certain)
        for forwarding in _Buffers(loop_view, places).forwardings():
            if _Writer(site.graph, loop_view, forwarding, places).write():
                _gather_rows(places)
                count, name = len(forwarding.reads), forwarding.store.state.argument.name
                site.rewritten(_FORWARDED(count=count, state=name))
                return


def _gather_rows(places: Places) -> None:
    """Read rows of outside values that are certainly there by Gather.

    A Slice has any number of them, so a new state that depends on it would have no fixed shape.
    """
    for node, (axis, size) in list(certain_sizes(places)):
        view = read_slice(node, places.inference.fact)
        if size == 1 and view is not None:
            inputs = [view.source, view.bounds[0]]
            row = Builder(places.body).add("Gather", inputs, node.output().name, axis=axis)
            replace_values(places.body, {node.output(): row})
            places.body.remove(node)


@record(frozen=True)
class _Read:
    """A read of a state that need not read it.

    Attributes:
        position: the row of the store that it reads, by the order of stores.
        steps: the number of iterations since that was written; 0 for a row of the initial state.
    """

    load: Load
    position: int
    steps: int


@record(frozen=True)
class _Forwarding:
    """All reads of a state."""

    store: Store
    accesses: RowAccesses
    reads: tuple[_Read, ...]


class _Buffers:
    """The states that a Loop writes by rows, and reads by rows."""

    def __init__(self, loop_view: LoopView, places: Places) -> None:
        self._loop_view, self._places = loop_view, places
        self._accesses = RowAccesses(loop_view, places)

    def forwardings(self) -> Iterator[_Forwarding]:
        """Yield the reads that may be forwarded, by state."""
        for state in self._loop_view.states if self._places.indices else ():
            store = self._accesses.store(state)
            loads = None if store is None else self._accesses.loads(store)
            if store is None or not loads or not distinct(store.rows):
                continue
            reads = [self._read(load, store) for load in loads]
            present = tuple([read for read in reads if read is not None])
            if len(present) == len(reads):
                yield _Forwarding(store, self._accesses, present)

    def _read(self, load: Load, store: Store) -> _Read | None:
        if load.row is None:
            return _Read(load, 0, 0)
        if not self._accesses.is_inside(load, store):
            return None
        try:
            matches = [written_before(store, row) for row in load.rows]
        except ValueError:
            return None
        if len(matches) > 1:
            alone = not store.grows and self._of_one_sign([load.row, *store.rows])
            return _Read(load, 0, 0) if alone and matches.count(None) == len(matches) else None
        position, steps = matches[0] or (0, 0)
        if load.row.from_zero and (steps != 1 or store.grows):
            return None
        if store.grows:
            first, own = store.rows[0].index.start, load.row.index.start
            present = first.less(steps) is False and own.less(0) is False
            # A Gather of the newest row fails without one, a Slice does not.
            fails = steps == 1 and load.node.is_op("Gather") and store.axis == 0
            may_read = 0 < steps <= _MOST_STATES and (present or fails)
            return _Read(load, 0, steps) if may_read else None
        # A negative index is the place of another one. No row was written after those of the
        # iteration before.
        rows = list(store.rows) if steps == 1 else [load.row, *store.rows]
        alone = steps == 1 and len(rows) == 1
        if steps > _MOST_STATES or not (alone or self._of_one_sign(rows)):
            return None
        return _Read(load, position, steps)

    def _of_one_sign(self, rows: Sequence[Row]) -> bool:
        """Test for indices of one sign, so that other indices are other places."""
        signs = [None if row.at is None else self._places.sign(row.at) for row in rows]
        return signs[0] is not None and len(set(signs)) == 1


class _Writer:
    """The writer of a body in which no node reads a state by rows.

    New states have the axis of the rows where all reads of them do.
    """

    def __init__(
        self, graph: Graph, loop_view: LoopView, forwarding: _Forwarding, places: Places
    ) -> None:
        self._graph = graph
        self._loop_view = loop_view
        self._store, self._reads = forwarding.store, forwarding.reads
        self._accesses = forwarding.accesses
        self._inference, self._certain = places.inference, places.certain
        self._outside = Builder(graph)
        self._keeps = self._store.keeps_axis and all(
            one.load.keeps for one in self._reads if one.steps
        )

    def write(self) -> bool:
        """Replace the reads; false if nothing before the Loop tells the place of a row."""
        last: dict[int, int] = {}
        for one in self._reads:
            if one.steps:
                last[one.position] = max(one.steps, last.get(one.position, 0))
        firsts = {
            (position, steps): self._first(position, steps)
            for position, count in last.items()
            for steps in range(1, count + 1)
        }
        rows = {key: row for key, row in firsts.items() if row is not None}
        if len(rows) < len(firsts):
            return False
        registers = self._add_states(last, rows)
        for one in self._reads:
            self._replace(one, registers)
        return True

    def _replace(self, one: _Read, registers: dict[tuple[int, int], Value]) -> None:
        load, graph = one.load, one.load.node.parent
        inside, label, old = Builder(graph), load.node.output().name, self._store.state.initial
        if not one.steps and load.node.is_op("Slice") and load.row is not None and load.count == 1:
            assert load.row.at is not None
            inputs, axis = [old, load.row.at], self._store.axis or 0
            row = inside.add("Gather", inputs, label, axis=axis)  # of one row, unlike a Slice
            graph.replace_uses(load.node.output(), row)
            graph.remove(load.node)
            return
        if not one.steps:
            graph.set_input(load.node, 0, old)
            return
        value = registers[one.position, one.steps]
        if load.keeps and not self._keeps:
            value = inside.unsqueeze(value, self._store.axis or 0, label)
        else:
            value = inside.add("Identity", [value], label)
        graph.replace_uses(load.node.output(), value)
        graph.remove(load.node)

    # New states ----------------------------------------------------------------------------------

    def _add_states(
        self, last: dict[int, int], firsts: dict[tuple[int, int], Value]
    ) -> dict[tuple[int, int], Value]:
        """Add states that hold the rows of the iterations before."""
        body, name = self._loop_view.body, self._store.state.argument
        registers, rows, infos = dict[tuple[int, int], Value](), [], []
        for position, count in last.items():
            row = self._store.row(position, Builder(body), self._keeps)
            for steps in range(1, count + 1):
                info = declaration(f"{name.name}_before", self._type())
                registers[position, steps] = body.add_input(info.name, info)
                older = registers.get((position, steps - 1))
                # A row moves on by one state with each iteration, as in a shift register.
                rows.append(row if older is None else own_output(older, (), Builder(body)))
                infos.append(info)
        initial, labels = [firsts[key] for key in registers], [f"{name.name}_row"] * len(registers)
        add_states(self._loop_view, initial, rows, infos, labels)
        return registers

    def _type(self) -> onnx.TypeProto | None:
        """The type of a row, which the reads of it have."""
        facts = [self._inference.fact(one.load.node.output()) for one in self._reads if one.steps]
        shapes = {
            fact.shape if fact.shape is None else self._shape_of_row(one.load, fact.shape)
            for one, fact in zip([r for r in self._reads if r.steps], facts, strict=True)
        }
        shape = shapes.pop() if len(shapes) == 1 else None
        fact = replace(facts[0], shape=shape, content=None)
        return fact.type_proto(private=False)

    def _shape_of_row(self, load: Load, shape: tuple[Dimension, ...]) -> tuple[Dimension, ...]:
        """The shape in which new states hold a row that a node reads."""
        if not load.keeps:
            return shape
        axis = self._store.axis or 0
        one = (Dimension.constant(1),) if self._keeps else ()
        return (*shape[:axis], *one, *shape[axis + 1 :])

    def _first(self, position: int, steps: int) -> Value | None:
        """Emit the row that an iteration so many before the first one would have written."""
        store, emit, initial = self._store, self._outside, self._store.state.initial
        row, label = store.rows[position], f"{store.state.argument.name}_first"
        read = [
            one.load.row for one in self._reads if (one.position, one.steps) == (position, steps)
        ]
        from_zero = {other.from_zero for other in read if other is not None}
        if len(from_zero) > 1:  # the first iteration reads two rows
            return None
        place = self._accesses.place_before(row, steps, emit)
        if True in from_zero:
            place = emit.integer(0, "place")
        if place is None:
            return None
        if store.axis is None:
            return emit.add("SequenceAt", [initial, place], label)
        vector = emit.unsqueeze(place, 0, "place") if self._keeps else place
        is_there = row.index.start.less(steps) is False if store.grows else None
        if is_there or (is_there is None and self._has_place(row.index, steps)):
            return emit.add("Gather", [initial, vector], label, axis=store.axis)
        return self._one_or_zeros(place, label)

    def _has_place(self, index: Index, steps: int) -> bool:
        """Test for a place that the buffer has, or that the first iteration reads."""
        if self._certain and any(one.steps == steps for one in self._reads):
            longest = max(one.steps for one in self._reads)
            return steps == longest
        start = index.start.value
        if start is None:
            return False
        place = start - index.step * steps
        needed = place + 1 if place >= 0 else -place
        shape = self._inference.fact(self._store.state.initial).shape
        return shape is not None and shape[0].less(needed) is False

    def _one_or_zeros(self, place: Value, label: str) -> Value | None:
        """Emit a row of the buffer; zeros if it has none, which no iteration reads."""
        emit, initial = self._outside, self._store.state.initial
        fact = self._inference.fact(initial)
        if fact.elem_type not in _FILLED:
            return None
        number = None if place.constant is None else int(place.constant.numpy())
        far = np.iinfo(np.int64).max
        start = emit.unsqueeze(place, 0, "start")
        end = emit.vector((far if number is None or number == -1 else number + 1,), "end")
        rows = emit.add("Slice", [initial, start, end, emit.vector((0,), "axis")], label)
        sizes = emit.add("Shape", [initial], "sizes")
        rest = emit.slice(sizes, 1, len(fact.dims), "sizes") if len(fact.dims) > 1 else None
        one = emit.vector((1,), "one")
        shape = one if rest is None else emit.concat([one, rest], 0, "sizes")
        zero = onnx.helper.make_tensor("zero", fact.elem_type, [1], [0])
        filler = emit.add("ConstantOfShape", [shape], "zeros", value=zero)
        joined = emit.concat([rows, filler], 0, label)
        first = emit.constant(np.zeros(1 if self._keeps else (), np.int64), "k")
        return emit.add("Gather", [joined, first], label, axis=0)
