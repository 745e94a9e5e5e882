"""Record of operators that a proof computed on constants, for a second computation elsewhere."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

import onnx

from ....facts.types import INTEGER_BITS
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


def is_evident(name: str, tensors: Iterable[Tensor | None]) -> bool:
    """Test whether an operator on some constants and outputs leaves no room for a mistake."""
    if name in _MOVING | _COMPARING or isinstance(described().get(name), Moving):
        return True
    return name in _DIRECT and all(t is None or t.elem_type in _WHOLE for t in tensors)
