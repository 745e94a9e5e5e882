"""Functions of constants in doubles, with bounds of the error of computing them.

    Add (Mul (b, k), c)      2 roundings, each of |b| |k| + |c| at most

The bound is that of an error analysis (N. Higham, Accuracy and Stability of Numerical Algorithms,
3.1 and 4.2): roundings on the longest way, times the sum of the sizes of what is added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ..ir import Array

_MOST_ELEMENTS = 1 << 20
_SUMS = frozenset(("Add", "MatMul", "Sub"))
_PRODUCTS = frozenset(("MatMul", "Mul"))
_SMOOTH = frozenset(("Div", "Reciprocal", "Sqrt"))
"""Functions whose relative error is that of all operands at most, where nothing cancels."""
_UNITS = 4
"""Distance of a constant from a function, in units in the last place of the half."""


class Function(NamedTuple):
    """Values of a function of constants, with what bounds their error.

    Attributes:
        value: the values.
        size: the sums of the sizes of what it adds.
        roundings: the number of roundings on the longest way.
    """

    value: Array
    size: Array
    roundings: int = 0


def exact(array: Array) -> Function:
    """Constant as a function of itself."""
    if array.dtype.kind != "f":
        return Function(array, array)
    return Function(array.astype(np.float64), abs(array.astype(np.float64)))


def function_of(
    name: str,
    output: int,
    operands: Sequence[Function | None],
    run: Callable[[Sequence[Array]], Sequence[Array] | None],
    *,
    moves: bool = False,
) -> Function | None:
    """Apply an operator to functions; None if no bound of its error is known.

    Args:
        run: a function that computes the operator.
        moves: whether the operator moves elements, which rounds nothing.
    """
    rows = [each for each in operands if each is not None and each.value.size <= _MOST_ELEMENTS]
    if not rows or len(rows) < len(operands):
        return None
    values = run([row.value for row in rows])
    sizes = run([-row.size if name == "Sub" and k else row.size for k, row in enumerate(rows)])
    if values is None or sizes is None or not np.isfinite(values[output]).all():
        return None
    value, size = values[output], sizes[output]
    counts = [row.roundings for row in rows]
    count = sum(counts) if name in _PRODUCTS else max(counts)
    if moves or name == "Neg":
        return Function(value, abs(size), count)
    if name not in _SUMS | _PRODUCTS:
        cancels = not all(np.array_equal(abs(row.value), abs(row.size)) for row in rows)
        # Another function may magnify an error.
        if cancels or (count and name not in _SMOOTH):
            return None
        size, count = abs(value), sum(counts)
    # A sum is pairwise.
    depth = rows[0].value.shape[-1] if name == "MatMul" else 1
    return Function(value, size, count + 1 + (depth - 1).bit_length())


def rows_of(array: Array, function: Function) -> Iterator[tuple[int, int, list[Array]]]:
    """Yield an axis of a constant, the place of a rounded function, and the parts.

    The constant may have other axes of size 1. A function that rounds nothing is itself alone.
    """
    places = [axis for axis, size in enumerate(array.shape) if size != 1] or [0]
    rows, value, size = [np.atleast_1d(each.squeeze()) for each in (array, *function[:2])]
    sizes = zip(rows.shape, value.shape, strict=False)
    others = [axis for axis, (one, other) in enumerate(sizes) if one != other]
    odd = array.dtype.kind != "f" or not np.isfinite(array).all() or not value.size
    if odd or rows.ndim != value.ndim or len(others) > 1 or not function.roundings:
        return
    axis, count = (*others, 0)[0], value.shape[(*others, 0)[0]]
    rows, value, size = [np.moveaxis(each, axis, 0) for each in (rows, value, size)]
    rounds = not (value.astype(array.dtype) == value).all()
    roundoff = float(np.finfo(array.dtype).eps) / 2 * function.roundings
    distance = _UNITS * np.spacing(abs(rows) / 2).astype(np.float64)
    first = abs(rows - value[0]) <= rounds * (distance + roundoff * size[0])
    starts = np.flatnonzero(first.reshape(len(rows), -1).all(1))
    for start in starts[starts + count <= len(rows)].tolist():
        bound = rounds * (distance[start : start + count] + roundoff * size)
        if (abs(rows[start : start + count] - value) <= bound).all():
            parts = np.split(array, [start, start + count], places[axis]) if others else [array]
            yield places[axis], int(start > 0), [part for part in parts if part.size]
