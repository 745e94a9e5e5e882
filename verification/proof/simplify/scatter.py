"""Scatter that replaces every element, in order, by its updates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ....facts.polynomial import Dimension, product
from ....ir import Array
from ....ops.axes import ONE
from ..terms.iota import counts
from ..terms.term import Args, Head, Term
from ..terms.term_manager import ZERO, Terms, rule

_CONCAT = 13
_MOST_ROWS = 16
"""Limit of rows that become pieces."""
_ELEMENTS = 1024
"""Elements of indices that are read in one step."""


@rule("ScatterElements", constants=True)
def scatter_elements(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Return the updates of ScatterElements if each index is its own position along the axis. A few
    rows at known places are pieces between the other rows."""
    data, indices, updates = args
    tensor = terms.tensor(indices)
    if data is None or updates is None or tensor is None or not replaces(head):
        return None
    shape = data.fact.shape
    if not shape or updates.fact.shape is None or not tensor.is_readable:
        return None
    positions = tensor.numpy()
    axis = head.attribute("axis", 0) % len(shape)
    terms.budget.step(positions.size // _ELEMENTS)
    if updates.fact.shape == shape:
        column = np.arange(positions.shape[axis]).reshape(-1, *[1] * (len(shape) - axis - 1))
        if (positions == column).all():
            return [updates]
    return _between(terms, data, positions, updates, axis)


def _between(
    terms: Terms, data: Term, positions: Array, updates: Term, axis: int
) -> Sequence[Term] | None:
    """Rows at known places, each written once, between the other rows."""
    shape, size = data.shape, data.shape[axis].value
    across = tuple(place for place in range(len(shape)) if place != axis)
    if size is None or not 0 < positions.shape[axis] <= _MOST_ROWS:
        return None
    if any(positions.shape[place] != shape[place].value for place in across):
        return None
    column = positions.max(across)
    rows = np.where(column < 0, column + size, column).tolist()
    # What is written twice has no order.
    if (positions.min(across) != column).any() or len({*rows}) < len(rows):
        return None
    if not all(0 <= row < size for row in rows):
        return None
    pieces, end = list[Term](), 0
    for row, number in sorted(zip(rows, range(len(rows)), strict=True)):
        pieces += [terms.narrow(data, axis, end, row - end)] if row > end else []
        pieces.append(terms.narrow(updates, axis, number, 1))
        end = row + 1
    pieces += [terms.narrow(data, axis, end, size - end)] if size > end else []
    return [terms.op("Concat", _CONCAT, *pieces, axis=axis)]


@rule("ScatterND", constants=True)
def scatter_nd(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Return the updates of ScatterND between other rows if the indices are rows in order."""
    data, indices, updates = args
    if data is None or indices is None or updates is None or not replaces(head):
        return None
    shape, places = data.fact.shape, indices.fact.shape
    if not shape or places is None or len(places) < 2 or places[-1].value != 1:
        return None
    first, count = _first_of_range(terms, indices), product(places[:-1])
    if first is None or updates.fact.shape != (*places[:-1], *shape[1:]):
        return None
    updates = terms.view(updates, (count, *shape[1:]))
    start, rest = Dimension.constant(first), shape[0] - count - first
    # Rows behind the last one are out of range, and the scatter fails.
    if rest.less(0) is not False:
        return None
    ends = [terms.narrow(data, 0, *each) for each in ((ZERO, start), (start + count, rest))]
    joined = terms.op("Concat", _CONCAT, ends[0], updates, ends[1], axis=0)
    return [joined] if joined.fact.shape == shape else None


def _first_of_range(terms: Terms, indices: Term) -> int | None:
    """First one of numbers that follow each other, at least 0; None for others."""
    if counts(terms, indices):
        return 0
    while indices.head.name == "view":
        indices = indices.operands[0]
    if indices.is_op("Add") and len(indices.args) == 2:
        for one, other in (indices.operands, indices.operands[::-1]):
            numbers = terms.numbers(other)
            is_range = one.fact.shape == indices.fact.shape and counts(terms, one)
            if is_range and numbers is not None and len(numbers) == 1 and numbers[0] >= 0:
                return numbers[0]
    return None


def replaces(head: Head) -> bool:
    """Test whether a scatter replaces elements, rather than to reduce them with the updates."""
    return head.attribute("reduction") in (None, b"none", "none")


def row_written(terms: Terms, state: Term, update: Term, index: Dimension) -> Term | None:
    """Row that an update of a state writes at an index; None for other updates."""
    if update.is_op("Concat"):
        return _row_between(terms, state, update, index)
    if not update.is_op("ScatterND", "ScatterElements") or not replaces(update.head):
        return None
    data, places, rows = update.args
    if data is not state:
        return None
    if places is None or rows is None or not update.fact.shape:
        return None
    rest, content = update.fact.shape[1:], _everywhere(places)
    if content != index or rows.fact.shape is None or product(rows.fact.shape) != product(rest):
        return None
    if update.is_op("ScatterND"):
        is_row = places.fact.content is not None and places.fact.content.size == 1
        return terms.view(rows, rest) if is_row and places.fact.shape else None
    axis = update.head.attribute("axis", 0)
    same = places.fact.shape == rows.fact.shape == (ONE, *rest)
    return terms.view(rows, rest) if same and axis == 0 else None


def write_offset(update: Term, index: Dimension) -> int:
    """Distance of the row that an update writes from an index; 0 if it is not known."""
    if not update.is_op("ScatterND", "ScatterElements") or update.args[1] is None:
        return 0
    place = _everywhere(update.args[1])
    return 0 if place is None else max((place - index).value or 0, 0)


def _row_between(terms: Terms, state: Term, update: Term, index: Dimension) -> Term | None:
    """Row between the rows of a state before an index and those behind it."""
    shape = state.fact.shape
    if len(update.args) != 3 or update.head.attribute("axis") != 0 or not shape:
        return None
    before, row, behind = update.operands
    sides = [
        terms.narrow(state, 0, start, size)
        for start, size in ((0, index), (index + 1, shape[0] - index - 1))
    ]
    if [before, behind] != sides or row.fact.shape != (ONE, *shape[1:]):
        return None
    return terms.view(row, shape[1:])


def _everywhere(term: Term) -> Dimension | None:
    """Number that all elements of an integer tensor are, if known."""
    while term.head.name in ("Expand", "view") and term.args[0] is not None:
        term = term.args[0]
    content = term.fact.content
    numbers = set() if content is None else set(content.reshape(-1))
    number = numbers.pop() if len(numbers) == 1 else None
    return number if isinstance(number, Dimension) else None
