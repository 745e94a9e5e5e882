"""Snippets of a few nodes that several adapters emit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx

from ..ir import Array, Tensor, Value
from .node_draft import Site

_END = np.iinfo(np.int64).max


def is_float(site: Site) -> bool:
    """Test whether input 0 has a float type.

    Raises:
        Refused: its type is not known.
    """
    return site.required_dtype(0, f"{site.op_type} before opset {site.source}").kind == "f"


def blank(dtype: np.dtype[Any]) -> Array:
    """One element of a type: an empty string, or zero."""
    return np.array([""], object) if dtype.kind == "O" else np.zeros(1, dtype)


def pick(site: Site, test: str, one: Value, other: Value) -> Value:
    """`one` where it passes the test against `other`, else `other`."""
    return site.emit("Where", [site.emit(test, [one, other]), one, other])


def halves(site: Site, value: Value) -> tuple[Value, Value]:
    """Split long integers into quotient and remainder by 2^32. Both have less than 33 bits, so that
    they are exact as doubles, and the sign of the whole."""
    unit = _unit(site, site.types.elem_type(value) or onnx.TensorProto.INT64)
    high = site.emit("Div", [value, unit], "high")
    low = site.emit("Sub", [value, site.emit("Mul", [high, unit], "whole")], "low")
    return high, low


def from_halves(site: Site, high: Value, low: Value, elem_type: int) -> Value:
    """Join long integers from two halves, which may be doubles."""
    parts = [site.emit("Cast", [half], "half", to=elem_type) for half in (high, low)]
    whole = site.emit("Mul", [parts[0], _unit(site, elem_type)], "whole")
    return site.emit("Add", [whole, parts[1]])


def _unit(site: Site, elem_type: int) -> Value:
    dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
    return site.const(np.array(2**32, dtype), "unit")


def length_of(site: Site, shape: Value, axis: int, rank: int = 0) -> Value:
    """The length of an axis in a shape, of rank 0 or 1."""
    place = site.const(np.full((1,) * rank, axis, np.int64), "axis")
    return site.emit("Gather", [shape, place], "length", axis=0)


def numbers_below(site: Site, length: Value) -> Value:
    """The numbers 0, 1, ... below a length of rank 1, for opsets without Range."""
    one = Tensor(array=np.ones(1, np.int64)).message()
    ones = site.emit("ConstantOfShape", [length], "ones", value=one)
    return site.emit("Reshape", [site.emit("NonZero", [ones]), site.ints([-1], "flat")])


def reshaped(site: Site, data: Value, shape: Value) -> Value:
    """Reshape to a run-time shape in which zeros mean zero. Data of the type of input 0 is padded
    and reshaped with ones in the place of zeros, then sliced."""
    dtype = site.required_dtype(0, "a run-time shape that may have zeros")
    zero, one = site.ints([0], "zero"), site.ints([1], "one")
    is_zero = site.emit("Equal", [shape, zero], "is_zero")
    ones = site.emit("Where", [is_zero, one, shape], "ones")
    product = site.emit("ReduceProd", [ones], "product", axes=[0])
    all_ = site.emit("ReduceProd", [shape], "product", axes=[0])
    is_empty = site.emit("Equal", [all_, zero], "is_empty")
    missing = site.emit("Where", [is_empty, product, zero], "missing")
    nothing = site.const(blank(dtype), "nothing")
    filling = site.emit("Expand", [nothing, missing], "filling")
    flat = site.emit("Reshape", [data, site.ints([-1], "all")], "flat")
    whole = site.emit("Concat", [flat, filling], "whole", axis=0)
    is_open = site.emit("Less", [shape, zero], "is_open")
    ends = site.emit("Where", [is_open, site.ints([_END], "end"), shape], "ends")
    starts = site.emit("Sub", [shape, shape], "starts")
    filled = site.emit("Reshape", [whole, ones], "filled")
    return site.emit("Slice", [filled, starts, ends], "reshaped")


def rounded(site: Site, data: Value, dtype: np.dtype[Any]) -> Value:
    """The nearest integers, halves to even, for opsets without Round."""
    half = site.const(np.array(0.5, dtype), "half")
    below, above = site.emit("Floor", [data], "below"), site.emit("Ceil", [data], "above")
    distance = site.emit("Sub", [data, below], "distance")
    halved = site.emit("Floor", [site.emit("Mul", [below, half])], "halved")
    rest = site.emit("Sub", [below, site.emit("Add", [halved, halved])], "rest")
    odd = site.emit("Greater", [rest, half], "odd")
    more = site.emit("Greater", [distance, half], "more")
    not_less = site.emit("Not", [site.emit("Less", [distance, half], "less")], "not_less")
    up = site.emit("Or", [more, site.emit("And", [not_less, odd])], "up")
    return site.emit("Where", [up, above, below])


def mean_along(site: Site, value: Value, axes: Sequence[int]) -> Value:
    """The mean along axes, which keep length 1."""
    if site.builder.opset < 18:
        return site.emit("ReduceMean", [value], "mean", axes=list(axes))
    return site.emit("ReduceMean", [value, site.ints(axes, "axes")], "mean")


def mean_and_deviations(
    site: Site, value: Value, axes: Sequence[int]
) -> tuple[Value, Value, Value]:
    """The mean along axes, the deviations from it, and the mean of their squares.

    The difference of mean squares and the squared mean is equal on paper, but loses all digits
    where the mean is large.
    """
    mean = mean_along(site, value, axes)
    deviations = site.emit("Sub", [value, mean], "deviations")
    squares = site.emit("Mul", [deviations, deviations], "squares")
    return mean, deviations, mean_along(site, squares, axes)


def with_epsilon(site: Site, variance: Value) -> Value:
    """The sum of a variance and the attribute `epsilon`."""
    dtype = onnx.helper.tensor_dtype_to_np_dtype(site.types.elem_type(variance) or 1)
    epsilon = site.const(np.array(site.attribute("epsilon"), dtype), "epsilon")
    return site.emit("Add", [variance, epsilon])


def tiled(site: Site, data: Value, rank: int, lengths: Value, length: int) -> Value:
    """Broadcast data to lengths by Tile, which repeats axes of length 1."""
    missing = length - rank
    if missing > 0:
        ones = site.ints([1] * missing, "ones")
        shape = site.emit("Concat", [ones, site.emit("Shape", [data], "shape")], axis=0)
        data = site.emit("Unsqueeze", [data], "data", axes=list(range(missing)))
    elif missing < 0:
        lengths = site.emit("Concat", [site.ints([1] * -missing, "ones"), lengths], axis=0)
    if max(rank, length) == 0:
        return site.emit("Identity", [data])
    if missing <= 0:
        shape = site.emit("Shape", [data], "shape")
    return site.emit("Tile", [data, _repeats(site, shape, lengths)])


def _repeats(site: Site, shape: Value, lengths: Value) -> Value:
    """The repeats of each axis: the requested length where its own is 1, else 1."""
    one = site.const(np.array(1), "one")
    single = site.emit("Equal", [shape, one], "single")
    flag = site.emit("Cast", [single], "flag", to=onnx.TensorProto.INT64)
    more = site.emit("Mul", [flag, site.emit("Sub", [lengths, one], "more")], "more")
    return site.emit("Add", [more, one], "repeats")


def require_unidirectional(site: Site, *factors: int) -> None:
    """Refuse inputs, such as a scale, that certainly do not broadcast to the data.

    Raises:
        Refused: one does not broadcast to the data.
    """
    sizes = site.shape(0)
    for index in factors:
        own = None if site.input(index) is None else site.shape(index)
        if sizes is None or own is None:
            continue
        pairs = list(zip(reversed(own), reversed(sizes), strict=False))
        stretched = any(one not in (None, 1, size) and size is not None for one, size in pairs)
        if len(own) > len(sizes) or stretched:
            name = site.schema.inputs[index].name
            site.refuse(f"'{name}' of shape {own} does not broadcast to the data of shape {sizes}")
