"""Segments of iterations on which tables of a batched loop grow evenly.

A rewrite of a loop whose first or last iteration differs holds its conditions and its positions in
constants with a row for each iteration. On a segment a row is a number or a position.
"""

import itertools
from collections.abc import Iterator

import numpy as np
import onnx

from ....facts.polynomial import Dimension
from ....facts.types import INTEGER_BITS
from ....ir import Array
from ..simplify.slices import are_alike, even_steps
from ..terms.constants import MOST_ELEMENTS
from ..terms.term import Term, descendants
from ..terms.term_manager import Terms

_MOST = 4
"""Limit of segments."""

_TABLES = frozenset([onnx.TensorProto.BOOL, *INTEGER_BITS])


def segments(terms: Terms, whole: Term, iterations: Dimension) -> list[tuple[int, Dimension]]:
    """First iteration and length of each segment; a single one if there are none or too many.

    Args:
        whole: what the rewrite computes for all iterations.
    """
    ends: set[int] = set()
    for table in _tables(terms, whole, iterations):
        ends.update(_ends(table))
        if len(ends) >= _MOST:
            return [(0, iterations)]
    if not ends or iterations.value is None:
        return [(0, iterations)]
    bounds = [0, *sorted(ends), iterations.value]
    return [(first, Dimension.constant(last - first)) for first, last in itertools.pairwise(bounds)]


def _tables(terms: Terms, whole: Term, iterations: Dimension) -> Iterator[Array]:
    """Integers and truth values with a row for each iteration."""
    for term in (
        descendants([whole]) if iterations.value is not None and iterations.value > 1 else ()
    ):
        tensor = terms.tensor(term)
        if (
            tensor is None
            or tensor.elem_type not in _TABLES
            or tensor.dims[:1] != (iterations.value,)
        ):
            continue
        if 0 < tensor.size <= MOST_ELEMENTS and tensor.is_readable:
            yield tensor.numpy()


def _ends(rows: Array) -> Iterator[int]:
    """Ends of the segments of a table, except for the last one."""
    if are_alike(rows) or (rows.dtype.kind == "i" and even_steps(rows) is not None):
        return
    flat = rows.reshape(len(rows), -1).astype(np.int64)
    steps = np.diff(flat, axis=0)
    if rows.dtype.kind != "i":
        breaks = steps.any(axis=1).nonzero()[0] + 1
        yield from breaks[:_MOST].tolist()
        return
    first = 0
    for _ in range(_MOST):
        others = (steps[first:] != steps[first]).any(axis=1).nonzero()[0]
        if not len(others):
            return
        first += int(others[0]) + 1
        yield first
        if first >= len(steps):
            return
