"""Reductions over axes that are chosen at run time, by operators whose axes are constant."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx

from ..ir import Value
from .flat_indices import from_the_front
from .site import Site

_T = onnx.TensorProto
_FLOATS = (np.float32, np.float64, np.float16)
_END = np.iinfo(np.int64).max


class ChosenAxes:
    """The axes of a reduction, as input 1 says them.

    Attributes:
        axes: their numbers, counted from the front.
        flags: for each axis of the input, whether it is among them.
    """

    def __init__(self, site: Site) -> None:
        given, count = site.input(1), site.shape(1)
        if given is None or not count or not count[0]:
            site.refuse("how many axes there are is not known, or none")
        self.site = site
        self.rank = site.required_rank("axes from run time")
        self.axes = from_the_front(site, given, site.const(np.array(self.rank), "rank"))
        column = site.emit("Reshape", [self.axes, site.ints([-1, 1], "column")], "column")
        same = site.emit("Equal", [column, site.ints(range(self.rank), "numbers")], "same")
        number = site.emit("Cast", [same], "number", to=_T.INT64)
        most = site.emit("ReduceMax", [number, site.ints([0], "axis")], "chosen", keepdims=0)
        self.flags = site.emit("Cast", [most], "chosen", to=_T.BOOL)

    def never_empty(self, data: Value, dtype: np.dtype[Any], neutral: float) -> Value:
        """The data with one more along each chosen axis, unless they are known not to be empty."""
        if self._has(data):
            return data
        site = self.site
        number = site.emit("Cast", [self.flags], "number", to=_T.INT64)
        zeros = site.ints([0] * self.rank, "zeros")
        pads = site.emit("Concat", [zeros, number], "pads", axis=0)
        return site.emit("Pad", [data, pads, self._scalar(neutral, dtype)], "data")

    def _has(self, data: Value, axis: int | None = None) -> bool:
        shape = self.site.types.shape(data) or [None] * self.rank
        return all(shape if axis is None else [shape[axis]])

    def _scalar(self, number: float, dtype: np.dtype[Any]) -> Value:
        return self.site.const(np.array(number, dtype), "neutral")

    def extreme(self, op_type: str, data: Value, dtype: np.dtype[Any], neutral: float) -> Value:
        """In the place of each element the extreme of all with which it is reduced."""
        site = self.site
        for axis in range(self.rank):
            row = data
            if not self._has(data, axis):
                pads = np.zeros(2 * self.rank, np.int64)
                pads[self.rank + axis] = 1
                row = site.emit(
                    "Pad", [data, site.const(pads, "pads"), self._scalar(neutral, dtype)]
                )
            found = site.emit(op_type, [row, site.ints([axis], "axis")], "found", keepdims=1)
            chosen = site.emit("Gather", [self.flags, site.const(np.array(axis), "axis")], axis=0)
            data = site.emit("Where", [chosen, found, data], "extreme")
        return data

    def first(self, data: Value) -> Value:
        """The first along each chosen axis, which stays or does not as the node says."""
        site = self.site
        one, end = (site.const(np.array(number), "end") for number in (1, _END))
        ends = site.emit("Where", [self.flags, one, end], "ends")
        starts = site.ints([0] * self.rank, "starts")
        found = site.emit("Slice", [data, starts, ends], "first")
        if not site.attribute("keepdims"):
            found = site.emit("Squeeze", [found, self.axes], "first")
        return found


def extreme(site: Site) -> Value:
    """ReduceMax or ReduceMin."""
    dtype, data = site.required_dtype(0, "the least"), site.input(0)
    if dtype.kind not in "iuf":
        site.refuse("axes from run time are written out for numbers only")
    info = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    neutral = info.min if site.op_type == "ReduceMax" else info.max
    if dtype.kind == "f":
        neutral = np.copysign(np.inf, neutral)
    chosen = ChosenAxes(site)
    assert data is not None
    data = chosen.never_empty(data, dtype, neutral)
    return chosen.first(chosen.extreme(site.op_type, data, dtype, neutral))


def log_of_sum(site: Site) -> Value:
    """ReduceLogSumExp: the largest, and the logarithm of the sum of powers of e of the distances
    from it, of which none overflows. What is infinite or no number is not subtracted."""
    dtype, data = site.required_dtype(0, "the largest"), site.input(0)
    if dtype not in _FLOATS:
        site.refuse("axes from run time are written out for floats only")
    chosen = ChosenAxes(site)
    assert data is not None
    data = chosen.never_empty(data, dtype, -np.inf)
    largest = chosen.extreme("ReduceMax", data, dtype, -np.inf)
    top, bottom, zero = (site.const(np.array(n, dtype), "end") for n in (np.inf, -np.inf, 0))
    finite = site.emit(
        "And", [site.emit("Less", [largest, top]), site.emit("Greater", [largest, bottom])]
    )
    shift = site.emit("Where", [finite, largest, zero], "shift")
    powers = site.emit("Exp", [site.emit("Sub", [data, shift], "distance")], "powers")
    keepdims = site.attribute("keepdims")
    total = site.emit("ReduceSum", [powers, chosen.axes], "total", keepdims=keepdims)
    return site.emit("Add", [site.emit("Log", [total], "log"), chosen.first(shift)])


def mean(site: Site) -> Value:
    """ReduceMean: the sum, divided by how many there are."""
    dtype, elem_type = site.required_dtype(0, "a count"), site.elem_type(0)
    if dtype not in _FLOATS[:2]:
        site.refuse("axes from run time are written out for floats and doubles only")
    chosen = ChosenAxes(site)
    shape, one = site.emit("Shape", [site.input(0)], "shape"), site.const(np.array(1), "one")
    lengths = site.emit("Where", [chosen.flags, shape, one], "lengths")
    count = site.emit("ReduceProd", [lengths, site.ints([0], "axis")], "count", keepdims=0)
    keepdims = site.attribute("keepdims")
    total = site.emit("ReduceSum", [site.input(0), chosen.axes], "total", keepdims=keepdims)
    return site.emit("Div", [total, site.cast(count, elem_type or 0)])
