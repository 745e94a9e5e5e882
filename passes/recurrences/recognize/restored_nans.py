"""NaN that the steps of recurrences leave out.

A step over numbers alone may be right for all but a NaN of its own, such as the difference of two
infinities in one spelling of a logarithm. So the iterations run once more, all at once, on the
states that the steps gave: where that makes a NaN, the state is NaN, and so is each later one that
reads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import onnx

from ....facts.fact import Fact
from ....ir import Value
from ....ops.batching import Operand
from ...utils.select import select
from .coefficients import ONE, Coefficient
from .recurrence import Recurrence
from .semirings import RESET, Place, Product, Semiring, flag_of
from .step_functions import StepReader

_BOOL = onnx.TensorProto.BOOL
_SPREAD = Semiring("Or", "And", (_BOOL,))


def with_nans(recurrence: Recurrence, source: Value, rows: Value, fact: Fact) -> Value:
    """Emit rows with the NaN of the values that made them."""
    emit = recurrence.emit
    raw = emit.concat([recurrence.first_row(), source], 0, "raw")
    flag, old = emit.add("IsNaN", [raw], "nan"), recurrence.states[0].result
    return select(emit, flag, raw, rows, fact.elem_type, "restored", old)


def lost_nans(
    recurrence: Recurrence,
    reader: StepReader,
    parts: Mapping[Place, Coefficient],
    rows: Sequence[Value],
    fact: Fact,
) -> list[Value]:
    """Emit rows with the NaN that iterations make of them.

    Args:
        recurrence: the states.
        reader: the functions of the states.
        parts: the elements of the matrix of an iteration.
        rows: the values of each state, the initial one first.
        fact: the fact of each state.
    """
    iterations, states = recurrence.iterations, recurrence.states
    emit, feeding, width = iterations.emit, iterations.feeding, len(states)
    before = {
        state.argument: Operand(feeding.cut(own, [0], [-1], [0]), True, fact)
        for state, own in zip(states, rows, strict=True)
    }
    after = iterations.replay(recurrence.nodes, before, [state.result for state in states])
    flags: dict[Place, Value] = {}
    firsts = [emit.add("IsNaN", [recurrence.first_row(row)], "nan") for row in range(width)]
    for place, part in parts.items():
        row, column, is_flag = place
        if is_flag and place != RESET:
            continue
        own = part if place == RESET else parts.get(flag_of(place), ONE)
        if place == RESET or column < width:
            later = reader.rows_of(own, np.dtype(bool))
        else:
            later = emit.add("IsNaN", [feeding.every(after[row], "next")], "nan")
        flags[place] = emit.concat([firsts[row], later], 0, "rows")
    product, facts = Product(_SPREAD, width, tuple(flags), _BOOL), [Fact(_BOOL, fact.shape)]
    joined = recurrence.prefixes(product, list(flags.values()), facts * len(flags))
    spread = dict(zip(flags, joined, strict=True))
    nan = emit.number(np.nan, fact.elem_type, "nan")
    return [
        emit.select(spread[Place(row, width)], nan, own, "restored", fact.elem_type)
        for row, own in enumerate(rows)
    ]
