"""Flat indices for opsets that gather along one axis only."""

from __future__ import annotations

import numpy as np
import onnx

from ..ir import Value
from .node_draft import Site
from .snippets import length_of, numbers_below, reshaped

_END = np.iinfo(np.int64).max


def flat_index(site: Site, data: Value, indices: Value, depth: int) -> Value:
    """Flatten index tuples along the last axis, for `data` with merged first axes. Negative indices
    count from the back."""
    rank = len(site.shape(1) or ())
    shape = site.emit("Shape", [data], "shape")
    flat: Value | None = None
    for axis in range(depth):
        length = length_of(site, shape, axis)
        column = site.const(np.array(axis), "column")
        part = site.emit("Gather", [indices, column], "part", axis=rank - 1)
        part = from_the_front(site, part, length)
        if flat is not None:
            part = site.emit("Add", [site.emit("Mul", [flat, length]), part], "flat")
        flat = part
    assert flat is not None
    return flat


def tuples_of_elements(site: Site, axis: int, rank: int) -> Value:
    """Index tuples, along a last axis, for indices (input 1) along one axis. Along the other axes,
    an index has the position of its element."""
    indices, shape = as_int64(site, 1), site.shape(1)
    grid = None
    if shape is not None and None not in shape:
        grid = np.indices([length or 0 for length in shape], np.int64)
    if shape is not None and len(shape) != rank:
        site.refuse("its indices have another rank than its data")
    columns = []
    for place in range(rank):
        if place == axis:
            part = from_the_front(site, indices, _length(site, axis))
        elif grid is not None:
            part = site.const(grid[place], "numbers")
        else:
            around = site.emit("Shape", [indices], "around")
            part = numbers_below(site, length_of(site, around, place, rank=1))
            if place < rank - 1:
                part = site.unsqueeze(part, range(1, rank - place))
            part = site.emit("Expand", [part, around], "numbers")
        columns.append(site.unsqueeze(part, [rank]))
    return site.emit("Concat", columns, "tuples", axis=rank)


def _length(site: Site, axis: int) -> Value:
    """The length of an axis of input 0, constant where it is known."""
    length = site.length(axis)
    if length is not None:
        return site.const(np.array(length), "length")
    return length_of(site, site.emit("Shape", [site.input(0)], "shape"), axis)


def from_the_front(site: Site, indices: Value, length: Value) -> Value:
    """Indices with negative ones counted from the front."""
    negative = site.emit("Less", [indices, site.const(np.array(0), "zero")], "negative")
    wrapped = site.emit("Add", [indices, length], "wrapped")
    return site.emit("Where", [negative, wrapped, indices], "indices")


def depth_of(site: Site) -> int:
    """The length of the index tuples in input 1.

    Raises:
        Refused: it is not known.
    """
    shape = site.shape(1)
    if not shape or shape[-1] is None:
        site.refuse_unknown("flat indices need the length of the last axis of input 1, which")
    if shape[-1] == 0:
        site.refuse("flat indices cannot be made of tuples of length 0")
    return shape[-1]


def rows(site: Site, data: Value, depth: int) -> Value:
    """`data` with its first axes merged."""
    if depth == 1:
        return data
    shape = site.types.shape(data)
    rest = None if shape is None else shape[depth:]
    if rest is not None and all(rest):
        row_shape = site.ints([-1, *[length or 0 for length in rest]], "rows")
        return site.emit("Reshape", [data, row_shape], "rows")
    first = lengths(site, data, 0, depth)
    count = site.emit("ReduceProd", [first], "count", axes=[0], keepdims=1)
    around = site.emit("Concat", [count, lengths(site, data, depth)], "around", axis=0)
    return reshaped(site, data, around)


def lengths(site: Site, data: Value, first: int, end: int = _END) -> Value:
    """The lengths of a range of axes."""
    whole = site.emit("Shape", [data], "shape")
    ends = [site.ints([number], "place") for number in (first, end)]
    return site.emit("Slice", [whole, *ends], "lengths")


def as_int64(site: Site, index: int) -> Value:
    """An input of indices as 64-bit integers."""
    value = site.input(index)
    assert value is not None
    is_int64 = site.elem_type(index) == onnx.TensorProto.INT64
    return value if is_int64 else site.emit("Cast", [value], to=onnx.TensorProto.INT64)
