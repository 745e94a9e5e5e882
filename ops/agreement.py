"""Tests for numbers on which all implementations of an operator agree."""

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

SUMS = frozenset(
    [
        *("AveragePool", "Conv", "ConvTranspose", "Einsum", "FusedMatMul", "Gemm"),
        *("GlobalAveragePool", "MatMul", "Mean", "ReduceL1", "ReduceL2", "ReduceMean"),
        *("ReduceSum", "ReduceSumSquare", "Sum", "TransposeMatMul"),
    ]
)
"""Operators that add up products: finite in every order if they are so for absolute operands."""


def is_float(array: Any) -> bool:
    """Test for an array of floats of any width, or of complex numbers."""
    return array.dtype.kind in "fc" or (array.dtype.kind == "V" and "float" in array.dtype.name)


def is_integer(array: Any) -> bool:
    """Test for an array of integers of any width."""
    return array.dtype.kind in "iu" or (array.dtype.kind == "V" and "int" in array.dtype.name)


def tensors(values: Sequence[Any]) -> list[Any]:
    """Arrays among values, including the elements of sequences."""
    arrays: list[Any] = []
    for value in values:
        if isinstance(value, list | tuple):
            arrays += tensors(value)
        elif isinstance(value, np.ndarray):
            arrays.append(value)
    return arrays


def are_finite(arrays: Sequence[Any]) -> bool:
    """Test that no array holds a NaN or an infinity."""
    return all(np.isfinite(array).all() for array in tensors(arrays) if is_float(array))


def are_ordinary(arrays: Sequence[Any]) -> bool:
    """Test for nonempty arrays whose floats are 0, or normal with finite fourth powers.

    Of such numbers no sum of products overflows on the way in one order of additions only.
    """
    return all(array.size and _is_ordinary(array) for array in tensors(arrays))


def _is_ordinary(array: Any) -> bool:
    if not is_float(array):
        return True
    limits = ml_dtypes.finfo(array.dtype)  # type: ignore[no-untyped-call]
    least, most = float(limits.smallest_normal), float(limits.max) ** 0.25
    wide = np.abs(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64))
    inside = (wide == 0) | ((wide >= least) & (wide <= most))
    return bool(inside.all()) and not has_negative_zero(array)


def has_negative_zero(array: Any) -> bool:
    """Test for a -0 among floats."""
    return array.dtype.kind != "c" and bool(np.signbit(array[array == 0]).any())


def are_usual(arrays: Sequence[Any]) -> bool:
    """Test that no array holds a NaN, an infinity or -0."""
    return are_finite(arrays) and not any(
        is_float(array) and has_negative_zero(array) for array in tensors(arrays)
    )


def have_nan(arrays: Sequence[Any]) -> bool:
    """Test for a NaN in some array."""
    return any(np.isnan(array).any() for array in tensors(arrays) if is_float(array))


def have_both_zeros(arrays: Sequence[Any]) -> bool:
    """Test for both 0 and -0, of which implementations call either the greater."""
    signs: set[bool] = set()
    for array in tensors(arrays):
        if is_float(array):
            signs.update(np.signbit(array[array == 0]).reshape(-1).tolist())
    return len(signs) > 1


def fits(numbers: Any, dtype: Any) -> bool:
    """Test that a type of integers holds numbers that were computed in float64.

    No implementation rounds on the way, whether it counts in integers or in floats.
    """
    info = ml_dtypes.iinfo(dtype)  # type: ignore[no-untyped-call]
    low, high = max(int(info.min), -(2**24)), min(int(info.max), 2**24)
    return bool(((numbers >= low) & (numbers <= high)).all())
