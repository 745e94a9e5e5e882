"""Adding nodes the way passes want them: folded where their inputs are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ir import Array, Fold, Graph, Operator, Tensor, Value


class Emitter:
    """Adds operators of the default domain to one graph, in the forms that its opset has."""

    def __init__(self, graph: Graph, fold: Fold | None = None) -> None:
        self.graph = graph
        self.opset = graph.root.opset()
        self._fold = fold
        self._axes: dict[int, Value] = {}

    def constant(self, array: Array, label: str) -> Value:
        """A constant."""
        return self.graph.add_initializer(label, Tensor(array=array))

    def add(
        self, op_type: str, inputs: Sequence[Value | None], label: str, **attributes: Any
    ) -> Value:
        """A node with one output."""
        return self.apply(Operator.make(op_type, **attributes), inputs, label)

    def apply(self, op: Operator, inputs: Sequence[Value | None], label: str) -> Value:
        """A node with one output and a ready operator, or its value where that can be folded."""
        node = self.graph.add_node(op, inputs, [label])
        if self._fold is not None and all(v is None or v.constant is not None for v in inputs):
            tensors = self._fold(node, [None if v is None else v.constant for v in inputs])
            if tensors is not None:
                self.graph.remove(node)
                return self.graph.add_initializer(label, tensors[0])
        return node.output()

    def unsqueeze(self, value: Value, axis: int, label: str) -> Value:
        """`value` with an axis of length 1 inserted (axes are an input from opset 13 on)."""
        if self.opset < 13:
            return self.add("Unsqueeze", [value], label, axes=[axis])
        return self.apply(_UNSQUEEZE, [value, self._axis(axis)], label)

    def _axis(self, axis: int) -> Value:
        if axis not in self._axes:
            self._axes[axis] = self.constant(np.array([axis], np.int64), "axes")
        return self._axes[axis]


_UNSQUEEZE = Operator("Unsqueeze")
