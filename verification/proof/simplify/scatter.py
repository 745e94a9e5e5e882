"""Scatter that replaces every element, in order, by its updates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..terms.iota import counts
from ..terms.term import Args, Head, Term
from ..terms.term_manager import Terms, rule

_ELEMENTS = 1024
"""Elements of indices that are read in one step."""


@rule("ScatterElements", constants=True)
def scatter_elements(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Return the updates of ScatterElements if each index is its own position along the axis."""
    data, indices, updates = args
    tensor = terms.tensor(indices)
    if data is None or updates is None or tensor is None or not replaces(head):
        return None
    shape = data.fact.shape
    if not shape or updates.fact.shape != shape or not tensor.is_readable:
        return None
    positions = tensor.numpy()
    axis = head.attribute("axis", 0) % len(shape)
    column = np.arange(positions.shape[axis]).reshape(-1, *[1] * (len(shape) - axis - 1))
    terms.budget.step(positions.size // _ELEMENTS)
    return [updates] if (positions == column).all() else None


@rule("ScatterND", constants=True)
def scatter_nd(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Return the updates of ScatterND if the indices are all rows in order."""
    data, indices, updates = args
    if data is None or indices is None or updates is None or not replaces(head):
        return None
    shape, places = data.fact.shape, indices.fact.shape
    if not shape or updates.fact.shape != shape or places is None or len(places) != 2:
        return None
    in_order = places[0] == shape[0] and places[1].value == 1 and counts(terms, indices)
    return [updates] if in_order else None


def replaces(head: Head) -> bool:
    """Test whether a scatter replaces elements, rather than to reduce them with the updates."""
    return head.attribute("reduction") in (None, b"none", "none")
