"""Gather: contiguous indices as a slice, and Gather as Where (below opset 9)."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from ....facts.polynomial import Dimension, product
from ....ir import Operator
from ..terms.term import Args, Head, Term
from ..terms.term_manager import Terms, canonical_form
from .axes import axis_from_front

ZERO = Dimension.constant(0)
_MOST_DEPTH = 16


@canonical_form("Gather")
def gather(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Rewrite Gather at contiguous indices to a slice. At indices into two halves it is Where; for
    any other Gather the axis counts from the front."""
    axis = axis_from_front(head, args)
    if axis is not None:
        return terms.apply(terms.heads.with_attributes(head, axis=axis), args, count)
    data, places = args
    if data is None or places is None:
        return None
    if places.is_op("Range") and counts(terms, places) and data.fact.shape and places.fact.shape:
        (size,) = places.fact.shape
        return [terms.narrow(data, head.attribute("axis", 0), ZERO, size)]
    if not places.is_op("Add"):
        return None
    shape, length = places.fact.shape, data.fact.shape
    if shape is None or length is None or len(length) != 1:
        return None
    size = product(shape)
    start = _first_in_order(terms, places)
    if start is not None and (length[0] - start - size).less(0) is False:
        return [terms.view(terms.narrow(data, 0, start, size), shape)]
    condition = _condition(terms, places, size) if length[0] == size * 2 else None
    if condition is None or condition.fact.shape is None:
        return None
    if product(condition.fact.shape) != size:
        return None
    first, second = (terms.narrow(data, 0, start, size) for start in (ZERO, size))
    halves = (second, first)
    if condition.is_op("Not") and condition.args[0] is not None:
        condition, halves = condition.args[0], (first, second)
    bare = condition.args[0] if condition.head.name == "view" else condition
    if bare is None or bare.fact.shape is None:
        return None
    where = terms.heads.of(Operator("Where"), {"": 16})
    operands = [terms.view(half, bare.fact.shape) for half in halves]
    result = terms.apply(where, (bare, *operands))[0]
    assert result is not None
    return [terms.view(result, shape)]


def _first_in_order(terms: Terms, places: Term) -> Dimension | None:
    """First of contiguous indices; None if they may not be contiguous."""
    if counts(terms, places):
        return ZERO
    for offset, count in (places.args, places.args[::-1]):
        start = _number(terms, offset)
        if start is None or count is None or start.less(0) is not False:
            continue
        if count.fact.shape == places.fact.shape and counts(terms, count):
            return start
    return None


def _condition(terms: Terms, places: Term, size: Dimension) -> Term | None:
    """Condition under which indices 0, 1, 2, ... move to the second half."""
    for offset, count in (places.args, places.args[::-1]):
        shapes = [None if term is None else term.fact.shape for term in (places, offset, count)]
        if offset is None or count is None or not counts(terms, count):
            continue
        if size.value != 1 and shapes[1:] != [shapes[0], shapes[0]]:
            continue
        for cast, factor in (offset.args, offset.args[::-1]) if offset.is_op("Mul") else ():
            if cast is None or _number(terms, factor) != size or not cast.is_op("Cast"):
                continue
            chosen = cast.args[0]
            if chosen is not None and chosen.fact.elem_type == onnx.TensorProto.BOOL:
                return chosen if chosen.fact.shape == offset.fact.shape else None
    return None


def _number(terms: Terms, term: Term | None) -> Dimension | None:
    """Single number or size."""
    if term is None or term.fact.content is None or term.fact.content.size != 1:
        return None
    element = term.fact.content.reshape(-1)[0]
    return element if isinstance(element, Dimension) else None


def counts(terms: Terms, term: Term, depth: int = 0) -> bool:
    """Test whether a tensor holds 0, 1, 2, ... in the order of its elements. It may be a constant,
    a Range, the iteration numbers of a loop, or rows that continue each other."""
    shape, name = term.fact.shape, term.head.name
    if shape is None or depth > _MOST_DEPTH:
        return False
    if name == "constant":
        numbers = terms.numbers(term)
        return numbers == list(range(len(numbers or ())))
    if name == "view" and term.args[0] is not None:
        return counts(terms, term.args[0], depth + 1)
    if name == "Range":
        return [terms.numbers(term.args[n]) for n in (0, 2)] == [[0], [1]]
    if name == "stacked":
        return _counts_trips(terms, term)
    pairs = (term.args, term.args[::-1]) if term.is_op("Add") else ()
    return any(_counts_on(terms, term, before, row, depth + 1) for before, row in pairs)


def _counts_trips(terms: Terms, stacked: Term) -> bool:
    """Test whether a scan output holds the iteration numbers."""
    index, declared = stacked.head.key
    number = stacked.head.parts[0]
    if number.fact.shape != () or (declared is not None and declared[1] != ()):
        return False
    return _number(terms, number) == Dimension.symbol(index)


def _counts_on(terms: Terms, both: Term, before: Term | None, row: Term | None, depth: int) -> bool:
    """Test whether a row continues the count of the rows before it."""
    if row is None or before is None or not counts(terms, row, depth):
        return False
    if terms.numbers(before) == [0]:
        return both.fact.shape == row.fact.shape
    length, starts = row.fact.shape, before.fact
    if length is None or len(length) != 1:
        return False
    if starts.content is not None and starts.shape and both.fact.shape is not None:
        elements = list(starts.content.reshape(-1))
        fits = starts.shape[-1].value == 1 and both.fact.shape == (*starts.shape[:-1], *length)
        return fits and elements == [length[0] * number for number in range(len(elements))]
    if not before.is_op("Mul"):
        return False
    for rows, factor in (before.args, before.args[::-1]):
        shape = None if rows is None else rows.fact.shape
        if rows is None or not shape or shape[-1].value != 1 or both.fact.shape is None:
            continue
        if _number(terms, factor) == length[0] and both.fact.shape == (*shape[:-1], length[0]):
            return counts(terms, rows, depth)
    return False
