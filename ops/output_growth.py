"""How many elements come out of operators that can make much of little."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np


def size_of(shape: Any) -> float:
    """How many elements a tensor of a shape has."""
    return float(np.prod(np.abs(np.asarray(shape, np.float64))))


def times(array: Any, factors: Any) -> float:
    """How many elements an array has when its axes grow by these factors, or to these sizes."""
    return float(array.size * size_of(factors))


def broadcast_size(arrays: Sequence[Any]) -> float:
    """How many elements arrays have once their shapes are broadcast; 0 if they cannot be."""
    try:
        return float(math.prod(np.broadcast_shapes(*(a.shape for a in arrays))))
    except ValueError:
        return 0
