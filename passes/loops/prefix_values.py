"""States that grow by rows, and values that are prefixes of all rows.

k = Concat (cache, row)         ->   ks: all rows, of which an iteration has the first `end`
s = MatMul (q, Transpose (k))        s = MatMul (q, Transpose (ks))
p = Softmax (s)                      p = Softmax (Where (places < end, s, -inf))

The longer value is a partial operand (`ops.partial_axes`). Where an operator has no rule for it,
it reads a Slice.
"""

import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import onnx

from ...analysis.shapes.inference import ShapeInference
from ...analysis.shapes.single_node_model import reads_of
from ...facts.fact import Fact
from ...facts.polynomial import Dimension
from ...ir import Graph, Node, Value
from ...ir.dataflow_graph import reach
from ...ir.lazy import lazy_property
from ...ops import rules_of
from ...ops.batching import DIFFERING, Batch, Extent, Operand, Partial, Unbatchable
from ...ops.builder import Builder, RewriteError
from ...ops.views import read_slice
from ...records import record, replace
from ..iteration.batched_inputs import Feeding
from ..iteration.dependence_graph import DependenceGraph, Vertex
from ..iteration.loop_view import LoopView, State
from ..iteration.places import Index, is_invariant
from ..iteration.splice import drop_dead_nodes, set_results, splice
from ..utils.stacked_rows import concat_rows
from ..utils.zero_signs import readers_of
from ..vectorize.residual_loop import PRODUCTS, ResidualOutputs, ResidualPlan, rebuild

_MANY = 2
"""The least known size of data that a Slice cuts, so that it does not broadcast beyond it."""


@record(frozen=True)
class GrowingState:
    """A state to which each iteration appends rows.

    Attributes:
        row: the appended rows.
        axis: their axis, not negative.
        start: the number of rows before the loop.
        step: the number of rows that an iteration appends.
    """

    state: State
    node: Node
    row: Value
    axis: int
    start: Dimension
    step: int


@record(frozen=True)
class AllRows:
    """Values around the loop for a state that grows.

    Attributes:
        rows: all rows, those before the loop first.
        start: the number of rows before the loop, int64 of shape [1].
        places: the positions of all rows.
        total: their number, int64 of shape [1].
    """

    rows: Value
    start: Value
    places: Value
    total: Value


def growing_states(loop_view: LoopView, inference: ShapeInference) -> list[GrowingState]:
    """The states whose rows no state decides that grows, and that the body reads."""
    growing = list(_growing(loop_view, inference))
    needed = {each: _needed(loop_view, [each]) for each in growing}
    states = {each.state for each in growing}
    # Layers go one after the other: rows that need another growing state wait for it.
    return [each for each in growing if needed[each].isdisjoint(states)]


def _growing(loop_view: LoopView, inference: ShapeInference) -> Iterator[GrowingState]:
    body = loop_view.body
    for state in loop_view.states if loop_view.iteration is not None else ():
        node, shape = state.result.producer, inference.fact(state.initial).shape
        if node is None or node.graph is not body or not node.is_op("Concat") or not shape:
            continue
        if len(node.inputs) != 2 or node.input(0) is not state.argument:
            continue
        if state.argument.pinned or state.result.pinned or node.op.references:
            continue
        reads = len(body.uses(state.argument)) + len(body.uses(state.result))
        row, axis = node.inputs[1], node.attribute("axis") % len(shape)
        own = None if row is None else inference.fact(row).shape
        step = own[axis].value if own and len(own) == len(shape) else None
        if row is not None and step and reads > 2:
            yield GrowingState(state, node, row, axis, shape[axis], step)


def prefix_slices(
    loop_view: LoopView, inference: ShapeInference, indices: Mapping[Value, Index]
) -> dict[Node, Index]:
    """The Slices of as many first rows as a Softmax reads, and where these end."""
    body, cuts, soft = loop_view.body, dict[Node, Index](), set[Index]()
    softmaxes = body.nodes_of("Softmax")
    if not softmaxes:
        return {}
    varying, weighted = body.dependents([*body.inputs]), body.requirements(softmaxes)
    for node in body.nodes():
        view = read_slice(node, inference.fact)
        place = None if view is None or view.start != 0 else view.bounds[1]
        end = None if place is None else indices.get(place)
        start = -1 if end is None or end.start.value is None else end.start.value
        if view is None or end is None or end.step < 0 or start < 0:
            continue
        if {view.source, view.source.producer}.isdisjoint(varying):
            cuts[node] = end
            # Others have running sums, or would read all rows in each iteration.
            soft |= {end} if node in weighted else set()
    return {node: end for node, end in cuts.items() if end in soft}


def _needed(loop_view: LoopView, growing: Sequence[GrowingState]) -> set[Vertex]:
    """The nodes and states that compute rows."""
    free = [state for state in loop_view.states if is_invariant(state)]
    dependences = DependenceGraph(loop_view, (), free)

    def makers(values: Iterable[Value | None]) -> list[Vertex]:
        return [vertex for vertex in map(dependences.maker, values) if vertex is not None]

    return reach(
        lambda vertex: makers(dependences.reads(vertex)), makers(each.row for each in growing)
    )


def emit_all_rows(
    graph: Graph, loop_view: LoopView, growing: Sequence[GrowingState], inference: ShapeInference
) -> tuple[list[AllRows], dict[Value, Value]]:
    """Emit a Loop of the appended rows, and all rows of each state.

    Returns:
        the rows of each state, and those of further values of the body that take a while.

    Raises:
        Unbatchable: rows whose size varies, or is not known.
    """
    feeding = Feeding(loop_view, inference)
    residual = ResidualOutputs(loop_view, feeding, loop_view.runs_certainly(inference))
    stacked = [residual.operand(each.row) for each in growing]
    needed = _needed(loop_view, growing)
    shared = dict(_shared(loop_view, needed, residual))
    emit, results = feeding.emit, list[Value]()
    for each, rows in zip(growing, stacked, strict=True):
        results += _emit_whole(each, rows, feeding)
    set_results(emit.graph, [*results, *shared.values()])
    rebuild(ResidualPlan(residual, needed, {}))
    copies = [value for value in splice(feeding, emit.graph.outputs, graph) if value is not None]
    last = len(copies) - len(shared)
    rows_of = [AllRows(*copies[at : at + 4]) for at in range(0, last, 4)]
    return rows_of, dict(zip(shared, copies[last:], strict=True))


def _emit_whole(each: GrowingState, rows: Operand, feeding: Feeding) -> list[Value]:
    """Emit the fields of AllRows."""
    emit, initial = feeding.emit, feeding.same(each.state.initial).value
    joined = concat_rows(rows.value, each.axis, rows.fact.shape or (), emit)
    whole = emit.concat([initial, joined], each.axis, each.state.argument.name)
    start, total = (
        emit.size(value, each.axis, label)
        for value, label in ((initial, "start"), (whole, "total"))
    )
    return [whole, start, feeding.numbers(total), total]


def _shared(
    loop_view: LoopView, needed: Collection[Vertex], residual: ResidualOutputs
) -> Iterator[tuple[Value, Value]]:
    """The values with products that the rows need, and that the body needs besides."""
    body, heavy = loop_view.body, set[Node | Value]()
    for node in body.nodes():
        if node not in needed:
            continue
        is_heavy = node.bodies or node.is_op(*PRODUCTS, "Softmax")
        if is_heavy or not heavy.isdisjoint(reads_of(node)):
            heavy.update(value for value in node.outputs if value is not None)
        for value in node.outputs:
            others = [use for use in body.uses(value) if use.user not in needed] if value else ()
            if value is None or value not in heavy or not others:
                continue
            with contextlib.suppress(Unbatchable):  # its size varies
                yield value, residual.operand(value).value


@record(frozen=True, eq=False)
class Length:
    """The length of prefixes in an iteration.

    Attributes:
        of: all rows, around the loop.
        end: the number of rows in the prefix, int64 of shape [1].
        present: flags of the rows in the prefix.
        occupied: true if the prefix is never empty.
    """

    of: AllRows
    end: Value
    present: Value
    occupied: bool


class PrefixBody:
    """A body whose growing states become prefixes.

    Args:
        inference: the facts of the model's values, before the change.
        growing: the states, with all their rows.
        indices: the induction variables of the body.
        cuts: the Slices that become prefixes, and where these end.
    """

    def __init__(
        self,
        loop_view: LoopView,
        inference: ShapeInference,
        growing: Sequence[tuple[GrowingState, AllRows]],
        indices: dict[Value, Index],
        cuts: Mapping[Node, Index],
    ) -> None:
        self.body = loop_view.body
        self._cuts, self._maximum = cuts, loop_view.maximum
        self._trips = inference.number(loop_view.maximum)
        self.emit = Builder(self.body)
        self._inference = inference
        self._indices = indices
        self._iteration = loop_view.iteration
        self._prefixes: dict[Value, Operand] = {}
        self._own: set[Value] = set()
        self._cut: dict[Value, Value] = {}
        self._replaced: dict[Value, Value] = {}
        self._lengths: dict[tuple[Dimension, int], Length] = {}
        self._firsts: dict[tuple[Index, Dimension], Length] = {}
        self._sizes: dict[Dimension, Length] = {}
        self._varying = self.body.dependents([*self.body.inputs])
        for each, rows in growing:
            self._enter_state(each, rows)

    def read_rows(self, rows: Mapping[Value, Value]) -> None:
        """Read values that the body computes from the rows of all iterations."""
        for value, all_of_it in rows.items():
            number = self.emit.squeeze(self._number, 0, "number")
            self._replaced[value] = self.emit.add("Gather", [all_of_it, number], value.name, axis=0)

    def rewrite(self) -> None:
        """Compute what reads prefixes from all rows."""
        for node in self.body.nodes():
            self._visit(node)
        for value in self.body.outputs:
            self._slice(value)
        for value, cut in self._cut.items():
            self.body.replace_uses(value, cut)
        for value, result in self._replaced.items():
            self.body.replace_uses(value, result)
        drop_dead_nodes(self.body)

    # Lengths -------------------------------------------------------------------------------------

    @lazy_property
    def _number(self) -> Value:
        """The iteration number, of shape [1]."""
        assert self._iteration is not None
        if len(self._iteration.shape or ()) == 1:
            return self._iteration
        return self.emit.unsqueeze(self._iteration, 0, "number")

    def _enter_state(self, each: GrowingState, rows: AllRows) -> None:
        """Enter a state and its next value."""
        state, step = each.state, each.step
        for value, first in ((state.argument, each.start), (each.node.output(), each.start + step)):
            length = self._length(rows, each, first)
            self._enter(value, rows.rows, each.axis, length, varies=False)
            shape = self._fact(value).shape
            if shape is not None and shape[each.axis].value is None:
                self._sizes[shape[each.axis]] = length

    def _enter(
        self, value: Value, whole: Value, axis: int, length: Length, varies: bool, own: bool = False
    ) -> None:
        """Enter a value as the prefix of a longer one; the body keeps its own ones."""
        fact = self._fact(value)
        at = axis - len(fact.dims)
        part = Partial(at, 0, length.present, length.occupied, length.end, varies=varies)
        self._prefixes[value] = Operand(whole, False, fact, partial=part)
        if own:
            self._own.add(value)

    def _length(self, rows: AllRows, each: GrowingState, first: Dimension) -> Length:
        key = first, each.step
        if key not in self._lengths:
            emit, number, step = self.emit, self._number, each.step
            if step != 1:
                number = emit.add("Mul", [number, emit.vector((step,), "step")], "number")
            if first.value is not None:
                more = emit.vector((first.value,), "first")
                end = emit.add("Add", [number, more], "end") if first.value else number
            else:
                end = emit.add("Add", [number, rows.start], "end")
                ahead = (first - each.start).value
                if ahead:
                    end = emit.add("Add", [end, emit.vector((ahead,), "first")], "end")
            present = emit.add("Less", [rows.places, end], "present")
            self._lengths[key] = Length(rows, end, present, first.less(1) is False)
        return self._lengths[key]

    def _length_of(self, value: Value | None) -> Length | None:
        """The length that a value of one element holds; None for another one."""
        index = None if value is None else self._indices.get(value)
        if index is not None:
            return self._lengths.get((index.start, index.step))
        size = self._inference.number(value)
        return None if size is None else self._sizes.get(size)

    # Nodes ---------------------------------------------------------------------------------------

    def _fact(self, value: Value) -> Fact:
        return self._inference.fact(value)

    def _visit(self, node: Node) -> None:
        """Compute a node whole, or let it read Slices."""
        # The result of a node that grows a state was entered with the state.
        if any(value in self._prefixes for value in node.outputs):
            return
        reads_prefix = any(value in self._prefixes for value in node.inputs)
        if reads_prefix and self._compute(node):
            return
        if not reads_prefix and node.is_op("Slice", "Range"):
            self._enter_cut(node)
        for value in reads_of(node):
            self._slice(value)

    def _slice(self, value: Value) -> None:
        operand = self._prefixes.get(value)
        if operand is None or operand.partial is None or value in self._own or value in self._cut:
            return
        axis = len(operand.fact.dims) + operand.partial.axis
        count = operand.partial.count
        assert count is not None
        self._cut[value] = self.emit.cut(operand.value, 0, count, axis, value.name)

    def _compute(self, node: Node) -> bool:
        """Compute a node from whole values; false where no rule serves."""
        operands = [
            None if v is None else self._prefixes.get(v) or Operand(v, False, self._fact(v))
            for v in node.inputs
        ]
        results = [Fact() if v is None else self._fact(v) for v in node.outputs]
        facts = [self._fact(v) for v in node.outputs if v is not None]
        if any(fact.shape is None or not fact.elem_type for fact in facts) or node.bodies:
            return False
        if (
            node.domain
            or node.op.references
            or any(operand is not None and operand.fact.shape is None for operand in operands)
        ):
            return False
        one = self.emit.vector((1,), "one")
        extent = Extent(self._inference.symbols.fresh())
        batch = Batch(node, operands, results, self.emit, one, extent)
        with readers_of(self.emit, node.outputs):
            try:
                rules = rules_of(node.op)
                rule = self._shape if node.is_op("Shape") else rules.batch_partial
                values = rule(batch)
            except (Unbatchable, RewriteError):
                return False
        own = all(v in self._own for v in node.inputs if v in self._prefixes)
        varies = any(map(self._varies, node.inputs, operands))
        for value, result, fact in zip(node.outputs, values, results, strict=False):
            part = batch.partials.get(result)
            if value is None:
                continue
            if part is None:
                self._replaced |= {} if own else {value: result}
                continue
            part = replace(part, varies=varies or part.varies)
            self._prefixes[value] = Operand(result, False, fact, partial=part)
            self._own |= {value} if own else set()
        return True

    def _varies(self, value: Value | None, operand: Operand | None) -> bool:
        if operand is not None and operand.partial is not None:
            return operand.partial.varies
        return value is not None and (value in self._varying or value.producer in self._varying)

    def _shape(self, batch: Batch) -> list[Value]:
        node, operand, part, rank = batch.node, batch.require(0), batch.part(0), batch.rank(0)
        if node.attribute("start", 0) or node.attribute("end") is not None or part.count is None:
            raise Unbatchable(DIFFERING)
        sizes, axis = self.emit.add("Shape", [operand.value], "sizes"), rank + part.axis
        before = [self.emit.slice(sizes, 0, axis, "before")] if axis else []
        after = [self.emit.slice(sizes, axis + 1, rank, "behind")] if axis + 1 < rank else []
        return [self.emit.concat([*before, part.count, *after], 0, batch.label())]

    # Slices and numbers --------------------------------------------------------------------------

    def _enter_cut(self, node: Node) -> None:
        """Enter a Slice or a Range as long as a prefix; the body keeps the node."""
        if node in self._cuts:
            self._enter_prefix(node)
            return
        length = self._length_of(node.input(2) if node.is_op("Slice") else node.input(1))
        if length is None or node.op.references:
            return
        if node.is_op("Range"):
            ends = [self._inference.number(value) for value in node.inputs[::2]]
            if ends == [0, 1] and self._fact(node.output()).elem_type == onnx.TensorProto.INT64:
                self._enter(node.output(), length.of.places, 0, length, varies=False, own=True)
            return
        view = read_slice(node, self._fact)
        shape = None if view is None else self._fact(view.source).shape
        if view is None or not shape or view.start != 0 or (shape[view.axis].value or 0) < _MANY:
            return
        label, total = node.output().name, length.of.total
        whole = self.emit.cut(view.source, 0, total, view.axis, label)
        varies = self._varies(view.source, None)
        self._enter(node.output(), whole, view.axis, length, varies, own=True)

    def _enter_prefix(self, node: Node) -> None:
        """Enter the first rows of an outside value."""
        view = read_slice(node, self._fact)
        assert view is not None and view.bounds[1] is not None and self._maximum is not None
        source, end = view.source, self._cuts[node]
        size = self._fact(source).dims[view.axis]
        is_longer = size.value is None and size != self._trips
        if (end, size) not in self._firsts:
            emit = self.emit
            total = emit.size(source, view.axis, "total")
            if is_longer:  # no iteration reads a later row than the last one
                first = (end.start.value or 0) - end.step
                most = emit.reshape(self._maximum, (1,), "trips")
                most = emit.add("Mul", [most, emit.vector((end.step,), "step")], "most")
                most = emit.add("Add", [most, emit.vector((first,), "first")], "most")
                total = emit.add("Min", [total, most], "total")
            places = emit.numbers(emit.squeeze(total, 0, "total"), "places")
            count = emit.add("Min", [view.bounds[1], total], "end")
            present = emit.add("Less", [places, count], "present")
            has_rows = size.less(1) is False or size == self._trips
            occupied = has_rows and end.start.less(1) is False
            rows = AllRows(source, total, places, total)
            self._firsts[end, size] = Length(rows, count, present, occupied)
        length = self._firsts[end, size]
        if is_longer:
            source = self.emit.cut(source, 0, length.of.total, view.axis, source.name)
        self._enter(node.output(), source, view.axis, length, varies=False)
