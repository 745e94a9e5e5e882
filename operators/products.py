"""Products of matrices, and sums of products."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..facts.fact import Fact, Shape, Symbols
from ..facts.premises import Premises, broadcast, broadcast_to, require, same
from ..ir import Node
from .axes import broadcast_shape, may_equal
from .rules import OperatorRules, describes


@describes("MatMul")
class MatMul(OperatorRules):
    """MatMul, as numpy.matmul: an operand with one axis is a row or a column."""

    def shapes(
        self, node: Node, inputs: Sequence[Fact], symbols: Symbols
    ) -> list[Shape | None] | None:
        left, right = inputs[0].shape, inputs[1].shape
        if not left or not right or not may_equal(left[-1], right[-2:][0]):
            return None
        batch = broadcast_shape((left[:-2], right[:-2]), symbols)
        if batch is None:
            return None
        return [batch + left[-2:-1] + (right[-1:] if len(right) > 1 else ())]

    def prove_safe(self, given: Premises) -> None:
        one, other = given.shape(0), given.shape(1)
        require(bool(one) and bool(other), "an operand is a scalar")
        same(one[-1], other[-2] if len(other) > 1 else other[0], "the inner sizes")
        broadcast([one[:-2], other[:-2]])


@describes("Gemm")
class Gemm(OperatorRules):
    """Gemm: the bias is stretched from opset 7 on, and may be left out from 11 on."""

    def shapes(
        self, node: Node, inputs: Sequence[Fact], symbols: Symbols
    ) -> list[Shape | None] | None:
        left, right = inputs[0].shape, inputs[1].shape
        if left is None or right is None or len(left) != 2 or len(right) != 2:
            return None
        rows, inner = left[::-1] if node.attribute("transA", 0) else left
        same, columns = right[::-1] if node.attribute("transB", 0) else right
        return [(rows, columns)] if may_equal(inner, same) else None

    def prove_safe(self, given: Premises) -> None:
        one, other = given.shape(0, 2), given.shape(1, 2)
        if given.node.attribute("transA", 0):
            one = one[::-1]
        if given.node.attribute("transB", 0):
            other = other[::-1]
        same(one[1], other[0], "the inner sizes")
        if given.has(2):
            broadcast_to(given.shape(2), (one[0], other[1]), "the bias")


@describes("Einsum")
class Einsum(OperatorRules):
    """Einsum, from opset 12 on: at most every element with every other."""

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        return float(math.prod(array.size for array in arrays))
