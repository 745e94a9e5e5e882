"""Steps of flat models that rules and passes know: arithmetic, moves, windows, choices."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from straightline.reference.slice_ranges import slice_range

if TYPE_CHECKING:
    from random_flat import Flat

NUMBERS = (0.0, -0.0, 1.0, -1.0, 2.0, 0.5)
UNARY = ("Neg", "Abs", "Relu", "Exp", "Tanh", "Sqrt", "Reciprocal", "Floor", "Sigmoid", "Identity")
REDUCTIONS = ("Sum", "Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "SumSquare", "LogSumExp")
FAR = 2**63 - 1


def arithmetic(flat: Flat, value: str, shape: list[int]) -> None:
    """An operator with a constant, or with another value."""
    dice, number = flat.dice, flat.dice.choice(NUMBERS)
    own = dice.choice(([], [1], shape[-1:], shape, [1] * (len(shape) + 1)))
    array = np.full(own, number, np.float32)
    if dice.random() < 0.3 and array.size:
        array.reshape(-1)[0] = dice.choice(NUMBERS)
    other = flat.another(shape) if dice.random() < 0.25 else flat.constant(array)
    result = shape if other[0] != "c" else [*np.broadcast_shapes(tuple(shape), tuple(own))]
    operands = [value, other] if dice.random() < 0.6 else [other, value]
    flat.emit(dice.choice(("Add", "Sub", "Mul", "Div", "Pow", "Max", "Min")), operands, result)


def unary(flat: Flat, value: str, shape: list[int]) -> None:
    """An elementwise operator."""
    flat.emit(flat.dice.choice(UNARY), [value], shape)


def transposed(flat: Flat, value: str, shape: list[int]) -> None:
    """A Transpose, now and then around an elementwise operator."""
    perm = flat.dice.sample(range(len(shape)), len(shape))
    if not perm:
        return
    turned = flat.emit("Transpose", [value], [shape[axis] for axis in perm], perm=perm)
    if flat.dice.random() < 0.5:
        inner = flat.emit("Neg", [turned], flat.values[-1][1])
        flat.emit("Transpose", [inner], shape, perm=[perm.index(axis) for axis in range(len(perm))])


def squeezed(flat: Flat, value: str, shape: list[int]) -> None:
    """An axis that is inserted, and one that is removed."""
    axis = flat.dice.randint(0, len(shape))
    longer = [*shape[:axis], 1, *shape[axis:]]
    name = flat.listed("Unsqueeze", value, axis, longer)
    axis = flat.dice.choice([i for i, size in enumerate(longer) if size == 1])
    flat.listed("Squeeze", name, axis, [*longer[:axis], *longer[axis + 1 :]])


def gathered(flat: Flat, value: str, shape: list[int]) -> None:
    """One index along an axis, which comes back."""
    if 0 not in shape and shape:
        axis = flat.dice.randrange(len(shape))
        index = flat.constant(np.array(flat.dice.randrange(shape[axis])))
        rest = [*shape[:axis], *shape[axis + 1 :]]
        name = flat.emit("Gather", [value, index], rest, axis=axis)
        flat.listed("Unsqueeze", name, axis, [*rest[:axis], 1, *rest[axis:]])


def joined(flat: Flat, value: str, shape: list[int]) -> None:
    """A Concat of one to three operands."""
    if shape:
        axis, count = flat.dice.randrange(len(shape)), flat.dice.randint(1, 3)
        result = [size * count if i == axis else size for i, size in enumerate(shape)]
        flat.emit("Concat", [value] * count, result, axis=axis)


def reshaped(flat: Flat, value: str, shape: list[int]) -> None:
    """A Reshape or an Expand by constants."""
    sizes = flat.dice.choice((shape, [0] * len(shape), [-1]))
    if flat.dice.random() < 0.5:
        target = [int(np.prod(shape))] if sizes == [-1] else shape
        flat.emit("Reshape", [value, flat.constant(np.array(sizes, np.int64))], target)
    else:
        flat.emit("Expand", [value, flat.constant(np.ones(len(shape), np.int64))], shape)


def chosen(flat: Flat, value: str, shape: list[int]) -> None:
    """A choice by a comparison, perhaps negated."""
    other = flat.another(shape)
    condition = flat.hidden("Less", [value, other])
    for _ in range(flat.dice.randint(0, 2)):
        condition = flat.hidden("Not", [condition])
    flat.emit("Where", [condition, value, other], shape)


def multiplied(flat: Flat, value: str, shape: list[int]) -> None:
    """A product with constant weights, a bias and a factor."""
    if len(shape) >= 2:
        weights = np.array([flat.dice.choice(NUMBERS) for _ in range(shape[-1] * 2)], np.float32)
        result = [*shape[:-1], 2]
        name = flat.emit("MatMul", [value, flat.constant(weights.reshape(shape[-1], 2))], result)
        for op_type in flat.dice.sample(("Add", "Mul"), flat.dice.randint(0, 2)):
            numbers = [flat.dice.choice(NUMBERS) for _ in range(2)]
            name = flat.emit(op_type, [name, flat.constant(np.array(numbers, np.float32))], result)


def cut(flat: Flat, value: str, shape: list[int]) -> None:
    """A part of an axis, whose start and end may lie beyond it."""
    if shape:
        axis = flat.dice.randrange(len(shape))
        step = flat.dice.choice((1, 1, 1, 2, -1)) if flat.opset >= 10 else 1
        begin = flat.dice.choice((-FAR, -2, -1, 0, 1, 2, FAR))
        # onnxruntime departs where a slice goes backward from the last number.
        end = flat.dice.choice((-FAR, -2, -1, 0, 1, 2, FAR if step > 0 else 3))
        lists = {"starts": [begin], "ends": [end], "axes": [axis]}
        size = len(slice_range(shape[axis], begin, end, step))
        lists |= {"steps": [step]} if step != 1 else {}
        flat.with_lists("Slice", value, lists, [*shape[:axis], size, *shape[axis + 1 :]], 10)


def reduced(flat: Flat, value: str, shape: list[int]) -> None:
    """A reduction of an axis, which may have no element."""
    if shape:
        axis, kept = flat.dice.randrange(len(shape)), flat.dice.randrange(2)
        kind = flat.dice.choice(REDUCTIONS)
        result = [*shape[:axis], *[1] * kept, *shape[axis + 1 :]]
        since = 13 if kind == "Sum" else 18
        flat.listed(f"Reduce{kind}", value, axis, result, since, keepdims=kept)


def windowed(flat: Flat, value: str, shape: list[int]) -> None:
    """The reduction of a part."""
    cut(flat, value, shape)
    reduced(flat, *flat.values[-1])


def padded(flat: Flat, value: str, shape: list[int]) -> None:
    """More elements at the ends of axes, or fewer."""
    if shape:
        axis, rank = flat.dice.randrange(len(shape)), len(shape)
        pads = [0] * (2 * rank)
        pads[axis], pads[axis + rank] = flat.dice.choice((0, 1, 2)), flat.dice.choice((0, 1, -1))
        result = [n + pads[i] + pads[i + rank] for i, n in enumerate(shape)]
        if min(result) >= 0:
            flat.with_lists("Pad", value, {"pads": pads}, result, 11)


def parted(flat: Flat, value: str, shape: list[int]) -> None:
    """Two parts of an axis, which are joined again in some order."""
    if shape:
        axis = flat.dice.randrange(len(shape))
        first = flat.dice.randint(0, shape[axis])
        sizes = [first, shape[axis] - first]
        shapes = [[*shape[:axis], size, *shape[axis + 1 :]] for size in sizes]
        flat.with_lists("Split", value, {"split": sizes}, shapes[0], 13, axis=axis)
        parts = [flat.values[-1][0], f"{flat.values[-1][0]}b"]
        flat.nodes[-1].output.append(parts[1])
        flat.values.append((parts[1], shapes[1]))
        flat.emit("Concat", flat.dice.sample(parts, 2), shape, axis=axis)


def shaped(flat: Flat, value: str, shape: list[int]) -> None:
    """An Expand or a Reshape by the sizes of another value."""
    other, sizes = flat.dice.choice(flat.values)
    numbers = flat.hidden("Shape", [other])
    if sizes == shape and flat.dice.random() < 0.5:
        flat.emit("Reshape", [value, numbers], shape)
    elif flat.dice.random() < 0.3:
        flat.emit("ConstantOfShape", [numbers], sizes)
    elif _broadcast(shape, sizes) is not None:
        flat.emit("Expand", [value, numbers], [*(_broadcast(shape, sizes) or ())])


def _broadcast(one: list[int], other: list[int]) -> tuple[int, ...] | None:
    try:
        return np.broadcast_shapes(tuple(one), tuple(other))
    except ValueError:
        return None


Step = Callable[["Flat", str, list[int]], None]
MOVES: tuple[Step, ...] = (
    *(arithmetic, arithmetic, arithmetic, unary, unary, transposed, squeezed, gathered),
    *(joined, reshaped, chosen, multiplied, cut, cut, windowed, reduced, padded, parted, shaped),
)
