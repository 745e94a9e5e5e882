"""How many elements come out of operators that can make much of little."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir import Node

KEPT = frozenset({"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "Constant"})
"""Folding these would undo a quantization that the target may want to see."""


def _product(array: Any) -> float:
    return float(np.prod(np.abs(np.asarray(array, np.float64))))


def _times(array: Any, factors: Any) -> float:
    return float(array.size * _product(factors))


def _steps(start: float, limit: float, delta: float) -> float:
    return (limit - start) / delta if delta else 0


def _padded(array: Any, pads: Any) -> float:
    return float(math.prod(dim + int(np.abs(pads).sum()) for dim in array.shape))


def _broadcast(node: Node, arrays: list[Any]) -> float:
    try:
        return float(math.prod(np.broadcast_shapes(*(a.shape for a in arrays))))
    except ValueError:
        return 0


GROWING: dict[str, Callable[[Node, list[Any]], float]] = {
    "ConstantOfShape": lambda n, a: _product(a[0]),
    "Expand": lambda n, a: _times(*a[:2]),
    "Tile": lambda n, a: _times(a[0], a[1]),
    "OneHot": lambda n, a: _times(a[0], a[1]),
    "Range": lambda n, a: _steps(*(float(x.reshape(-1)[:1].sum()) for x in a)),
    "Pad": lambda n, a: _padded(a[0], a[1] if len(a) > 1 else n.attribute("pads", [])),
    # The scales come second in opset 10 and behind the region from 11 on, then the sizes.
    "Resize": lambda n, a: max(_times(a[0], x) for x in [1, *(a[2:] or a[1:])] if x is not None),
    "Upsample": lambda n, a: _times(a[0], a[1] if len(a) > 1 else n.attribute("scales", 1)),
    "Einsum": lambda n, a: math.prod(array.size for array in a),
    "CenterCropPad": lambda n, a: a[0].size * _product(a[1]),
    "AffineGrid": lambda n, a: 3 * _product(a[1]),
    "Col2Im": lambda n, a: _times(a[0], a[1]),
    "MelWeightMatrix": lambda n, a: _product(a[0]) * _product(a[1]),
    **dict.fromkeys(("Where", "Max", "Min", "Sum", "Mean"), _broadcast),
    **dict.fromkeys(("HannWindow", "HammingWindow", "BlackmanWindow"), lambda n, a: _product(a[0])),
}
"""Upper bounds on the elements of operators that can make much of little."""
