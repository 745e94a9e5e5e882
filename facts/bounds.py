"""Between which numbers the elements of an integer tensor lie: what proves an index in range.

Bounds are dimensions, so that an ArgMax over N classes is known to give at most N - 1.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import onnx

from ..records import record
from .fact import Content, Fact
from .magnitudes import Magnitudes
from .polynomial import Dimension


class Bounds(NamedTuple):
    """The smallest and the largest number that an element may be, both included."""

    low: Dimension
    high: Dimension


@record(frozen=True, eq=False)
class Known:
    """Facts of one value: type, shape and content, and the bounds of its integers."""

    fact: Fact
    bounds: Bounds | None = None


def alike(one: Known, other: Known) -> bool:
    """Test whether two facts are equal."""
    if one is other:
        return True
    types, others = [
        (value.fact.elem_type, value.fact.shape, value.fact.other, value.fact.count)
        for value in (one, other)
    ]
    same = types == others
    return same and one.bounds == other.bounds and same_content(one.fact, other.fact)


def same_content(one: Fact, other: Fact) -> bool:
    """Test whether both contents are equal, or neither is tracked."""
    if one.content is None or other.content is None:
        return one.content is other.content
    if one.content.shape != other.content.shape:
        return False
    pairs = zip(one.content.reshape(-1), other.content.reshape(-1), strict=True)
    # Two unknown elements need not be equal.
    return all(a is not None and a == b for a, b in pairs)


def known(fact: Fact, bounds: Bounds | None = None) -> Known:
    """A fact with the tightest bounds there are: those of its content, or the given ones if no
    overflow can break them, or those of its type."""
    whole = _of_type(fact.elem_type)
    if whole is None:
        return Known(fact)
    exact = _of_content(fact.content) if fact.content is not None else None
    if exact is not None:
        return Known(fact, exact)
    if bounds is not None and _fits(bounds, fact.elem_type):
        return Known(fact, bounds)
    return Known(fact, whole)


def join(one: Bounds | None, other: Bounds | None) -> Bounds | None:
    """Join two facts [lattice join]; None where they cannot be compared."""
    if one is None or other is None:
        return None
    low, high = least((one.low, other.low)), greatest((one.high, other.high))
    return None if low is None or high is None else Bounds(low, high)


def least(dims: Iterable[Dimension]) -> Dimension | None:
    """Lower bound of several sizes; the least where they can be compared."""
    first, *rest = dims
    low: Dimension | None = first
    for dim in rest:
        low = _lower(low, dim)
    return low


def greatest(dims: Iterable[Dimension]) -> Dimension | None:
    """The counterpart of `least`."""
    low = least([-dim for dim in dims])
    return None if low is None else -low


def span(dims: Sequence[Dimension]) -> Bounds | None:
    """Bounds of several numbers; None where they cannot be compared."""
    low, high = least(dims), greatest(dims)
    return None if low is None or high is None else Bounds(low, high)


def lesser(one: Bounds | None, other: Bounds | None) -> Bounds | None:
    """Bounds of the lesser of two numbers."""
    if one is None or other is None:
        return None
    low = least((one.low, other.low))
    # Of two upper bounds that cannot be compared either one holds.
    high = one.high if other.high.less(one.high) is not True else other.high
    return None if low is None else Bounds(low, high)


def greater(one: Bounds | None, other: Bounds | None) -> Bounds | None:
    """Bounds of the greater of two numbers."""
    return negated(lesser(negated(one), negated(other)))


def negated(bounds: Bounds | None) -> Bounds | None:
    """Bounds of the negated numbers."""
    return None if bounds is None else Bounds(-bounds.high, -bounds.low)


def _lower(one: Dimension | None, other: Dimension) -> Dimension | None:
    if one is None:
        return None
    less = one.less(other)
    if less is not None:
        return one if less else other
    # N and N + M: the first is the lower one or equal.
    if other.less(one) is False:
        return one
    a, b = one.at_least, other.at_least
    return None if a is None or b is None else Dimension.constant(min(a, b))


def _of_type(elem_type: int) -> Bounds | None:
    if not elem_type or elem_type == onnx.TensorProto.STRING:
        return None
    dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
    if dtype.kind not in "iu":
        return None
    info = np.iinfo(dtype)
    return Bounds(Dimension.constant(info.min), Dimension.constant(info.max))


def _fits(bounds: Bounds, elem_type: int) -> bool:
    """Test whether the type represents all numbers between the bounds."""
    # In 32 bits sizes fit only by an assumption, and nobody would record it here.
    numbers = all(bound.value is not None for bound in bounds)
    magnitudes = Magnitudes()
    return (numbers or elem_type == onnx.TensorProto.INT64) and all(
        magnitudes.hold(bound, elem_type) for bound in bounds
    )


def _of_content(content: Content) -> Bounds | None:
    elements = list(content.reshape(-1))
    if not elements or not all(isinstance(e, Dimension) for e in elements):
        return None
    return span(elements)
