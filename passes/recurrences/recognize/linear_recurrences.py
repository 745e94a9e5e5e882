"""Linear recurrences: s = a * s + b, with a and b of the iteration.

Two iterations are one of the same form, a2 * (a1 * s + b1) + b2, so a parallel prefix of the pairs
(a, b) gives all values. Where only the last one is read and a is loop-invariant, a weighted sum
suffices: s = a^T * s0 + sum of a^(T - 1 - t) * b[t].
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import onnx

from ....facts.fact import Fact
from ....ir import Array, Value
from ....ops.builder import Builder
from ...scans.parallel_prefix import Monoid
from ..weights import Unfit
from .linear_states import Coefficient, Linear, LinearReader
from .linear_systems import raise_product, raise_system
from .recurrence import Recurrence, Replacement
from .scan_reductions import (
    accumulate,
    describe,
    is_every_read,
    is_small,
    replace_all,
)

_TYPES = onnx.TensorProto
_FLOATS = (_TYPES.FLOAT, _TYPES.DOUBLE)
_INTEGERS = (_TYPES.INT32, _TYPES.INT64)


def raise_linear(recurrence: Recurrence) -> Replacement | str:
    """Replace a state that is a linear function of its previous value."""
    if len(recurrence.states) > 1:
        return raise_system(recurrence)
    (state,) = recurrence.states
    fact = recurrence.fact(state.initial).without_content()
    if fact.elem_type not in (*_FLOATS, *_INTEGERS) or fact.shape is None:
        return "it is no linear recurrence of numbers"
    product = raise_product(recurrence)
    if product is not None:
        return product
    recurrence.require_room(fact)
    reader = LinearReader(recurrence, fact)
    try:
        (linear,) = reader.read()
    except Unfit as reason:
        return f"it is no linear recurrence: {reason}"
    if linear.factor.number == 1.0:
        return accumulate(recurrence, "Add", reader.rows_of(linear.offset), fact, False)
    if linear.offset.number == 0.0:
        return accumulate(recurrence, "Mul", reader.rows_of(linear.factor), fact, False)
    obstacle = _obstacle(linear.factor, reader.array_of(linear.factor), fact)
    if obstacle:
        return f"it is no linear recurrence: {obstacle}"
    return _replace(recurrence, linear, reader, fact)


def _obstacle(factor: Coefficient, numbers: Array | None, fact: Fact) -> str:
    """The obstacle to powers of a factor, with its elements if it is constant; empty if none."""
    if factor.number == 0.0:
        return "its next value does not depend on it"
    is_large = numbers is not None and not bool(np.all(np.abs(numbers) <= 1))
    if fact.elem_type in _FLOATS and is_large:
        return "powers of its factor may overflow"
    if fact.elem_type in _FLOATS and factor.resets:
        return "an iteration may replace it, and 0 times an infinity would be NaN"
    return ""


def _replace(
    recurrence: Recurrence, linear: Linear, reader: LinearReader, fact: Fact
) -> Replacement | str:
    is_fixed = not linear.factor.batched and fact.elem_type in _FLOATS
    if is_fixed and not is_every_read(recurrence) and recurrence.trips.emit.opset >= 12:
        return _weighted_sum(recurrence, linear, reader)
    if not is_small(fact):
        return "it is a linear recurrence of a state too large for steps of doubling distance"
    emit, (state,) = recurrence.trips.emit, recurrence.states
    # The initial value is the first row, of which the factor is never read.
    first = emit.unsqueeze(recurrence.trips.feeding.same(state.initial).value, 0, "first")
    parts = [linear.offset] if is_fixed else [linear.offset, linear.factor]
    rows = [emit.concat([first, reader.rows_of(part)], 0, "rows") for part in parts]
    monoid = _scaling(reader.value_of(linear.factor), fact) if is_fixed else compose
    joined, *_ = recurrence.prefixes(monoid, rows, [fact] * len(rows))
    exact = fact.elem_type in _INTEGERS
    return replace_all(recurrence, joined, "linear steps of doubling distance", exact)


def _scaling(factor: Value, fact: Fact) -> Monoid:
    """The composition of linear functions of one factor, of which rows are the offsets."""

    def monoid(
        emit: Builder, early: Sequence[Value], late: Sequence[Value], distance: Value
    ) -> list[Value]:
        exponent = emit.add("Cast", [distance], "exponent", to=fact.elem_type)
        power = emit.add("Pow", [factor, exponent], "power")
        scaled = emit.add("Mul", [power, *early], "scaled")
        return [emit.add("Add", [scaled, *late], "offsets")]

    return monoid


def compose(emit: Builder, early: Sequence[Value], late: Sequence[Value], _: Value) -> list[Value]:
    """Compose the linear functions of two ranges of iterations: offsets and factors."""
    scaled = emit.add("Mul", [late[1], early[0]], "scaled")
    return [
        emit.add("Add", [scaled, late[0]], "offsets"),
        emit.add("Mul", [early[1], late[1]], "factors"),
    ]


def _weighted_sum(recurrence: Recurrence, linear: Linear, reader: LinearReader) -> Replacement:
    """Replace the last value by a sum of offsets, weighted by powers."""
    (state,), emit, feeding = recurrence.states, recurrence.trips.emit, recurrence.trips.feeding
    fact, base = recurrence.fact(state.initial), reader.value_of(linear.factor)
    later = emit.add("Sub", [feeding.trips, feeding.integers(1)], "last")
    later = emit.add("Sub", [later, feeding.numbers(feeding.trips)], "later")
    powers = []
    for exponent, count in ((later, len(fact.shape or ())), (feeding.trips, 0)):
        numbers = emit.add("Cast", [exponent], "exponents", to=fact.elem_type)
        if count:
            numbers = emit.unsqueeze(numbers, tuple(range(1, 1 + count)), "exponents")
        powers.append(emit.add("Pow", [base, numbers], "powers"))
    weighted = emit.add("Mul", [powers[0], reader.rows_of(linear.offset)], "weighted")
    added = emit.reduce("ReduceSum", weighted, (0,), "added")
    initial = emit.add("Mul", [powers[1], feeding.same(state.initial).value], "initial")
    total = emit.add("Add", [initial, added], state.result.name)
    if not fact.shape:
        total = emit.squeeze(total, 0, state.result.name)
    what = describe("a weighted sum", False)
    return Replacement(what, False, {}, {state: lambda: total})
