"""What a body reads one element of on each trip: x[i], x[2 + i], x[n - 1 - i]."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from ...analysis.shapes.inference import ShapeInference
from ...facts.fact import element, integers
from ...facts.polynomial import Dimension
from ...ir import Node, Value
from .loop_view import Repetition


@dataclasses.dataclass(frozen=True)
class Index:
    """An integer that every trip moves by one.

    Attributes:
        start: what it is on the first trip.
        step: 1 or -1.
    """

    start: Dimension
    step: int

    def plus(self, number: Dimension) -> Index:
        """With a number added."""
        return Index(self.start + number, self.step)

    def negated(self) -> Index:
        """With the other sign."""
        return Index(-self.start, -self.step)


@dataclasses.dataclass(frozen=True)
class Selection:
    """Elements along an axis of a value from outside the body, in the order of the trips."""

    source: Value
    axis: int
    start: Dimension
    step: int


@dataclasses.dataclass(frozen=True)
class ElementRead:
    """A node of a body that reads one element.

    Attributes:
        node: a Gather or Slice.
        selection: what it reads on all trips.
        keeps_axis: whether the axis stays, with a size of 1.
        checked: whether it fails where there is no such element.
    """

    node: Node
    selection: Selection
    keeps_axis: bool
    checked: bool


def element_reads(repetition: Repetition, inference: ShapeInference) -> list[ElementRead]:
    """The nodes of a Loop's body that read one element of a value from outside it."""
    indices = moving_indices(repetition, inference)
    reader = _Reader(repetition, inference, indices)
    return list(reader.reads()) if indices else []


def moving_indices(repetition: Repetition, inference: ShapeInference) -> dict[Value, Index]:
    """The integers of one element in a body that every trip moves by one: the number of the trip,
    counters, and what is made of them by adding."""
    found = dict(_counters(repetition, inference))
    if repetition.iteration is not None:
        found[repetition.iteration] = Index(Dimension.constant(0), 1)
    if found:
        for node in repetition.body.nodes():
            index = _moved(node, found, inference)
            if index is not None:
                found[node.output()] = index
    return found


def _counters(repetition: Repetition, inference: ShapeInference) -> Iterator[tuple[Value, Index]]:
    for state in repetition.states:
        start, node = element(inference.fact(state.initial)), state.result.producer
        if not isinstance(start, Dimension) or node is None or node.graph is not repetition.body:
            continue
        after = _moved(node, {state.given: Index(start, 1)}, inference)
        step = None if after is None or after.step != 1 else (after.start - start).value
        if step in (1, -1):
            yield state.given, Index(start, step)


_ONE_ELEMENT = ("Identity", "Unsqueeze", "Squeeze", "Reshape")


def _moved(node: Node, known: dict[Value, Index], inference: ShapeInference) -> Index | None:
    """What a node makes of a moving index; None where that is another thing."""
    if node.is_op(*_ONE_ELEMENT):
        return known.get(node.inputs[0]) if node.inputs[0] is not None else None
    if node.is_op("Neg"):
        index = known.get(node.inputs[0]) if node.inputs[0] is not None else None
        return None if index is None else index.negated()
    if not node.is_op("Add", "Sub"):
        return None
    one, other = node.inputs
    if one is None or other is None:
        return None
    if other in known and one not in known:
        index = known[other] if node.is_op("Add") else known[other].negated()
        number = element(inference.fact(one))
        return index.plus(number) if isinstance(number, Dimension) else None
    number = element(inference.fact(other)) if one in known and other not in known else None
    if not isinstance(number, Dimension):
        return None
    return known[one].plus(number if node.is_op("Add") else -number)


class _Reader:
    def __init__(
        self, repetition: Repetition, inference: ShapeInference, indices: dict[Value, Index]
    ) -> None:
        self.body = repetition.body
        self.inference = inference
        self.indices = indices

    def reads(self) -> Iterator[ElementRead]:
        """Those whose result something reads."""
        for node in self.body.nodes():
            if not node.is_op("Gather", "Slice") or node.op.references:
                continue
            source = node.inputs[0]
            if source is None or not self._is_outside(source) or node.output().pinned:
                continue
            shape = self.inference.fact(source).shape
            if shape and self.body.is_used(node.output()):
                rank = len(shape)
                found = self._gather(node, source, rank) if node.is_op("Gather") else None
                found = found or (self._slice(node, source, rank) if node.is_op("Slice") else None)
                if found is not None:
                    yield found

    def _is_outside(self, value: Value) -> bool:
        return value.graph is not self.body or value in self.body.initializers

    def _gather(self, node: Node, source: Value, rank: int) -> ElementRead | None:
        at, axis = node.inputs[1], node.attribute("axis", 0)
        if at is None or at not in self.indices or not -rank <= axis < rank:
            return None
        shape = self.inference.fact(at).shape
        if shape is None or len(shape) > 1:
            return None
        index = self.indices[at]
        selection = Selection(source, axis % rank, index.start, index.step)
        return ElementRead(node, selection, len(shape) == 1, checked=True)

    def _slice(self, node: Node, source: Value, rank: int) -> ElementRead | None:
        """A slice of length 1; below opset 10 its bounds are attributes and do not move."""
        if len(node.inputs) < 3:
            return None
        start, end = (self.indices.get(value) if value else None for value in node.inputs[1:3])
        if start is None or end is None or start.step != end.step or end.start - start.start != 1:
            return None
        axes, steps = (self._number(node, position) for position in (3, 4))
        axis = 0 if node.input(3) is None else axes
        if axis is None or not -rank <= axis < rank or (node.input(4) is not None and steps != 1):
            return None
        selection = Selection(source, axis % rank, start.start, start.step)
        return ElementRead(node, selection, keeps_axis=True, checked=False)

    def _number(self, node: Node, position: int) -> int | None:
        value = node.input(position)
        found = None if value is None else integers(self.inference.fact(value))
        return int(found.item()) if found is not None and found.size == 1 else None
