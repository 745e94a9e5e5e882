"""Contents of small integer tensors: sizes that operators take out of shapes and put together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .terms import ABSENT, Dim, Node, Terms

_INT64 = 7
_MOST_DEPTH = 16
_MOST_ELEMENTS = 64
_LIMIT = 1 << 63
_ARITHMETIC = ("Add", "Sub", "Mul")


def sizes_in(terms: Terms, term: int, depth: int = 0) -> tuple[Dim, ...] | None:
    """Elements of a tensor of int64 in order; None if it is none, or their number is unknown.

    A name is a size. No element is what its type cannot hold: a cast to another type, and
    arithmetic on names, are unknown.
    """
    if term == ABSENT or depth > _MOST_DEPTH or terms.fact(term).elem_type != _INT64:
        return None
    numbers = terms.numbers(term)
    if numbers is not None:
        return tuple(numbers) if len(numbers) <= _MOST_ELEMENTS else None
    for member in terms.members(term):
        node = terms.nodes[member]
        elements = _elements(terms, node, depth + 1) if node.output == 0 and node.args else None
        if elements is not None:
            return elements if len(elements) <= _MOST_ELEMENTS else None
    return None


def whole_numbers(terms: Terms, term: int) -> list[int] | None:
    """Elements of a tensor of int64 that are all known."""
    elements = sizes_in(terms, term)
    if elements is None or not all(isinstance(element, int) for element in elements):
        return None
    return [int(element) for element in elements if isinstance(element, int)]


def part_of_shape(shape: Sequence[Dim], start: int, end: int) -> tuple[Dim, ...]:
    """Sizes that a Shape returns."""
    rank = len(shape)
    first, last = (min(max(n + rank if n < 0 else n, 0), rank) for n in (start, end))
    return tuple(shape[first:last])


def _elements(terms: Terms, node: Node, depth: int) -> tuple[Dim, ...] | None:
    head, name = node.head, node.head.name
    if name == "Shape":
        shape = terms.fact(node.args[0]).shape
        if shape is None:
            return None
        return part_of_shape(shape, head.integer("start"), head.integer("end", len(shape)))
    operands = [sizes_in(terms, arg, depth) for arg in node.args[: 1 if name in _FIRST else None]]
    first = operands[0]
    if first is None:
        return None
    if name in ("Identity", "Squeeze", "Unsqueeze") or (name == "Cast" and _keeps(terms, node)):
        return first
    if name == "Concat" and None not in operands:
        return tuple(dim for elements in operands for dim in elements or ())
    if name == "Gather" and terms.fact(node.args[0]).rank == 1:
        indices = terms.numbers(node.args[1])
        fits = indices is not None and all(-len(first) <= n < len(first) for n in indices)
        return tuple([first[n] for n in indices or ()]) if fits else None
    if name == "Slice" and terms.fact(node.args[0]).rank == 1:
        return _slice(terms, node, first)
    if name in _ARITHMETIC and len(operands) == 2 and operands[1] is not None:
        return tuple(_combined(name, first, operands[1])) or None
    return None


_FIRST = {"Identity", "Squeeze", "Unsqueeze", "Cast", "Gather", "Slice"}
"""Operators that take sizes from their first operand alone."""


def _keeps(terms: Terms, node: Node) -> bool:
    return node.head.attribute("to") == _INT64 == terms.fact(node.args[0]).elem_type


def _slice(terms: Terms, node: Node, elements: tuple[Dim, ...]) -> tuple[Dim, ...] | None:
    """Part of a list of sizes: one axis, ends that are known."""
    head = node.head
    if head.version < 10:
        bounds: list[list[int] | None] = [head.integers("starts"), head.integers("ends")]
        steps: list[int] | None = [1]
    else:
        bounds = [terms.numbers(arg) for arg in node.args[1:3]]
        steps = terms.numbers(node.args[4]) if len(node.args) > 4 else [1]
    if len(bounds) != 2 or any(bound is None or len(bound) != 1 for bound in (*bounds, steps)):
        return None
    (start,), (end,), (step,) = (bound or [0] for bound in (*bounds, steps))
    return elements[start:end] if step == 1 else None


def _combined(name: str, one: Sequence[Dim], other: Sequence[Dim]) -> Iterator[Dim]:
    """Sums, differences or products of known numbers; those that wrap are unknown."""
    count = max(len(one), len(other))
    if min(len(one), len(other)) not in (1, count):
        return
    for k in range(count):
        a, b = one[k % len(one)], other[k % len(other)]
        if not isinstance(a, int) or not isinstance(b, int):
            yield None
            continue
        result = a + b if name == "Add" else a - b if name == "Sub" else a * b
        yield result if -_LIMIT <= result < _LIMIT else None
