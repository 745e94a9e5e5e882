"""Injective indices: positions of writes that are distinct in every iteration.

j = Reshape (i, [1, 1])          j = Expand (n - 1 - i, [4, 1])      j = Concat <axis = -1> (b, j)
"""

from __future__ import annotations

import numpy as np

from ...analysis.shapes.inference import ShapeInference
from ...facts.fact import decided, integers
from ...ir import Node, Value
from ...ir.lazy import lazy_property
from .affine_reads import Index, moving_indices
from .batched_inputs import Feeding
from .loop_view import LoopView
from .row_accesses import unmoved

_REPEATED = ("Identity", "Unsqueeze", "Squeeze", "Reshape", "Expand", "Tile", "Cast", "Transpose")
"""The operators that keep all elements equal."""


_RESHAPED = ("Identity", "Expand", "Reshape", "Unsqueeze", "Cast")
"""The operators that may keep the last axis."""


class InjectiveIndices:
    """The test for integers of a body that are distinct in every iteration.

    Args:
        loop_view: the Loop or Scan.
        feeding: its inputs.
        certain: true if there is a first iteration for all inputs.
    """

    def __init__(self, loop_view: LoopView, feeding: Feeding, certain: bool) -> None:
        self._loop_view = loop_view
        self._feeding = feeding
        self._extent = feeding.extent(certain)

    @lazy_property
    def _indices(self) -> dict[Value, Index]:
        return moving_indices(self._loop_view, self._feeding.inference)

    @property
    def inference(self) -> ShapeInference:
        """The facts of the model's values."""
        return self._feeding.inference

    def is_injective(self, value: Value) -> bool:
        """Test for indices that no two iterations share.

        All elements, or one coordinate of each index, are one number that differs in every
        iteration.
        """
        body = self._loop_view.body
        while not self.is_one_number(value):
            node = value.producer
            if node is None or node.graph is not body:
                return False
            if node.is_op("Concat") and self._joins_places(node):
                return True
            if node.is_op("Concat"):
                return self._joins_last(node) and any(
                    v is not None and self.is_one_number(v) and self._is_there(v)
                    for v in node.inputs
                )
            source = node.input(0)
            if not node.is_op(*_RESHAPED) or source is None:
                return False
            if not self._keeps_coordinates(source, value):
                return False
            value = source
        return self._is_there(value)

    def consecutive(self, value: Value) -> tuple[Index, int] | None:
        """The first of consecutive places in each iteration, and their number.

        None for others, and for places that may be negative.
        """
        source = unmoved(value)
        places, node = [source], source.producer
        if node is not None and node.is_op("Concat") and node.attribute("axis") == 0:
            places = [place for place in node.inputs if place is not None]
        elif node is not None and node.is_op("Range"):
            places = [place for place in node.inputs[:2] if place is not None]
            step = node.inputs[2]
            one = None if step is None else integers(self.inference.fact(step))
            if one is None or one.item() != 1:
                return None
        indices = [index for place in places if (index := self._indices.get(place)) is not None]
        if len(indices) < len(places) or self.sign(places[0]) != 1:
            return None
        apart = [(index.start - indices[0].start).value for index in indices]
        if len({index.step for index in indices}) > 1:
            return None
        if node is not None and node.is_op("Range"):
            return (indices[0], apart[1]) if apart[1] is not None and apart[1] > 0 else None
        return (indices[0], len(places)) if apart == [*range(len(places))] else None

    def spans(self, start: Value, end: Value) -> tuple[Index, int] | None:
        """Return the first place from a start to below an end, and their number."""
        first, last = self._indices.get(start), self._indices.get(end)
        if first is None or last is None or first.step != last.step or self.sign(start) != 1:
            return None
        count = (last.start - first.start).value
        return None if count is None or count < 1 else (first, count)

    def _is_there(self, value: Value) -> bool:
        """Test for a nonempty last axis."""
        shape = self._feeding.inference.fact(value).shape
        return bool(shape) and shape[-1].less(1) is False  # type: ignore[index]

    def _joins_last(self, node: Node) -> bool:
        shape, axis = self._feeding.inference.fact(node.output()).shape, node.attribute("axis")
        return axis == -1 or (shape is not None and axis == len(shape) - 1)

    def _joins_places(self, node: Node) -> bool:
        """Test for single places, of a common step, that no other iteration reaches."""
        indices = [self._indices.get(v) for v in node.inputs if v is not None]
        moving = [index for index in indices if index is not None]
        if node.attribute("axis") != 0 or len(moving) < len(node.inputs) or not moving:
            return False
        if len(self._feeding.inference.fact(node.output()).shape or ()) != 2:
            return False
        if any(self.sign(value) != 1 for value in node.inputs if value is not None):
            return False
        away = [(index.start - moving[0].start).value for index in moving]
        step = moving[0].step
        # i * step + a and j * step + b meet in no iterations if a and b differ modulo the step.
        rests = {number % step for number in away if number is not None}
        return len(rests) == len(away) and all(index.step == step for index in moving)

    def _keeps_coordinates(self, source: Value, value: Value) -> bool:
        """Test for an unchanged last axis, which holds the coordinates of an index."""
        one, other = (self._feeding.inference.fact(v).shape for v in (source, value))
        return bool(one and other) and one[-1] == other[-1]  # type: ignore[index]

    def is_one_number(self, value: Value) -> bool:
        """Test for equal elements that are distinct in every iteration."""
        body = self._loop_view.body
        # Across 0, negative indices from the end may repeat an element.
        while self.sign(value) is None:
            node = value.producer
            if node is None or node.graph is not body:
                return False
            source = self._source(node)
            if source is None:
                return False
            if node.is_op("Cast") and not self._keeps_numbers(node):
                return False
            value = source
        return True

    def _source(self, node: Node) -> Value | None:
        """The operand that an output repeats; None for other nodes."""
        if node.is_op("Mul"):
            return self._times_one(node)
        if node.is_op("Where"):
            return self._chosen(node)
        return node.input(0) if node.is_op(*_REPEATED) else None

    def _chosen(self, node: Node) -> Value | None:
        """The branch that a test for an index below 0 always takes."""
        condition, negative, other = node.inputs
        test = None if condition is None else condition.producer
        if test is None or not test.is_op("Less", "GreaterOrEqual"):
            return None
        index, bound = test.inputs
        zero = None if bound is None else integers(self._feeding.inference.fact(bound))
        if index is None or zero is None or bool(np.any(zero != 0)):
            return None
        if test.is_op("GreaterOrEqual"):
            negative, other = other, negative
        sign = self.sign(index)
        return None if sign is None else (negative if sign < 0 else other)

    def sign(self, value: Value) -> int | None:
        """1 if an index is never negative, -1 if it always is; None if unknown."""
        index = self._indices.get(value)
        if value is self._loop_view.iteration:
            return 1
        if index is None:
            return None
        number = index.start + self._feeding.number * index.step
        if self._extent.never_negative(number):
            return 1
        return -1 if self._extent.never_negative(-1 - number) else None

    def _keeps_numbers(self, node: Node) -> bool:
        """Test for a Cast of integers to the type of ScatterND's indices."""
        source = node.input(0)
        kinds = {node.attribute("to")}
        kinds |= {self._feeding.inference.fact(source).elem_type} if source is not None else set()
        # int32 (6) and int64 (7) keep each number as int64.
        return kinds <= {6, 7} and node.attribute("to") == 7

    def _times_one(self, node: Node) -> Value | None:
        """The other operand of a Mul by ones."""
        for one, other in (node.inputs, node.inputs[::-1]):
            ones = None if one is None else decided(self._feeding.inference.fact(one))
            if ones is not None and bool(np.all(ones == 1)):
                return other
        return None
