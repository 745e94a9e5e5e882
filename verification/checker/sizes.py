"""Contents of small integer tensors: sizes that operators take out of shapes and put together."""

import math
from collections.abc import Callable, Iterable, Sequence
from functools import reduce

import numpy as np
import onnx

from ...ir import Array
from .folding import computed
from .meaning import FIRST
from .polynomials import LIMIT, Dim, add, is_at_least, is_multiple_of_2_64, multiply
from .terms import ABSENT, Head, Node, Shape, Terms, names

_INT64, _BOOL, _INT32 = onnx.TensorProto.INT64, onnx.TensorProto.BOOL, onnx.TensorProto.INT32
_MOST_CLASSES, _MOST_ELEMENTS, _MOST_REPEATED = 64, 64, 1 << 12
_RANGE = range(-(1 << 31), 1 << 31)
_Read = dict[int, "Array | None"]

# Operators whose elements are those of the first operand; of all operands for Concat.
_MOVING = names("""Concat Expand Flatten Gather GatherElements GatherND Identity Reshape Slice Split
    Squeeze Tile Transpose Unsqueeze""")


def elements_in(terms: Terms, term: int, read: _Read | None = None) -> Array | None:
    """Elements of a small tensor of integers or bool: names are sizes, conditions 0 and 1."""
    if term == ABSENT or terms.fact(term).elem_type not in (_INT64, _BOOL, _INT32):
        return None
    root, read = terms.find(term), {} if read is None else read
    if root in terms.elements or root in read:
        elements = terms.elements.get(root, read.get(root))  # some may have other names by now
        return None if elements is None else _shaped(map(terms.dim, elements.flat), elements.shape)
    if len(read) > _MOST_CLASSES:
        return None
    read[root] = None
    tensor = terms.tensor(term)
    if tensor is not None:
        if tensor.size <= _MOST_ELEMENTS:
            array = tensor.numpy()
            terms.elements[root] = _shaped(map(int, array.flat), array.shape)
        return terms.elements.get(root)
    for member in terms.members(term):
        elements = elements_of(terms, terms.nodes[member], read)
        if elements is not None:
            if terms.fact(term).elem_type == _INT32:  # it may not hold a size
                plain = [n if type(n) is int and n in _RANGE else None for n in elements.flat]
                elements = _shaped(plain, elements.shape)
            if all(element is not None for element in elements.flat):
                terms.elements[root] = elements
            read[root] = elements
            return elements
    return None


def sizes_in(terms: Terms, term: int) -> Shape | None:
    """Elements of a tensor of int64 in order; None if it is none, or their number is unknown."""
    is_list = term != ABSENT and terms.fact(term).elem_type in (_INT32, _INT64)
    elements = elements_in(terms, term) if is_list else None
    if elements is None:
        return None
    return tuple([n if isinstance(n, int) or terms.is_size(n) else None for n in elements.flat])


def elements_of(terms: Terms, node: Node, read: _Read | None = None) -> Array | None:
    """Elements of one operator, which then does not fail on its operands; None if unknown."""
    (head, args, *_), rule = node, _RULES.get(node.head.name)
    shape = terms.fact(args[0]).shape if args else None
    if head.name == "Shape" and shape is not None:
        return _list(shape[head.integer("start") : head.integer("end", len(shape))])
    if head.name == "Size" and shape is not None:
        return _shaped([multiply(*shape)], ())
    if rule is None or not args or not head.version:
        return None
    read = {} if read is None else read
    operands = [elements_in(terms, arg, read) for arg in args]
    elements = None if operands[0] is None else rule(terms, node, operands)
    return elements if elements is not None and elements.size <= _MOST_ELEMENTS else None


def _list(elements: Sequence[Dim]) -> Array:
    array = np.empty(len(elements), object)
    array[:] = elements
    return array


def _shaped(elements: Iterable[Dim], shape: tuple[int, ...]) -> Array:
    return _list([*elements]).reshape(shape)


def _ran(terms: Terms, node: Node, operands: Sequence[Array | None]) -> Array | None:
    """Run an operator on positions, and put the elements there."""
    head, moves_all = node.head, node.head.name == "Concat"
    data = [one for one in (operands if moves_all else operands[:1]) if one is not None]
    parameters = [] if moves_all else operands[1:]
    if moves_all and len(data) < len(operands):
        return None
    arrays: list[Array | None] = []
    for one in data:
        start = sum(array.size for array in arrays if array is not None)
        arrays.append(np.arange(start, start + one.size, dtype=np.int64).reshape(one.shape))
    for parameter, arg in zip(parameters, node.args[len(data) :], strict=True):
        least = -1 if head.name == "Gather" and head.version < 11 else -LIMIT - 1
        plain = parameter is not None and all(type(n) is int and n > least for n in parameter.flat)
        if arg != ABSENT and not plain:
            return None
        arrays.append(None if parameter is None else parameter.astype(np.int64))
    places = positions(head, arrays, node.output)
    pool = _list([element for one in data for element in one.flat])
    return None if places is None else pool[places.reshape(-1)].reshape(places.shape)


def positions(head: Head, arrays: Sequence[Array | None], output: int) -> Array | None:
    """Output of an operator on positions; None where it fails, or repeats many."""
    if head.name in ("Expand", "Tile"):
        every: list[list[int]] = [[] if one is None else [*one.flat] for one in (*arrays, None)]
        if math.prod([len(every[0]), *[max(int(n), 1) for n in every[1]]]) > _MOST_REPEATED:
            return None
    results = computed(head, arrays)
    return None if results is None or results[output].dtype != np.int64 else results[output]


def _filled(terms: Terms, node: Node, operands: Sequence[Array | None]) -> Array | None:
    (shape,), value = operands, node.head.attribute("value")
    is_whole = value is not None and value.data_type in (_INT64, _BOOL)
    if shape is None or not is_whole or not all(isinstance(n, int) and n >= 0 for n in shape.flat):
        return None
    results = computed(node.head, [shape.astype(np.int64)]) if math.prod(shape.flat) <= 64 else None
    return None if results is None else _shaped(map(int, results[0].flat), results[0].shape)


def _combined(terms: Terms, node: Node, operands: Sequence[Array | None]) -> Array | None:
    """Apply a function to elements of operands that broadcast, from the left."""
    arrays, function = [each for each in operands if each is not None], _FUNCTIONS[node.head.name]
    plain = node.head.name in ("Not", "Where")
    if len(arrays) < len(operands) or not (plain or node.head.version >= FIRST):
        return None
    try:
        grid = np.broadcast_arrays(*arrays)
    except ValueError:
        return None
    rows = zip(*[one.flat for one in grid], strict=True)
    results = [function(*row) if plain else reduce(function, row) for row in rows]
    numbers = [int(each) if isinstance(each, bool) else each for each in results]
    return _shaped(numbers, grid[0].shape)


def _less(a: Dim, b: Dim) -> bool | None:
    """a < b, with sizes at least 0 and below 2^63."""
    if a is None or b is None or isinstance(a, tuple) or isinstance(b, tuple):
        return None
    is_less = is_at_least(1, add(b, a, -1))
    return True if is_less else False if is_at_least(0, add(a, b, -1)) else None


def _in_order(a: Dim, b: Dim) -> tuple[Dim, Dim]:
    less, more = _less(a, b), _less(b, a)
    return (a, b) if less or more is False else (b, a) if more or less is False else (None, None)


_FUNCTIONS: dict[str, Callable[..., Dim | bool]] = {
    "Where": lambda c, x, y: x if x == y or c == 1 else y if c == 0 else None,
    "Not": lambda a: None if a is None else not a,
    "Add": add,
    "Sub": lambda a, b: add(a, b, -1),
    "Mul": multiply,
    "Div": lambda a, b: (
        a if b == 1 else a // b if type(a) is type(b) is int and a >= 0 < b else None
    ),
    "Mod": lambda a, b: a % b if type(a) is type(b) is int and b > 0 else None,
    "Max": lambda a, b: _in_order(a, b)[1],
    "Min": lambda a, b: _in_order(a, b)[0],
    "And": lambda a, b: 0 if 0 in (a, b) else None if None in (a, b) else 1,
    "Or": lambda a, b: 1 if 1 in (a, b) else None if None in (a, b) else 0,
    "Less": _less,
    "Greater": lambda a, b: _less(b, a),
    "LessOrEqual": lambda a, b: None if (more := _less(b, a)) is None else not more,
    "GreaterOrEqual": lambda a, b: None if (less := _less(a, b)) is None else not less,
    "Equal": lambda a, b: is_multiple_of_2_64(add(a, b, -1)),
}
_RULES: dict[str, Callable[[Terms, Node, Sequence["Array | None"]], "Array | None"]] = {
    **dict.fromkeys(_FUNCTIONS, _combined),
    **dict.fromkeys(_MOVING, _ran),
    "ConstantOfShape": _filled,
    "Cast": lambda t, n, read: read[0] if n.head.integer("to") in (_INT64, _INT32) else None,
}

# Operators whose elements are known where those of their operands are.
SIZE_OPERATORS = ("Shape", "Size", *_RULES)
