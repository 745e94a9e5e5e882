"""Where: elements of one tensor or the other.

https://onnx.ai/onnx/operators/onnx__Where.html

- 9: the operator appears. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Where-9
- 16: bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Where-16
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import onnx

from ...ir import Value
from ..node_draft import Site
from ..registry import Outcome, downgrade, longer_form
from ..snippets import length_of, numbers_below

_MOST_PLACES = 1 << 24
"""Limit of positions in a constant; more are computed at run time."""


@downgrade(9, "Where")
def choose_by_gathering(site: Site) -> Outcome:
    """Opset 8: concatenate both tensors and gather from either half.

    This moves elements as they are, whatever their type.
    """
    shape = site.types.shape(site.node.output())
    if shape is None or None in shape:
        site.refuse_unknown(
            "Where exists from opset 9 on, and a way around needs the shape of its output, which"
        )
    dims, condition = [dim or 0 for dim in shape], site.constant(0)
    size = math.prod(dims)
    if size > _MOST_PLACES:
        site.refuse(f"{size} places are too many for a constant")
    if condition is not None and not _broadcasts(condition.shape, dims):
        site.refuse(f"its condition has the shape {list(condition.shape)}, its output {dims}")
    places = np.arange(size).reshape(dims)
    if condition is not None:
        second = np.broadcast_to(~condition.astype(bool), dims)
        picked = site.const(places + second * size, "places")
    else:
        offset = _offset(site, site.const(np.array(size), "size"))
        picked = site.emit("Add", [offset, site.const(places, "places")], "picked")
    full = [
        value if site.types.shape(value) == dims else _expanded(site, value, dims)
        for value in site.inputs[1:]
    ]
    return [site.emit("Gather", [_end_to_end(site, full, len(dims)), picked], axis=0)]


@longer_form(9, "Where")
def choose_at_places_of_run_time(site: Site) -> Outcome:
    """Below opset 9, any shape: as above, with shape and positions from run time."""
    ranks = [site.rank(index) for index in range(3)]
    if None in ranks:
        site.refuse("places need the ranks of all inputs")
    rank, shape = max(rank or 0 for rank in ranks), _broadcast_shape(site)
    full = [site.emit("Expand", [value, shape], "full") for value in site.inputs[1:]]
    offset = _offset(site, site.emit("Size", [full[0]], "size"))
    picked = site.emit("Add", [offset, _numbers(site, shape, rank)], "picked")
    return [site.emit("Gather", [_end_to_end(site, full, rank), picked], axis=0)]


def _broadcasts(shape: Sequence[int], dims: Sequence[int]) -> bool:
    pairs = zip(reversed(shape), reversed(dims), strict=False)
    return len(shape) <= len(dims) and all(one in (1, other) for one, other in pairs)


def _offset(site: Site, size: Value) -> Value:
    """The offset from an element of the first tensor to the chosen one."""
    number = site.emit("Cast", [site.emit("Not", [site.input(0)])], to=onnx.TensorProto.INT64)
    return site.emit("Mul", [number, size], "offset")


def _expanded(site: Site, value: Value | None, dims: list[int]) -> Value:
    return site.emit("Expand", [value, site.ints(dims, "shape")], "full")


def _end_to_end(site: Site, values: Sequence[Value | None], rank: int) -> Value:
    if rank != 1:
        flat = site.ints([-1], "flat")
        values = [site.emit("Reshape", [value, flat], "elements") for value in values]
    return site.emit("Concat", values, "both", axis=0)


def _broadcast_shape(site: Site) -> Value:
    zero = site.const(np.zeros((), np.float32), "zero")
    parts = [
        site.emit("Expand", [zero, site.emit("Shape", [value], "shape")], "empty")
        for value in site.inputs
    ]
    both = site.emit("Add", [site.emit("Add", parts[:2]), parts[2]], "broadcast")
    return site.emit("Shape", [both], "shape")


def _numbers(site: Site, shape: Value, rank: int) -> Value:
    """The numbers 0, 1, ... of all elements of a tensor, in its shape."""
    numbers = site.const(np.array(0), "number")
    for axis in range(rank):
        length = length_of(site, shape, axis, rank=1)
        column = numbers_below(site, length)
        rows = site.emit("Mul", [site.unsqueeze(numbers, [axis]), length], "rows")
        numbers = site.emit("Add", [rows, column], "numbers")
    return numbers
