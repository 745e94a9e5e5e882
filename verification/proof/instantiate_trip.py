"""What stands inside a recurrence, on one of its trips."""

from __future__ import annotations

from ...facts.polynomial import Dimension
from .substitution import Substitution, binding
from .term_manager import Terms
from .terms import Term


def on_trip(terms: Terms, recurrence: Term, part: Term, index: Dimension) -> Term:
    """A part of a recurrence on one trip: its states are those before that trip.

    Args:
        terms: where terms are made.
        recurrence: the recurrence.
        part: a term over what it binds.
        index: the number of the trip; of symbols that nothing binds.
    """
    bound = binding(recurrence)
    assert bound is not None
    place = terms.size(index)
    states = {
        state: terms.keep(terms.heads.own("state", k), (recurrence, place), state.fact)
        for k, state in enumerate(bound.states)
    }
    return Substitution(terms, states, {bound.index: index}).of(part)


def stacked_on_trip(terms: Terms, stacked: Term, index: Dimension) -> Term:
    """What a recurrence adds to what it stacks, on one trip."""
    recurrence = stacked.args[0]
    assert recurrence is not None
    return on_trip(terms, recurrence, stacked.head.parts[0], index)
