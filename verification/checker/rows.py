"""Rules that are data: two patterns of operators that are equal, under conditions."""

#     Row("sum-of-negative", "spelling", ("Add", "x", ("Neg", "z")), ("Sub", "x", "z"))
#
# A pattern is the name of a term, a number that all elements of a constant are, bit for bit, or an
# operator of today's opset with default attributes on patterns. Operands that commute match in
# either order.

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import onnx

from .inference import fact_of_output
from .meaning import head_of
from .terms import ABSENT, COMMUTATIVE, Fact, Head, Node, Terms, carries_all

Kind = Literal["safe", "spelling", "weaker", "value"]
_Binding = dict[str, int]
_FLOATS = (1, 10, 11, 16)


class Row(NamedTuple):
    """Rule as data: its name, what it says of failures (`rules`), and patterns that are equal."""

    # A condition is a word of `_CONDITIONS` and names of a pattern.

    name: str
    kind: Kind
    pattern: Any
    result: Any
    conditions: tuple[str, ...] = ()
    notion: str = "bits"


_CHOICE = ("Where", ("Not", "q"), "x", "z"), ("Where", "q", "z", "x")
_LIKE, _FLOAT = ("like x",), ("like x", "floats x")
_SCALED, _SINGLE = ("Mul", ("MatMul", "x", "w"), "k"), ("floats x", "single k")
_INSIDE, _COLUMNS = ("MatMul", "x", ("Mul", "w", "k")), ("floats x", "line k", "matrix w")
_ROW = ("Gather", "x", ("Unsqueeze", "i", "a"))
_QUOTIENT, _DIVIDES = ("Mul", "x", ("Reciprocal", "y")), ("floats x", "divisor y")
_NEUTRAL = [("times-one", "Mul", 1), ("divided-by-one", "Div", 1), ("minus-zero", "Sub", 0.0)]
_NEUTRAL += [("and-true", "And", 1), ("or-false", "Or", 0)]
ROWS = (
    Row("identity", "value", ("Identity", "x"), "x"),
    *[Row(name, "value", (head, "x", end), "x", _LIKE) for name, head, end in _NEUTRAL],
    Row("plus-zero-of-integers", "value", ("Add", "x", 0), "x", ("like x", "integers x")),
    Row("plus-negative-zero", "value", ("Add", "x", -0.0), "x", _FLOAT),
    Row("choice-by-true", "value", ("Where", 1, "x", "z"), "x", _LIKE),
    Row("choice-by-false", "value", ("Where", 0, "z", "x"), "x", _LIKE),
    Row("choice-by-negation", "spelling", *_CHOICE),
    Row("xor-true", "value", ("Xor", "x", 1), ("Not", "x"), _LIKE),
    Row("row-by-vector", "value", _ROW, ("Unsqueeze", ("Gather", "x", "i"), "a"), ("front a",)),
    Row("sum-of-negative", "spelling", ("Add", "x", ("Neg", "z")), ("Sub", "x", "z")),
    Row("double-negation", "value", ("Neg", ("Neg", "x")), "x"),
    Row("double-not", "value", ("Not", ("Not", "x")), "x"),
    Row("times-minus-one", "value", ("Mul", "x", -1), ("Neg", "x"), _LIKE),
    Row("negative-product", "value", ("Neg", ("Mul", "x", "z")), ("Mul", "x", ("Neg", "z"))),
    Row("plus-zero", "value", ("Add", "x", 0.0), "x", _FLOAT, "values"),
    Row("sum-of-two", "spelling", ("Sum", "x", "z"), ("Add", "x", "z"), (), "reals"),
    Row("square", "value", ("Pow", "x", 2), ("Mul", "x", "x"), _FLOAT, "reals"),
    Row("root", "value", ("Pow", "x", 0.5), ("Sqrt", "x"), _FLOAT, "reals"),
    Row("scaled-product", "value", _SCALED, _INSIDE, _SINGLE, "reals"),
    Row("scaled-columns", "value", _SCALED, _INSIDE, _COLUMNS, "reals"),
    Row("scaled-operand", "value", ("MatMul", ("Mul", "x", "k"), "w"), _SCALED, _SINGLE, "reals"),
    Row("quotient", "value", ("Div", "x", "y"), _QUOTIENT, _DIVIDES, "reals"),
)


@functools.cache
def plain(name: str) -> Head:
    """Head of an operator of today's opset with default attributes."""
    return head_of(name, "", onnx.defs.onnx_opset_version(), (), 1)


def apply(terms: Terms, name: str, *args: int, **attributes: int | list[int]) -> int:
    """Term of an operator of today's opset with default attributes, but for some."""
    head = plain(name).changed(**attributes)
    return terms.add(head, args, fact_of_output(terms, head, args, 0))


def integers(terms: Terms, numbers: int | Sequence[int]) -> int:
    """Constant of int64."""
    return terms.constant(np.array(numbers, np.int64))


def derive_row(row: Row) -> Callable[[Terms, Node, Fact], int | None]:
    """Rule that derives the right pattern of a row where the left one matches."""
    words = [condition.split() for condition in row.conditions]

    def derive(terms: Terms, node: Node, fact: Fact) -> int | None:
        derived = None
        for binding in _in_node(terms, row.pattern, node, {}):
            if all(_CONDITIONS[w](terms, fact, *map(binding.get, args)) for w, *args in words):
                derived = build(terms, row.result, binding, fact)
                if row.notion == "reals" and terms.fact(derived).shape != fact.shape:
                    derived = None
                elif terms.find(derived) != terms.find(terms.add(*node[:2], fact, node.output)):
                    break
        return derived

    return derive


def _in_node(terms: Terms, pattern: Any, node: Node, binding: _Binding) -> Iterator[_Binding]:
    name, *operands = pattern
    if node.head != plain(name) or len(node.args) != len(operands) or ABSENT in node.args:
        return
    for args in (node.args, node.args[::-1])[: 2 if name in COMMUTATIVE else 1]:
        bindings = [binding]
        for operand, arg in zip(operands, args, strict=True):
            bindings = [more for each in bindings for more in _matches(terms, operand, arg, each)]
        yield from bindings


def _matches(terms: Terms, pattern: Any, term: int, binding: _Binding) -> Iterator[_Binding]:
    if isinstance(pattern, str):
        if terms.find(binding.get(pattern, term)) == terms.find(term):
            yield {pattern: term, **binding}
    elif isinstance(pattern, tuple):
        for node in terms.operators(term, pattern[0]):
            if carries_all(terms, node):
                yield from _in_node(terms, pattern, node, binding)
    elif is_filled(terms, term, pattern):
        yield binding


def is_filled(terms: Terms, term: int, number: float) -> bool:
    """Test for a tensor of one number, bit for bit, where it has elements."""
    parts = [each.args[0] for each in terms.operators(term, "Expand", "Slice", "moved")]
    parts += [each.args[0] for part in parts for each in terms.operators(part, "Expand", "Slice")]
    arrays = [each for each in terms.arrays((term, *parts)) if each is not None and each.size]
    for node in [n for t in (term, *parts) for n in terms.operators(t, "ConstantOfShape")]:
        value, zero = node.head.attribute("value"), np.zeros(1, np.float32)
        arrays.append(zero if value is None else onnx.numpy_helper.to_array(value))
    plain = [array for array in arrays if array.dtype.kind in "biuf"]
    pairs = [(array, np.array(number).astype(array.dtype)) for array in plain]
    return any(e == number and a.tobytes() == e.tobytes() * a.size for a, e in pairs)


def build(terms: Terms, pattern: Any, binding: _Binding, fact: Fact) -> int:
    """Term of a pattern with terms for its names; numbers have the type of a fact."""
    if isinstance(pattern, str):
        return binding[pattern]
    if not isinstance(pattern, tuple):
        kind = onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type)
        return terms.constant(np.array(pattern, kind))
    return apply(terms, pattern[0], *[build(terms, each, binding, fact) for each in pattern[1:]])


# Words on the result of the left pattern and terms in it.
_CONDITIONS: dict[str, Callable[..., bool]] = {
    "front": lambda terms, fact, term: min(terms.numbers(term) or (-1,)) >= 0,
    "divisor": lambda terms, fact, term: all(a is None or a.all() for a in terms.arrays((term,))),
    "line": lambda terms, fact, term: len(terms.fact(term).shape or ((), ())) == 1,
    "matrix": lambda terms, fact, term: len(terms.fact(term).shape or ()) > 1,
    "single": lambda terms, fact, term: terms.fact(term).shape in ((), (1,)),
    "like": lambda terms, fact, term: fact.shape == terms.fact(term).shape is not None,
    "floats": lambda terms, fact, term: terms.fact(term).elem_type in _FLOATS,
    "integers": lambda terms, fact, term: terms.fact(term).elem_type in (*range(2, 8), 12, 13),
}
