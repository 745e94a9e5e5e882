"""Histograms: buffers of which each iteration adds to one place, in any order.

h = Loop (n, , h0) <body = b (i, c, s) => (d, t) {
   old = Gather (s, j)                                  h = ScatterElements <axis = 0,
   new = Add (old, v)                           ->         reduction = "add"> (h0, js, vs)
   t = ScatterND (s, [[j]], [new])
}>

ScatterElements combines elements in their order. onnxruntime combines those of a ScatterND in
parallel, and loses some that have one place.
"""

from __future__ import annotations

from collections.abc import Callable

from ...facts.fact import Fact, Shape
from ...facts.polynomial import Dimension
from ...facts.types import PLAIN_INTEGERS
from ...ir import Graph, Node, Operator, Value
from ...ops.batching import Operand, Unbatchable
from ...ops.slice_view import read_slice
from ..iteration.affine_reads import Index
from ..iteration.batched_inputs import Feeding
from ..iteration.dependence_graph import Write
from ..iteration.injective_indices import InjectiveIndices
from ..iteration.loop_view import State
from ..iteration.row_accesses import reduction_of
from ..utils.stacked_rows import concat_rows

_REDUCTIONS = {"Add": "add", "Mul": "mul", "Max": "max", "Min": "min"}
_OPSETS = {"add": 16, "mul": 16, "max": 18, "min": 18}
"""The first opset of each reduction."""

_MOVEMENTS = ("Identity", "Unsqueeze", "Squeeze", "Reshape")


def find_reduced_write(body: Graph, state: State, injective: InjectiveIndices) -> Write | None:
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
        write = _combined(body, state, node, injective)
    elif len(body.uses(state.argument)) == 1:
        _, index, element = node.inputs
        assert index is not None and element is not None
        write = Write(state, node, element, index, reduction)
    if write is None or body.root.opset() < _OPSETS.get(write.reduction, 1 << 30):
        return None
    return write if _has_places(write, injective) else None


def _combined(body: Graph, state: State, node: Node, injective: InjectiveIndices) -> Write | None:
    """Match a Scatter of what a node computes of the element at the same place."""
    inference = injective.inference
    _, index, update = node.inputs
    assert index is not None and update is not None
    combine = _skip(update, body).producer
    if combine is None or not combine.is_op(*_REDUCTIONS) or len(combine.inputs) != 2:
        return None
    if combine.is_op("Max", "Min") and inference.fact(update).elem_type not in PLAIN_INTEGERS:
        return None  # runtimes differ on NaN in a ScatterElements
    for old, element in (combine.inputs, combine.inputs[::-1]):
        read = None if old is None else _skip(old, body).producer
        if read is None or element is None or not _reads_place(read, state, node, body, injective):
            continue
        path = (*_path(update, body), combine, *_path(old, body), read)
        users = [use.user for use in body.uses(state.argument)]
        # Another reader of the path needs the buffer of each iteration.
        alone = all(len(body.uses(each.output())) == 1 for each in path)
        same = inference.fact(element).shape == inference.fact(combine.output()).shape
        if alone and same and {*users} == {read, node} and element not in _outputs(path):
            return Write(state, node, element, index, _REDUCTIONS[combine.op_type], path)
    return None


def _outputs(nodes: tuple[Node, ...]) -> list[Value]:
    return [node.output() for node in nodes]


def _path(value: Value | None, body: Graph) -> tuple[Node, ...]:
    """The nodes that only move elements before a value."""
    nodes = []
    while value is not None and value.producer is not None and value.producer.graph is body:
        if not value.producer.is_op(*_MOVEMENTS):
            break
        nodes.append(value.producer)
        value = value.producer.input(0)
    return tuple(nodes)


def _skip(value: Value, body: Graph) -> Value:
    """The value before nodes of a body that only move elements."""
    nodes = _path(value, body)
    source = nodes[-1].input(0) if nodes else value
    return source or value


def _reads_place(
    read: Node, state: State, node: Node, body: Graph, injective: InjectiveIndices
) -> bool:
    """Test for a read of a state at the places that a Scatter writes."""
    inference = injective.inference
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
        return axes[0] == axes[1] and _skip(own, body) is _skip(index, body)
    if read.is_op("Slice", "GatherND"):
        places = _places_of(read, injective)
        return places is not None and places == injective.consecutive(index)
    if not read.is_op("Gather") or read.attribute("axis", 0) != 0:
        return False
    return _skip(own, body) is _skip(index, body)


def _places_of(read: Node, injective: InjectiveIndices) -> tuple[Index, int] | None:
    """Consecutive places along the first axis that a Slice or GatherND reads."""
    if read.is_op("GatherND"):
        at = read.input(1)
        shape = None if at is None else injective.inference.fact(at).shape
        is_row = shape is not None and len(shape) == 2 and shape[1] == 1
        plain = is_row and not read.op.references and not read.attribute("batch_dims", 0)
        return injective.consecutive(at) if at is not None and plain else None
    view = read_slice(read, injective.inference.fact)
    start, end = (None, None) if view is None or view.axis else view.bounds
    return None if start is None or end is None else injective.spans(start, end)


def _has_places(write: Write, injective: InjectiveIndices) -> bool:
    """Test for an index of one place in the buffer, or of consecutive ones."""
    assert write.index is not None
    shape = injective.inference.fact(write.index).shape
    if not shape:
        return False
    if write.node.is_op("ScatterND"):
        places = injective.consecutive(write.index)
        is_span = places is not None and [dim.value for dim in shape] == [places[1], 1]
        return is_span or all(dim == 1 for dim in shape)
    axis = write.node.attribute("axis", 0)
    return -len(shape) <= axis < len(shape) and shape[axis] == 1


def scatter_reduced(
    write: Write, rows: Value, operand: Callable[[Value], Operand], feeding: Feeding
) -> Value:
    """Emit the buffer after all iterations.

    Args:
        write: the write.
        rows: the elements of all iterations.
        operand: the operands of values of the body.
        feeding: the inputs of the loop.

    Raises:
        Unbatchable: sizes are known only at run time.
    """
    assert write.index is not None
    emit, index, element = feeding.emit, operand(write.index), operand(write.element)
    buffer = feeding.same(write.state.initial)
    places = feeding.every(index, write.index.name)
    axis = 0
    if write.node.is_op("ScatterND"):
        count = index.fact.shape[0].value if index.fact.shape else 1
        places, rows = _by_row(write, places, rows, buffer, element.fact, count or 1, feeding)
    else:
        axis = write.node.attribute("axis", 0) % len(buffer.fact.shape or (0,))
        shape = index.fact.shape or ()
        rows = emit.add("Reshape", [rows, emit.add("Shape", [places], "shape")], "rows")
        places, rows = (concat_rows(each, axis, shape, emit) for each in (places, rows))
    scatter = Operator.make("ScatterElements", axis=axis, reduction=write.reduction)
    return emit.apply(scatter, [buffer.value, places, rows], write.state.result.name)


def _by_row(
    write: Write,
    places: Value,
    rows: Value,
    buffer: Operand,
    fact: Fact,
    count: int,
    feeding: Feeding,
) -> tuple[Value, Value]:
    """Emit the index of each element, and the elements, in rows of the buffer.

    Each iteration has `count` of these.
    """
    emit, shape = feeding.emit, buffer.fact.shape
    if shape is None or fact.shape is None:
        raise Unbatchable(f"adds to '{write.state.argument.name}', whose rank is not known")
    sizes = feeding.iterations
    if count > 1:
        sizes = emit.add("Mul", [sizes, feeding.integers(count)], "rows")
    if len(shape) > 1:
        whole = emit.add("Shape", [buffer.value], "sizes")
        sizes = emit.concat([sizes, emit.slice(whole, 1, len(shape), "sizes")], 0, "sizes")
    if _is_row(fact.shape, shape, count):
        rows = emit.add("Reshape", [rows, sizes], "rows")
    else:
        raise Unbatchable(f"adds '{write.element.name}' to rows of another shape")
    ones = emit.vector((-1, *(1 for _ in shape[1:])), "column")
    column = emit.add("Reshape", [places, ones], "places")
    return (emit.add("Expand", [column, sizes], "places") if len(shape) > 1 else column), rows


def _is_row(element: Shape, buffer: Shape, count: int) -> bool:
    """Test for the sizes of some rows, up to axes of size 1."""
    whole = (Dimension.constant(count), *buffer[1:])
    own, rows = ([dim for dim in shape if dim != 1] for shape in (element, whole))
    return own == rows
