"""Cases: what the definition of an operator may depend on at one node."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import onnx

from ..ir import Array, Operator, Signal
from .element_types import types_named

Sizes = Sequence[int | None] | None
"""The shape of an operand, None for open sizes; None for an unknown rank."""


class Unfit(Signal):
    """No definition covers a node; the message says why."""


def _no_constant(index: int) -> Array | None:
    return None


class Signature(NamedTuple):
    """One node, as far as its definition may depend on it.

    Attributes:
        op: its operator.
        elem_types: the element types of its inputs; None for an absent one, 0 for an unknown type.
        shapes: their shapes.
        outputs: for each output, whether it is present.
        constant: returns the elements of a constant input; None for any other.
    """

    op: Operator
    elem_types: Sequence[int | None]
    shapes: Sequence[Sizes]
    outputs: Sequence[bool]
    constant: Callable[[int], Array | None] = _no_constant


class Case:
    """One node in the names of a definition.

    Args:
        signature: the node.
        places: the position of each operand, by name.
        attributes: the values of the variables for attributes.
        outputs: the names of the outputs that are present.

    Attributes:
        signature: the node.
        attributes: the values of the variables for attributes.
        outputs: the names of the outputs that are present.
        reads_sizes: the definition has read a size.
        reads_constants: it has read the elements of a constant.
    """

    def __init__(
        self,
        signature: Signature,
        places: Mapping[str, int],
        attributes: Mapping[str, Any],
        outputs: frozenset[str],
    ) -> None:
        self.signature = signature
        self._places = places
        self.attributes = dict(attributes)
        self.outputs = outputs
        self.reads_sizes = self.reads_constants = False

    @property
    def operands(self) -> Mapping[str, int]:
        """The position of each operand, by name."""
        return self._places

    def __getitem__(self, variable: str) -> Any:
        """The value of an attribute; None where it is absent and has no default."""
        return self.attributes[variable]

    def has(self, operand: str) -> bool:
        """Test whether an operand is present."""
        types, index = self.signature.elem_types, self._places.get(operand)
        return index is not None and index < len(types) and types[index] is not None

    def elem_type(self, operand: str) -> int:
        """The element type of an operand that is present."""
        elem_type = self.signature.elem_types[self._places[operand]]
        if not elem_type:
            self.unfit(f"the element type of '{operand}' is not known")
        return elem_type

    def is_typed(self, operand: str, *names: str) -> bool:
        """Test for an element type such as "float16" or "floats"."""
        elem_type = self.elem_type(operand)
        return any(elem_type in (types_named(name) or ()) for name in names)

    def rank(self, operand: str) -> int:
        """The rank of an operand that is present."""
        shape = self.signature.shapes[self._places[operand]]
        if shape is None:
            self.unfit(f"the rank of '{operand}' is not known")
        return len(shape)

    def size(self, operand: str, axis: int) -> int | None:
        """The size of an axis; None where it is open."""
        self.reads_sizes = True
        self.rank(operand)
        shape = self.signature.shapes[self._places[operand]]
        assert shape is not None
        return shape[axis] if -len(shape) <= axis < len(shape) else None

    def known_size(self, operand: str, axis: int) -> int:
        """The size of an axis, which must be known."""
        size = self.size(operand, axis)
        if size is None:
            self.unfit(f"the size of axis {axis} of '{operand}' is not known")
        return size

    def constant(self, operand: str) -> Array | None:
        """The elements of an operand that is a constant; None for any other."""
        self.reads_constants = True
        return self.signature.constant(self._places[operand]) if self.has(operand) else None

    def literal(self, name: str, tensor: onnx.TensorProto) -> str:
        """Make a tensor an operand of the text, under a name; return the operand."""
        self.attributes[name] = tensor
        return f"@{name}"

    def unfit(self, reason: str) -> NoReturn:
        """Refuse the node."""
        raise Unfit(reason)
