"""Recurrent cells as the operators GRU, LSTM and RNN."""

from __future__ import annotations

from .cells import find_cell
from .emission import emit_cell
from .hoisted import hoisted
from .interpretation import Interpretation
from .one_step import ONE_STEP
from .recurrence import Raised, Recurrence
from .rules import RULES
from .weights import Unfit

_RULES = {**RULES, **ONE_STEP}


def raise_cell(recurrence: Recurrence) -> Raised | str:
    """A GRU, an LSTM or an RNN, or why it is none."""
    reasons = []
    for state in recurrence.states:
        if recurrence.fact(state.given).other is not None:
            return f"'{state.given.name}' is no tensor; vectorize-loops makes one of a list"
    for turned in (False, True):
        try:
            of = Interpretation(recurrence, _RULES, hoisted, turned)
            return emit_cell(of, find_cell(of))
        except Unfit as reason:
            reasons.append(str(reason))
        if recurrence.fact(recurrence.states[0].given).shape is None:
            break
    return f"it {reasons[0]}"
