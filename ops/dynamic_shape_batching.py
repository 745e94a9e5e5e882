"""Dynamic sizes of batched values, and reshapes to them."""

from __future__ import annotations

from collections.abc import Sequence

from ..facts.fact import integers, vector
from ..facts.polynomial import product
from ..ir import Value
from .batching import Batch, Unbatchable
from .schema_queries import ALLOWZERO

Size = int | Value
"""A number, or a vector of one int64 that holds it."""


def sizes_of(batch: Batch, index: int, start: int = 0, end: int | None = None) -> Value:
    """Vector of the sizes of some axes of an input in one iteration."""
    operand, rank = batch.require(index), batch.rank(index)
    sizes = batch.emit.add("Shape", [operand.value], batch.label("_sizes"))
    first, last, _ = slice(start, end).indices(rank)
    if not operand.batched and (first, last) == (0, rank):
        return sizes
    shift = 1 if operand.batched else 0
    bounds = [batch.vector(bound + shift) for bound in (first, max(first, last))]
    return batch.emit.add("Slice", [sizes, *bounds], batch.label("_sizes"))


def amount(batch: Batch, index: int, start: int, end: int | None) -> Size:
    """The product of the sizes of some axes of an input."""
    number = product(batch.shape(index)[start:end]).value
    if number is not None:
        return number
    return multiplied(batch, sizes_of(batch, index, start, end))


def multiplied(batch: Batch, sizes: Value) -> Value:
    """The product of a vector, a vector of one element."""
    label = batch.label("_product")
    return batch.emit.reduce("ReduceProd", sizes, (0,), label, keepdims=1, small=True)


def axis_size(batch: Batch, index: int, axis: int) -> Size:
    """The size of one axis of an input on one iteration."""
    return amount(batch, index, axis, axis + 1)


def numbered(batch: Batch, sizes: Sequence[Size]) -> Value:
    """A vector of sizes."""
    parts: list[list[int] | Value] = []
    for one in sizes:
        if not isinstance(one, int):
            parts.append(one)
        elif parts and isinstance(parts[-1], list):
            parts[-1].append(one)
        else:
            parts.append([one])
    vectors = [batch.vector(*part) if isinstance(part, list) else part for part in parts]
    if len(vectors) < 2:
        return vectors[0] if vectors else batch.vector()
    return batch.emit.once("Concat", vectors, batch.label("_shape"), axis=0)


def reshaped(batch: Batch, value: Value, sizes: Sequence[Size]) -> Value:
    """A value reshaped to these sizes; the first of them counts iterations."""
    target = numbered(batch, sizes)
    if all(isinstance(one, int) and one for one in sizes[1:]):
        # Where there are no iterations, the first axis is copied, which is empty, too.
        return batch.emit.add("Reshape", [value, target], batch.label())
    if batch.emit.opset < ALLOWZERO:
        raise Unbatchable(
            f"makes axes that may be empty, which Reshape cannot before opset {ALLOWZERO}; convert"
            " to it first"
        )
    return batch.emit.add("Reshape", [value, target], batch.label(), allowzero=1)


def reshaped_as_told(batch: Batch) -> Value:
    """The result of Reshape to a shape that is the same in every iteration."""
    value, target = batch.require(0).value, batch.fixed(1)
    assert target is not None
    length = batch.length(1)
    elements = vector(batch.require(1).fact) or [None] * (length.value or 0)
    open_ends = any(e is None or e.equals(-1) is not False for e in elements)
    if open_ends and not batch.extent.certain:
        # Nothing tells what -1 stands for where there are no elements to be counted.
        if batch.emit.opset < ALLOWZERO:
            raise Unbatchable(
                "has -1 in its new shape, which says nothing where there may be no iterations;"
                f" convert to opset {ALLOWZERO} first"
            )
        target = _resolved(batch, target, elements)
        whole = batch.emit.once("Concat", [batch.iterations, target], batch.label("_shape"), axis=0)
        return batch.emit.add("Reshape", [value, whole], batch.label(), allowzero=1)
    content = integers(batch.require(1).fact)
    numbers = None if content is None else content.tolist()
    whole = batch.emit.new_shape(batch.iterations, target, numbers, batch.label("_shape"))
    return batch.same([value, whole])[0]


def _resolved(batch: Batch, target: Value, elements: Sequence[object]) -> Value:
    """The new shape of Reshape with its -1 and 0 replaced by sizes."""
    emit, sizes, label = batch.emit, sizes_of(batch, 0), batch.label("_size")
    if not batch.node.attribute("allowzero", 0):
        copies = emit.add("Equal", [target, batch.vector(0)], label)
        missing = len(elements) - batch.rank(0)
        own = sizes_of(batch, 0, 0, len(elements))
        if missing > 0:
            own = emit.concat([own, batch.vector(*[1] * missing)], 0, label)
        target = emit.add("Where", [copies, own, target], label)
    one = batch.vector(1)
    is_open = emit.add("Less", [target, batch.vector(0)], label)
    others = multiplied(batch, emit.add("Where", [is_open, one, target], label))
    # Beside a size of 0 there are no elements, and -1 stands for 0 / 1.
    rest = emit.add("Max", [others, one], label)
    rest = emit.add("Div", [multiplied(batch, sizes), rest], label)
    return emit.add("Where", [is_open, rest, target], label)


def counted(batch: Batch) -> Value:
    """The iteration numbers, a vector."""
    end = batch.emit.scalar(batch.iterations, batch.label("_end"))
    return batch.emit.numbers(end, batch.label("_iterations"))
