"""Iterations beside a batch axis: merged into one axis, apart again, and never empty.

An image of each iteration [N, C, H, W] is for all iterations one batch of [iterations * N, C, H,
W], of sizes that may be dynamic, with a spare row where onnxruntime cannot run an empty batch.
"""

from collections.abc import Collection, Sequence

import onnx

from ..facts.fact import integers, vector
from ..facts.magnitudes import LAST_OF_64_BITS
from ..facts.polynomial import product
from ..ir import Value
from .batching import Batch, Unbatchable
from .schema_queries import ALLOWZERO


def joined(batch: Batch, index: int) -> Value:
    """An input for all iterations, with the batch axis merged into its first axis."""
    shape = batch.shape(index)
    value, label = batch.spread(index), batch.label("_joined")
    if not shape:
        raise Unbatchable("reads a scalar where a batch is required")
    # With a batch of 1 no other size is needed.
    if shape[0] == 1:
        return batch.emit.squeeze(value, 1, label)
    rest = [axis_size(batch, index, axis) for axis in range(1, len(shape))]
    # Beside a size of 0, a -1 could be any number.
    if all(isinstance(one, int) and one for one in rest):
        return batch.emit.add("Reshape", [value, numbered(batch, [-1, *rest])], label)
    first = numbered(batch, [axis_size(batch, index, 0)])
    rows = batch.emit.add("Mul", [batch.iterations, first], label)
    return reshaped(batch, value, [rows, *rest])


def parted(batch: Batch, value: Value, index: int = 0) -> Value:
    """Split the first axis of the output into iterations and an input's first axis."""
    shape = batch.shape(index)
    if shape[0] == 1:
        return batch.emit.unsqueeze(value, 1, batch.label())
    result = batch.results[0].shape
    if result is None:
        raise Unbatchable("returns a result of unknown rank")
    numbers = [dim.value for dim in result[1:]]
    sizes = batch.emit.add("Shape", [value], batch.label("_sizes"))
    rest = [
        batch.emit.add("Gather", [sizes, batch.vector(axis)], batch.label("_size"))
        if number is None
        else number
        for axis, number in enumerate(numbers, 1)
    ]
    return reshaped(batch, value, [batch.iterations, axis_size(batch, index, 0), *rest])


def by_rows(batch: Batch, batches: Collection[int], **changed: int) -> Sequence[Value]:
    """Batching rule of an operator that works on each row of some inputs.

    Other inputs must be the same in every iteration.

    Args:
        batch: the node; no output but the first may be asked for.
        batches: those inputs.
        **changed: attributes that are others than those of the node.
    """
    if any(value is not None for value in batch.node.outputs[1:]):
        raise Unbatchable("has an output that is not computed row by row")
    inputs = [
        None
        if batch.operand(index) is None
        else (joined(batch, index) if index in batches else batch.fixed(index))
        for index in range(len(batch.operands))
    ]
    result = batch.same(inputs, **changed)[0]
    return [parted(batch, result)]


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
            f"makes axes that may be empty, which Reshape supports from opset {ALLOWZERO} on;"
            " convert to it first"
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
                "has -1 in its new shape, which is ambiguous where there may be no iterations;"
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


def with_a_row(batch: Batch, value: Value, elem_type: int) -> Value:
    """A value with a row of zeros appended if it has none."""
    if batch.extent.certain:
        return value
    if not elem_type:
        raise Unbatchable("has an input of unknown type")
    emit, label = batch.emit, batch.label("_row")
    sizes = emit.add("Shape", [value], label)
    rest = emit.slice(sizes, 1, LAST_OF_64_BITS, label)
    some = emit.add("Cast", [emit.size(value, 0, label)], label, to=onnx.TensorProto.BOOL)
    none = emit.add("Cast", [emit.add("Not", [some], label)], label, to=onnx.TensorProto.INT64)
    zero = onnx.helper.make_tensor("zero", elem_type, [1], [0])
    row = emit.add("ConstantOfShape", [emit.concat([none, rest], 0, label)], label, value=zero)
    return emit.concat([value, row], 0, label)


def without_it(batch: Batch, result: Value, value: Value) -> Value:
    """A result without the row that `with_a_row` appended.

    Args:
        value: the operand before `with_a_row`.
    """
    if batch.extent.certain:
        return result
    rows = batch.emit.size(value, 0, batch.label("_rows"))
    return batch.emit.cut(result, 0, rows, 0, batch.label())
