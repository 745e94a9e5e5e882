"""Premises of a proof that a node cannot fail: facts of its inputs, and demands on them."""

from collections.abc import Collection, Iterable, Sequence

import numpy as np
import numpy.typing as npt
import onnx

from ..ir import Node, Signal, Value
from .bounds import Bounds, Known
from .fact import Content, Shape, integers, is_named
from .polynomial import Dimension


class Unproven(Signal):
    """A condition that a proof of safety lacks; the message names the possible failure."""


class Premises:
    """Facts of a node's inputs, for a node that is to run speculatively.

    Every method returns what holds for certain.

    Raises:
        Unproven: from any method, where it is not known.
    """

    def __init__(self, node: Node, inputs: Sequence[Known], opset: int) -> None:
        self.node = node
        self.inputs = inputs
        self.opset = opset

    def has(self, index: int) -> bool:
        """Test for a present input."""
        return self.node.input(index) is not None

    def name(self, index: int) -> str:
        """The input as messages show it."""
        value: Value | None = self.node.input(index)
        return f"'{value.name}'" if value is not None else f"input {index}, which is absent"

    def elem_type(self, index: int) -> int:
        """The element type of an input."""
        elem_type = self.inputs[index].fact.elem_type if self.has(index) else 0
        require(bool(elem_type), f"the element type of {self.name(index)} is not known")
        return elem_type

    def is_integer(self, index: int) -> bool:
        """Test for an input of integers, or of unknown type."""
        elem_type = self.inputs[index].fact.elem_type
        return not elem_type or onnx.helper.tensor_dtype_to_np_dtype(elem_type).kind in "iub"

    def shape(self, index: int, rank: int | None = None) -> Shape:
        """The shape of an input, which must have the rank if one is given."""
        shape = self.inputs[index].fact.shape if self.has(index) else None
        if shape is None:
            raise Unproven(f"the rank of {self.name(index)} is not known")
        if rank is not None:
            require(len(shape) == rank, f"{self.name(index)} may not have rank {rank}")
        return shape

    def require_rank(self, index: int, ranks: Collection[int]) -> None:
        """Demand that an input has one of the ranks."""
        allowed = " or ".join(map(str, ranks))
        fits = len(self.shape(index)) in ranks
        require(fits, f"{self.name(index)} may not have rank {allowed}")

    def vector(self, index: int) -> int:
        """The length of an input that has one axis and a known length."""
        length = self.shape(index, 1)[0].value
        if length is None:
            raise Unproven(f"the length of {self.name(index)} is not known")
        return length

    def content(self, index: int) -> Content:
        """The elements of an input, sizes among them."""
        content = self.inputs[index].fact.content if self.has(index) else None
        if content is None or any(element is None for element in content.reshape(-1)):
            raise Unproven(f"{self.name(index)} is known only at run time")
        return content

    def numbers(self, index: int) -> npt.NDArray[np.int64]:
        """The elements of an input, all of which must be numbers."""
        self.content(index)
        numbers = integers(self.inputs[index].fact)
        if numbers is None:
            raise Unproven(f"{self.name(index)} is known only at run time")
        return numbers

    def bounds(self, index: int) -> Bounds:
        """Between which numbers the elements of an input lie."""
        bounds = self.inputs[index].bounds if self.has(index) else None
        if bounds is None:
            raise Unproven(f"the elements of {self.name(index)} are not known to be integers")
        return bounds

    def is_at_least(self, number: Dimension, least: Dimension | int) -> bool:
        """Test whether a number is certainly not below another one."""
        return number.less(least) is False

    def at_least(self, dim: Dimension, least: int, what: str) -> None:
        """Demand that a size is not below a number; else the node fails in all runtimes."""
        fits = self.is_at_least(dim, least)
        require(fits, f"{what} of size {shown(dim)} may be less than {least}")

    def equal(self, one: Dimension, other: Dimension, what: str) -> None:
        """Demand that two sizes are equal; else the node fails in all runtimes."""
        if not (self.is_at_least(one, other) and self.is_at_least(other, one)):
            same(one, other, what)

    def axis(self, rank: int, default: int, extra: int = 0) -> int:
        """The attribute `axis`, counted from the front."""
        return axis_of(self.node.attribute("axis", default), rank + extra)

    def listed(self, name: str, index: int) -> list[int] | None:
        """A list of numbers, an attribute in older opsets and an input in newer ones; None if
        absent."""
        attribute = self.node.attribute(name)
        if attribute is not None:
            return list(attribute)
        return [int(a) for a in self.numbers(index).reshape(-1)] if self.has(index) else None

    def axes(self, index: int) -> list[int] | None:
        """The axes, which an attribute or an input lists; None if absent."""
        return self.listed("axes", index)

    def one_element(self, index: int) -> None:
        """Demand that an input holds one element."""
        one = all(dim == 1 for dim in self.shape(index))
        require(one, f"{self.name(index)} may not hold exactly one element")

    def positions(self, index: int, size: Dimension) -> None:
        """Demand that an input's elements are positions in an axis; else the node fails in all
        runtimes."""
        self.within(index, [size])

    def within(self, index: int, sizes: Sequence[Dimension]) -> None:
        """Demand that an input's elements are positions in axes of all these sizes."""
        low, high = self.bounds(index)
        for size in sizes:
            # Negative positions count from the end.
            if not (self.is_at_least(low + size, 0) and self.is_at_least(size, high + 1)):
                raise Unproven(
                    f"{self.name(index)} may be out of range for an axis of size {shown(size)}"
                    f"{_known_range(low, high)}"
                )


def require(holds: bool, otherwise: str) -> None:
    """Demand that something is certain.

    Raises:
        Unproven: it is not.
    """
    if not holds:
        raise Unproven(otherwise)


def shown(dim: Dimension) -> str:
    """A size as messages show it."""
    return str(dim) if is_named(dim) else "unknown"


def axis_of(axis: int, rank: int) -> int:
    """An axis counted from the front."""
    require(-rank <= axis < rank, f"axis {axis} does not exist for rank {rank}")
    return axis % rank


def distinct_axes(axes: Iterable[int], rank: int) -> list[int]:
    """Axes counted from the front, none of them twice: runtimes disagree on such a list."""
    places = [axis_of(axis, rank) for axis in axes]
    require(len(set(places)) == len(places), "an axis occurs twice")
    return places


def same(one: Dimension, other: Dimension | int, what: str) -> None:
    """Demand that two sizes are equal."""
    if one != other:
        text = shown(other) if isinstance(other, Dimension) else str(other)
        raise Unproven(f"{what} may not fit: {shown(one)} and {text}")


def at_least(dim: Dimension, least: int, what: str) -> None:
    """Demand that a size is not below a number."""
    require(dim.less(least) is False, f"{what} of size {shown(dim)} may be less than {least}")


def broadcast(shapes: Sequence[Shape | None]) -> None:
    """Demand that shapes fit together (multidirectional broadcasting)."""
    ranked = [shape for shape in shapes if shape is not None]
    if len(ranked) < len(shapes):
        # Whatever the one unknown shape is, axes of size 1 fit it.
        ones = all(dim == 1 for shape in ranked for dim in shape)
        require(ones and len(shapes) - len(ranked) == 1, "the shape of an operand is not known")
    for axis in range(1, max(map(len, ranked), default=0) + 1):
        # A size of 1 stretches to any other; all others must be equal.
        dims = [shape[-axis] for shape in ranked if len(shape) >= axis and shape[-axis] != 1]
        for dim in dims[1:]:
            same(dims[0], dim, "sizes that must broadcast")


def broadcast_to(shape: Shape, target: Shape, what: str) -> None:
    """Demand that a shape can be stretched to another (unidirectional broadcasting)."""
    require(len(shape) <= len(target), f"{what} has too many axes")
    for dim, size in zip(reversed(shape), reversed(target), strict=False):
        if dim != 1:
            same(dim, size, what)


def same_shape(one: Shape, other: Shape, what: str) -> None:
    """Demand that two shapes are equal."""
    require(len(one) == len(other), f"{what} may have the wrong rank")
    for dim, size in zip(one, other, strict=True):
        same(dim, size, f"the shape of {what}")


def _known_range(low: Dimension, high: Dimension) -> str:
    """Bounds of a range where they are tighter than the type's."""
    bounded = [is_named(bound) and abs(bound.value or 0) < _LARGE for bound in (low, high)]
    return f"; it is known to lie between {low} and {high}" if all(bounded) else ""


_LARGE = 1 << 31
