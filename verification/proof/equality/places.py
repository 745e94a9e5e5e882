"""Places that indices mean: whether no two of them are one place."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from ....facts.polynomial import Dimension, product
from ....ops.axes import ONE
from ..terms.iota import single_number
from ..terms.term import Term
from .slice_pushdown import SlicePushdown

_MOST_PLACES = 256

Tuple = tuple[Dimension, ...]


class Iteration(NamedTuple):
    """Iteration of a loop: its number, a symbol, and the trip count."""

    number: Dimension
    iterations: Dimension


def are_distinct(rows: Sequence[Tuple], iteration: Iteration | None = None) -> bool:
    """Test whether tuples of indices are other places each, and those of other iterations, too.

    An index counts from the end if it is negative, so that all of an axis have one sign.
    """
    if not rows or not all(rows) or len({len(row) for row in rows}) != 1:
        return False
    columns = list(zip(*rows, strict=True))
    if iteration is not None:
        same = [column[0] for column in columns if len(set(column)) == 1]
        if not any(_moves(number, iteration) for number in same):
            return False
    offsets = [_offsets(column) for column in columns] if len(rows) > 1 else []
    distances = [column for column in offsets if column is not None]
    return len(rows) == 1 or len(set(zip(*distances, strict=True))) == len(rows)


def tuples_of(pushdown: SlicePushdown, indices: Term) -> list[Tuple]:
    """Tuples along the last axis; empty if a number is not known."""
    terms, shape = pushdown.terms, indices.fact.shape or ()
    sizes = [dim.value for dim in shape]
    if not shape or None in sizes or not 0 < math.prod(size or 0 for size in sizes) <= _MOST_PLACES:
        return []
    count, width = product(shape[:-1]), shape[-1]
    whole = terms.view(indices, (count, width))
    rows = []
    for row in range(count.value or 0):
        part = pushdown.of(whole, 0, Dimension.constant(row), ONE)
        places = [
            number_of(pushdown, pushdown.of(part, 1, Dimension.constant(column), ONE))
            for column in range(width.value or 0)
        ]
        rows.append(tuple([place for place in places if place is not None]))
        if len(rows[-1]) < len(places):
            return []
    return rows


def source_of(indices: Term) -> Term:
    """Term of which the indices are the elements, in order or repeated."""
    while indices.head.name in ("view", "Expand") and indices.args[0] is not None:
        indices = indices.args[0]
    return indices


def number_of(pushdown: SlicePushdown, term: Term) -> Dimension | None:
    """Single number, as bounds and rules decide it."""
    return single_number(pushdown.terms, pushdown.settled(pushdown.terms.view(term, ())))


def _moves(number: Dimension, iteration: Iteration) -> bool:
    """Test whether a number is another place on each iteration."""
    index, iterations = iteration
    (name,) = index.symbols
    step = (number.replaced({name: index + 1}) - number).value
    if not step:
        return False
    ends = [number.replaced({name: end}) for end in (Dimension.constant(0), iterations - 1)]
    low, high = ends if step > 0 else ends[::-1]
    # Numbers of both signs may mean one place twice: -1 is the last one.
    return low.less(0) is False or high.less(0) is True


def _offsets(column: Sequence[Dimension]) -> list[int] | None:
    """Distances of numbers of one sign from the first of them; None if these are not known."""
    offsets = [(number - column[0]).value for number in column]
    signs = {number.less(0) for number in column}
    numbers = [offset for offset in offsets if offset is not None]
    return (
        numbers if len(numbers) == len(offsets) and len(signs - {None}) == len(signs) == 1 else None
    )
