"""Estimates of output sizes of operators with large outputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np


def size_of(shape: Any) -> float:
    """The number of elements of a tensor of a shape."""
    return float(np.prod(np.abs(np.asarray(shape, np.float64))))


def times(array: Any, factors: Any) -> float:
    """Number of elements after the axes of an array grow."""
    return float(array.size * size_of(factors))


def broadcast_size(arrays: Sequence[Any]) -> float:
    """The number of elements of broadcast arrays; 0 if they do not broadcast."""
    return broadcast_shapes_size([a.shape for a in arrays])


def broadcast_shapes_size(shapes: Sequence[Sequence[int]]) -> float:
    """The number of elements of a broadcast of shapes; 0 if they do not broadcast."""
    rank = max(map(len, shapes), default=0)
    aligned = [(1,) * (rank - len(shape)) + tuple(map(int, shape)) for shape in shapes]
    sizes = [{size for size in axis if size != 1} for axis in zip(*aligned, strict=True)]
    if any(len(axis) > 1 for axis in sizes):
        return 0
    return float(math.prod(size for axis in sizes for size in axis))
