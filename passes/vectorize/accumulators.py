"""Accumulators: loop-carried states to which each iteration adds an element and that none reads.

s = SequenceEmpty ()                                a = Scan <...> (x)  or what gives all rows
t = Loop (n, , s) <... u2 = SequenceInsert (u, e)   t = SplitToSequence <keepdims = 0> (a)

Where a condition lets only some iterations write, their rows and places are compressed:

t = If (c) <... t = Concat (s, e)},                 t = Concat (s, Compress (es, cs))
   ... {t = Identity (s)}>

Histograms are buffers of which each iteration adds to one place, in any order:

t = ScatterND (s, [[j]], [Add (s[j], v)])   t = ScatterElements <reduction = "add"> (s, js, vs)

The last of several writes to one place counts. Its number is a maximum:

t = ScatterND (s, [[j]], [v])               w = ScatterElements <reduction = "max"> (0..n, js, n..)
                                            t = Gather (Concat (s, vs), w)
"""

import dataclasses
from collections.abc import Callable, Iterator

import onnx

from ...analysis.iterations.trip_count import skip_identities, whole_number
from ...facts.fact import Fact, Shape
from ...facts.polynomial import Dimension
from ...facts.types import PLAIN_INTEGERS
from ...ir import Graph, Node, Operator, Value
from ...ir.subgraph_arity import BRANCHES
from ...ops.batching import Flat, Operand, Unbatchable
from ...ops.flat_rows import in_front, row_shape
from ...ops.partial_axes import of_same_rows
from ...ops.views import read_slice
from ..iteration.batched_inputs import Feeding
from ..iteration.dependence_graph import Write
from ..iteration.loop_view import LoopView, State, move_axis
from ..iteration.places import Index, Places, moves_before, unmoved
from ..iteration.row_accesses import reduction_of, written_line
from ..utils.stacked_rows import concat_rows

_COLLECTING = ("Concat", "SequenceInsert", "ScatterND", "ScatterElements")


def find_writes(loop_view: LoopView, places: Places) -> Iterator[Write]:
    """Yield the accumulators."""
    for state in loop_view.states:
        node = _only_link(loop_view.body, state)
        write = (
            (None if node is None else _as_write(state, node, places))
            or _inserted(loop_view.body, state)
            or _chosen(loop_view.body, state, places)
            or _reduced(loop_view.body, state, places)
        )
        if write is not None:
            yield write


def _only_link(body: Graph, state: State) -> Node | None:
    """The only node between a state and its next value, without other readers of either."""
    node = state.result.producer
    if node is None or node.graph is not body or node.bodies or state.argument.pinned:
        return None
    if not node.is_op(*_COLLECTING):
        return None
    reads, results = body.uses(state.argument), body.uses(state.result)
    alone = len(reads) == 1 and reads[0].user is node and len(results) == 1
    return node if alone and not state.result.pinned else None


def _inserted(body: Graph, state: State) -> Write | None:
    """Match several elements that an iteration inserts at the end, one after the other."""
    nodes, value = list[Node](), state.result
    while value is not state.argument:
        node = value.producer
        source = None if node is None or len(node.inputs) != 2 else node.inputs[0]
        alone = len(body.uses(value)) == 1 and not value.pinned and value.graph is body
        if node is None or source is None or not node.is_op("SequenceInsert") or not alone:
            return None
        nodes.insert(0, node)
        value = source
    elements = [element for node in nodes if (element := node.inputs[1]) is not None]
    if len(elements) != len(nodes) or len(nodes) < 2 or len(body.uses(state.argument)) != 1:
        return None
    *earlier, last = elements
    return Write(state, nodes[-1], last, reads=tuple(nodes[:-1]), earlier=tuple(earlier))


def _chosen(body: Graph, state: State, places: Places) -> Write | None:
    """Match a write under a condition, by an If or a Where."""
    chooser = state.result.producer
    if chooser is None or not chooser.is_op("If", "Where") or chooser.graph is not body:
        return None
    flag, alone = chooser.inputs[0], len(body.uses(state.result)) == 1 and len(chooser.outputs) == 1
    if flag is None or not alone or state.argument.pinned or state.result.pinned:
        return None
    shape = places.inference.fact(flag).shape
    if shape is None or any(size != 1 for size in shape):
        return None
    if chooser.is_op("If"):
        ways = _branches(body, chooser)
    else:
        values = [value for value in chooser.inputs[1:] if value is not None]
        ways = [(v, v.producer if len(body.uses(v)) == 1 else None) for v in values]
    for negated in (False, True):
        (one, node), (other, _) = ways[::-1] if negated else ways
        if other is not state.argument or node is None or one is not node.output():
            continue
        if not node.is_op(*_COLLECTING) or set(body.users(state.argument)) - {chooser, node}:
            continue
        # A Where cannot choose between a state and a longer one.
        if chooser.is_op("Where") and not node.is_op("ScatterND", "ScatterElements"):
            continue
        write = _as_write(state, node, places)
        if write is not None:
            return dataclasses.replace(write, chooser=chooser, flag=flag, negated=negated)
    return None


_Way = tuple[Value | None, Node | None]
"""The value that a choice returns, and the only node that computes it."""


def _branches(body: Graph, chooser: Node) -> list[_Way]:
    ways: list[_Way] = []
    for name in BRANCHES:
        graph = chooser.body(name)
        result = skip_identities(graph.outputs[0])
        others = [node for node in graph.nodes() if not node.is_op("Identity")]
        ways.append((result, others[0] if len(others) == 1 else None))
    return ways


def _as_write(state: State, node: Node, places: Places) -> Write | None:
    first, others = node.input(0), [value for value in node.inputs[1:] if value is not None]
    if node.is_op("Concat") and len(node.inputs) == 2:
        one, other = node.inputs
        element = other if one is state.argument else one
        return None if element is None else Write(state, node, element)
    if first is not state.argument:
        return None
    if node.is_op("SequenceInsert") and (len(others) == 1 or _inserts_first(node)):
        return Write(state, node, others[0])
    if node.is_op("ScatterND", "ScatterElements") and reduction_of(node) == "none":
        index, element = others
        test = places.is_injective if node.is_op("ScatterND") else places.is_one_number
        write = Write(state, node, element, index)
        if test(index):
            return dataclasses.replace(write, line=written_line(node, places))
        graph = node.graph
        is_supported = graph is not None and graph.root.opset() >= _OPSETS["last"]
        last = dataclasses.replace(write, reduction="last")
        return last if is_supported and _has_places(last, places) else None
    return None


def _inserts_first(node: Node) -> bool:
    """Test for a SequenceInsert in front of all elements."""
    return whole_number(node.input(2)) == 0


_REDUCTIONS = {"Add": "add", "Mul": "mul", "Max": "max", "Min": "min"}
_OPSETS = {"add": 16, "mul": 16, "max": 18, "min": 18, "last": 18}
"""The first opset of each reduction."""


def _reduced(body: Graph, state: State, places: Places) -> Write | None:
    """The write by which every iteration combines places of a state with an element."""
    node = state.result.producer
    if node is None or node.graph is not body or len(node.inputs) != 3:
        return None
    if not node.is_op("ScatterND", "ScatterElements") or node.input(0) is not state.argument:
        return None
    if state.argument.pinned or state.result.pinned or len(body.uses(state.result)) != 1:
        return None
    reduction = reduction_of(node)
    write = None
    if reduction == "none":
        write = _combined(body, state, node, places)
    elif len(body.uses(state.argument)) == 1:
        write = Write(state, node, node.operand(2), node.operand(1), reduction)
    if write is None or body.root.opset() < _OPSETS.get(write.reduction, 1 << 30):
        return None
    return write if _has_places(write, places) else None


def _combined(body: Graph, state: State, node: Node, places: Places) -> Write | None:
    """Match a Scatter of what a node computes of the element at the same place."""
    inference, index, update = places.inference, node.operand(1), node.operand(2)
    combine = unmoved(update, body).producer
    if combine is None or not combine.is_op(*_REDUCTIONS) or len(combine.inputs) != 2:
        return None
    if combine.is_op("Max", "Min") and inference.fact(update).elem_type not in PLAIN_INTEGERS:
        return None  # runtimes differ on NaN in a ScatterElements
    for old, element in (combine.inputs, combine.inputs[::-1]):
        read = None if old is None else unmoved(old, body).producer
        if read is None or element is None or not _reads_place(read, state, node, body, places):
            continue
        path = (*moves_before(update, body), combine, *moves_before(old, body), read)
        users = [use.user for use in body.uses(state.argument)]
        # Another reader of the path needs the buffer of each iteration.
        alone = all(len(body.uses(each.output())) == 1 for each in path)
        shapes = [inference.fact(value).shape for value in (element, combine.output())]
        same = None not in shapes and _without_ones(shapes[0]) == _without_ones(shapes[1])
        if alone and same and {*users} == {read, node} and element.producer not in path:
            return Write(state, node, element, index, _REDUCTIONS[combine.op_type], path)
    return None


def _reads_place(read: Node, state: State, node: Node, body: Graph, places: Places) -> bool:
    """Test for a read of a state at the places that a Scatter writes."""
    inference = places.inference
    if read.input(0) is not state.argument or read.graph is not body:
        return False
    own, index = read.input(1), node.input(1)
    if own is None or index is None:
        return False
    if node.is_op("ScatterElements"):
        shape = inference.fact(state.argument).shape
        by_row = read.is_op("Gather") and shape is not None and len(shape) == 1
        if not by_row and not read.is_op("GatherElements"):
            return False
        axes = [each.attribute("axis", 0) for each in (read, node)]
        return axes[0] == axes[1] and unmoved(own, body) is unmoved(index, body)
    if read.is_op("Slice", "GatherND"):
        span = _places_of(read, places)
        return span is not None and span == places.consecutive(index)
    if not read.is_op("Gather") or read.attribute("axis", 0) != 0:
        return False
    return unmoved(own, body) is unmoved(index, body)


def _places_of(read: Node, places: Places) -> tuple[Index, int] | None:
    """Consecutive places along the first axis that a Slice or GatherND reads."""
    if read.is_op("GatherND"):
        at = read.input(1)
        shape = None if at is None else places.inference.fact(at).shape
        is_row = shape is not None and len(shape) == 2 and shape[1] == 1
        plain = is_row and not read.op.references and not read.attribute("batch_dims", 0)
        return places.consecutive(at) if at is not None and plain else None
    view = read_slice(read, places.inference.fact)
    start, end = (None, None) if view is None or view.axis else view.bounds
    return None if start is None or end is None else places.spans(start, end)


def _has_places(write: Write, places: Places) -> bool:
    """Test for an index of one place in the buffer, or of consecutive ones."""
    assert write.index is not None
    shape = places.inference.fact(write.index).shape
    if not shape:
        return False
    if write.node.is_op("ScatterND"):
        span = places.consecutive(write.index)
        is_span = span is not None and [dim.value for dim in shape[1:]] == [1]
        # Equal places of one iteration leave the result of a Scatter without a reduction open.
        is_list = not write.reads and len(shape) == 2 and shape[1] == 1
        is_list = is_list and shape[0].value != 0
        return is_span or is_list or all(dim == 1 for dim in shape)
    axis = write.node.attribute("axis", 0)
    if not -len(shape) <= axis < len(shape):
        return False
    return shape[axis] == 1 or (not write.reads and shape[axis].value != 0)


_SPLIT = tuple(
    getattr(onnx.TensorProto, name)
    for name in ("FLOAT", "DOUBLE", "FLOAT16", "INT32", "INT64", "BOOL", "STRING")
)
"""The types with a SplitToSequence in onnxruntime."""


def as_sequence(rows: Value, elem_type: int, label: str, feeding: Feeding) -> Value:
    """Emit all rows as a sequence.

    Raises:
        Unbatchable: a type that onnxruntime does not support.
    """
    _require_split(elem_type, label)
    return feeding.emit.add("SplitToSequence", [rows], label, axis=0, keepdims=0)


def _require_split(elem_type: int, label: str) -> None:
    if elem_type not in _SPLIT:
        raise Unbatchable(
            f"makes a sequence '{label}' of a type that SplitToSequence does not support"
        )


class FinalValue:
    """The emission of the final value of an accumulator.

    Args:
        write: the state, and the element of each iteration.
        operand: returns the operand of a value of the body, flat or whole.

    Raises:
        Unbatchable: elements of unknown rank.
    """

    def __init__(self, write: Write, operand: Callable[[Value], Operand], feeding: Feeding) -> None:
        self._write, self._any_operand, self._feeding = write, operand, feeding
        self._emit, self._label = feeding.emit, write.state.result.name
        part, shape = operand(write.element).partial, operand(write.element).fact.shape
        if shape is None:
            raise Unbatchable(f"collects '{write.element.name}', whose rank is not known")
        self._flat = None if part is None else part.flat
        # The rows of all blocks are written like those of iterations.
        self._axis = 0 if part is None else len(shape) + part.axis
        if self._flat is not None:
            axis = write.node.attribute("axis", self._axis if write.index is None else 0) % len(
                shape
            )
            if axis != self._axis or write.earlier:
                raise Unbatchable(f"collects '{write.element.name}', whose size may vary")
        self._element = self._operand(write.element)
        self._shape: Shape = self._element.fact.shape or ()

    def _operand(self, value: Value) -> Operand:
        """The operand of a value, for each row of a block."""
        operand = self._any_operand(value)
        part, shape = operand.partial, operand.fact.shape or ()
        if part is None and (self._flat is None or value is self._write.flag):
            return operand
        own, flat = self._flat, None if part is None else part.flat
        if part is None or own is None or flat is None or len(shape) + part.axis != self._axis:
            raise Unbatchable(f"writes '{value.name}', whose size may vary")
        fact = Fact(operand.fact.elem_type, row_shape(shape, self._axis))
        return Operand(of_same_rows(self._emit, operand.value, own, flat), True, fact)

    def emit(self) -> Value:
        """Emit it.

        Raises:
            Unbatchable: a mismatched initial state, or sizes known only at run time.
        """
        write = self._write
        rows = self._let_in(self._feeding.every(self._element, write.element.name))
        if write.node.is_op("SequenceInsert"):
            return self._as_sequence(self._interleaved(rows))
        if write.node.is_op("Concat"):
            return self._concat_rows(rows)
        return self._scatter_rows(rows) if write.reduction == "none" else self._reduced(rows)

    def _let_in(self, rows: Value, of_blocks: bool = False) -> Value:
        """Emit the rows of the iterations that write."""
        flag, emit = self._write.flag, self._emit
        if flag is None:
            return rows
        every = [self._feeding.every(self._operand(flag), flag.name), self._feeding.integers(-1)]
        flags = emit.add("Reshape", every, "flags")
        flags = emit.add("Not", [flags], "flags") if self._write.negated else flags
        if self._flat is not None and not of_blocks:
            flags = emit.add("Gather", [flags, self._flat.owners], "flags")
        return emit.add("Compress", [rows, flags], "let_in", axis=0)

    def _reversed(self, rows: Value) -> Value:
        """Emit the rows of the last iteration first."""
        if self._flat is None:
            return self._feeding.reverse(rows)
        return in_front(self._emit, rows, self._let_in(self._flat.counts, of_blocks=True))

    # Sequences -----------------------------------------------------------------------------------

    def _interleaved(self, rows: Value) -> Value:
        """Emit all elements of each iteration, in the order of their insertion."""
        if not self._write.earlier:
            return rows
        each = []
        for value in self._write.earlier:
            other = self._operand(value)
            if other.fact.shape != self._shape:
                raise Unbatchable(f"collects '{value.name}', whose sizes differ from the others")
            each.append(self._feeding.every(other, value.name))
        parts = [self._emit.unsqueeze(part, 1, "part") for part in (*each, rows)]
        joined = self._emit.concat(parts, 1, "parts")
        return concat_rows(joined, 0, (Dimension.constant(len(parts)), *self._shape), self._emit)

    def _as_sequence(self, rows: Value) -> Value:
        """Emit all rows as a sequence, after the initial elements."""
        initial, is_first = self._write.state.initial, _inserts_first(self._write.node)
        node, inference = initial.producer, self._feeding.inference
        # Each element is inserted before the others, so that the last one comes first.
        rows = self._reversed(rows) if is_first else rows
        if self._flat is not None:
            return self._as_parts(rows, self._flat)
        if node is not None and node.is_op("SequenceConstruct") and not node.op.references:
            first = self._first_rows(node)
            rows = self._emit.concat([rows, *first] if is_first else [*first, rows], 0, "rows")
        else:
            self._require_empty(initial)
        elem_type = inference.fact(self._write.element).elem_type
        return as_sequence(rows, elem_type, self._label, self._feeding)

    def _as_parts(self, rows: Value, flat: Flat) -> Value:
        """Emit all blocks as a sequence."""
        self._require_empty(self._write.state.initial)
        _require_split(self._element.fact.elem_type, self._label)
        counts = self._let_in(flat.counts, of_blocks=True)
        if _inserts_first(self._write.node):
            counts = self._feeding.reverse(counts)
        blocks = concat_rows(rows, self._axis, self._shape, self._emit)
        return self._emit.add("SplitToSequence", [blocks, counts], self._label, axis=self._axis)

    def _require_empty(self, initial: Value) -> None:
        if self._feeding.inference.fact(initial).count != 0:
            raise Unbatchable(f"adds to the sequence '{initial.name}', which is not empty at first")

    def _first_rows(self, node: Node) -> list[Value]:
        """Emit the operands of a SequenceConstruct as rows."""
        first = []
        for value in node.inputs:
            operand = None if value is None else self._feeding.same(value)
            if operand is None or operand.fact.shape != self._shape:
                raise Unbatchable("adds to a sequence of tensors of other sizes")
            first.append(self._emit.unsqueeze(operand.value, 0, "first"))
        return first

    # Tensors -------------------------------------------------------------------------------------

    def _concat_rows(self, rows: Value) -> Value:
        """Emit the initial state and all rows, along the axis of the Concat."""
        node, state = self._write.node, self._write.state
        axis = node.attribute("axis") % len(self._shape)
        parts = [self._feeding.same(state.initial).value]
        if node.input(0) is state.argument:
            parts.append(concat_rows(rows, axis, self._shape, self._emit))
        else:  # each iteration adds in front, so the last row comes first
            parts[:0] = [concat_rows(self._reversed(rows), axis, self._shape, self._emit)]
        return self._emit.concat(parts, axis, self._label)

    def _scatter_rows(self, rows: Value) -> Value:
        """Emit a buffer with each row at its index."""
        write = self._write
        assert write.index is not None
        index = self._operand(write.index)
        if not index.batched or not index.fact.shape:
            raise Unbatchable(f"writes to places '{write.index.name}' that are not known")
        if (whole := self._whole(rows)) is not None:
            return whole
        # Places are distinct, so the order in which a runtime writes them does not matter.
        indices = self._let_in(index.value)
        if write.node.is_op("ScatterElements"):
            axis, rank = write.node.attribute("axis", 0), len(self._shape)
            if len(index.fact.shape) != rank or not -rank <= axis < rank:
                raise Unbatchable(f"writes '{write.element.name}' along an axis that is not there")
            pairs = [(indices, index.fact.shape), (rows, self._shape)]
            indices, rows = (concat_rows(v, axis % rank, s, self._emit) for v, s in pairs)
        initial = self._feeding.same(write.state.initial).value
        return self._emit.apply(write.node.op, [initial, indices, rows], self._label)

    def _whole(self, rows: Value) -> Value | None:
        """Emit a buffer whose lines the iterations write, each one once; None for others."""
        write, emit = self._write, self._emit
        count, buffer = self._feeding.iteration_dimension, self._feeding.same(write.state.initial)
        shape = buffer.fact.shape
        every = write.flag is None and self._flat is None
        if write.line is None or not every or count is None or not shape:
            return None
        axis, place = write.line
        offset = place.start if place.step > 0 else count - 1 - place.start
        if shape[axis] != count or offset != 0 or abs(place.step) != 1:
            return None
        inner = len(self._shape) - len(shape) + 1  # axes of size 1 that the buffer does not have
        at = axis if write.node.is_op("ScatterElements") else 0
        rows = self._reversed(rows) if place.step < 0 else rows
        rows = emit.squeeze(rows, tuple(range(at + 1, at + 1 + inner)), "rows") if inner else rows
        return emit.transpose(rows, move_axis(len(shape), 0, axis), self._label)

    # Reductions ----------------------------------------------------------------------------------

    def _reduced(self, rows: Value) -> Value:
        """Emit a buffer to whose places the elements of all iterations are added.

        ScatterElements combines elements in their order. onnxruntime combines those of a ScatterND
        in parallel, and loses some that have one place.
        """
        write, emit = self._write, self._emit
        assert write.index is not None
        index, buffer = self._operand(write.index), self._feeding.same(write.state.initial)
        shape, whole = index.fact.shape or (), buffer.fact.shape
        if whole is None:
            raise Unbatchable(f"adds to '{write.state.argument.name}', whose rank is not known")
        places = self._let_in(self._feeding.every(index, write.index.name))
        if write.node.is_op("ScatterND"):
            count = shape[0].value if shape else 1
            if count is None:
                raise Unbatchable(f"writes to places '{write.index.name}' of unknown number")
            rows, sizes = self._by_row(rows, buffer.value, whole, count)
            if write.reduction == "last":
                places = emit.reshape(places, (-1,), "places")
                winners = self._winners(buffer.value, places, 0, is_vector=True)
                joined = emit.concat([buffer.value, rows], 0, "written")
                return emit.add("Gather", [joined, winners], self._label, axis=0)
            places = emit.reshape(places, (-1, *(1 for _ in whole[1:])), "places")
            places = emit.add("Expand", [places, sizes], "places") if len(whole) > 1 else places
            return self._scatter(buffer.value, places, rows, 0)
        axis = write.node.attribute("axis", 0) % len(whole or (0,))
        rows = emit.add("Reshape", [rows, emit.add("Shape", [places], "shape")], "rows")
        places, rows = (concat_rows(each, axis, shape, emit) for each in (places, rows))
        if write.reduction != "last":
            return self._scatter(buffer.value, places, rows, axis)
        others = [[dim for at, dim in enumerate(each) if at != axis] for each in (shape, whole)]
        if others[0] != others[1]:
            raise Unbatchable(f"writes '{write.element.name}' to a part of each row")
        winners = self._winners(buffer.value, places, axis, is_vector=False)
        joined = emit.concat([buffer.value, rows], axis, "written")
        return emit.add("GatherElements", [joined, winners], self._label, axis=axis)

    def _scatter(self, buffer: Value, places: Value, rows: Value, axis: int) -> Value:
        scatter = Operator.make("ScatterElements", axis=axis, reduction=self._write.reduction)
        return self._emit.apply(scatter, [buffer, places, rows], self._label)

    def _winners(self, buffer: Value, places: Value, axis: int, *, is_vector: bool) -> Value:
        """Emit the numbers of the last writes, after the numbers of the places.

        ONNX leaves open which of several updates of a place a Scatter without a reduction keeps.

        Args:
            buffer: the initial state.
            places: the places of all writes along an axis, in order.
            is_vector: places are of whole rows, as a vector.
        """
        emit, numbers = self._emit, list[Value]()
        count = emit.size(buffer, axis, "count")
        for each in (buffer, places):
            end = emit.scalar(emit.size(each, axis, "end"), "end")
            number = emit.numbers(end, "numbers")
            number = emit.add("Add", [number, count], "numbers") if numbers else number
            if not is_vector:
                shape = emit.add("Shape", [each], "shape")
                rank = len(self._shape)
                inner = tuple(at for at in range(rank) if at != axis)
                number = emit.unsqueeze(number, inner, "numbers")
                number = emit.add("Expand", [number, shape], "numbers")
            numbers.append(number)
        scatter = Operator.make("ScatterElements", axis=axis, reduction="max")
        return emit.apply(scatter, [numbers[0], places, numbers[1]], "winners")

    def _by_row(self, rows: Value, buffer: Value, shape: Shape, count: int) -> tuple[Value, Value]:
        """Emit the elements as rows of a buffer, and their sizes: `count` rows an iteration."""
        flat = self._flat
        emit, sizes = self._emit, self._feeding.iterations if flat is None else flat.total
        if self._write.flag is not None:
            sizes = emit.size(rows, 0, "iterations")
        if count > 1:
            sizes = emit.add("Mul", [sizes, self._feeding.integers(count)], "rows")
        if len(shape) > 1:
            whole = emit.add("Shape", [buffer], "sizes")
            sizes = emit.concat([sizes, emit.slice(whole, 1, len(shape), "sizes")], 0, "sizes")
        if not _is_row(self._shape, shape, count):
            raise Unbatchable(f"adds '{self._write.element.name}' to rows of another shape")
        return emit.add("Reshape", [rows, sizes], "rows"), sizes


def _is_row(element: Shape, buffer: Shape, count: int) -> bool:
    """Test for the sizes of some rows, up to axes of size 1; a Scatter of other ones fails."""
    pair = _without_ones(element), _without_ones((Dimension.constant(count), *buffer[1:]))
    return len(pair[0]) == len(pair[1]) and all(
        one.equals(other) is not False for one, other in zip(*pair, strict=True)
    )


def _without_ones(shape: Shape | None) -> list[Dimension]:
    return [dim for dim in shape or () if dim != 1]
