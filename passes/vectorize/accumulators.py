"""Accumulators: loop-carried states to which each iteration adds an element and that none reads.

s = SequenceEmpty ()                                a = Scan <...> (x)  or what gives all rows
t = Loop (n, , s) <... u2 = SequenceInsert (u, e)   t = SplitToSequence <keepdims = 0> (a)

Where a condition lets only some iterations write, their rows and places are compressed:

t = If (c) <... t = Concat (s, e)},                 t = Concat (s, Compress (es, cs))
   ... {t = Identity (s)}>
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

import onnx

from ...analysis.iterations.trip_count import skip_identities, whole_number
from ...facts.fact import Fact, Shape
from ...facts.polynomial import Dimension
from ...ir import Graph, Node, Operator, Value
from ...ops.batching import Operand, Unbatchable
from ..iteration.batched_inputs import Feeding
from ..iteration.dependence_graph import Write
from ..iteration.injective_indices import InjectiveIndices
from ..iteration.loop_view import LoopView, State
from ..iteration.row_accesses import reduction_of
from ..utils.stacked_rows import concat_rows
from .reduced_writes import find_reduced_write, scatter_reduced

_COLLECTING = ("Concat", "SequenceInsert", "ScatterND", "ScatterElements")


def find_writes(loop_view: LoopView, injective: InjectiveIndices) -> Iterator[Write]:
    """Yield the accumulators.

    Args:
        loop_view: the Loop or Scan.
        injective: the test for distinct indices.
    """
    for state in loop_view.states:
        node = _only_link(loop_view.body, state)
        write = (
            (None if node is None else _as_write(state, node, injective))
            or _inserted(loop_view.body, state)
            or _chosen(loop_view.body, state, injective)
            or find_reduced_write(loop_view.body, state, injective)
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


def _chosen(body: Graph, state: State, injective: InjectiveIndices) -> Write | None:
    """Match a write under a condition, by an If or a Where."""
    chooser = state.result.producer
    if chooser is None or not chooser.is_op("If", "Where") or chooser.graph is not body:
        return None
    flag, alone = chooser.inputs[0], len(body.uses(state.result)) == 1 and len(chooser.outputs) == 1
    if flag is None or not alone or state.argument.pinned or state.result.pinned:
        return None
    shape = injective.inference.fact(flag).shape
    if shape is None or any(size != 1 for size in shape):
        return None
    ways = _branches(body, chooser) if chooser.is_op("If") else _operands(body, chooser)
    for negated in (False, True):
        (one, node), (other, _) = ways[::-1] if negated else ways
        if other is not state.argument or node is None or one is not node.output():
            continue
        if not node.is_op(*_COLLECTING) or set(body.users(state.argument)) - {chooser, node}:
            continue
        # A Where cannot choose between a state and a longer one.
        if chooser.is_op("Where") and not node.is_op("ScatterND", "ScatterElements"):
            continue
        write = _as_write(state, node, injective)
        if write is not None:
            return dataclasses.replace(write, chooser=chooser, flag=flag, negated=negated)
    return None


_Way = tuple[Value | None, Node | None]
"""The value that a choice returns, and the only node that computes it."""


def _branches(body: Graph, chooser: Node) -> list[_Way]:
    """The ways of an If."""
    ways: list[_Way] = []
    for name in ("then_branch", "else_branch"):
        graph = chooser.body(name)
        result = skip_identities(graph.outputs[0])
        others = [node for node in graph.nodes() if not node.is_op("Identity")]
        ways.append((result, others[0] if len(others) == 1 else None))
    return ways


def _operands(body: Graph, chooser: Node) -> list[_Way]:
    """The ways of a Where, which alone reads them."""
    return [
        (value, None if value is None or len(body.uses(value)) != 1 else value.producer)
        for value in chooser.inputs[1:]
    ]


def _as_write(state: State, node: Node, injective: InjectiveIndices) -> Write | None:
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
        test = injective.is_injective if node.is_op("ScatterND") else injective.is_one_number
        return Write(state, node, element, index) if test(index) else None
    return None


def _inserts_first(node: Node) -> bool:
    """Test for a SequenceInsert in front of all elements."""
    return whole_number(node.input(2)) == 0


_SPLIT = tuple(
    getattr(onnx.TensorProto, name)
    for name in ("FLOAT", "DOUBLE", "FLOAT16", "INT32", "INT64", "BOOL", "STRING")
)
"""The types with a SplitToSequence in onnxruntime."""


def final_value(write: Write, operand: Callable[[Value], Operand], feeding: Feeding) -> Value:
    """Emit the final value of an accumulator.

    Args:
        write: the state, and the element of each iteration.
        operand: the operands of values of the body.
        feeding: the inputs of the loop.

    Raises:
        Unbatchable: elements of unknown rank, or a mismatched initial state.
    """
    element = operand(write.element)
    if element.fact.shape is None:
        raise Unbatchable(f"collects '{write.element.name}', whose rank is not known")
    rows = _let_in(write, feeding.every(element, write.element.name), operand, feeding)
    if write.node.is_op("SequenceInsert"):
        rows = _interleaved(write, rows, element.fact.shape, operand, feeding)
        return _as_sequence(write, rows, element.fact.shape, feeding)
    if write.node.is_op("Concat"):
        return _concat_rows(write, rows, element.fact.shape, feeding)
    if write.reduction != "none":
        return scatter_reduced(write, rows, operand, feeding)
    return _scatter_rows(write, rows, operand, feeding)


def _let_in(
    write: Write, rows: Value, operand: Callable[[Value], Operand], feeding: Feeding
) -> Value:
    """Emit the rows of the iterations that write."""
    if write.flag is None:
        return rows
    flag, emit = operand(write.flag), feeding.emit
    flags = emit.add(
        "Reshape", [feeding.every(flag, write.flag.name), feeding.integers(-1)], "flags"
    )
    flags = emit.add("Not", [flags], "flags") if write.negated else flags
    return emit.add("Compress", [rows, flags], "let_in", axis=0)


def _interleaved(
    write: Write,
    rows: Value,
    shape: Shape,
    operand: Callable[[Value], Operand],
    feeding: Feeding,
) -> Value:
    """Emit all elements of each iteration, in the order of their insertion."""
    if not write.earlier:
        return rows
    each = []
    for value in write.earlier:
        other = operand(value)
        if other.fact.shape != shape:
            raise Unbatchable(f"collects '{value.name}', of other sizes than others")
        each.append(feeding.every(other, value.name))
    parts = [feeding.emit.unsqueeze(part, 1, "part") for part in (*each, rows)]
    joined = feeding.emit.concat(parts, 1, "parts")
    return concat_rows(joined, 0, (Dimension.constant(len(parts)), *shape), feeding.emit)


def _as_sequence(write: Write, rows: Value, shape: Shape, feeding: Feeding) -> Value:
    """Emit all rows as a sequence, after the initial elements."""
    initial, is_first = write.state.initial, _inserts_first(write.node)
    producer = initial.producer
    # Each element is inserted before the others, so that the last one comes first.
    rows = feeding.reverse(rows) if is_first else rows
    if producer is not None and producer.is_op("SequenceConstruct") and not producer.op.references:
        rows = _join_rows(producer, rows, shape, feeding, is_first)
    elif feeding.inference.fact(initial).count != 0:
        raise Unbatchable(f"adds to the sequence '{initial.name}', which is not empty before")
    element = feeding.inference.fact(write.element)
    return as_sequence(rows, element.elem_type, write.state.result.name, feeding)


def as_sequence(rows: Value, elem_type: int, label: str, feeding: Feeding) -> Value:
    """Emit all rows as a sequence.

    Raises:
        Unbatchable: a type that onnxruntime does not support.
    """
    if elem_type not in _SPLIT:
        raise Unbatchable(f"makes a sequence '{label}' of a type that SplitToSequence lacks")
    split = Operator.make("SplitToSequence", axis=0, keepdims=0)
    return feeding.emit.apply(split, [rows], label)


def _join_rows(node: Node, rows: Value, shape: Shape, feeding: Feeding, is_first: bool) -> Value:
    """Emit rows after the operands of a SequenceConstruct, or before them."""
    first = []
    for value in node.inputs:
        operand = None if value is None else feeding.same(value)
        if operand is None or operand.fact.shape != shape:
            raise Unbatchable("adds to a sequence of tensors of other sizes")
        first.append(feeding.emit.unsqueeze(operand.value, 0, "first"))
    return feeding.emit.concat([rows, *first] if is_first else [*first, rows], 0, "rows")


def _concat_rows(write: Write, rows: Value, shape: Shape, feeding: Feeding) -> Value:
    """Emit the initial state and all rows, along the axis of the Concat."""
    axis = write.node.attribute("axis") % len(shape)
    initial = feeding.same(write.state.initial).value
    if write.node.input(0) is write.state.argument:
        together = concat_rows(rows, axis, shape, feeding.emit)
        return feeding.emit.concat([initial, together], axis, write.state.result.name)
    # Where each iteration adds in front, the last row comes first.
    together = concat_rows(feeding.reverse(rows), axis, shape, feeding.emit)
    return feeding.emit.concat([together, initial], axis, write.state.result.name)


def _scatter_rows(
    write: Write, rows: Value, operand: Callable[[Value], Operand], feeding: Feeding
) -> Value:
    """Emit a buffer with each row at its index."""
    assert write.index is not None
    emit, index, element = feeding.emit, operand(write.index), operand(write.element)
    if not index.batched or not index.fact.shape:
        raise Unbatchable(f"writes to places '{write.index.name}' that are not known")
    whole = write.flag is None and _is_whole(write, index.fact, element.fact, feeding)
    if write.node.is_op("ScatterND") and whole:
        inner = tuple(range(1, len(index.fact.shape)))
        return emit.squeeze(rows, inner, "rows") if inner else rows
    # Places are distinct, so the order in which a runtime writes them does not matter.
    indices = _let_in(write, index.value, operand, feeding)
    if write.node.is_op("ScatterElements"):
        indices, rows = _concat_all(write, [(indices, index.fact), (rows, element.fact)], feeding)
    initial = feeding.same(write.state.initial).value
    return emit.apply(write.node.op, [initial, indices, rows], write.state.result.name)


def _is_whole(write: Write, index: Fact, element: Fact, feeding: Feeding) -> bool:
    """Test for iterations that write exactly the rows of a buffer, in order."""
    inner = len(index.shape or ()) - 1
    if element.shape is None or not feeding.is_number(index):
        return False
    buffer = feeding.same(write.state.initial).fact.shape
    return buffer == (feeding.iteration_dimension, *element.shape[inner:])


def _concat_all(
    write: Write, values: Sequence[tuple[Value, Fact]], feeding: Feeding
) -> list[Value]:
    """Emit indices and elements of all iterations along the axis of a ScatterElements."""
    ranks = {len(fact.shape or ()) for _, fact in values}
    axis, (rank, *others) = write.node.attribute("axis", 0), ranks
    if others or not -rank <= axis < rank:
        raise Unbatchable(f"writes '{write.element.name}' along an axis that is not there")
    return [
        concat_rows(value, axis % rank, fact.shape or (), feeding.emit) for value, fact in values
    ]
