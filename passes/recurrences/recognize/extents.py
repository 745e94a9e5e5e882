"""Least and largest numbers of the factors of states, as far as operators tell.

g = Not (f)             0 or 1
k = Cast (g)            0 to 1
r = Sub (1, k)          0 to 1, so that a product with it keeps the order of numbers

A NaN is no number here: whatever it multiplies becomes a NaN, which every form of a state keeps.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import onnx

from ....facts.types import IEEE_FLOATS
from ....ir import Array, Node, Value
from .recurrence import Recurrence

_BOOL = onnx.TensorProto.BOOL
_INF = math.inf
_ALL = (-_INF, _INF)
_DEEPEST = 8
"""The largest number of operators between a value and those that tell its numbers."""

Extent = tuple[float, float]
"""The least and the largest number."""

_RESULTS: dict[str, Extent] = {
    **dict.fromkeys(("Abs", "Exp", "Relu", "Softplus", "Sqrt"), (0.0, _INF)),
    **dict.fromkeys(("HardSigmoid", "Sigmoid", "Softmax"), (0.0, 1.0)),
    **dict.fromkeys(("Cos", "Erf", "Sin", "Softsign", "Tanh"), (-1.0, 1.0)),
}
_ELEMENTS = (
    *("Expand", "Flatten", "Gather", "GatherElements", "GatherND", "Identity", "Reshape"),
    *("Slice", "Split", "Squeeze", "Tile", "Transpose", "Unsqueeze"),
)
"""The operators whose results are elements of the first operand."""


def extent_of(recurrence: Recurrence, value: Value, depth: int = 0) -> Extent:
    """The numbers between which all elements of a value lie, but for NaN."""
    tensor, node = value.constant, value.producer
    if tensor is not None:
        return _of_array(tensor.numpy()) if tensor.is_readable else _ALL
    for one in recurrence.iterations.loop_view.scan_inputs:
        if one.argument is value:
            return extent_of(recurrence, one.source, depth + 1)
    if recurrence.fact(value).elem_type == _BOOL:
        return 0.0, 1.0
    if node is None or node.domain or node.op.references or depth > _DEEPEST:
        return _ALL
    if node.op_type in _RESULTS:
        return _RESULTS[node.op_type]
    operands = [
        _ALL if one is None else extent_of(recurrence, one, depth + 1) for one in node.inputs
    ]
    return _of_node(recurrence, node, operands)


def _of_array(array: Array) -> Extent:
    if array.dtype.kind not in "iufb" or not array.size or np.isnan(array).all():
        return _ALL
    return float(np.nanmin(array)), float(np.nanmax(array))


def _of_node(recurrence: Recurrence, node: Node, operands: list[Extent]) -> Extent:
    if node.is_op(*_ELEMENTS):
        return operands[0]
    if node.is_op("Cast"):
        # A NaN becomes any integer, and a large integer another one of a narrower type.
        is_float = recurrence.fact(node.output()).elem_type in IEEE_FLOATS
        return operands[0] if is_float else _ALL
    if node.is_op("Where"):
        return _hull(operands[1:])
    if node.is_op("Max", "Min"):
        choose = max if node.is_op("Max") else min
        return choose(low for low, _ in operands), choose(high for _, high in operands)
    rule = _ARITHMETIC.get(node.op_type)
    return _ALL if rule is None else _corners(rule, operands)


def _hull(extents: list[Extent]) -> Extent:
    return min(low for low, _ in extents), max(high for _, high in extents)


def _corners(rule: Callable[..., float], operands: list[Extent]) -> Extent:
    """The results of an operation that is monotone in each operand; 0 times infinity is NaN."""
    results = [rule(*ends) for ends in itertools.product(*operands)]
    if any(map(math.isnan, results)):
        return _ALL
    return min(results), max(results)


def _product(one: float, other: float) -> float:
    return one * other if one and other else 0.0


_ARITHMETIC: dict[str, Callable[..., float]] = {
    "Add": lambda one, other: one + other,
    "Sub": lambda one, other: one - other,
    "Mul": _product,
    "Neg": lambda one: -one,
}
