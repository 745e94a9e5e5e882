"""Sizes for all trips that only run time tells, and values in shapes that are made of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..facts.fact import vector
from ..facts.polynomial import product
from ..ir import Value
from .batching import Batch, Unbatchable

ALLOWZERO = 14
"""From this opset on, Reshape can make an axis of size 0."""

Size = int | Value
"""A number, or a vector of one int64 that holds it."""


def sizes_of(given: Batch, index: int, start: int = 0, end: int | None = None) -> Value:
    """The sizes of some axes of an input on one trip, a vector: axes as Python slices them."""
    operand, rank = given.given(index), given.rank(index)
    sizes = given.emit.add("Shape", [operand.value], given.label("_sizes"))
    first, last, _ = slice(start, end).indices(rank)
    if not operand.batched and (first, last) == (0, rank):
        return sizes
    shift = 1 if operand.batched else 0
    bounds = [given.vector(bound + shift) for bound in (first, max(first, last))]
    return given.emit.add("Slice", [sizes, *bounds], given.label("_sizes"))


def amount(given: Batch, index: int, start: int, end: int | None) -> Size:
    """The product of the sizes of some axes of an input."""
    known = product(given.shape(index)[start:end]).value
    if known is not None:
        return known
    return multiplied(given, sizes_of(given, index, start, end))


def multiplied(given: Batch, sizes: Value) -> Value:
    """The product of a vector, a vector of one element."""
    if given.emit.opset >= 18:
        axes = given.vector(0)
        return given.emit.add("ReduceProd", [sizes, axes], given.label("_product"), keepdims=1)
    return given.emit.add("ReduceProd", [sizes], given.label("_product"), axes=[0], keepdims=1)


def axis_size(given: Batch, index: int, axis: int) -> Size:
    """The size of one axis of an input on one trip."""
    return amount(given, index, axis, axis + 1)


def numbered(given: Batch, sizes: Sequence[Size]) -> Value:
    """A vector of sizes."""
    parts: list[list[int] | Value] = []
    for one in sizes:
        if not isinstance(one, int):
            parts.append(one)
        elif parts and isinstance(parts[-1], list):
            parts[-1].append(one)
        else:
            parts.append([one])
    vectors = [given.vector(*part) if isinstance(part, list) else part for part in parts]
    if len(vectors) < 2:
        return vectors[0] if vectors else given.vector()
    return given.emit.once("Concat", vectors, given.label("_shape"), axis=0)


def reshaped(given: Batch, value: Value, sizes: Sequence[Size]) -> Value:
    """A value in another shape, of these sizes; the first of them is or follows the trips."""
    inner = sizes[1:]
    if all(isinstance(one, int) and one for one in inner):
        # Where there are no trips, the first axis is copied, which is empty, too.
        return given.emit.add("Reshape", [value, numbered(given, sizes)], given.label())
    if given.emit.opset < ALLOWZERO:
        raise Unbatchable(
            f"makes axes that may be empty, which Reshape cannot before opset {ALLOWZERO}; convert"
            " to it first"
        )
    target = numbered(given, sizes)
    return given.emit.add("Reshape", [value, target], given.label(), allowzero=1)


def reshaped_as_told(given: Batch) -> Value:
    """The result of Reshape, its second input being the same on every trip."""
    value, target = given.given(0).value, given.fixed(1)
    assert target is not None
    length = given.length(1)
    elements = vector(given.given(1).fact) or [None] * (length.value or 0)
    open_ends = any(e is None or e.equals(-1) is not False for e in elements)
    if open_ends and not given.extent.certain:
        # Nothing tells what -1 stands for where there are no elements to be counted.
        if given.emit.opset < ALLOWZERO:
            raise Unbatchable(
                "has -1 in its new shape, which says nothing where there may be no trips; convert"
                f" to opset {ALLOWZERO} first"
            )
        target = _resolved(given, target, elements)
        whole = given.emit.once("Concat", [given.trips, target], given.label("_shape"), axis=0)
        return given.emit.add("Reshape", [value, whole], given.label(), allowzero=1)
    whole = given.emit.once("Concat", [given.trips, target], given.label("_shape"), axis=0)
    return given.same([value, whole])[0]


def _resolved(given: Batch, target: Value, elements: Sequence[object]) -> Value:
    """The sizes that the second input of Reshape means: without -1 and 0."""
    emit, sizes, label = given.emit, sizes_of(given, 0), given.label("_size")
    if not given.node.attribute("allowzero", 0):
        copies = emit.add("Equal", [target, given.vector(0)], label)
        missing = len(elements) - given.rank(0)
        own = sizes_of(given, 0, 0, len(elements))
        if missing > 0:
            own = emit.concat([own, given.vector(*[1] * missing)], 0, label)
        target = emit.add("Where", [copies, own, target], label)
    one = given.vector(1)
    is_open = emit.add("Less", [target, given.vector(0)], label)
    others = multiplied(given, emit.add("Where", [is_open, one, target], label))
    rest = emit.add("Max", [others, one], label)
    rest = emit.add("Div", [multiplied(given, sizes), rest], label)
    return emit.add("Where", [is_open, rest, target], label)


def counted(given: Batch) -> Value:
    """The numbers of all trips."""
    zero, one = (given.emit.constant(np.array(n, np.int64), given.label("_n")) for n in (0, 1))
    end = given.emit.add("Reshape", [given.trips, given.vector()], given.label("_end"))
    return given.emit.add("Range", [zero, end, one], given.label("_trips"))
