"""Products of matrices with partial inner axes: weights of rows, and the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..facts.types import PLAIN_FLOATS
from ..ir import Value
from .batching import DIFFERING, Batch, Unbatchable
from .partial_axes import filled, once

_WEIGHTS = ("Softmax", "Exp", "Sigmoid")
_SAME = ("Identity", "Cast", "Reshape", "Squeeze", "Transpose", "Unsqueeze", "ReduceSum")


def product_of_parts(batch: Batch, rule: Callable[[Batch], Sequence[Value]]) -> Sequence[Value]:
    """The product of two operands with zeros beside the elements of their inner axes.

    Args:
        batch: the MatMul.
        rule: the rule for whole operands.
    """
    if batch.keeps_order or batch.require(0).fact.elem_type not in PLAIN_FLOATS:
        raise Unbatchable(DIFFERING)
    one, other = batch.part(0), batch.part(1)
    batch = batch if one.zeros else filled(batch, 0, 0.0)
    if other.zeros:
        return once(batch, rule)
    if other.varies or other.count is None or not _is_weight(batch.node.input(0)):
        return once(filled(batch, 1, 0.0), rule)
    rhs, lost = _finite_part(batch)
    if 1 in (batch.rank(0), batch.rank(1)):
        lost = batch.emit.squeeze(lost, batch.rank(1) + other.axis, batch.label("_lost"))
    (result,) = batch.same([batch.require(0).value, rhs])
    return [batch.unvarying(batch.emit.add("Add", [result, lost], batch.label()))]


def _finite_part(batch: Batch) -> tuple[Value, Value]:
    """The finite rows of a loop-invariant operand, and the sum of an iteration's others.

    An infinity or NaN of a later iteration times zero would be NaN. Times a weight, which is
    positive, it stays what it is.
    """
    emit, rows, part, rank = batch.emit, batch.require(1).value, batch.part(1), batch.rank(1)
    axis, zero, infinity = rank + part.axis, batch.number(0), batch.number(np.inf)
    finite = emit.add("Less", [emit.add("Abs", [rows], "size"), infinity], "finite")
    rhs = emit.add("Where", [finite, rows, zero], "numbers")
    sums = emit.running_sum(emit.add("Where", [finite, zero, rows], "others"), "sums", axis)
    pads = emit.vector(tuple([int(index == axis) for index in range(2 * rank)]), "pads")
    sums = emit.add("Pad", [sums, pads], "sums")
    return rhs, emit.add("Gather", [sums, part.count], "lost", axis=axis)


def _is_weight(value: Value | None) -> bool:
    """Test for numbers that are positive, but for underflow."""
    node = None if value is None else value.producer
    if node is None or node.is_op(*_WEIGHTS):
        return node is not None
    if node.is_op("Div"):
        return all(map(_is_weight, node.inputs))
    return node.is_op(*_SAME) and _is_weight(node.inputs[0])
