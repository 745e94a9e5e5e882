"""Operators on constants of which onnxruntime departs from the specification."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...ir import Array
from .terms import Head

_EXACT = 2.0**53
"""Below this number each integer is exact as a double."""
_FAR = (np.iinfo(np.int64).max, np.iinfo(np.int32).max)


def departs(head: Head, arrays: Sequence[Array | None]) -> bool:
    """Test for operands on which onnxruntime may compute another result than is specified."""
    test = _TESTS.get(head.name)
    present = [array for array in arrays if array is not None]
    return test is not None and bool(present) and test(present)


def _exceeds(total: float, like: Array) -> bool:
    """Test for a number that a double or the type does not hold."""
    return like.dtype.kind in "iu" and not total < min(_EXACT, float(np.iinfo(like.dtype).max))


def _sums(arrays: Sequence[Array]) -> bool:
    with np.errstate(over="ignore"):
        return _exceeds(float(np.sum(np.abs(arrays[0].astype(np.float64)))), arrays[0])


def _multiplies(arrays: Sequence[Array]) -> bool:
    sizes = np.maximum(np.abs(arrays[0].astype(np.float64)), 1)
    with np.errstate(over="ignore"):
        return _exceeds(float(np.prod(sizes)), arrays[0])


def _selects(arrays: Sequence[Array]) -> bool:
    """Test for -0.0 in the first value, or in a second one that is broadcast."""
    condition, one, other = arrays
    if _has_negative_zero(one):
        return True
    own = np.broadcast_shapes(condition.shape, other.shape)
    return _has_negative_zero(other) and own != np.broadcast_shapes(own, one.shape)


def _steps(arrays: Sequence[Array]) -> Array:
    return arrays[4] if len(arrays) > 4 else np.ones(1)


def _has_negative_zero(array: Array) -> bool:
    return array.dtype.kind == "f" and bool((np.signbit(array) & (array == 0)).any())


_TESTS: dict[str, Callable[[Sequence[Array]], bool]] = {
    "Gather": lambda arrays: arrays[0].dtype.hasobject and arrays[0].ndim > 1,
    "NonZero": lambda arrays: not arrays[0].ndim,
    "ReduceProd": _multiplies,
    "ReduceSum": _sums,
    "Slice": lambda arrays: bool(np.isin(arrays[2], _FAR).any() and (_steps(arrays) < 0).any()),
    "Where": _selects,
}
