"""Reductions over axes chosen at run time, by operators with constant axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx

from ..ir import Value
from ..ops.axes import REDUCTIONS
from .flat_indices import from_the_front
from .node_draft import Site

_T = onnx.TensorProto
_FLOATS = (np.float32, np.float64, np.float16)
_COUNTED = (np.float32, np.float64, np.int32, np.int64)
_END = np.iinfo(np.int64).max

OTHERS = tuple(name for name in REDUCTIONS if name != "ReduceSum")
"""All reductions but ReduceSum, whose axes became an input before theirs did."""

AXES_ARE_INPUTS = {"ReduceSum": 13, **dict.fromkeys(OTHERS, 18)}
"""The opset from which on a reduction has its axes as an input."""


_MOST_AXES = 64
"""Limit of axes; each takes a column of a table."""


class ChosenAxes:
    """The axes in input 1: those of a reduction, or those that Squeeze or Unsqueeze changes.

    Attributes:
        axes: their numbers, counted from the front.
        flags: a bool for each axis: true where it is chosen.
        rank: the number of all axes.
        other_count: the number of axes that are not chosen.

    Args:
        site: the node.
        of_output: count axes of the output, which has them in addition, and not of input 0.
    """

    def __init__(self, site: Site, *, of_output: bool = False) -> None:
        axes, count = site.input(1), site.shape(1)
        if axes is None or count is None or len(count) != 1 or not count[0]:
            site.refuse("how many axes there are is not known, or none")
        if count[0] > _MOST_AXES:
            site.refuse(f"it names {count[0]} axes; no runtime has a tensor of so many")
        self.site = site
        self.rank = site.required_rank("axes from run time") + of_output * count[0]
        self.other_count = self.rank - count[0]
        if self.other_count < 0:
            site.refuse(f"it names {count[0]} of {self.rank} axes")
        self.axes = from_the_front(site, axes, site.const(np.array(self.rank), "rank"))
        column = site.emit("Reshape", [self.axes, site.ints([-1, 1], "column")], "column")
        same = site.emit("Equal", [column, site.ints(range(self.rank), "numbers")], "same")
        number = site.emit("Cast", [same], "number", to=_T.INT64)
        most = _reduced(site, "ReduceMax", number, 0, "chosen", keepdims=0)
        self.flags = site.emit("Cast", [most], "chosen", to=_T.BOOL)

    def others(self) -> Value:
        """The numbers of all other axes."""
        unchosen = self.site.emit("Not", [self.flags], "kept")
        places = self.site.emit("NonZero", [unchosen], "others")
        return self.site.emit(
            "Reshape", [places, self.site.ints([self.other_count], "left")], "others"
        )

    def never_empty(self, data: Value, dtype: np.dtype[Any], neutral: float) -> Value:
        """The data padded by one element along each chosen axis that may be empty."""
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

    def spread(self, op_type: str, data: Value, dtype: np.dtype[Any], neutral: float) -> Value:
        """The reduction over the chosen axes in the place of each element."""
        site = self.site
        for axis in range(self.rank):
            row = data
            if not self._has(data, axis):
                pads = np.zeros(2 * self.rank, np.int64)
                pads[self.rank + axis] = 1
                row = site.emit(
                    "Pad", [data, site.const(pads, "pads"), self._scalar(neutral, dtype)]
                )
            reduction = _reduced(site, op_type, row, axis, "found", keepdims=1)
            chosen = site.emit("Gather", [self.flags, site.const(np.array(axis), "axis")], axis=0)
            data = site.emit("Where", [chosen, reduction, data], "spread")
        return data

    def first(self, data: Value) -> Value:
        """The first element along each chosen axis, which `keepdims` keeps or drops."""
        site = self.site
        one, end = (site.const(np.array(number), "end") for number in (1, _END))
        ends = site.emit("Where", [self.flags, one, end], "ends")
        starts = site.ints([0] * self.rank, "starts")
        result = site.emit("Slice", [data, starts, ends], "first")
        if not site.attribute("keepdims"):
            result = site.emit("Squeeze", [result, self.axes], "first")
        return result


def _reduced(site: Site, op_type: str, data: Value, axis: int, label: str, keepdims: int) -> Value:
    """Data reduced over a constant axis, which is an input or an attribute by opset."""
    if site.builder.opset >= AXES_ARE_INPUTS[op_type]:
        inputs = [data, site.ints([axis], "axis")]
        return site.emit(op_type, inputs, label, keepdims=keepdims)
    return site.emit(op_type, [data], label, axes=[axis], keepdims=keepdims)


def extreme(site: Site) -> Value:
    """ReduceMax or ReduceMin."""
    dtype = site.required_dtype(0, "the least")
    if dtype.kind not in "iuf":
        site.refuse("axes from run time are written out for numbers only")
    info = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    neutral = info.min if site.op_type == "ReduceMax" else info.max
    if dtype.kind == "f":
        neutral = np.copysign(np.inf, neutral)
    return _over_chosen(site, dtype, neutral)


def _over_chosen(site: Site, dtype: np.dtype[Any], neutral: float) -> Value:
    """The node's reduction, axis by axis."""
    chosen, data = ChosenAxes(site), site.input(0)
    assert data is not None
    data = chosen.never_empty(data, dtype, neutral)
    return chosen.first(chosen.spread(site.op_type, data, dtype, neutral))


def accumulated(site: Site) -> Value:
    """ReduceSum or ReduceProd."""
    dtype = site.required_dtype(0, "a sum or product")
    if dtype not in _COUNTED:
        site.refuse(
            "axes from run time are written out for floats, doubles and integers of 32 or 64 bits"
            " only"
        )
    return _over_chosen(site, dtype, 0 if site.op_type == "ReduceSum" else 1)


def log_of_sum(site: Site) -> Value:
    """ReduceLogSumExp: the maximum plus the logarithm of the summed exponentials of distances from
    it. None of these overflows. Infinities and NaN are not subtracted."""
    dtype, data = site.required_dtype(0, "the largest"), site.input(0)
    if dtype not in _FLOATS:
        site.refuse("axes from run time are written out for floats only")
    chosen = ChosenAxes(site)
    assert data is not None
    data = chosen.never_empty(data, dtype, -np.inf)
    largest = chosen.spread("ReduceMax", data, dtype, -np.inf)
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
    """ReduceMean: the sum divided by the count."""
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
