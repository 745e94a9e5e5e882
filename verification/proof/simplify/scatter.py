"""Scatter that replaces every element, in order, by its updates."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ....facts.polynomial import Dimension, product
from ....ir import Array
from ....ops.axes import ONE
from ..terms.iota import counts
from ..terms.term import Args, Head, Term, bare
from ..terms.term_manager import ZERO, Terms, rule

_CONCAT = 13
_MOST_ROWS = 16
"""Limit of rows that become pieces."""
_MOST_WRITTEN = 256
"""Limit of elements of a row at known places."""
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
    indices = bare(indices)
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


def write_axis(update: Term) -> int:
    """Axis along which an update writes one row; that of other updates is 0."""
    shape = update.fact.shape
    if not shape or not update.is_op("Concat", "ScatterElements", "ScatterND"):
        return 0
    if not update.is_op("ScatterND"):
        return int(update.head.attribute("axis", 0)) % len(shape)
    places = None if update.args[1] is None else update.args[1].fact.shape
    depth = places[-1].value if places else None
    return depth - 1 if depth and depth <= len(shape) else 0


def row_written(
    terms: Terms, state: Term, update: Term, index: Dimension, axis: int = 0
) -> Term | None:
    """Row that an update of a state writes at an index of an axis; None for other updates."""
    shape = state.fact.shape
    if not shape or update.fact.shape != shape:
        return None
    rest, one = (*shape[:axis], *shape[axis + 1 :]), (*shape[:axis], ONE, *shape[axis + 1 :])
    if update.is_op("Concat"):
        ends = (0, index), (index + 1, shape[axis] - index - 1)
        sides = [terms.narrow(state, axis, *each) for each in ends]
        if len(update.args) != 3 or [update.args[0], update.args[2]] != sides:
            return None
        return terms.view(update.operands[1], rest)
    if not update.is_op("ScatterND", "ScatterElements") or not replaces(update.head):
        return None
    data, places, rows = update.args
    if data is not state or places is None or rows is None or rows.fact.shape is None:
        return None
    if _place_written(terms, update) != index or product(rows.fact.shape) != product(rest):
        return None
    if update.is_op("ScatterElements") and not places.fact.shape == rows.fact.shape == one:
        return None
    return terms.view(rows, rest)


def write_offset(terms: Terms, update: Term, index: Dimension) -> int:
    """Distance of the row that an update writes from an index; 0 if it is not known."""
    if not update.is_op("ScatterND", "ScatterElements"):
        return 0
    place = _place_written(terms, update)
    return 0 if place is None else max((place - index).value or 0, 0)


def _place_written(terms: Terms, update: Term) -> Dimension | None:
    """Position of the row whose elements a scatter writes in order; None if unknown."""
    places, shape, axis = update.args[1], update.fact.shape, write_axis(update)
    if places is None or not shape or places.fact.shape is None:
        return None
    if update.is_op("ScatterElements") or not places.fact.shape:
        return _everywhere(places)
    last = len(places.shape) - 1
    is_joined = places.is_op("Concat") and places.head.attribute("axis") % (last + 1) == last
    columns = [_columns(terms, piece) for piece in (places.operands if is_joined else (places,))]
    numbers = [column for piece in columns for column in piece]
    sizes = [size.value for size in shape[:axis]]
    if len(numbers) != axis + 1 or None in sizes or 0 in sizes:
        return None
    count = math.prod(filter(None, sizes))
    if product(places.shape[:-1]) != count or count > _MOST_WRITTEN:
        return None
    prefixes = [*np.ndindex(*[size for size in sizes if size is not None])]
    if any(
        tuple(column) != expected
        for column, expected in zip(numbers[:-1], zip(*prefixes, strict=True), strict=axis > 0)
    ):
        return None
    place, *others = {*numbers[-1]}
    return place if isinstance(place, Dimension) and not others else None


def _columns(terms: Terms, indices: Term) -> Sequence[Sequence[Any]]:
    """Numbers of each column of indices; none if they are unknown. A column
    that one number fills has that number alone."""
    width, content = indices.shape[-1].value, indices.fact.content
    numbers = terms.numbers(indices)
    if numbers is not None and width:
        return [numbers[start::width] for start in range(width)]
    if content is not None and content.shape and width:
        return [[*column] for column in content.reshape(-1, width).T]
    number = _everywhere(indices)
    return [] if number is None or width != 1 else [[number]]


def _everywhere(term: Term) -> Dimension | None:
    """Number that all elements of an integer tensor are, if known."""
    while term.head.name in ("Expand", "view") and term.args[0] is not None:
        term = term.args[0]
    content = term.fact.content
    numbers = set() if content is None else set(content.reshape(-1))
    number = numbers.pop() if len(numbers) == 1 else None
    return number if isinstance(number, Dimension) else None
