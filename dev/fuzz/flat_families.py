"""Steps of flat models by families of operators, whose versions and edges differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from flat_moves import NUMBERS, Step

if TYPE_CHECKING:
    from random_flat import Flat

FLOAT, INT32, INT64, BOOL, DOUBLE = 1, 6, 7, 9, 11
ACTIVATIONS = (
    *("Elu", "Selu", "LeakyRelu", "HardSigmoid", "Softplus", "Softsign", "Ceil"),
    *("Floor", "Sign", "Erf", "Sin", "Cos", "Atan", "Sinh", "Asinh", "Log"),
)


def activated(flat: Flat, value: str, shape: list[int]) -> None:
    """An activation with its parameters, or by its definition."""
    kind = flat.dice.choice((*ACTIVATIONS, "Clip", "PRelu", "Round"))
    if kind == "Clip" and flat.opset >= 11:
        bounds = [flat.constant(np.float32(n)) for n in sorted(flat.dice.sample(NUMBERS[1:], 2))]
        absent = flat.dice.choice((None, 0, 1))
        bounds = ["" if place == absent else bound for place, bound in enumerate(bounds)]
        flat.emit("Clip", [value, *bounds], shape)
    elif kind == "Clip":
        flat.emit("Clip", [value], shape, min=-0.5, max=1.0)
    elif kind == "PRelu":
        flat.emit("PRelu", [value, flat.constant(np.full(shape[-1:], -0.5, np.float32))], shape)
    else:
        kind = "Ceil" if kind == "Round" and flat.opset < 11 else kind
        flat.emit(kind, [value], shape)


def counted(flat: Flat, value: str, shape: list[int]) -> None:
    """Integers, computed and cast back."""
    most, least = flat.constant(np.float32(5)), flat.constant(np.float32(-5))
    kept = flat.hidden("Less", [value, most])
    kept = flat.hidden("And", [kept, flat.hidden("Greater", [value, least])])
    small = flat.hidden("Where", [kept, value, flat.constant(np.float32(3))])
    kind = flat.dice.choice((INT32, INT64))
    dtype = {INT32: np.int32, INT64: np.int64}[kind]
    number = flat.hidden("Cast", [small], to=kind)
    for _ in range(flat.dice.randint(1, 3)):
        other = flat.constant(np.array(flat.dice.choice((-2, -1, 1, 2, 7)), dtype))
        names = ("Add", "Sub", "Mul", "Div", "Neg", "Abs", *(["Mod"] * (flat.opset >= 10)))
        op_type = flat.dice.choice(names)
        operands = [number] if op_type in ("Neg", "Abs") else [number, other]
        number = flat.hidden(op_type, operands)
    flat.emit("Cast", [number], shape, to=FLOAT)


def cast(flat: Flat, value: str, shape: list[int]) -> None:
    """A type that holds more, or a truth value, and back."""
    name = flat.hidden("Cast", [value], to=flat.dice.choice((DOUBLE, BOOL, FLOAT)))
    flat.emit("Cast", [name], shape, to=FLOAT)


def ranked(flat: Flat, value: str, shape: list[int]) -> None:
    """The place of an extreme, or the largest elements."""
    if not shape:
        return
    axis, kept = flat.dice.randrange(-len(shape), len(shape)), flat.dice.randrange(2)
    axis = axis if flat.opset >= 11 else axis % len(shape)
    place = axis % len(shape)
    if flat.dice.random() < 0.5:
        kind, last = flat.dice.choice(("ArgMax", "ArgMin")), {}
        if flat.opset >= 12:
            last = {"select_last_index": flat.dice.randrange(2)}
        found = flat.hidden(kind, [value], axis=axis, keepdims=kept, **last)
        flat.emit("Cast", [found], [*shape[:place], *[1] * kept, *shape[place + 1 :]], to=FLOAT)
        return
    least = 0 if flat.opset >= 10 else 1
    if shape[place] < least:
        return
    count = flat.dice.randint(least, shape[place])
    result = [*shape[:place], count, *shape[place + 1 :]]
    operands = [value] if flat.opset < 10 else [value, flat.constant(np.array([count]))]
    own = {"k": count} if flat.opset < 10 else {}
    flat.emit("TopK", operands, result, axis=axis, **own)
    flat.nodes[-1].output.append(f"{flat.values[-1][0]}i")


def picked(flat: Flat, value: str, shape: list[int]) -> None:
    """Rows by several places, or by none."""
    if shape and 0 not in shape:
        axis = flat.dice.randrange(len(shape))
        least = -shape[axis] if flat.opset >= 11 else 0
        count = flat.dice.choice((0, 1, 2, 3))
        places = [flat.dice.randrange(least, shape[axis]) for _ in range(count)]
        held = flat.constant(np.array(places, np.int64))
        flat.emit("Gather", [value, held], [*shape[:axis], count, *shape[axis + 1 :]], axis=axis)


def repeated(flat: Flat, value: str, shape: list[int]) -> None:
    """A Tile, of no copies too, or running sums."""
    if not shape:
        return
    axis = flat.dice.randrange(len(shape))
    if flat.dice.random() < 0.5:
        counts = [1] * len(shape)
        counts[axis] = flat.dice.choice((0, 1, 2))
        result = [size * count for size, count in zip(shape, counts, strict=True)]
        flat.emit("Tile", [value, flat.constant(np.array(counts))], result)
    elif flat.opset >= 11:
        options = {name: flat.dice.randrange(2) for name in ("exclusive", "reverse")}
        flat.emit("CumSum", [value, flat.constant(np.array(axis))], shape, **options)


def normalized(flat: Flat, value: str, shape: list[int]) -> None:
    """A Softmax, a norm or a normalization."""
    if not shape:
        return
    axis = flat.dice.randrange(len(shape))
    kind = flat.dice.choice(("Softmax", "LogSoftmax", "Hardmax", "Layer", "Batch", "Lp"))
    if kind == "Layer":
        if flat.opset >= 17:
            scale = flat.constant(np.full(shape[axis:], 2, np.float32))
            flat.emit("LayerNormalization", [value, scale], shape, axis=axis)
    elif kind == "Batch":
        if len(shape) > 1:
            numbers = [np.full(shape[1], n, np.float32) for n in (2, 0.5, 1, 4)]
            flat.emit("BatchNormalization", [value, *map(flat.constant, numbers)], shape)
    elif kind == "Lp":
        flat.emit("LpNormalization", [value], shape, axis=axis, p=flat.dice.choice((1, 2)))
    else:
        flat.emit(kind, [value], shape, axis=axis)


def pooled(flat: Flat, value: str, shape: list[int]) -> None:
    """Windows of the last axis, which may reach beyond its ends."""
    if len(shape) == 3:
        kind = flat.dice.choice(("MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"))
        if kind.startswith("Global"):
            flat.emit(kind, [value], [*shape[:2], 1])
            return
        kernel, stride = flat.dice.choice((1, 2)), flat.dice.choice((1, 2))
        pads = [flat.dice.randrange(kernel), flat.dice.randrange(kernel)]
        size = (shape[2] + sum(pads) - kernel) // stride + 1
        if size > 0:
            options: dict[str, Any] = {"kernel_shape": [kernel], "strides": [stride], "pads": pads}
            if kind == "AveragePool":
                options["count_include_pad"] = flat.dice.randrange(2)
            flat.emit(kind, [value], [*shape[:2], size], **options)


def matrix(flat: Flat, value: str, shape: list[int]) -> None:
    """A Gemm, an Einsum, or one half of a matrix."""
    if len(shape) != 2:
        return
    rows, columns = shape
    kind = flat.dice.choice(("Gemm", "Gemm", "Einsum", "Trilu"))
    if kind == "Einsum" and flat.opset >= 12:
        equation, result = flat.dice.choice(
            (
                ("ij->ji", [columns, rows]),
                ("ij->i", [rows]),
                ("ij,ij->", []),
                ("ij,kj->ik", [rows] * 2),
            )
        )
        flat.emit("Einsum", [value] * (1 + equation.count(",")), result, equation=equation)
    elif kind == "Trilu" and flat.opset >= 14:
        operands = [value, flat.constant(np.array(flat.dice.choice((-1, 0, 5))))]
        flat.emit("Trilu", operands, shape, upper=flat.dice.randrange(2))
    elif kind == "Gemm":
        turned = flat.dice.randrange(2)
        weights = np.array([[flat.dice.choice(NUMBERS)] * 2] * columns, np.float32).reshape(
            columns, 2
        )
        bias = flat.dice.choice(([], [2], [rows, 1]))
        if flat.opset < 11 or flat.dice.random() < 0.7:
            bias_ = [flat.constant(np.full(bias, 0.5, np.float32))]
        else:
            bias_ = []
        held = flat.constant(weights.T.copy() if turned else weights)
        factors = {name: flat.dice.choice((0.0, 1.0, 2.0)) for name in ("alpha", "beta")}
        flat.emit("Gemm", [value, held, *bias_], [rows, 2], transB=turned, **factors)


def joined_by_sum(flat: Flat, value: str, shape: list[int]) -> None:
    """A sum, mean or extreme of one to three operands."""
    operands = [value, *(flat.another(shape) for _ in range(flat.dice.randrange(3)))]
    flat.emit(flat.dice.choice(("Sum", "Mean", "Max", "Min")), operands, shape)


def sized(flat: Flat, value: str, shape: list[int]) -> None:
    """A number of elements, or the numbers up to a size."""
    size = flat.hidden("Size", [value])
    if flat.opset >= 11 and flat.dice.random() < 0.5:
        zero, one = (flat.constant(np.array(number)) for number in (0, 1))
        numbers = flat.hidden("Range", [zero, size, one])
        flat.emit("Cast", [numbers], [int(np.prod(shape))], to=FLOAT)
    else:
        number = flat.hidden("Cast", [size], to=FLOAT)
        flat.emit("Mul", [value, number], shape)


def flattened(flat: Flat, value: str, shape: list[int]) -> None:
    """A matrix of all elements."""
    axis = flat.dice.randint(0, len(shape))
    sizes = [int(np.prod(part)) for part in (shape[:axis], shape[axis:])]
    flat.emit("Flatten", [value], sizes, axis=axis)


FAMILIES: tuple[Step, ...] = (
    *(
        activated,
        activated,
        counted,
        counted,
        cast,
        ranked,
        picked,
        repeated,
        normalized,
        normalized,
    ),
    *(pooled, matrix, matrix, joined_by_sum, sized, flattened),
)
