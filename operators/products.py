"""Products of matrices, and sums of products."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from ..facts.fact import Fact, Shape, Symbols
from ..facts.premises import Premises, broadcast, broadcast_to, require, same
from ..ir import Node, Value
from .axes import broadcast_shape, may_equal
from .batching import Batch, Unbatchable
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

    def batch(self, given: Batch) -> Sequence[Value]:
        left, right = given.rank(0), given.rank(1)
        if not left or not right:
            raise Unbatchable("has a scalar operand")
        one, other = given.given(0).value, given.given(1).value
        if left == 1 and right == 2 and not given.varies(1):
            return given.same([one, other])
        if left == 2 and right == 1 and not given.varies(0):
            return given.same([other, given.emit.transpose(one, (1, 0), given.label("_turned"))])
        rank = max(left, right, 2)
        one, other = self._matrices(given, 0, rank), self._matrices(given, 1, rank)
        (product,) = given.same([one, other])
        if left > 1 and right > 1:
            return [product]
        # The axis that made a matrix of a vector goes again: the trips are before it.
        gone = [rank - 1] if left == 1 else []
        gone += [rank] if right == 1 else []
        return [given.emit.squeeze(product, tuple(gone), given.label("_vector"))]

    def _matrices(self, given: Batch, index: int, rank: int) -> Value:
        """An operand as matrices, with the trips before their batch axes."""
        operand, own = given.given(index), given.rank(index)
        value, name = operand.value, f"{operand.value.name}_matrix"
        if index == 0 and not operand.batched:
            # onnxruntime stretches no left operand to no trips.
            operand = dataclasses.replace(operand, value=given.spread(0), batched=True)
            value = operand.value
        first = 1 if operand.batched else 0
        if own == 1:
            value = given.emit.unsqueeze(value, first if index == 0 else first + 1, name)
            own = 2
        if operand.batched and own < rank:
            value = given.emit.unsqueeze(value, tuple(range(1, 1 + rank - own)), name)
        return value


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
