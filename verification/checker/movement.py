"""Movements of elements as one map from each element of a result to its source.

    Slice (Transpose (x))             y[i, j] = x[j, i + 2]
    Reshape (Transpose (x: [n, m]))   y[i * n + j] = x[j, i]

Axes of known sizes are one array of positions, on which the operators themselves run. An axis of
another size is open: operators move it as a whole. An axis of a result is a number in mixed radix,
whose digits are open axes of the source, sizes that repeat elements, and runs of positions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...ir import Array
from .inference import BROADCASTING, fact_of_output
from .polynomials import Dim, divide
from .rows import plain
from .signs import carries_all
from .sizes import positions
from .terms import ABSENT, Fact, Head, Node, Shape, Terms

_MOST_ELEMENTS = 1 << 16
_FIRST = 11
"""First version of operators with axes that count from the back."""
SINGLE = BROADCASTING - {"Mod"} | {"Abs", "Cast", "Ceil", "Cos", "Erf", "Exp", "Floor", "Log"}
SINGLE |= {"Mish", "Neg", "Not", "Reciprocal", "Relu", "Sigmoid", "Sin", "Softplus", "Sqrt", "Tanh"}
"""Operators on single elements, which fail on none of floats."""


class Axis(NamedTuple):
    """Open axis of a source."""

    number: int


Digit = Axis | Dim
"""Open axis, number of positions, or size along which elements are repeated."""
Digits = tuple[Digit, ...]


class Move(NamedTuple):
    """Map from a result to its source: digits of each axis, and positions in other axes."""

    axes: tuple[Digits, ...]
    places: bytes

    def array(self) -> Array:
        """Positions, with one axis for each axis of the result."""
        sizes = [math.prod([d for d in axis if type(d) is int]) for axis in self.axes]
        return np.frombuffer(self.places, np.int64).reshape(sizes)


def source_of(terms: Terms, term: int) -> tuple[int, Move | None]:
    """Term of which another one is a movement, maybe itself."""
    for node in terms.operators(term, "moved"):
        return node.args[0], node.head.key
    return term, _nothing(terms.fact(term).shape)


def _nothing(shape: Shape | None) -> Move | None:
    """Map that moves nothing; None for large and empty tensors and unknown sizes."""
    count = math.prod([dim for dim in shape or () if isinstance(dim, int)])
    if shape is None or None in shape or not 0 < count <= _MOST_ELEMENTS:
        return None
    axes = [_merged([dim if isinstance(dim, int) else Axis(k)]) for k, dim in enumerate(shape)]
    return Move(tuple(axes), np.arange(count, dtype=np.int64).tobytes())


def _merged(digits: Sequence[Digit]) -> Digits:
    """Digits with one for adjacent numbers of positions."""
    merged: list[Digit] = []
    for digit in digits:
        if isinstance(digit, int) and merged and isinstance(merged[-1], int):
            merged[-1] *= digit
        elif digit != 1:
            merged.append(digit)
    return tuple(merged)


def movement(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Movement that an operator makes, of the source that its operand has."""
    head, old, new = node.head, terms.fact(node.args[0]).shape, fact.shape
    if 0 < head.version < _FIRST or old is None or new is None or None in new:
        return None
    source, move = source_of(terms, node.args[0])
    if move is None or terms.tensor(source) is not None:
        return None
    array: Array | None = move.array()
    if head.name == "moved":
        axes = _composed(move, head.key)
        array = None if axes is None else move.array().reshape(-1)[head.key.array()]
    elif head.name in RESHAPING:
        axes = _regrouped(terms, source, move, new)
    else:
        origins = _origins(terms, node, old, new)
        array = _run(terms, node, move.array(), origins, new)
        touched = [axis for k, axis in enumerate(move.axes) if k not in origins]
        rows = zip(origins, new, strict=False)
        axes = [_merged([dim]) if k is None else move.axes[k] for k, dim in rows]
        axes = None if any(map(_is_open, touched)) else axes
    if axes is None or array is None or not 0 < array.size <= _MOST_ELEMENTS:
        return None
    result = Move(tuple(axes), array.astype(np.int64).tobytes())
    same = result == _nothing(terms.fact(source).shape)
    return source if same else terms.add(Head("moved", key=result), (source,), fact)


def _is_open(axis: Digits) -> bool:
    return any(not isinstance(digit, int) for digit in axis)


def _composed(inner: Move, outer: Move) -> list[Digits] | None:
    """Digits of a movement of a movement, which moves open axes as a whole."""
    opened = {k for k, axis in enumerate(inner.axes) if _is_open(axis)}
    moved = {d.number for axis in outer.axes for d in axis if isinstance(d, Axis)}
    if moved != opened or any(isinstance(d, int) for k in opened for d in inner.axes[k]):
        return None
    parts = [[inner.axes[d[0]] if isinstance(d, Axis) else (d,) for d in x] for x in outer.axes]
    return [tuple([digit for part in axis for digit in part]) for axis in parts]


def _regrouped(terms: Terms, source: int, move: Move, shape: Shape) -> list[Digits] | None:
    """Digits of axes in another shape: each size is the product of its digits."""
    sizes = terms.fact(source).shape or ()
    rest = [*_merged([digit for axis in move.axes for digit in axis])][::-1]
    axes = []
    for dim in shape:
        size, digits = dim, list[Digit]()
        while rest and size != 1:
            digit = rest.pop()
            if isinstance(digit, int) and isinstance(size, int) and size and not digit % size:
                rest += [] if digit == size else [digit // size]
                digit = size
            size = divide(size, sizes[digit.number] if isinstance(digit, Axis) else digit)
            digits.append(digit)
        if size != 1:
            return None
        axes.append(_merged(digits))
    return None if rest else axes


def _origins(terms: Terms, node: Node, old: Shape, new: Shape) -> list[int | None]:
    """Axis of the operand for each axis of the result; None for one that is touched."""
    rank, more, axis = len(old), len(new) - len(old), node.head.integer("axis") % max(len(old), 1)
    if node.head.name == "Transpose":
        return [*(node.head.integers("perm") or range(rank)[::-1])]
    if node.head.name == "Gather":
        return [*range(axis), *[None] * (more + 1), *range(axis + 1, rank)]
    if node.head.name == "Expand":
        pairs = enumerate(zip(old, new[more:], strict=True))
        return [*[None] * more, *[k if one == other else None for k, (one, other) in pairs]]
    touched = [axis]
    if node.head.name == "Slice":
        touched = [k % rank for k in terms.numbers((*node.args, ABSENT)[3]) or range(rank)]
    return [None if k in touched else k for k in range(rank)]


def _run(
    terms: Terms, node: Node, data: Array, origins: list[int | None], new: Shape
) -> Array | None:
    """Positions after an operator, which runs on those before."""
    if len(origins) != len(new):
        return None
    sizes = [dim if isinstance(dim, int) else 1 for dim in new]
    sizes = [n if k is None else data.shape[k] for k, n in zip(origins, sizes, strict=True)]
    if node.head.name == "Expand":
        pairs = zip(data.shape, sizes[len(new) - data.ndim :], strict=True)
        return np.broadcast_to(data, sizes) if all(a in (1, b) for a, b in pairs) else None
    if any(arg != ABSENT and terms.tensor(arg) is None for arg in node.args[1:]):
        return None
    result = positions(node.head, [data, *terms.arrays(node.args[1:])], node.output)
    return result if result is not None and result.shape == tuple(sizes) else None


def movement_of_operands(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Operator on moved operands, in place of a movement of its result."""
    source, move, shape = node.args[0], node.head.key, terms.fact(node.args[0]).shape
    for each in terms.operators(source, "MatMul", *SINGLE) if shape is not None else ():
        parts = [_moved(terms, each, k, move, shape or (), fact) for k in range(len(each.args))]
        if None in parts or not carries_all(terms, each):
            continue
        built = [terms.add(*part) if isinstance(part, tuple) else part for part in parts]
        args = tuple([arg for arg in built if arg is not None])
        if fact_of_output(terms, each.head, args, 0).shape == fact.shape:
            return terms.add(each.head, args, fact)
    return None


def _moved(
    terms: Terms, node: Node, place: int, move: Move, shape: Shape, fact: Fact
) -> int | tuple[Head, tuple[int, ...], Fact] | None:
    """Operand of an operator on moved operands, not built yet."""
    arg, is_product = node.args[place], node.head.name == "MatMul"
    own, elem_type = terms.fact(arg).shape, terms.fact(arg).elem_type
    if own is None:
        return None
    if not is_product and own == shape:
        return Head("moved", key=move), (arg,), Fact(elem_type, fact.shape)
    axis, rows = _rows(move, shape)
    back, is_single = axis - len(shape), not is_product and {*own} <= {1}
    if not is_single and (rows is None or (is_product and (len(own) < 2 or back < -2))):
        return None
    is_kept = back != place - 2 if is_product else len(own) < -back or own[back] == 1 != shape[axis]
    if is_single or is_kept:
        return arg
    if rows is None or not (is_product or own[back] == shape[axis]):
        return None
    head, axis = plain("Gather").changed(axis=back + len(own)), back + len(own)
    inner = (*own[:axis], len(rows), *own[axis + 1 :])
    return head, (arg, terms.constant(rows)), Fact(elem_type, inner)


def _rows(move: Move, shape: Shape) -> tuple[int, Array | None]:
    """Axis along which a movement selects rows, and their numbers."""
    old, array = _nothing(shape), move.array()
    for axis, dim in enumerate(shape) if old is not None and len(move.axes) == len(shape) else ():
        rest = [[*m.axes[:axis], *m.axes[axis + 1 :]] for m in (move, old) if m is not None]
        if (
            old is None
            or not isinstance(dim, int)
            or rest[0] != rest[1]
            or _is_open(move.axes[axis])
        ):
            continue
        line = np.moveaxis(array, axis, 0).reshape(array.shape[axis], -1)[:, 0]
        rows = np.unravel_index(line, old.array().shape)[axis]
        if np.array_equal(old.array().take(rows, axis), array):
            return axis, rows
    return 0, None


RESHAPING = ("Reshape", "Squeeze", "Unsqueeze", "Flatten")
MOVING = ("moved", *RESHAPING[1:], "Expand", "Gather", "Slice", "Split", "Transpose")
"""Operators that move elements, and do not fail where the map is known."""
