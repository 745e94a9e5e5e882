"""Rows of symbolic sums: the value of each column."""

import itertools
from collections.abc import Callable

from ..weights import Unfit
from .polynomials import Atoms, Sum

Part = tuple[Sum, int]
"""A sum and its number of columns; 0 for a sum that is equal in all columns."""

Row = tuple[Part, ...]


def map_parts(row: Row, make: Callable[[Sum], Sum]) -> Row:
    """Map the sum of each part."""
    return tuple([(make(total), width) for total, width in row])


def is_broad(row: Row) -> bool:
    """Test whether a row is equal in all columns."""
    return len(row) == 1 and not row[0][1]


def cut(atoms: Atoms, row: Row, start: int, stop: int) -> Row:
    """Cut some columns of a row.

    Raises:
        Unfit: columns out of range, or of a state.
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
    """Cut two rows at the same columns.

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
    triples, start = [], 0
    for stop in sorted({*ends[0], *ends[1]}):
        ((one_part, _),), ((other_part, _),) = (
            cut(atoms, one, start, stop),
            cut(atoms, other, start, stop),
        )
        triples.append((one_part, other_part, stop - start))
        start = stop
    return triples
