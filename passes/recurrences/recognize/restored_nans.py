"""NaN that the steps of recurrences leave out.

A step over numbers alone may be right for all but a NaN of its own, such as the difference of two
infinities in one spelling of a logarithm. So the iterations run once more, all at once, on the
states that the steps gave: where that makes a NaN, the state is NaN, and so is each later one that
reads it.

Where a choice by a comparison drops a NaN, or takes it, the maximum keeps every NaN:

q = Greater (a, b)              a is NaN: b, as q is false
s' = Where (q, a, b)            b is NaN: NaN

Which states are NaN does not depend on the numbers of the others, so that it is a state of truth
values: tables of what the iteration makes of NaN and of a number tell it before all numbers.
"""

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
import onnx

from ....facts.fact import Fact
from ....ir import Value
from ....ir.lazy import lazy_property
from ....ops.batching import Operand
from ...utils.select import select
from .coefficients import ONE, Coefficient
from .finite_states import prefix_tables
from .recurrence import Recurrence
from .semirings import RESET, Place, Product, Semiring, flag_of
from .step_functions import StepReader

_BOOL = onnx.TensorProto.BOOL
_SPREAD = Semiring("Or", "And", (_BOOL,))


def with_nans(recurrence: Recurrence, source: Value, rows: Value, fact: Fact) -> Value:
    """Emit rows with the NaN of the values that made them."""
    emit = recurrence.emit
    (raw,) = recurrence.from_first([source])
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
        rows: the values of each state, the initial one first.
    """
    emit, width, after = recurrence.emit, len(recurrence.states), recurrence.again(rows)
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
            later = emit.add("IsNaN", [after[row]], "nan")
        flags[place] = emit.concat([firsts[row], later], 0, "rows")
    product, facts = Product(_SPREAD, width, tuple(flags), _BOOL), [Fact(_BOOL, fact.shape)]
    joined = recurrence.prefixes(product, list(flags.values()), facts * len(flags))
    spread = dict(zip(flags, joined, strict=True))
    nan = emit.number(np.nan, fact.elem_type, "nan")
    return [
        emit.select(spread[Place(row, width)], nan, own, "restored", fact.elem_type)
        for row, own in enumerate(rows)
    ]


class NanStates:
    """The NaN of each iteration's values, from those that NaN and numbers become.

    Args:
        recurrence: the states, of one shape.
    """

    def __init__(self, recurrence: Recurrence, fact: Fact) -> None:
        self._recurrence = recurrence
        self._fact = fact
        own = [value for node in recurrence.nodes for value in node.outputs if value is not None]
        facts = [recurrence.fact(value) for value in own]
        self._values = [
            value
            for value, each in zip(own, facts, strict=True)
            if (each.elem_type, each.shape) == (fact.elem_type, fact.shape)
        ]

    def flag(self, value: Value) -> Value | None:
        """Emit the iterations in which elements of a value are NaN; None for other values."""
        return self._flags.get(value)

    def restore(self, rows: Sequence[Value]) -> list[Value]:
        """Emit the NaN of states among rows of numbers, the initial values first."""
        recurrence, emit = self._recurrence, self._recurrence.emit
        nan, restored = emit.number(np.nan, self._fact.elem_type, "nan"), []
        for state, own in zip(recurrence.states, rows, strict=True):
            flag, after = self._flags[state.result], recurrence.feeding.after(own)
            restored.append(emit.select(flag, nan, after, "restored", self._fact.elem_type))
        return recurrence.from_first(restored)

    @lazy_property
    def _flags(self) -> dict[Value, Value]:
        recurrence, emit, states = self._recurrence, self._recurrence.emit, self._recurrence.states
        firsts = [emit.add("IsNaN", [recurrence.first_row(at)], "nan") for at in range(len(states))]
        nan, one = (emit.number(each, self._fact.elem_type, "k") for each in (np.nan, 1))
        initial = recurrence.feeding.same(states[0].initial).value
        size = emit.add("Shape", [initial], "size")
        wide = [Operand(emit.add("Expand", [k, size], "k"), False, self._fact) for k in (one, nan)]
        results = [state.result for state in states]
        columns = [
            self._replay(dict(zip([s.argument for s in states], case, strict=True)), results)
            for case in itertools.product(wide, repeat=len(states))
        ]
        before = prefix_tables(recurrence, firsts, columns)
        rows = [emit.select(flag, nan, one, "state", self._fact.elem_type) for flag in before]
        own = {
            state.argument: Operand(value, True, self._fact)
            for state, value in zip(states, rows, strict=True)
        }
        values = [*self._values, *(state.result for state in states)]
        flags = dict(zip(values, self._replay(own, values), strict=True))
        return flags | {s.argument: flag for s, flag in zip(states, before, strict=True)}

    def _replay(self, states: Mapping[Value, Operand], values: Sequence[Value]) -> list[Value]:
        recurrence, feeding = self._recurrence, self._recurrence.feeding
        operands = recurrence.iterations.replay(recurrence.nodes, states, values)
        rows = [feeding.every(operand, "next") for operand in operands]
        return [recurrence.emit.add("IsNaN", [row], "nan") for row in rows]
