"""Record of operators that a proof computed on constants, for a second computation elsewhere."""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np
import onnx

from ....facts.types import INTEGER_BITS, PLAIN_FLOATS
from ....ir import Node, Tensor
from ....ops import described
from ....ops.rules import Moving
from .constants import key_of
from .term import Head

_MOVING = frozenset(
    {
        *("Concat", "Constant", "ConstantOfShape", "Expand", "Identity", "Reshape", "Shape"),
        *("Size", "Slice", "Split", "Squeeze", "Tile", "Unsqueeze", "Where"),
    }
)
"""Operators that copy elements, or give sizes."""

_COMPARING = frozenset({"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"})

_DIRECT = frozenset({"Add", "Sub", "Mul", "Neg", "Abs", "And", "Or", "Xor", "Not"})
"""Operators that are one instruction on integers."""

_DIVIDING = frozenset({"Div", "Mod"})
"""Operators that differ by the signs of integers alone; by zero they have no result."""

_OF_REALS = frozenset({"Add", "Sub", "Mul", "Div", "Neg", "Abs", "Sqrt", "Exp"})
"""Operators with one result on floats of usual size: IEEE 754's, or the function's up to rounding,
which a proof names. Runtimes differ in infinities, NaN, overflow and denormals."""
_USUAL = 2.0**-64, 2.0**64

_SAME_IN_ALL_TYPES = 2**24
"""Whole numbers up to here are themselves in float32."""

_WHOLE = frozenset([onnx.TensorProto.BOOL, *INTEGER_BITS])


class Evaluation(NamedTuple):
    """An operator computed on constants.

    Attributes:
        head: the operator.
        node: a node that applies it.
        operands: one for each input, None where it is left out.
        results: its outputs.
    """

    head: Head
    node: Node
    operands: Sequence[Tensor | None]
    results: Sequence[Tensor]

    @property
    def constants(self) -> Hashable:
        """Key that only the same operands and results share."""
        return tuple(None if t is None else key_of(t) for t in (*self.operands, *self.results))


def is_evident(
    name: str, operands: Sequence[Tensor | None], results: Sequence[Tensor] = ()
) -> bool:
    """Test whether an operator on some constants and outputs leaves no room for a mistake."""
    if name in _MOVING | _COMPARING or isinstance(described().get(name), Moving):
        return True
    tensors = [t for t in (*operands, *results) if t is not None]
    if all(t.elem_type in _WHOLE for t in tensors) and name in _DIRECT | _DIVIDING:
        return name in _DIRECT or all((t.numpy() >= 0).all() for t in tensors)
    if name == "Cast":
        return _is_same_number(*tensors)
    return name in _OF_REALS and all(map(_is_usual, tensors))


def _is_same_number(operand: Tensor, result: Tensor) -> bool:
    """Test for numbers that both types have."""
    if any(t.elem_type not in _WHOLE.union(PLAIN_FLOATS) for t in (operand, result)):
        return False
    numbers = operand.numpy()
    return bool(((numbers == result.numpy()) & (np.abs(numbers * 1.0) <= _SAME_IN_ALL_TYPES)).all())


def _is_usual(tensor: Tensor) -> bool:
    """Test for floats of usual size, or positive zeros."""
    if tensor.elem_type not in PLAIN_FLOATS:
        return False
    array = tensor.numpy()
    least, most = _USUAL
    sizes = np.abs(array)
    usual = (sizes >= least) & (sizes <= most)
    return bool((usual | ((array == 0) & ~np.signbit(array))).all())
