"""Injective indices: positions of writes that are distinct in every iteration.

j = Reshape (i, [1, 1])          j = Expand (n - 1 - i, [4, 1])      j = Concat <axis = -1> (b, j)
"""

from __future__ import annotations

import numpy as np

from ...facts.fact import decided, integers
from ...ir import Node, Value
from ...ops.batching import Extent
from .affine_reads import Index, moving_indices
from .batched_inputs import Feeding
from .induction_variables import step_of
from .loop_view import LoopView

_REPEATED = ("Identity", "Unsqueeze", "Squeeze", "Reshape", "Expand", "Tile", "Cast", "Transpose")
"""The operators that keep all elements equal."""


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
        self._extent = Extent(feeding.number, feeding.most_dimension, certain)
        self._states = {state.argument: state for state in loop_view.states}
        self._moving: dict[Value, Index] | None = None

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
            if node.is_op("Concat"):
                return self._joins_last(node) and any(
                    v is not None and self.is_one_number(v) and self._is_there(v)
                    for v in node.inputs
                )
            source = node.input(0)
            if not node.is_op("Identity", "Expand", "Reshape", "Cast") or source is None:
                return False
            if not self._keeps_coordinates(source, value):
                return False
            value = source
        return self._is_there(value)

    def _is_there(self, value: Value) -> bool:
        """Test for a nonempty last axis."""
        shape = self._feeding.inference.fact(value).shape
        return bool(shape) and shape[-1].less(1) is False  # type: ignore[index]

    def _joins_last(self, node: Node) -> bool:
        shape, axis = self._feeding.inference.fact(node.output()).shape, node.attribute("axis")
        return axis == -1 or (shape is not None and axis == len(shape) - 1)

    def _keeps_coordinates(self, source: Value, value: Value) -> bool:
        """Test for an unchanged last axis, which holds the coordinates of an index."""
        one, other = (self._feeding.inference.fact(v).shape for v in (source, value))
        return bool(one and other) and one[-1] == other[-1]  # type: ignore[index]

    def is_one_number(self, value: Value) -> bool:
        """Test for equal elements that are distinct in every iteration."""
        body = self._loop_view.body
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
        """Test for a Cast of integers to the type of ScatterND's indices."""
        source = node.input(0)
        kinds = {node.attribute("to")}
        kinds |= {self._feeding.inference.fact(source).elem_type} if source is not None else set()
        return kinds <= {6, 7} and node.attribute("to") == 7

    def _times_one(self, node: Node) -> Value | None:
        """The other operand of a Mul by ones."""
        for one, other in (node.inputs, node.inputs[::-1]):
            ones = None if one is None else decided(self._feeding.inference.fact(one))
            if ones is not None and bool(np.all(ones == 1)):
                return other
        return None

    def _is_moving(self, value: Value) -> bool:
        """Test for a value of one element that never repeats."""
        if self._moving is None:
            self._moving = moving_indices(self._loop_view, self._feeding.inference)
        if value is self._loop_view.iteration:
            return True
        index = self._moving.get(value)
        if index is None:
            return self._counts_up(value)
        # Across 0, negative indices from the end may repeat an element.
        number = index.start + self._feeding.number * index.step
        return any(self._extent.never_negative(side) for side in (number, -1 - number))

    def _counts_up(self, value: Value) -> bool:
        """Test for an induction variable from 0 on, of any positive step."""
        state = self._states.get(value)
        step = None if state is None else step_of(state, self._loop_view)
        adder = None if state is None else state.result.producer
        if state is None or step is None or adder is None or not adder.is_op("Add"):
            return False
        if self._feeding.inference.fact(value).shape is None:
            return False
        least = [
            integers(self._feeding.inference.fact(operand)) for operand in (state.initial, step)
        ]
        return all(
            number is not None and number.size == 1 and bool(np.all(number >= bound))
            for number, bound in zip(least, (0, 1), strict=True)
        )
