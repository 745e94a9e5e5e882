"""Movements of elements as one map from each element of a result to its source."""

#     Slice (Transpose (x))             y[i, j] = x[j, i + 2]
#     Reshape (Transpose (x: [n, m]))   y[i * n + j] = x[j, i]
#
# Axes of known sizes are one array of positions, on which the operators themselves run. An axis of
# another size is open: operators move it as a whole. An axis of a result is a number in mixed
# radix, whose digits are open axes of the source, sizes that repeat elements, and runs of
# positions.

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...ir import Array
from .inference import BROADCASTING, fact_of_output
from .polynomials import Dim, divide
from .rows import apply
from .sizes import positions
from .terms import ABSENT, Fact, Head, Node, Shape, Terms, carries_all, names

_MOST_ELEMENTS = 1 << 16
# Operators on single elements, of which a Mod alone may fail on floats.
SINGLE = BROADCASTING | names("""Abs Cast Ceil Cos Erf Exp Floor HardSigmoid HardSwish IsNaN Log
    Mish Neg Not Reciprocal Relu Sigmoid Sin Softplus Sqrt Sum Tanh""")


class Axis(NamedTuple):
    """Open axis of a source."""

    number: int


# Open axis, number of positions, or size along which elements are repeated.
Digit = Axis | Dim
Digits = tuple[Digit, ...]
_Origins = list[int | None]


class Move(NamedTuple):
    """Map from a result to its source: digits of each axis, and positions in other axes."""

    axes: tuple[Digits, ...]
    places: bytes

    def array(self) -> Array:
        """Positions, with one axis for each axis of the result."""
        sizes = [math.prod([d for d in axis if type(d) is int]) for axis in self.axes]
        return np.frombuffer(self.places, np.int64).reshape(sizes)


def _nothing(shape: Shape | None) -> Move | None:
    """Map that moves nothing; None for large and empty tensors and unknown sizes."""
    count = math.prod([dim for dim in shape or () if isinstance(dim, int)])
    # A map lists every position: one of a large tensor would be as large as the tensor.
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


def selection_first(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Select the rows that a movement of an operator uses before the rest of it."""
    source, move = node.args[0], node.head.key
    elem_type, shape = terms.fact(source)
    whole = _nothing(shape) if any(terms.operators(source, "MatMul", *SINGLE)) else None
    if whole is None or shape is None or not shape:
        return None
    array, places = whole.array(), move.array().reshape(-1)
    indices = [*np.unravel_index(places, array.shape)]
    # The first axis of which the movement uses only some positions.
    for axis, line in enumerate(indices):
        rows = np.unique(line)
        part = np.ascontiguousarray(array.take(rows, axis))
        axes = (*whole.axes[:axis], _merged([len(rows)]), *whole.axes[axis + 1 :])
        first = Move(axes, part.tobytes())
        if len(rows) == array.shape[axis] or first == move:
            continue
        lines = [*indices[:axis], np.searchsorted(rows, line), *indices[axis + 1 :]]
        rest = Move(move.axes, np.ravel_multi_index(lines, part.shape).astype(np.int64).tobytes())
        inner = Fact(elem_type, (*shape[:axis], len(rows), *shape[axis + 1 :]))
        chosen = terms.add(Head("moved", key=first), (source,), inner)
        return terms.add(Head("moved", key=rest), (chosen,), fact)
    return None


def in_rows(move: Move, source: Shape | None, count: Dim) -> Move | None:
    """Map of each row of a tensor that has one more axis in front."""
    first, places, axes = list[Digit]([Axis(0)]), move.array(), list[Sequence[Digit]]()
    for axis in move.axes:
        axes.append([Axis(d.number + 1) if isinstance(d, Axis) else d for d in axis])
    if isinstance(count, int):
        size = math.prod([dim for dim in source or () if isinstance(dim, int)])
        steps = np.arange(count, dtype=np.int64).reshape(-1, *[1] * places.ndim) * size
        first, places = [count], steps + places
    merged = tuple([_merged(axis) for axis in (first, *axes)])
    fits = source is not None and 0 < places.size <= _MOST_ELEMENTS
    return Move(merged, places.tobytes()) if fits else None


def movement(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Movement that an operator makes, of a source that its operand has."""
    old, derived = terms.fact(node.args[0]).shape, None
    own = terms.add(*node[:2], fact, node.output)
    # From opset 11 on axes count from the back.
    if 0 < node.head.version < 11 or old is None or fact.shape is None or None in fact.shape:
        return None
    moved = [(each.args[0], each.head.key) for each in terms.operators(node.args[0], "moved")]
    for source, move in moved or [(node.args[0], _nothing(old))]:
        if move is not None and (terms.tensor(source) is None or node.head.name == "moved"):
            result = _map_of(terms, node, fact.shape, source, move)
            derived = derived if result is None else _put(terms, source, result, fact)
            if derived is not None and terms.find(derived) != terms.find(own):
                break
    return derived


def _map_of(terms: Terms, node: Node, new: Shape, source: int, move: Move) -> Move | None:
    """Map that an operator makes of another one."""
    head, array = node.head, move.array()
    if head.name == "moved":
        axes = _composed(move, head.key)
        array = array if axes is None else array.reshape(-1)[head.key.array()]
    elif head.name in RESHAPING:
        axes = _regrouped(terms, source, move, new)
    else:
        origins = _origins(terms, node, terms.fact(node.args[0]).shape or (), new)
        touched = [axis for k, axis in enumerate(move.axes) if k not in origins]
        rows = zip(origins, new, strict=False)
        axes = [_merged([dim]) if k is None else move.axes[k] for k, dim in rows]
        ran = None if any(map(is_open, touched)) else _run(terms, node, array, origins, new)
        axes, array = (None, array) if ran is None else (axes, ran)
    if axes is None or not 0 < array.size <= _MOST_ELEMENTS:
        return None
    return Move(tuple(axes), array.astype(np.int64).tobytes())


def line_of(terms: Terms, source: int, places: Array) -> int:
    """Term of some positions of a source without open axes."""
    move = Move(tuple([_merged([size]) for size in places.shape]), places.tobytes())
    return _put(terms, source, move, Fact(terms.fact(source).elem_type, places.shape))


def is_open(axis: Digits) -> bool:
    """Test for an axis with digits that are no positions."""
    return any(not isinstance(digit, int) for digit in axis)


def _composed(inner: Move, outer: Move) -> list[Digits] | None:
    """Digits of a movement of a movement, which moves open axes as a whole."""
    opened = {k for k, axis in enumerate(inner.axes) if is_open(axis)}
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


def _origins(terms: Terms, node: Node, old: Shape, new: Shape) -> _Origins:
    """Axis of the operand for each axis of the result; None for one that is touched."""
    rank, more, axis = len(old), len(new) - len(old), node.head.integer("axis") % max(len(old), 1)
    if node.head.name == "Transpose":
        return [*(node.head.integers("perm") or range(rank)[::-1])]
    if node.head.name == "Gather":
        return [*range(axis), *[None] * (more + 1), *range(axis + 1, rank)]
    if node.head.name in ("Expand", "Tile"):
        pairs = enumerate(zip(old, new[more:], strict=False))
        return [*[None] * more, *[k if one == other else None for k, (one, other) in pairs]]
    touched = [axis]
    if node.head.name == "Slice":
        touched = [k % rank for k in terms.numbers((*node.args, ABSENT)[3]) or range(rank)]
    return [None if k in touched else k for k in range(rank)]


def _run(terms: Terms, node: Node, data: Array, origins: _Origins, new: Shape) -> Array | None:
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
    move, shape = node.head.key, terms.fact(node.args[0]).shape
    for each in terms.operators(node.args[0], "MatMul", *SINGLE) if shape is not None else ():
        if not carries_all(terms, each):
            continue
        rows = each.args if each.head.name != "MatMul" else ()
        args: list[int | None] = [_moved(terms, arg, move, shape or (), fact) for arg in rows]
        args += () if rows else _product(terms, each, move, fact)
        operands = tuple([arg for arg in args if arg is not None])
        is_whole = len(operands) == len(args) > 0
        if is_whole and fact_of_output(terms, each.head, operands, 0).shape == fact.shape:
            return terms.add(each.head, operands, fact)
    return None


def operator_first(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Movement of an operator on each row, in place of an operator on moved rows."""
    is_product, shapes = node.head.name == "MatMul", [terms.fact(arg).shape for arg in node.args]
    ranks = [3 if shape is None else len(shape) for shape in shapes]
    for place, arg in enumerate(node.args[: 1 if is_product else None]):
        rest = ranks[:place] + ranks[place + 1 :]
        for each in terms.operators(arg, "moved") if max(rest, default=0) < 2 + is_product else ():
            (source,), move, shape = each.args, each.head.key, terms.fact(each.args[0]).shape or ()
            whole, args = _nothing(shape), (*node.args[:place], source, *node.args[place + 1 :])
            inner = fact_of_output(terms, node.head, args, 0)
            rows = _nothing(inner.shape)
            # All rows stay as they are, and so do the positions in them.
            same = whole and whole.places == move.places and whole.axes[-1:] == move.axes[-1:]
            if same and shape and rows and rows.axes and (inner.shape or ())[:-1] == shape[:-1]:
                outer = Move((*move.axes[:-1], rows.axes[-1]), rows.places)
                return _put(terms, terms.add(node.head, args, inner), outer, fact)
    return None


def _moved(terms: Terms, arg: int, move: Move, shape: Shape, fact: Fact) -> int | None:
    """Moved operand of an operator on single elements."""
    elem_type, own = terms.fact(arg)
    if own == shape:
        return _put(terms, arg, move, Fact(elem_type, fact.shape))
    # One element broadcasts to whatever shape the movement makes.
    if own is not None and {*own} <= {1}:
        return arg
    sizes = [dim if isinstance(dim, int) else 1 for dim in shape]
    mixed = any(is_open(axis) and any(isinstance(d, int) for d in axis) for axis in move.axes)
    pairs = zip((own or ())[::-1], sizes[::-1], strict=False)
    count = math.prod([dim if isinstance(dim, int) else 0 for dim in own or (0,)])
    if not count or own is None or mixed or any(n not in (1, m) for n, m in pairs):
        return None
    places = np.broadcast_to(np.arange(count).reshape(own), sizes).reshape(-1)[move.array()]
    return line_of(terms, arg, places)


def _product(terms: Terms, node: Node, move: Move, fact: Fact) -> Sequence[int]:
    """Operands of a product whose rows and columns are moved on their own."""
    (one, other), shape = node.args, fact.shape or ()
    _, matrix = terms.fact(other)
    if not matrix or len(matrix) != 2 or not shape or is_open(move.axes[-1]):
        return ()
    depth, width = matrix
    # A product that fails may have rows of another size.
    is_row = (terms.fact(one).shape or ())[1:][-1:] != (depth,)
    if is_row or not (isinstance(depth, int) and isinstance(width, int)):
        return ()
    places = move.array().reshape(-1, move.array().shape[-1])
    rows, columns = places[:, :1] // width, places[0] % width
    if not np.array_equal(rows * width + columns, places):
        return ()
    lines = Move((*move.axes[:-1], _merged([depth])), (rows * depth + np.arange(depth)).tobytes())
    elem_type = terms.fact(one).elem_type
    if not np.array_equal(columns, np.arange(width)):
        other = apply(terms, "Gather", other, terms.constant(columns), axis=1)
    return _put(terms, one, lines, Fact(elem_type, (*shape[:-1], depth))), other


def movement_of_part(terms: Terms, node: Node, fact: Fact) -> int | None:
    """Moved operand of a Concat in which all positions are."""
    move, shape = node.head.key, terms.fact(node.args[0]).shape or ()
    for each in terms.operators(node.args[0], "Concat"):
        sizes, axis = [d if isinstance(d, int) else 1 for d in shape], each.head.integer("axis")
        lines, start = [*np.unravel_index(move.array().reshape(-1), sizes)], 0
        for arg in each.args if axis >= 0 else ():
            own = terms.fact(arg).shape or ()
            size = own[axis] if axis < len(own) else None
            if not isinstance(size, int) or (*own[:axis], shape[axis], *own[axis + 1 :]) != shape:
                break
            if ((start <= lines[axis]) & (lines[axis] < start + size)).all():
                sizes[axis], lines[axis] = size, lines[axis] - start
                places = np.ravel_multi_index(lines, sizes).astype(np.int64)
                return _put(terms, arg, Move(move.axes, places.tobytes()), fact)
            start += size
    return None


def _put(terms: Terms, source: int, move: Move, fact: Fact) -> int:
    """Moved term; itself where the movement moves nothing, and a constant of one."""
    tensor = terms.tensor(source)
    if tensor is not None and not any(map(is_open, move.axes)):
        values = tensor.numpy()
        return terms.constant(np.asarray(values.reshape(-1)[move.array()], values.dtype))
    same = move == _nothing(terms.fact(source).shape)
    return source if same else terms.add(Head("moved", key=move), (source,), fact)


RESHAPING = ("Reshape", "Squeeze", "Unsqueeze", "Flatten")
# Operators that move elements, and do not fail where the map is known.
MOVING = "moved", *RESHAPING[1:], *names("Expand Gather Slice Split Tile Transpose")
