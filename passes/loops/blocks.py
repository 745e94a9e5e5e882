"""Construction of a Loop over blocks of the iterations of a loop.

All blocks have one length: the last one repeats the last iteration. So their rows are one scan
output, whose first rows are those of the original. With states, which are sums, there are no scan
outputs, and the last block is shorter.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx

from ...analysis.peak_memory import bytes_of
from ...analysis.safety.speculation import Speculation
from ...analysis.shapes.inference import ShapeInference
from ...analysis.shapes.nonzero_trips import runs_certainly
from ...analysis.shapes.single_node_model import reads_of
from ...facts.fact import Fact, Shape
from ...facts.polynomial import Dimension
from ...ir import Node, Operator, Value
from ...ir.copying import empty_header
from ...ops.batching import Operand, Unbatchable
from ...ops.builder import Builder
from ..scans.layout import add_holder, declaration, move_axis
from ..vectorize.batch_interpreter import Batcher
from ..vectorize.batched_inputs import Feeding
from ..vectorize.dependence_graph import DependenceGraph
from ..vectorize.loop_view import LoopView, ScanInput, ScanOutput
from ..vectorize.nested_control_flow import compute_nested
from ..vectorize.residual_loop import label_of
from ..vectorize.splice import is_used
from ..vectorize.zero_trips import ZeroTripSizes
from .block_sums import BlockSum, read_sums
from .new_bodies import set_own_outputs

_OLDEST = 12
"""The first opset whose Min and Max take int64."""
_LARGE = 1 << 10
"""The number by which open sizes are compared."""
_LEAST_SUMMED = 32
"""The rows from which onnxruntime adds up a block faster than the loop does, row by row."""
_MANY = 32
"""The number of iterations from which a block is full; further ones gain more than they lose."""
_ALLOW_ZERO = 14
"""The first opset whose Reshape takes a size of 0 for a size."""


class BlockFeeding(Feeding):
    """Arguments of a body for a block of iterations, in a new Loop.

    Args:
        loop_view: the Loop or Scan.
        inference: the facts of the model's values.
        block_bytes: the size limit of a block's largest value.
        sums: the states.

    Attributes:
        arguments: the states in the body of the new Loop.
        around: the builder of the nodes around the new Loop.
        count: the trip count of the original, int64 of shape [1].
        blocks, block: the number of blocks and the length of each, scalars.
        last: the number of the last iteration.
        loop: the new Loop.
        condition: the condition input of its body.
    """

    def __init__(
        self,
        loop_view: LoopView,
        inference: ShapeInference,
        block_bytes: int,
        sums: Sequence[BlockSum],
    ) -> None:
        super().__init__(loop_view, inference)
        self.sums = sums
        self.around, self.count = self.emit, self.trips
        if self.around.opset < _OLDEST:
            raise Unbatchable(f"is of opset {self.around.opset}; convert to {_OLDEST} first")
        self._one = self._number(1)
        is_known = self.trip_dimension is not None
        self._rows = self._limit() if is_known else self.emit.squeeze(self.count, 0, "count")
        self.last = self.emit.add("Sub", [self._rows, self._one], "last")
        self.blocks, self.block = self._sizes(self._most_rows(block_bytes))
        self.trips = self.emit.unsqueeze(self.block, 0, "block")
        self.loop = self._add_loop()
        offsets = None if sums else self._range(self.block)
        number, self.condition, self.arguments = self._enter_body()
        start = self.emit.add("Mul", [number, self.block], "start")
        self._places = self._rest(start) if offsets is None else self._full(start, offsets)

    def require_room(self, what: str, fact: Fact) -> None:
        """A block bounds the size of each batched value."""

    # Blocks --------------------------------------------------------------------------------------

    def _number(self, number: int) -> Value:
        """Emit a constant scalar of int64."""
        return self.emit.constant(np.array(number, np.int64), "k")

    def _most_rows(self, block_bytes: int) -> Value:
        """Emit the number of iterations whose largest value fits a block, at least 1.

        Few large ones fill half a block only, beside their operands: more would gain little.
        """
        least, largest = self._row_bytes()
        if self.sums and (largest is not None or block_bytes < _LEAST_SUMMED * least):
            raise Unbatchable("adds up values that are too large for a block of many")
        if largest is None:
            more = 0 if self.sums else 2 * least - block_bytes // _MANY
            most = block_bytes // max(least, more, 1)
            if most < 2 or (self.most_trips is not None and self.most_trips <= most):
                raise Unbatchable(f"makes values of {least} bytes on each trip")
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
        nodes = [node for graph in self.loop_view.body.walk() for node in graph.nodes()]
        facts = [self.inference.fact(v) for node in nodes for v in node.outputs if v is not None]
        sizes = {fact: size for fact in facts if (size := bytes_of(fact)) is not None}
        if not sizes:
            raise Unbatchable("computes nothing of known rank")
        least = max([size.value or 0 for size in sizes.values()])
        shapes = [self.same(v).fact.shape or () for v in reads_of(self.loop_view.node)]
        around = {dim for shape in shapes for dim in shape}
        rest = [
            fact
            for fact, size in sizes.items()
            if size.value is None
            if all(dim.value is not None or dim in around for dim in fact.shape or ())
        ]
        return least, max(rest, key=lambda fact: _large_bytes(sizes[fact]), default=None)

    def _sizes(self, most: Value) -> tuple[Value, Value]:
        """Emit the number of blocks, and the equal length of each."""
        emit, one = self.emit, self._one
        blocks = emit.add("Div", [emit.add("Add", [self.last, most], "padded"), most], "blocks")
        some = emit.add("Max", [blocks, one], "some")
        full = emit.add("Div", [self.last, some], "full")
        block = emit.add("Max", [emit.add("Add", [full, one], "block"), one], "block")
        return blocks, block

    def _add_loop(self) -> Node:
        """Add the Loop over the blocks, without its body."""
        node, outputs = self.loop_view.node, used_outputs(self.loop_view)
        labels = [label_of(each.state) for each in self.sums]
        labels += [f"{label_of(one)}_blocks" for one in outputs]
        if not labels:
            raise Unbatchable("has no output that is used")
        if self.sums and outputs:
            name = self.sums[0].state.argument.name
            raise Unbatchable(f"carries '{name}' from block to block, beside rows")
        like = Operator("Loop", extra=node.op.extra)
        holds = self.emit.constant(np.array(True), "holds")
        initial = [self.same(each.state.initial).value for each in self.sums]
        inputs = [self.blocks, holds, *initial]
        return add_holder(self.graph, like, {}, ["body"], inputs, labels, node.name)

    def _enter_body(self) -> tuple[Value, Value, list[Value]]:
        """Enter the body of the Loop; the number of a block, the condition and the states."""
        header = empty_header(self.loop_view.body.header.name)
        body = self.graph.add_body(self.loop, "body", header)
        number = body.add_input("block_number", _scalar("block_number", onnx.TensorProto.INT64))
        holds = body.add_input("holds", _scalar("holds", onnx.TensorProto.BOOL))
        self.emit = Builder(body, room=self.around.room)
        states = [body.add_input(each.state.argument.name, _info(each)) for each in self.sums]
        return number, holds, states

    def _full(self, start: Value, offsets: Value) -> Value:
        """The iterations of a full block, which repeat the last one."""
        places = self.emit.add("Add", [start, offsets], "places")
        inside = self.emit.add("Min", [self.last, places], "places")
        # They are certainly in range then, also for whoever proves it.
        return self.emit.add("Max", [inside, self._number(0)], "places")

    def _rest(self, start: Value) -> Value:
        """The iterations of a block that may be shorter; `trips` is its length from now on."""
        emit = self.emit
        stop = emit.add("Add", [start, self.block], "stop")
        end = emit.add("Min", [stop, self._rows], "end")
        self.trips = emit.unsqueeze(emit.add("Sub", [end, start], "length"), 0, "length")
        return emit.add("Range", [start, end, self._one], "places")

    # Arguments of the body -----------------------------------------------------------------------

    def _iteration(self, rank: int) -> Operand:
        """The iteration numbers of a block, whose symbolic elements say nothing of their order."""
        numbers, axes = self._places, tuple(range(1, 1 + rank))
        numbers = self.emit.unsqueeze(numbers, axes, "trip") if rank else numbers
        return Operand(numbers, True, Fact(onnx.TensorProto.INT64, (Dimension.constant(1),) * rank))

    def elements(self, scanned: ScanInput) -> Operand:
        """Emit the elements of a scan input in a block, along the first axis."""
        source, shape, places = self.same(scanned.source), self._shape(scanned), self._places
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

    def __init__(self, feeding: BlockFeeding) -> None:
        certain = True  # a block has an iteration
        super().__init__(feeding.loop_view, feeding, feeding.same, certain, compute_nested)

    def read_rows(self, node: Node) -> Value | None:
        """The rows of all iterations are no block."""
        return None


class BlockLoop:
    """A Loop over blocks of iterations, in a scratch graph.

    Args:
        loop_view: the Loop or Scan.
        inference: the facts of the model's values.
        block_bytes: the size limit of a block's largest value.
        exact: keep the order of additions of floats.

    Attributes:
        feeding: the scratch graph with its inputs.
        results: the replacements of the outputs.

    Raises:
        Unbatchable: an obstacle; the message continues a sentence about the Loop or Scan.
    """

    def __init__(
        self,
        loop_view: LoopView,
        inference: ShapeInference,
        block_bytes: int,
        exact: bool = False,
    ) -> None:
        if loop_view.body.annotations:
            raise Unbatchable("has quantization annotations in its body")
        self._loop_view, self._inference = loop_view, inference
        facts_of = Speculation(inference, inference.model.functions).outside
        self._certain = runs_certainly(loop_view.node, facts_of)
        self._zero_trips = ZeroTripSizes(loop_view, inference)
        sums = [
            each
            for each in read_sums(loop_view, inference, exact)
            if is_used(loop_view.around, each.state.final)
        ]
        self.feeding = BlockFeeding(loop_view, inference, block_bytes, sums)
        self._add_body(BlockBatcher(self.feeding))
        self.feeding.leave_body()
        outputs, scanned = list(self.feeding.loop.outputs), used_outputs(loop_view)
        stacks = zip(scanned, outputs[len(sums) :], strict=True)
        rows = {one: self._rows(one, value) for one, value in stacks if value is not None}
        finals = {each.state: value for each, value in zip(sums, outputs, strict=False)}
        results = [finals.get(state) for state in loop_view.states]
        results += [rows.get(one) for one in loop_view.scan_outputs]
        self.results = results[: len(loop_view.node.outputs)]

    def _add_body(self, batcher: BlockBatcher) -> None:
        """Compute the needed nodes of the body for a block."""
        loop_view, feeding = self._loop_view, self.feeding
        needed = DependenceGraph(loop_view, [], []).graph
        totals = {each.node for each in feeding.sums}
        for node in loop_view.body.nodes():
            if node in needed and node not in totals:
                batcher.compute_node(node)
        results, infos = [feeding.condition], [_scalar("holds", onnx.TensorProto.BOOL)]
        for each, argument in zip(feeding.sums, feeding.arguments, strict=True):
            results.append(_total(each, argument, batcher))
            infos.append(_info(each))
        for one in used_outputs(loop_view):
            operand = batcher.operand(one.result)
            results.append(feeding.every(operand, one.result.name))
            infos.append(_rows_info(one, operand.fact))
        set_own_outputs(feeding.emit.graph, results, infos)

    def _rows(self, stacked: ScanOutput, blocks: Value) -> Value:
        """The scan output of the original from the rows of all blocks."""
        feeding, emit = self.feeding, self.feeding.emit
        shape = self._inference.fact(stacked.result).shape
        if shape is None:
            raise Unbatchable(f"gives out '{stacked.result.name}', whose rank is not known")
        dropped = [] if self._certain else self._zero_trips.of(stacked)
        label = stacked.result.name
        rows = self._joined(blocks, shape, dropped)
        bounds = [feeding.integers(0), feeding.count, feeding.integers(0)]
        rows = emit.add("Slice", [rows, *bounds], label)
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
            target = feeding.integers(-1, *[size or 0 for size in sizes])
            return emit.add("Reshape", [blocks, target], label)
        if emit.opset < _ALLOW_ZERO:
            raise Unbatchable(f"gives rows that may be empty; convert to opset {_ALLOW_ZERO} first")
        rows = emit.add("Mul", [feeding.blocks, feeding.block], "rows")
        parts = [emit.unsqueeze(rows, 0, "rows")]
        parts += [feeding.size(dim) for dim in shape]
        if dropped:
            some = emit.add("Cast", [feeding.count], "some", to=onnx.TensorProto.BOOL)
            once = emit.add("Cast", [some], "once", to=onnx.TensorProto.INT64)
            for axis in dropped:
                parts[1 + axis] = emit.add("Mul", [parts[1 + axis], once], "size")
        target = emit.concat(parts, 0, "rows_shape")
        return emit.add("Reshape", [blocks, target], label, allowzero=1)


def _total(each: BlockSum, argument: Value, batcher: BlockBatcher) -> Value:
    """A state after a block."""
    rows = batcher.every(each.term)
    total = batcher.emit.reduce("ReduceSum", rows, (0,), each.term.name)
    return batcher.emit.add(each.node.op_type, [argument, total], each.state.result.name)


def _info(each: BlockSum) -> onnx.ValueInfoProto:
    """The declaration of a state."""
    return declaration(each.state.argument.name, each.fact.type_proto(private=False))


def used_outputs(loop_view: LoopView) -> list[ScanOutput]:
    """The scan outputs that are used."""
    return [one for one in loop_view.scan_outputs if is_used(loop_view.around, one.output)]


def _large_bytes(size: Dimension) -> int:
    """The bytes of a value where open sizes are large."""
    large = size.replaced(dict.fromkeys(size.symbols, Dimension.constant(_LARGE)))
    return large.value or 0


def _rows_info(stacked: ScanOutput, fact: Fact) -> onnx.ValueInfoProto:
    """The declaration of the rows of a block."""
    shape = None if fact.shape is None else [None, *(dim.value for dim in fact.shape)]
    if not fact.elem_type or shape is None:
        raise Unbatchable(f"gives out '{stacked.result.name}', whose rank is not known")
    type_ = onnx.helper.make_tensor_type_proto(fact.elem_type, shape)
    return declaration(stacked.result.name, type_)


def _scalar(name: str, elem_type: int) -> onnx.ValueInfoProto:
    return declaration(name, onnx.helper.make_tensor_type_proto(elem_type, []))
