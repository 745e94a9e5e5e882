"""Recurrent cells as the operators GRU, LSTM and RNN."""

from __future__ import annotations

from ....facts.polynomial import product
from ...utils.costs import operator_pays
from ..weights import Unfit
from .cell_emission import emit_cell
from .cell_matching import Cell, find_cell
from .one_step import ONE_STEP
from .recurrence import Raised, Recurrence
from .rules import RULES
from .sink_products import hoisted
from .symbolic_cell import Interpretation

_RULES = {**RULES, **ONE_STEP}
_LOSES_NAN = "of which onnxruntime may make a number of a NaN, and keep_nan is set"


def raise_cell(recurrence: Recurrence) -> Raised | str:
    """A GRU, an LSTM or an RNN, or why it is none."""
    reasons = []
    for state in recurrence.states:
        if recurrence.fact(state.given).other is not None:
            return f"'{state.given.name}' is no tensor; vectorize-loops makes one of a list"
    for turned in (False, True):
        try:
            of = Interpretation(recurrence, _RULES, hoisted, turned)
            cell = find_cell(of)
            if recurrence.trips.keep_nan:
                raise Unfit(f"could be computed by {cell.op_type}, {_LOSES_NAN}")
            _require_gain(recurrence, cell)
            return emit_cell(of, cell)
        except Unfit as reason:
            reasons.append(str(reason))
        if recurrence.fact(recurrence.states[0].given).shape is None:
            break
    return f"it {reasons[0]}"


def _require_gain(recurrence: Recurrence, cell: Cell) -> None:
    """Find that the operator is not slower, where costs are asked; many of one step always are.

    Raises:
        Unfit: it may be.
    """
    one_step = any(node.is_op(*ONE_STEP) for node in recurrence.nodes)
    if recurrence.trips.costs == "none" or one_step:
        return
    shape = recurrence.fact(cell.hidden.given).shape
    size = None if shape is None else product(shape).value
    if not operator_pays(cell.op_type, [name for name, *_ in cell.functions], size):
        told = "so many as only run time tells" if size is None else str(size)
        raise Unfit(
            f"could be computed by {cell.op_type}, which may be slower in onnxruntime for states"
            f" of {told} numbers"
        )
