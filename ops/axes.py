"""Axes of shapes whose sizes may be symbols: which are meant, and what meets on them.

What certainly does not fit is None, for onnx to say so.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ..facts.fact import Shape, Symbols
from ..facts.polynomial import Dimension

ONE = Dimension.constant(1)

REDUCTIONS = (
    "ReduceL1",
    "ReduceL2",
    "ReduceLogSum",
    "ReduceLogSumExp",
    "ReduceMax",
    "ReduceMean",
    "ReduceMin",
    "ReduceProd",
    "ReduceSum",
    "ReduceSumSquare",
)
"""Operators that make one element of all elements along some axes."""


def positions(axes: Sequence[int], rank: int) -> set[int] | None:
    """Axes counted from the front; None where one is not there."""
    return {a % rank for a in axes} if all(-rank <= a < rank for a in axes) else None


def reduced(shape: Shape, gone: Collection[int], keeps_axes: bool) -> Shape:
    """A shape of which some axes are reduced to one element each, or to none at all."""
    if keeps_axes:
        return tuple([ONE if axis in gone else dim for axis, dim in enumerate(shape)])
    return tuple([dim for axis, dim in enumerate(shape) if axis not in gone])


def may_equal(a: Dimension, b: Dimension) -> bool:
    """Whether two sizes are not two different numbers."""
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
    return b if b.equals(1) is False else symbols.fresh()


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
