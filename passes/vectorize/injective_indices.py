"""Places that a body writes to: whether every trip has another one.

j = Reshape (i, [1, 1])          j = Expand (n - 1 - i, [4, 1])      j = Concat <axis = -1> (b, j)
"""

from __future__ import annotations

import numpy as np

from ...facts.fact import decided, integers
from ...ir import Node, Value
from ...ops.batching import Extent
from .affine_reads import Index, moving_indices
from .batched_inputs import Feeding
from .induction_variables import counted_by
from .loop_view import Repetition

_REPEATED = ("Identity", "Unsqueeze", "Squeeze", "Reshape", "Expand", "Tile", "Cast", "Transpose")
"""What is made of a value all of whose elements are one number is of that number, too."""


class Places:
    """Tells which integers of a body are others on every trip.

    Args:
        repetition: the Loop or Scan.
        feeding: what it is fed with.
        certain: whether it makes a trip, whatever is fed.
    """

    def __init__(self, repetition: Repetition, feeding: Feeding, certain: bool) -> None:
        self._repetition = repetition
        self._feeding = feeding
        self._extent = Extent(feeding.number, feeding.most_dimension(), certain)
        self._states = {state.given: state for state in repetition.states}
        self._moving: dict[Value, Index] | None = None

    def is_place(self, value: Value) -> bool:
        """Whether no trip writes where another one does, if this says where: all elements are one
        number, or of each place one coordinate is, that is another one on every trip."""
        body = self._repetition.body
        while not self._is_one_number(value):
            node = value.producer
            if node is None or node.graph is not body:
                return False
            if node.is_op("Concat"):
                return self._joins_last(node) and any(
                    v is not None and self._is_one_number(v) and self._is_there(v)
                    for v in node.inputs
                )
            source = node.input(0)
            if not node.is_op("Identity", "Expand", "Reshape", "Cast") or source is None:
                return False
            if not self._keeps_coordinates(source, value):
                return False
            value = source
        return self._is_there(value)

    def is_number(self, value: Value) -> bool:
        """Whether all elements of a value are one number, which is another one on every trip."""
        return self._is_one_number(value)

    def _is_there(self, value: Value) -> bool:
        """Whether the last axis of a value is not empty."""
        shape = self._feeding.inference.fact(value).shape
        return bool(shape) and shape[-1].less(1) is False  # type: ignore[index]

    def _joins_last(self, node: Node) -> bool:
        shape, axis = self._feeding.inference.fact(node.output()).shape, node.attribute("axis")
        return axis == -1 or (shape is not None and axis == len(shape) - 1)

    def _keeps_coordinates(self, source: Value, value: Value) -> bool:
        """Whether the last axis, which holds the coordinates of a place, is as it was."""
        one, other = (self._feeding.inference.fact(v).shape for v in (source, value))
        return bool(one and other) and one[-1] == other[-1]  # type: ignore[index]

    def _is_one_number(self, value: Value) -> bool:
        body = self._repetition.body
        while not self._is_moving(value):
            node = value.producer
            if node is None or node.graph is not body:
                return False
            source = self._times_one(node) if node.is_op("Mul") else node.input(0)
            if not node.is_op(*_REPEATED, "Mul") or source is None:
                return False
            if node.is_op("Cast") and not self._keeps_numbers(node):
                return False
            value = source
        return True

    def _keeps_numbers(self, node: Node) -> bool:
        """Whether a Cast is of integers, to those of ScatterND."""
        source = node.input(0)
        kinds = {node.attribute("to")}
        kinds |= {self._feeding.inference.fact(source).elem_type} if source is not None else set()
        return kinds <= {6, 7} and node.attribute("to") == 7

    def _times_one(self, node: Node) -> Value | None:
        """What a Mul by ones is given besides."""
        for one, other in (node.inputs, node.inputs[::-1]):
            ones = None if one is None else decided(self._feeding.inference.fact(one))
            if ones is not None and bool(np.all(ones == 1)):
                return other
        return None

    def _is_moving(self, value: Value) -> bool:
        """Whether a value is of one element, which never comes again."""
        if self._moving is None:
            self._moving = moving_indices(self._repetition, self._feeding.inference)
        if value is self._repetition.iteration:
            return True
        index = self._moving.get(value)
        if index is None:
            return self._counts_up(value)
        # From one side of 0 to the other an element of the end may be met twice.
        number = index.start + self._feeding.number * index.step
        return any(self._extent.never_negative(side) for side in (number, -1 - number))

    def _counts_up(self, value: Value) -> bool:
        """Whether a value is a counter from 0 on, in steps of any size."""
        state = self._states.get(value)
        step = None if state is None else counted_by(state, self._repetition)
        adder = None if state is None else state.result.producer
        if state is None or step is None or adder is None or not adder.is_op("Add"):
            return False
        if self._feeding.inference.fact(value).shape is None:
            return False
        least = [integers(self._feeding.inference.fact(number)) for number in (state.initial, step)]
        return all(
            found is not None and found.size == 1 and bool(np.all(found >= bound))
            for found, bound in zip(least, (0, 1), strict=True)
        )
