"""Construction of a Loop over blocks of the iterations of a loop.

All blocks have one length: the last one repeats the last iteration. So their rows are one scan
output, whose first rows are those of the original. With states, the last block is shorter, and only
its rows are repeated. What depends on states stays in a residual loop over the iterations of a
block, as in `vectorize-loops`.

    10 iterations in blocks of 4:  iterations 0-3,  4-7,  8 9 9 9   rows [3, 4, ...]
    y = Reshape (rows, [-1, ...])  12 rows
    y = Slice (y, 0, 10, 0)        the rows of the original
"""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import onnx

from ...analysis.peak_memory import bytes_of
from ...analysis.shapes.inference import ShapeInference
from ...analysis.shapes.single_node_model import reads_of
from ...facts.fact import Fact, Shape
from ...facts.polynomial import Dimension
from ...facts.types import PLAIN_FLOATS, PLAIN_INTEGERS
from ...ir import Graph, Node, Operator, Signal, Value
from ...ir.copying import empty_header
from ...ir.lazy import lazy_property
from ...ops.batching import Operand, Unbatchable
from ...ops.builder import Builder
from ...ops.schema_queries import ALLOWZERO, MIN_OF_INTEGERS
from ..iteration.batched_inputs import Feeding
from ..iteration.dependence_graph import DependenceGraph, Vertex, Write
from ..iteration.iterations import IterationMemory, MemoryBounds, ZeroIterationSizes, shape_of_row
from ..iteration.loop_view import (
    LoopView,
    ScanInput,
    ScanOutput,
    State,
    add_holder,
    declaration,
    move_axis,
    scalar_declaration,
)
from ..iteration.splice import add_input, fact_declaration, is_used, set_own_outputs, set_results
from ..vectorize.batch_interpreter import Batcher
from ..vectorize.nested_control_flow import compute_nested
from ..vectorize.residual_loop import (
    Distribution,
    ResidualOutputs,
    label_of,
    plan_residual_loop,
    rebuild,
)

_LARGE = 1 << 10
"""The number by which open sizes are compared."""
_LEAST_SUMMED = 32
"""The rows from which onnxruntime adds up a block faster than the loop does, row by row."""
_MANY = 32
"""The number of iterations from which a block is full; further ones gain more than they lose."""


class Carried(NamedTuple):
    """The states that blocks carry.

    Attributes:
        states: the states that used outputs depend on.
        sums: those that only add up values of the iterations.
        nodes: the nodes of recurrences, which run in each iteration.
    """

    states: list[State]
    sums: list[Write]
    nodes: set[Node]

    @classmethod
    def of(cls, loop_view: LoopView, inference: ShapeInference, exact: bool) -> "Carried":
        """The states of a loop that blocks carry.

        Args:
            exact: keep the order of additions of floats.
        """
        graph = DependenceGraph(loop_view, [], [])
        states = [state for state in loop_view.states if state in graph.readers]
        components = graph.components()
        # A component of one vertex is no recurrence: a node that reads only itself cannot exist.
        members = {vertex for some in components if len(some) > 1 for vertex in some}
        nodes = {vertex for vertex in members if isinstance(vertex, Node)}
        return cls(states, list(find_sums(states, loop_view.body, inference, exact)), nodes)


class BlockFeeding(Feeding):
    """Arguments of a body for a block of iterations, in a new Loop.

    Args:
        block_bytes: the size limit of a block's largest value.
        shorter: true for a last block without repeated iterations, which it always is with states.
        exact: keep the order of additions of floats.

    Attributes:
        around: the builder of the nodes around the new Loop.
        count: the trip count of the original, int64 of shape [1].
        blocks, block: the number of blocks and the length of each, scalars.
        last: the number of the last iteration.
        loop: the new Loop.
        condition: the condition input of its body.
        inner: the iterations of a block, as a loop in the body of the new one.
        offsets: the numbers of the iterations within a full block; None if nothing needs them.
        length: the number of iterations of a block that may be shorter; None of full blocks.
    """

    def __init__(
        self,
        loop_view: LoopView,
        inference: ShapeInference,
        block_bytes: int,
        carried: Carried,
        shorter: bool,
        exact: bool,
    ) -> None:
        memory = IterationMemory(loop_view, inference, MemoryBounds(block_bytes=block_bytes))
        super().__init__(loop_view, inference, memory, exact)
        self.carried = carried
        self.around, self.count = self.emit, self.iterations
        # The ends of blocks are computed by Min and Max of integers, which opset 12 introduced.
        if self.around.opset < MIN_OF_INTEGERS:
            raise Unbatchable(
                f"is of opset {self.around.opset}; convert to {MIN_OF_INTEGERS} first"
            )
        self._one = self._number(1)
        is_known = self.iteration_dimension is not None
        self._rows = self._limit() if is_known else self.emit.squeeze(self.count, 0, "count")
        self.last = self.emit.add("Sub", [self._rows, self._one], "last")
        self.blocks, self.block = self._sizes(self._most_rows(block_bytes))
        self.iterations = self.emit.unsqueeze(self.block, 0, "block")
        self.holds = self.emit.constant(np.array(True), "holds")
        self.loop = self._add_loop()
        # Stacked blocks need one length, also where the last block has fewer iterations.
        is_padded = not shorter or bool(used_outputs(loop_view))
        self.offsets = self.emit.numbers(self.block, "numbers") if is_padded else None
        self.length: Value | None = None
        number, self.condition, states = self._enter_body()
        start = self.emit.add("Mul", [number, self.block], "start")
        self._places = self._rest(start) if shorter else self._full(start)
        self._operands = super().body_operands()
        self.inner = self._inner_loop(states)

    def body_operands(self) -> dict[Value, Operand]:
        """The operands of the body's arguments, except states."""
        return dict(self._operands)

    def require_room(self, what: str, fact: Fact) -> None:
        """A block bounds the size of each batched value."""

    # Blocks --------------------------------------------------------------------------------------

    def _number(self, number: int) -> Value:
        """Emit a constant scalar of int64."""
        return self.emit.integer(number, "k")

    def _most_rows(self, block_bytes: int) -> Value:
        """Emit the number of iterations whose largest value fits a block, at least 1.

        Few large ones fill half a block only, beside their operands: more would gain little.
        """
        least, largest = self._row_bytes()
        if self.carried.sums:
            alone = len(self.carried.sums) == len(self.carried.states)
            alone = alone and not used_outputs(self.loop_view)
            # A sum of a block adds up as many values as it holds: of few large ones the loop itself
            # is as fast.
            if block_bytes < _LEAST_SUMMED * least or (alone and largest is not None):
                raise Unbatchable("adds up values that are too large for a block of many")
        if largest is None:
            # Large values fill half a block, so that operands stay in the cache as well.
            more = 0 if self.carried.sums else 2 * least - block_bytes // _MANY
            most = block_bytes // max(least, more, 1)
            if most < 2 or (self.most_iterations is not None and self.most_iterations <= most):
                raise Unbatchable(f"makes values of {least} bytes on each iteration")
            return self._number(most)
        size = self.integers(onnx.helper.tensor_dtype_to_np_dtype(largest.elem_type).itemsize)
        for dim in largest.shape or ():
            if dim != 1:
                size = self.emit.add("Mul", [size, self.size(dim)], "row_bytes")
        double = self.emit.add("Add", [size, size], "row_bytes")
        excess = self.emit.add("Sub", [double, self.integers(block_bytes // _MANY)], "row_bytes")
        some = self.emit.add("Max", [size, excess, self.integers(max(least, 1))], "row_bytes")
        row = self.emit.squeeze(some, 0, "row_bytes")
        fitting = self.emit.add("Div", [self._number(block_bytes), row], "most")
        return self.emit.add("Max", [fitting, self._one], "most")

    def _row_bytes(self) -> tuple[int, Fact | None]:
        """The bytes of an iteration's largest value, and the largest value of open size."""
        facts = [self.inference.fact(value) for value in self._batched_values()]
        sizes = {fact: size for fact in facts if (size := bytes_of(fact)) is not None}
        if not sizes:
            for state in self.carried.states:
                raise Unbatchable(f"carries '{state.argument.name}', on which all values depend")
            raise Unbatchable("computes nothing of known rank")
        least = max([size.value or 0 for size in sizes.values()])
        # Sizes must be computed before the Loop, from values that it reads.
        shapes = [self.same(v).fact.shape or () for v in reads_of(self.loop_view.node)]
        around = {dim for shape in shapes for dim in shape}
        rest = [
            fact
            for fact, size in sizes.items()
            if size.value is None
            if all(dim.value is not None or dim in around for dim in fact.shape or ())
        ]
        return least, max(rest, key=lambda fact: sizes[fact].at(_LARGE), default=None)

    def _batched_values(self) -> Iterator[Value]:
        """Yield the values outside of recurrences, and the scan outputs."""
        body = self.loop_view.body
        for node in body.nodes():
            if node in self.carried.nodes:
                continue
            bodies = [graph for inner in node.graphs() for graph in inner.walk()]
            for one in (node, *(inner for graph in bodies for inner in graph.nodes())):
                yield from (value for value in one.outputs if value is not None)
        yield from (one.result for one in used_outputs(self.loop_view))

    def _sizes(self, most: Value) -> tuple[Value, Value]:
        """Emit the number of blocks, and the equal length of each."""
        emit, one = self.emit, self._one
        # ceil (n / most) without an overflow, then ceil (n / blocks): the last block repeats least.
        blocks = emit.add("Div", [emit.add("Add", [self.last, most], "padded"), most], "blocks")
        some = emit.add("Max", [blocks, one], "some")
        full = emit.add("Div", [self.last, some], "full")
        block = emit.add("Max", [emit.add("Add", [full, one], "block"), one], "block")
        return blocks, block

    def _add_loop(self) -> Node:
        """Add the Loop over the blocks, without its body."""
        node, outputs = self.loop_view.node, used_outputs(self.loop_view)
        states = self.carried.states
        labels = [label_of(state) for state in states]
        labels += [f"{label_of(one)}_blocks" for one in outputs]
        if not labels:
            raise Unbatchable("has no output that is used")
        like = Operator("Loop", extra=node.op.extra)
        initial = [self.same(state.initial).value for state in states]
        inputs = [self.blocks, self.holds, *initial]
        return add_holder(self.graph, like, {}, ["body"], inputs, labels, node.name)

    def _enter_body(self) -> tuple[Value, Value, list[State]]:
        """Enter the body of the Loop; the number of a block, the condition and the states."""
        header = empty_header(self.loop_view.body.header.name)
        body = self.graph.add_body(self.loop, "body", header)
        number = body.add_input(
            "block_number", scalar_declaration("block_number", onnx.TensorProto.INT64)
        )
        holds = body.add_input("holds", scalar_declaration("holds", onnx.TensorProto.BOOL))
        self.emit = Builder(body, room=self.around.room)
        states = []
        for state in self.carried.states:
            own = add_input(body, state.argument, self.inference)
            fact = self.inference.fact(state.argument).without_content()
            self.inference.assume(own, fact)
            self._enter_same(own, fact)
            states.append(state._replace(initial=own))
        return number, holds, states

    def _enter_same(self, value: Value, fact: Fact) -> None:
        """Enter a value of the new Loop's body, which all iterations of a block share."""
        self._same[value] = Operand(value, False, fact)

    def _inner_loop(self, states: Sequence[State]) -> LoopView:
        """The iterations of a block as a loop in the body of the new one.

        Its iteration number counts from 0 in each block, and is no value of the original.
        """
        view, maximum, start, iteration = self.loop_view, None, None, None
        if view.iteration is not None:
            maximum, start = self.length or self.block, self.holds
            self._enter_same(maximum, Fact(onnx.TensorProto.INT64, ()))
            self._enter_same(start, Fact(onnx.TensorProto.BOOL, ()))
            iteration = Value("number", scalar_declaration("number", onnx.TensorProto.INT64))
        scanned = []
        for one in view.scan_inputs:
            rows = self._operands[one.argument]
            self._enter_same(rows.value, rows.fact)
            scanned.append(ScanInput(rows.value, one.argument, 0, False))
        return dataclasses.replace(
            view,
            maximum=maximum,
            start=start,
            iteration=iteration,
            states=tuple(states),
            scan_inputs=tuple(scanned),
            scan_outputs=tuple(
                [dataclasses.replace(one, axis=0, backward=False) for one in view.scan_outputs]
            ),
        )

    def _full(self, start: Value) -> Value:
        """The iterations of a full block, which repeat the last one."""
        places = self.emit.add("Add", [start, self.offsets], "places")
        inside = self.emit.add("Min", [self.last, places], "places")
        # They are certainly in range then, also for whoever proves it.
        return self.emit.add("Max", [inside, self._number(0)], "places")

    def _rest(self, start: Value) -> Value:
        """The iterations of a block that may be shorter; `iterations` is its length from now on."""
        emit = self.emit
        stop = emit.add("Add", [start, self.block], "stop")
        end = emit.add("Min", [stop, self._rows], "end")
        self.length = emit.add("Sub", [end, start], "length")
        self.iterations = emit.unsqueeze(self.length, 0, "length")
        return emit.add("Range", [start, end, self._one], "places")

    def padded(self, rows: Value) -> Value:
        """Repeat the last row of a shorter block up to full length."""
        if self.length is None:
            return rows
        return self.emit.add("Gather", [rows, self._row_places], rows.name, axis=0)

    @lazy_property
    def _row_places(self) -> Value:
        """The rows of a shorter block, with repetitions of the last one."""
        last = self.emit.add("Sub", [self.length, self._one], "last_row")
        return self.emit.add("Min", [self.offsets, last], "row_places")

    # Arguments of the body -----------------------------------------------------------------------

    def _iteration(self, rank: int) -> Operand:
        """The iteration numbers of a block, whose symbolic elements say nothing of their order."""
        numbers = self.emit.lift(self._places, rank, "iteration")
        return Operand(numbers, True, Fact(onnx.TensorProto.INT64, (Dimension.constant(1),) * rank))

    def elements(self, scanned: ScanInput) -> Operand:
        """Emit the elements of a scan input in a block, along the first axis."""
        source, shape, places = self.same(scanned.source), self.shape(scanned), self._places
        # Direction 1 reads from the end, so iteration i has row n - 1 - i.
        if scanned.backward:
            places = self.emit.add("Sub", [self.last, places], "places")
        axis, label = scanned.axis % len(shape), scanned.argument.name
        rows = self.emit.add("Gather", [source.value, places], label, axis=axis)
        rows = self.emit.transpose(rows, move_axis(len(shape), axis, 0), label)
        return Operand(rows, True, Fact(source.fact.elem_type, (*shape[:axis], *shape[axis + 1 :])))

    def leave_body(self) -> None:
        """Emit all further nodes around the Loop."""
        self.emit = self.around


class BlockBatcher(Batcher):
    """A batch interpreter for a block of iterations."""

    def __init__(self, feeding: BlockFeeding, residual: ResidualOutputs) -> None:
        certain = True  # a block has an iteration
        super().__init__(feeding.inner, feeding, self._residual_rows, certain, compute_nested)
        self._residual = residual

    def _residual_rows(self, value: Value) -> Operand:
        """The rows of a value of the residual loop.

        Raises:
            Unbatchable: rows larger than those of the outputs, which take longer than their reader.
        """
        what, feeding = f"computes '{value.name}' iteration by iteration", self.feeding
        feeding.memory.require(what, self.fact(value), feeding.most_iterations)
        return self._residual.operand(value)

    def read_rows(self, node: Node) -> Value | None:
        """The rows of all iterations are no block."""
        return None

    def compute(self, vertex: Vertex) -> None:
        """Compute a vertex for a block, whose iterations a sum adds up."""
        if not isinstance(vertex, Write):
            super().compute(vertex)
            return
        state, rows = vertex.state, self.every(vertex.element)
        initial, label = self.feeding.same(state.initial), vertex.element.name
        if initial.fact.elem_type in PLAIN_INTEGERS:  # onnxruntime's ReduceSum departs
            last = self.emit.integer(-1, "last")
            sums = self.emit.running_sum(rows, label)
            total = self.emit.add("Gather", [sums, last], label, axis=0)
        else:
            total = self.emit.reduce("ReduceSum", rows, (0,), label)
        operands = [initial.value, total]
        self._collected[state] = self.emit.add(vertex.node.op_type, operands, state.result.name)


class NeedsResidual(Signal):
    """Only a residual loop can compute some values."""


class BlockLoop:
    """A Loop over blocks of iterations, in a scratch graph.

    Args:
        block_bytes: the size limit of a block's largest value.
        exact: keep the order of additions of floats.
        residual: allow a residual loop in the body.

    Attributes:
        feeding: the scratch graph with its inputs.
        results: the replacements of the outputs.

    Raises:
        Unbatchable: an obstacle; the message continues a sentence about the Loop or Scan.
        NeedsResidual: a residual loop is needed, and not allowed.
    """

    def __init__(
        self,
        loop_view: LoopView,
        inference: ShapeInference,
        block_bytes: int,
        exact: bool = False,
        residual: bool = False,
    ) -> None:
        # Quantization annotations name values of the body, of which a block holds many at once.
        if loop_view.body.annotations:
            raise Unbatchable("has quantization annotations in its body")
        self._loop_view, self._inference = loop_view, inference
        self._certain = loop_view.runs_certainly(inference)
        self._zero_iterations = ZeroIterationSizes(loop_view, inference)
        carried = Carried.of(loop_view, inference, exact)
        shorter = residual or bool(carried.states)
        self.feeding = BlockFeeding(loop_view, inference, block_bytes, carried, shorter, exact)
        self._residual = ResidualOutputs(self.feeding.inner, self.feeding, certain=True)
        self._batcher = BlockBatcher(self.feeding, self._residual)
        self._dependences = self._find_dependences()
        self._distribution = Distribution(
            self._dependences, self._batcher.compute, self._batcher.computes_partial
        )
        inside = self._distribution.inside
        # Every node is in the residual loop: blocks would only wrap it.
        if not any(isinstance(v, Node) and v not in inside for v in self._dependences.readers):
            raise Unbatchable(next(iter(self._distribution.reasons), "computes nothing"))
        if inside and not residual:
            raise NeedsResidual
        self._set_results()
        self.feeding.leave_body()
        outputs, scanned = list(self.feeding.loop.outputs), used_outputs(loop_view)
        finals = dict(zip(carried.states, outputs, strict=False))
        stacks = zip(scanned, outputs[len(finals) :], strict=True)
        rows = {one: self._rows(one, value) for one, value in stacks if value is not None}
        results = [finals.get(state) for state in loop_view.states]
        results += [rows.get(one) for one in loop_view.scan_outputs]
        self.results = results[: len(loop_view.node.outputs)]

    def _find_dependences(self) -> DependenceGraph:
        """Enter the independent states of a block, and build the dependence graph."""
        inner, states = self.feeding.inner, self.feeding.carried.states
        own = dict(zip(states, inner.states, strict=True))
        sums = [dataclasses.replace(w, state=own[w.state]) for w in self.feeding.carried.sums]
        independent = self._batcher.enter_independent(
            {each.state for each in sums}, lambda state: state.argument.elem_type is not None
        )
        return DependenceGraph(inner, sums, independent)

    def _set_results(self) -> None:
        """Set the outputs of the new Loop's body, and emit the residual loop."""
        feeding, body = self.feeding, self.feeding.emit.graph
        results = [self._final(state) for state in feeding.inner.states]
        infos = [scalar_declaration("holds", onnx.TensorProto.BOOL)]
        infos += [fact_declaration(s.argument, self._inference) for s in feeding.inner.states]
        for one in used_outputs(feeding.inner):
            results.append(feeding.padded(self._block_rows(one)))
            infos.append(_rows_info(one, self._inference))
        if self._distribution.inside:
            sources = [one.source for one in feeding.inner.scan_inputs]
            length = [] if feeding.length is None else [feeding.length]
            set_results(body, [*results, *length, *sources])
            operands = self._batcher.operands
            plan = plan_residual_loop(
                self._residual, self._dependences, self._distribution, operands
            )
            if plan is not None:
                rebuild(plan)
            results = list(body.outputs[: len(results)])
        set_own_outputs(body, [feeding.condition, *results], infos)

    def _final(self, state: State) -> Value:
        inside, maker = self._distribution.inside, self._dependences.maker(state.argument)
        return self._residual.final(state) if maker in inside else self._batcher.final(state)

    def _block_rows(self, stacked: ScanOutput) -> Value:
        if self._dependences.maker(stacked.result) in self._distribution.inside:
            return self._residual.output(stacked)
        return self.feeding.every(self._batcher.operand(stacked.result), stacked.result.name)

    def _rows(self, stacked: ScanOutput, blocks: Value) -> Value:
        """The scan output of the original from the rows of all blocks."""
        feeding, emit = self.feeding, self.feeding.emit
        shape = shape_of_row(stacked, self._inference)
        dropped = [] if self._certain else self._zero_iterations.of(stacked)
        label = stacked.result.name
        rows = self._joined(blocks, shape, dropped)
        # The last block repeats an iteration; behind the trip count its rows mean nothing.
        rows = emit.cut(rows, 0, feeding.count, 0, label)
        if dropped and stacked.output is not None:
            stacked.output.info = None  # its sizes are 0 without iterations
        if stacked.backward:
            rows = feeding.reverse(rows)
        rank = len(shape) + 1
        return emit.transpose(rows, move_axis(rank, 0, stacked.axis % rank), label)

    def _joined(self, blocks: Value, shape: Shape, dropped: list[int]) -> Value:
        """Join the axes of blocks and of iterations, [blocks, block, ...]."""
        feeding, emit, label = self.feeding, self.feeding.emit, blocks.name
        sizes = [dim.value for dim in shape]
        if not dropped and all(sizes):
            # Beside a size of 0, Reshape could not infer -1.
            target = feeding.integers(-1, *[size or 0 for size in sizes])
            return emit.add("Reshape", [blocks, target], label)
        if emit.opset < ALLOWZERO:
            raise Unbatchable(f"returns rows that may be empty; convert to opset {ALLOWZERO} first")
        rows = emit.add("Mul", [feeding.blocks, feeding.block], "rows")
        parts = [emit.unsqueeze(rows, 0, "rows")]
        parts += [feeding.size(dim) for dim in shape]
        if dropped:
            some = emit.add("Cast", [feeding.count], "some", to=onnx.TensorProto.BOOL)
            once = emit.add("Cast", [some], "once", to=onnx.TensorProto.INT64)
            for axis in dropped:
                parts[1 + axis] = emit.add("Mul", [parts[1 + axis], once], "size")
        target = emit.concat(parts, 0, "rows_shape")
        # Without allowzero a size of 0 means the input's size at the same place.
        return emit.add("Reshape", [blocks, target], label, allowzero=1)


def used_outputs(loop_view: LoopView) -> list[ScanOutput]:
    """The scan outputs that are used."""
    return [one for one in loop_view.scan_outputs if is_used(loop_view.around, one.output)]


def _rows_info(stacked: ScanOutput, inference: ShapeInference) -> onnx.ValueInfoProto:
    """The declaration of the rows of a block."""
    elem_type = inference.fact(stacked.result).elem_type
    if not elem_type:
        raise Unbatchable(f"returns '{stacked.result.name}', whose type is not known")
    sizes = [None, *(dim.value for dim in shape_of_row(stacked, inference))]
    type_ = onnx.helper.make_tensor_type_proto(elem_type, sizes)
    return declaration(stacked.result.name, type_)


def find_sums(
    states: Iterable[State], body: Graph, inference: ShapeInference, exact: bool
) -> Iterator[Write]:
    """Yield the states that only add up a value of each iteration, or subtract one.

    Args:
        exact: keep the order of additions of floats.
    """
    for state in states:
        node, own, fact = state.result.producer, state.argument, inference.fact(state.initial)
        if fact.shape is None or inference.fact(state.result).shape != fact.shape:
            continue
        if fact.elem_type not in (*PLAIN_FLOATS, *PLAIN_INTEGERS) or (
            exact and fact.elem_type in PLAIN_FLOATS
        ):
            continue
        term = None if node is None else _term(node, own)
        # Another reader needs the sum after each iteration, not only the last one.
        alone = body.users(own) == [node] and body.users(state.result) == [body]
        alone = alone and body.outputs.count(state.result) == 1
        if node is not None and term is not None and alone:
            yield Write(state, node, term)


def _term(node: Node, own: Value) -> Value | None:
    """The value that a node adds to a state or subtracts from it; None for another node."""
    if not node.is_op("Add", "Sub") or own not in node.inputs:
        return None
    one, other = node.inputs
    # s + s doubles the state, and x - s flips its sign on each iteration: neither is a sum.
    if one is other or (node.is_op("Sub") and one is not own):
        return None
    return other if one is own else one
