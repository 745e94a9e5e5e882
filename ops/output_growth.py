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
    try:
        return float(math.prod(np.broadcast_shapes(*(a.shape for a in arrays))))
    except ValueError:
        return 0
