"""Sums side by side: what a value is made of, column by column."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from ..weights import Unfit
from .polynomials import Atoms, Sum

Part = tuple[Sum, int]
"""A sum and how many columns it has; 0 where it is the same for all columns."""

Row = tuple[Part, ...]


def map_parts(row: Row, make: Callable[[Sum], Sum]) -> Row:
    """Something made of each part."""
    return tuple([(make(total), width) for total, width in row])


def is_broad(row: Row) -> bool:
    """Whether a row is the same for all columns."""
    return len(row) == 1 and not row[0][1]


def cut(atoms: Atoms, row: Row, start: int, stop: int) -> Row:
    """Some columns of a row.

    Raises:
        Unfit: there are not so many, or they are not followed.
    """
    if is_broad(row):
        return row
    parts: list[Part] = []
    first = 0
    for total, width in row:
        low, high = max(start - first, 0), min(stop - first, width)
        if low < high:
            whole = high - low == width
            parts.append((total if whole else atoms.cut(total, low, high), high - low))
        first += width
    if not 0 <= start < stop <= first:
        raise Unfit("is cut where it has no columns")
    return tuple(parts)


def align(atoms: Atoms, one: Row, other: Row) -> list[tuple[Sum, Sum, int]]:
    """Two rows cut at the same columns.

    Raises:
        Unfit: one has more columns than the other.
    """
    if is_broad(one):
        return [(one[0][0], total, width) for total, width in other]
    if is_broad(other):
        return [(total, other[0][0], width) for total, width in one]
    ends = [list(itertools.accumulate(width for _, width in row)) for row in (one, other)]
    if ends[0][-1] != ends[1][-1]:
        raise Unfit("is made of parts that are not of one width")
    found, start = [], 0
    for stop in sorted({*ends[0], *ends[1]}):
        ((left, _),), ((right, _),) = cut(atoms, one, start, stop), cut(atoms, other, start, stop)
        found.append((left, right, stop - start))
        start = stop
    return found
