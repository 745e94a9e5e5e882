"""Accumulators: loop-carried states to which each iteration adds an element and that none reads.

s = SequenceEmpty ()                                a = Scan <...> (x)  or what gives all rows
t = Loop (n, , s) <... u2 = SequenceInsert (u, e)   t = SplitToSequence <keepdims = 0> (a)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence

import onnx

from ...facts.fact import Fact, Shape
from ...ir import Graph, Node, Operator, Value
from ...ops.batching import Operand, Unbatchable
from ..utils.stacked_rows import joined_along
from .batched_inputs import Feeding
from .injective_indices import Places
from .loop_view import Repetition, State


@dataclasses.dataclass(frozen=True)
class Write:
    """A state to which every trip adds an element.

    Attributes:
        state: the state.
        node: what adds the element: SequenceInsert at the end, Concat with one other value,
            ScatterND or ScatterElements.
        element: what is added.
        place: where a Scatter puts it, which is another place on every trip; None for the others.
    """

    state: State
    node: Node
    element: Value
    place: Value | None = None


_COLLECTING = ("Concat", "SequenceInsert", "ScatterND", "ScatterElements")


def find_writes(repetition: Repetition, places: Places) -> Iterator[Write]:
    """The states that only collect.

    Args:
        repetition: the Loop or Scan.
        places: tells which places are others on every trip.
    """
    for state in repetition.states:
        node = _only_link(repetition.body, state)
        if node is not None:
            write = _as_write(state, node, places)
            if write is not None:
                yield write


def _only_link(body: Graph, state: State) -> Node | None:
    """The one node that reads a state and gives it on, where nothing else reads either."""
    node = state.result.producer
    if node is None or node.graph is not body or node.bodies or state.given.pinned:
        return None
    if not node.is_op(*_COLLECTING):
        return None
    reads, results = body.uses(state.given), body.uses(state.result)
    alone = len(reads) == 1 and reads[0].user is node and len(results) == 1
    return node if alone and not state.result.pinned else None


def _as_write(state: State, node: Node, places: Places) -> Write | None:
    first, others = node.input(0), [value for value in node.inputs[1:] if value is not None]
    if node.is_op("Concat") and len(node.inputs) == 2:
        one, other = node.inputs
        element = other if one is state.given else one
        return None if element is None else Write(state, node, element)
    if first is not state.given:
        return None
    if node.is_op("SequenceInsert") and len(others) == 1:
        return Write(state, node, others[0])
    if node.is_op("ScatterND", "ScatterElements") and _replaces(node):
        place, element = others
        found = places.is_place if node.is_op("ScatterND") else places.is_number
        return Write(state, node, element, place) if found(place) else None
    return None


def _replaces(node: Node) -> bool:
    """Whether a Scatter writes over what is there."""
    return node.attribute("reduction", b"none") in (b"none", "none")


_SPLIT = tuple(
    getattr(onnx.TensorProto, name)
    for name in ("FLOAT", "DOUBLE", "FLOAT16", "INT32", "INT64", "BOOL", "STRING")
)
"""The types of which onnxruntime has a SplitToSequence."""


def collected(write: Write, operand: Callable[[Value], Operand], feeding: Feeding) -> Value:
    """The final value of a state that only collects.

    Args:
        write: the state, and what each trip adds.
        operand: what stands for values of the body.
        feeding: what the loop is fed with.

    Raises:
        Unbatchable: the elements have no rank that is known, or there is another one before them.
    """
    element = operand(write.element)
    if element.fact.shape is None:
        raise Unbatchable(f"collects '{write.element.name}', whose rank is not known")
    rows = feeding.every(element, write.element.name)
    if write.node.is_op("SequenceInsert"):
        return _as_sequence(write, rows, element.fact.shape, feeding)
    if write.node.is_op("Concat"):
        return _joined(write, rows, element.fact.shape, feeding)
    return _placed(write, rows, operand, feeding)


def _as_sequence(write: Write, rows: Value, shape: Shape, feeding: Feeding) -> Value:
    """All rows as a sequence, behind those that it began with."""
    initial = write.state.initial
    maker = initial.producer
    if maker is not None and maker.is_op("SequenceConstruct") and not maker.op.references:
        rows = _behind(maker, rows, shape, feeding)
    elif feeding.inference.fact(initial).count != 0:
        raise Unbatchable(f"adds to the sequence '{initial.name}', which is not empty before")
    element = feeding.inference.fact(write.element)
    return as_sequence(rows, element.elem_type, write.state.result.name, feeding)


def as_sequence(rows: Value, elem_type: int, label: str, feeding: Feeding) -> Value:
    """All rows as a sequence.

    Raises:
        Unbatchable: onnxruntime makes none of this type.
    """
    if elem_type not in _SPLIT:
        raise Unbatchable(f"makes a sequence '{label}' of a type that no SplitToSequence takes")
    split = Operator.make("SplitToSequence", axis=0, keepdims=0)
    return feeding.emit.apply(split, [rows], label)


def _behind(maker: Node, rows: Value, shape: Shape, feeding: Feeding) -> Value:
    """Rows behind the elements that a SequenceConstruct is given."""
    first = []
    for value in maker.inputs:
        given = None if value is None else feeding.same(value)
        if given is None or given.fact.shape != shape:
            raise Unbatchable("adds to a sequence of tensors of other sizes")
        first.append(feeding.emit.unsqueeze(given.value, 0, "first"))
    return feeding.emit.concat([*first, rows], 0, "rows")


def _joined(write: Write, rows: Value, shape: Shape, feeding: Feeding) -> Value:
    """What was there first and all rows, joined along the axis of the Concat."""
    axis = write.node.attribute("axis") % len(shape)
    initial = feeding.same(write.state.initial).value
    if write.node.input(0) is write.state.given:
        together = joined_along(rows, axis, shape, feeding.emit)
        return feeding.emit.concat([initial, together], axis, write.state.result.name)
    together = joined_along(feeding.reversed(rows), axis, shape, feeding.emit)
    return feeding.emit.concat([together, initial], axis, write.state.result.name)


def _placed(
    write: Write, rows: Value, operand: Callable[[Value], Operand], feeding: Feeding
) -> Value:
    """A buffer with each row in its place."""
    assert write.place is not None
    emit, place, element = feeding.emit, operand(write.place), operand(write.element)
    if not place.batched or not place.fact.shape:
        raise Unbatchable(f"writes to places '{write.place.name}' that are not known")
    if write.node.is_op("ScatterND") and _is_whole(write, place.fact, element.fact, feeding):
        inner = tuple(range(1, len(place.fact.shape)))
        return emit.squeeze(rows, inner, "rows") if inner else rows
    places = place.value
    if write.node.is_op("ScatterElements"):
        places, rows = _side_by_side(write, [(places, place.fact), (rows, element.fact)], feeding)
    initial = feeding.same(write.state.initial).value
    return emit.apply(write.node.op, [initial, places, rows], write.state.result.name)


def _is_whole(write: Write, place: Fact, element: Fact, feeding: Feeding) -> bool:
    """Whether trip after trip writes row after row of a buffer that has no others."""
    inner = len(place.shape or ()) - 1
    if element.shape is None or not feeding.is_number(place):
        return False
    buffer = feeding.same(write.state.initial).fact.shape
    return buffer == (feeding.trip_dimension(), *element.shape[inner:])


def _side_by_side(
    write: Write, values: Sequence[tuple[Value, Fact]], feeding: Feeding
) -> list[Value]:
    """Places or elements of all trips, joined along the axis of a ScatterElements."""
    ranks = {len(fact.shape or ()) for _, fact in values}
    axis, (rank, *others) = write.node.attribute("axis", 0), ranks
    if others or not -rank <= axis < rank:
        raise Unbatchable(f"writes '{write.element.name}' along an axis that is not there")
    return [
        joined_along(value, axis % rank, fact.shape or (), feeding.emit) for value, fact in values
    ]
