"""Axes of shapes with symbolic sizes: normalization, reduction and broadcasting.

What certainly does not fit is None, for onnx to say so. Ranks are inferred by requests for other
ranks: that is cheap, as it needs no sizes.
"""

from collections.abc import Collection, Generator, Mapping, Sequence
from typing import Any, NamedTuple

from ..facts.fact import Fact, Shape, Symbols
from ..facts.polynomial import Dimension
from ..ir import Node, Value

ONE = Dimension.constant(1)

REDUCTIONS = (
    *("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean"),
    *("ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"),
)
"""Operators that make one element of all elements along some axes."""


class AxisMap(NamedTuple):
    """One axis of the outputs, position by position.

    Attributes:
        inputs: the axis of each input that goes with it; None where all of the input is needed.
        changed: attributes (by name) and inputs (by position) of the operator without the axis,
            which is of length 1; None where that is another operator.
        all_outputs: whether the axis is one of each output, not of the first one only.
        stretches: whether inputs of length 1 along it are stretched to the others.
    """

    inputs: tuple[int | None, ...]
    changed: Mapping[str | int, Any] | None = None
    all_outputs: bool = False
    stretches: bool = False


def broadcast_map(inputs: Sequence[Fact], axis: int) -> AxisMap | None:
    """The map of an operator whose inputs broadcast in all directions."""
    shapes = [fact.dims for fact in inputs]
    rank = max(map(len, shapes))
    places = tuple([aligned(shape, axis, rank) for shape in shapes])
    return AxisMap(places, {}, stretches=True)


def aligned(shape: Shape, axis: int, rank: int) -> int | None:
    """The axis of an operand that broadcasts to an axis of a result; None where it has none."""
    own = axis - rank + len(shape)
    return own if own >= 0 else None


def positions(axes: Sequence[int], rank: int) -> set[int] | None:
    """Axes counted from the front; None where one is not there."""
    return {a % rank for a in axes} if all(-rank <= a < rank for a in axes) else None


def reduced(shape: Shape, axes: Collection[int], keeps_axes: bool) -> Shape:
    """The shape after a reduction of some axes."""
    if keeps_axes:
        return tuple([ONE if axis in axes else dim for axis, dim in enumerate(shape)])
    return tuple([dim for axis, dim in enumerate(shape) if axis not in axes])


def may_equal(a: Dimension, b: Dimension) -> bool:
    """Test that two sizes are not two different numbers."""
    return a.value is None or b.value is None or a.value == b.value


def stretched(a: Dimension, b: Dimension, symbols: Symbols) -> Dimension:
    """The size of an axis on which two values that broadcast meet."""
    if a is b or b in (a, ONE):
        return a
    if a == ONE:
        return b
    # One that is certainly not 1 decides; the other is 1 or the same.
    if a.equals(1) is False:
        return a
    return b if b.equals(1) is False else symbols.common(a, b)


def broadcast_shape(shapes: Sequence[Shape], symbols: Symbols) -> Shape | None:
    """The shape of values that are broadcast together; None where they certainly do not fit."""
    first, *others = sorted(shapes, key=len, reverse=True)
    dims = list(first)
    for shape in others:
        start = len(dims) - len(shape)
        for axis, size in enumerate(shape, start):
            if not may_equal(dims[axis], size) and 1 not in (dims[axis].value, size.value):
                return None
            dims[axis] = stretched(dims[axis], size, symbols)
    return tuple(dims)


class RankOf(NamedTuple):
    """Request for the rank of a value, or for the length of a vector."""

    value: Value | None
    is_length: bool = False


RankAnswer = Generator[RankOf, int | None, int | None]
"""Asks one question after the other and returns the answer; None where it is open."""


def rank_of_first(node: Node, more: int = 0) -> RankAnswer:
    """The rank of the first input, and so many axes more."""
    rank = yield RankOf(node.input(0))
    return None if rank is None else rank + more


def rank_of_largest(node: Node) -> RankAnswer:
    """The highest rank of an input."""
    largest = 0
    for value in node.inputs:
        rank = yield RankOf(value)
        if rank is None:
            return None
        largest = max(largest, rank)
    return largest


def length_of(node: Node, index: int) -> RankAnswer:
    """The length of an input, such as a shape."""
    return (yield RankOf(node.input(index), is_length=True))


def written_axes(node: Node) -> Collection[int] | None:
    """The axes of a node, from its attribute or from input 1; None where they are not known."""
    attribute = node.op.attributes.get("axes")
    if attribute is not None:
        return list(attribute.ints)
    value = node.input(1)
    if value is None or value.constant is None:
        return None
    return [int(axis) for axis in value.constant.numpy().flat]


def rank_without(rank: int, axes: Collection[int]) -> int:
    """A rank without some axes."""
    return rank - len({axis % max(rank, 1) for axis in axes})
