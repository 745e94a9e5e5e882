"""Values that are certainly finite: no infinity and no NaN, whatever the inputs.

An infinity or a NaN times 0 is NaN. A weight of ones and zeros selects columns of a finite operand
only; otherwise the other columns become NaN, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import onnx

from ....facts.fact import Fact
from ....facts.types import IEEE_FLOATS, INTEGER_BITS
from ....ir import Array, Value
from ...iteration.loop_view import LoopView
from ...iteration.places import is_invariant

_DEEPEST = 24
"""The maximum depth of the search through producers."""

Magnitudes = Sequence[float]
"""The largest magnitude of each input of a node."""


class Finiteness:
    """Upper bounds of the magnitudes of values at run time."""

    def __init__(self, loop_view: LoopView, fact: Callable[[Value], Fact]) -> None:
        self._fact = fact
        self._outside = {one.argument: one.source for one in loop_view.scan_inputs}
        states = [state for state in loop_view.states if is_invariant(state)]
        self._outside |= {state.argument: state.initial for state in states}
        self._magnitudes: dict[Value, float | None] = {}

    def alias(self, value: Value, source: Value) -> None:
        """Record that a value holds elements of another one."""
        self._outside[value] = source

    def holds(self, factors: Sequence[Value]) -> bool:
        """Test whether an elementwise product is certainly finite."""
        magnitudes = [self.magnitude(value) for value in factors]
        most = _largest(self._fact(factors[0]).elem_type)
        finite = [number for number in magnitudes if number is not None]
        return most is not None and len(finite) == len(factors) and math.prod(finite) <= most

    def magnitude(self, value: Value, depth: int = 0) -> float | None:
        """The largest magnitude of a value's elements; None if they may not be finite."""
        if value not in self._magnitudes:
            self._magnitudes[value] = None  # a cycle of states has no bound
            number = self._find(value, depth) if depth < _DEEPEST else None
            most = _largest(self._fact(value).elem_type)
            finite = number is not None and most is not None and number <= most
            self._magnitudes[value] = number if finite else None
        return self._magnitudes[value]

    def _find(self, value: Value, depth: int) -> float | None:
        if value.constant is not None:
            return _of_constant(value)
        if value in self._outside:
            return self.magnitude(self._outside[value], depth + 1)
        elem_type = self._fact(value).elem_type
        if elem_type == onnx.TensorProto.BOOL or elem_type in INTEGER_BITS:
            return _largest(elem_type)
        node = value.producer
        if node is not None and node.is_op("ConstantOfShape") and not node.op.references:
            filler = node.attribute("value")
            return 0.0 if filler is None else _of_array(onnx.numpy_helper.to_array(filler))
        if node is None or node.domain or node.op_type not in _RULES:
            return None
        operands = node.inputs[_FIRST_DATA.get(node.op_type, 0) :]
        operands = operands[:1] if node.op_type in _OF_FIRST else operands
        bounds = [None if v is None else self.magnitude(v, depth + 1) for v in operands]
        magnitudes = [number for number in bounds if number is not None]
        if len(magnitudes) < len(operands):
            return None
        if node.op_type == "MatMul":
            shape = None if node.inputs[0] is None else self._fact(node.inputs[0]).shape
            count = shape[-1].value if shape else None
            return None if count is None else count * math.prod(magnitudes)
        return _RULES[node.op_type](magnitudes)


def _largest(elem_type: int) -> float | None:
    """The largest number of an element type, halved for floats to absorb rounding.

    None for other element types.
    """
    if elem_type == onnx.TensorProto.BOOL:
        return 1.0
    if elem_type not in (*INTEGER_BITS, *IEEE_FLOATS):
        return None
    dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
    if elem_type in IEEE_FLOATS:
        return float(np.finfo(dtype).max) / 2
    return float(max(-int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)))


def _of_constant(value: Value) -> float | None:
    tensor = value.constant
    if tensor is None or not tensor.is_readable or tensor.is_sparse:
        return None
    return _of_array(tensor.numpy())


def _of_array(array: Array) -> float | None:
    if array.dtype.kind not in "fiub" or not np.isfinite(array).all():
        return None
    return float(np.abs(array.astype(np.float64)).max(initial=0.0))


_OF_FIRST = (
    *("Identity", "Reshape", "Transpose", "Squeeze", "Unsqueeze", "Expand", "Flatten", "Tile"),
    *("Slice", "Gather", "GatherElements", "GatherND", "Split", "Cast", "Neg", "Abs", "Relu"),
)
_FIRST_DATA = {"Where": 1}
_BOUNDED = ("Sigmoid", "Tanh", "Softmax", "HardSigmoid", "Softsign", "Sin", "Cos")
_RULES: dict[str, Callable[[Magnitudes], float]] = {
    **dict.fromkeys((*_OF_FIRST, "Concat", "Max", "Min", "Where"), max),
    **dict.fromkeys(("Add", "Sub", "Sum"), sum),
    **dict.fromkeys(("Mul", "MatMul"), math.prod),
    **dict.fromkeys(_BOUNDED, lambda magnitudes: 1.0),
}
"""The magnitude of an operator's outputs from those of its inputs."""
