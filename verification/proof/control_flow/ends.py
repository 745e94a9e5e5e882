"""Loops that a number of trips ends, whatever their conditions are there for."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ....facts.polynomial import Dimension
from ..trip_counts import least
from . import counters
from .stacks import empty_stack

if TYPE_CHECKING:
    from ..symbolic_execution import Value
    from ..term_manager import Terms
    from ..terms import Term
    from .recurrences import Recurrence


def holds(terms: Terms, condition: Term) -> bool:
    """Whether a condition certainly holds."""
    tensor = terms.tensor(condition)
    return tensor is not None and bool(tensor.numpy().all())


def untouched(loop: Recurrence, outputs: Sequence[Value]) -> list[Value]:
    """The outputs of a loop that makes no trip."""
    count = len(loop.inits)
    stacks = [
        empty_stack(loop.execution.terms, loop.empty(k)) if k in loop.read else None
        for k in range(count, len(outputs))
    ]
    return [*loop.inits, *stacks]


def ended_by_number(
    loop: Recurrence, condition: Term, inside: counters.Loop, again: Term
) -> Recurrence | None:
    """A loop that its number of trips alone ends; None where its condition says more than that."""
    terms, trips = loop.execution.terms, loop.trips
    if holds(terms, again):
        return None if trips is None else _counted(loop, condition, trips)
    found = counters.trips_counted(terms, inside, condition, again)
    if found is None:
        return None
    most, start = found
    trips = most if trips is None else least(terms, [trips, most])
    always, trip = terms.constant(np.array(True)), loop.trip
    made = dataclasses.replace(
        loop,
        trips=trips,
        limit=terms.size(trips),
        condition=None,
        trip=lambda index, states: (always, trip(index, states)[1]),
    )
    return made if start is None else _counted(made, start, trips)


def _counted(loop: Recurrence, condition: Term, trips: Dimension) -> Recurrence:
    """A loop whose condition counts before the first trip only: it makes all its trips or none."""
    terms = loop.execution.terms
    if not holds(terms, condition):
        trips = terms.trips_if(condition, trips)
    return dataclasses.replace(loop, trips=trips, limit=terms.size(trips), condition=None)
