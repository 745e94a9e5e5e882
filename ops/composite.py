"""Operators with a cost estimate only: layers, those with a function body, wrappers of tensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from ..ir import Node
from .cost_estimates import EACH, elements
from .rules import KeepsShape, OperatorRules, describes

_NODES = 20
"""So many nodes a definition runs, about."""


@describes(
    *("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"),
    *("RotaryEmbedding", "SwiGLU", "TensorScatter"),
)
class Combined(OperatorRules):
    """Operator defined by a few nodes that each work on every element."""

    def work(self, node: Node, arrays: Sequence[Any]) -> float:
        return float(_NODES * EACH * (10 + elements(arrays)))


@describes("MeanVarianceNormalization")
class MeanVarianceNormalization(KeepsShape, Combined):
    """MeanVarianceNormalization."""

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        """A variance that is nearly zero may be negative by the rounding of one definition."""
        return False


@describes("Attention")
class Attention(OperatorRules):
    """Attention, from opset 23 on: a product for each pair of places."""

    def work(self, node: Node, arrays: Sequence[Any]) -> float:
        pairs = math.prod(array.size for array in arrays[:2] if array is not None)
        return float(_NODES * EACH * (10 + elements(arrays)) + EACH * pairs)

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        """Runtimes round on the way, each in its own places."""
        return False


@describes(*("ConcatFromSequence", "Optional", "OptionalGetElement", "OptionalHasElement"))
class Wrapper(OperatorRules):
    """Constructor of, or access to, a container of tensors."""

    exact: ClassVar[bool] = True

    def work(self, node: Node, arrays: Sequence[Any]) -> float:
        return float(EACH * (1 + elements(arrays)))


@describes("LSTM", "GRU", "RNN")
class Recurrent(OperatorRules):
    """LSTM, GRU and RNN: one step after the other."""

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        states = float(arrays[2].size) / max(1, arrays[2].shape[1])
        return float(states * math.prod((*arrays[0].shape, 1, 1)[:2]))

    def work(self, node: Node, arrays: Sequence[Any]) -> float:
        """Each step is a matrix product and the calls around it."""
        steps, batch = (*arrays[0].shape, 1, 1)[:2]
        return float(steps * (200_000 + 4 * (elements(arrays[1:3]) + EACH * 4) * batch))
