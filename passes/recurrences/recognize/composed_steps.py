"""Replace states whose iterations are functions that compose to one form.

s = max (a * s + b, l)              rows of (a, b, l), the initial value first

(a2, b2, l2) after (a1, b1, l1) = (a2 * a1, a2 * b1 + b2, max (a2 * l1 + b2, l2))

A parallel prefix of such rows gives all values: the first row is the constant function of the
initial value, so every prefix is a constant, which its bounds equal. Sums, products and one bound
are reductions (`scan_reductions`). Of a group, integers or truth values, resets need no prefix: the
values are those that replaced the state last, less the sum until then, plus the sum until now.
Where only the last value is read and a is loop-invariant, a weighted sum suffices:
s = a^T * s0 + sum of a^(T - 1 - t) * b[t].
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
import onnx

from ....facts.fact import Fact
from ....facts.polynomial import Dimension
from ....ir import Array, Value
from ....ops.builder import Builder
from ...utils.select import select
from ..weights import Unfit
from .coefficients import Coefficient
from .held_states import hold
from .linear_systems import raise_product, raise_system
from .recurrence import Recurrence, Replacement
from .scan_reductions import (
    accumulate,
    describe,
    is_every_read,
    is_small,
    replace_all,
)
from .semiring_systems import raise_semiring
from .step_functions import Bounded, Step, StepReader

_TYPES = onnx.TensorProto
_FLOATS = (_TYPES.FLOAT, _TYPES.DOUBLE)
_INTEGERS = (_TYPES.INT32, _TYPES.INT64)
_NUMBERS = (*_FLOATS, *_INTEGERS)
_END = np.iinfo(np.int64).max


def raise_step(recurrence: Recurrence) -> Replacement | str:
    """Replace a state that each iteration changes by a function of the normal form."""
    if len(recurrence.states) > 1:
        system = raise_system(recurrence)
        if isinstance(system, str):
            product = raise_semiring(recurrence)
            return system if isinstance(product, str) else product
        return system
    (state,) = recurrence.states
    fact = recurrence.fact(state.initial).without_content()
    if fact.elem_type not in (*_NUMBERS, _TYPES.BOOL) or fact.shape is None:
        return "it is no linear recurrence of numbers"
    constant = raise_product(recurrence)
    if constant is not None:
        return constant
    recurrence.require_room(fact)
    reader = StepReader(recurrence, fact)
    try:
        (step,) = reader.read()
    except Unfit as reason:
        return f"it is no linear recurrence: {reason}"
    return _reduction(recurrence, reader, step, fact) or _composition(
        recurrence, reader, step, fact
    )


def _reduction(
    recurrence: Recurrence, reader: StepReader, step: Step, fact: Fact
) -> Replacement | str | None:
    """Replace a state that needs no prefix of pairs; None for others."""
    plain = step.plain
    if fact.elem_type not in _FLOATS and plain.is_translation:
        return _held_sum(recurrence, reader, step, fact)
    if step.is_reset:
        return None
    if plain.is_translation:
        return accumulate(recurrence, "Add", reader.rows_of(plain.offset), fact, False)
    if plain.offset.number != 0.0:
        return None
    if not plain.is_bounded and step.factor.number is None:
        return accumulate(recurrence, "Mul", reader.rows_of(step.factor), fact, False)
    bounds = [("Max", plain.lower), ("Min", plain.upper)]
    present = [(kind, bound) for kind, bound in bounds if bound is not None]
    if step.factor.number == 1.0 and len(present) == 1:
        ((kind, bound),) = present
        return accumulate(recurrence, kind, reader.rows_of(bound), fact, False)
    return None


# Groups ------------------------------------------------------------------------------------------


def _held_sum(
    recurrence: Recurrence, reader: StepReader, step: Step, fact: Fact
) -> Replacement | str:
    """Replace a state that iterations replace, or add to, in a group: exactly."""
    (state,), emit, feeding = recurrence.states, recurrence.trips.emit, recurrence.trips.feeding
    still = step.plain.offset.number == 0.0
    sums = None if still else _sums(recurrence, reader.rows_of(step.plain.offset), fact)
    if not step.is_reset:
        if sums is None:
            return "it is no recurrence: no iteration changes it"
        start = recurrence.first_row()
        joined = _join(emit, start, sums, fact)
        what = "a parity" if fact.elem_type == _TYPES.BOOL else "CumSum"
        return replace_all(recurrence, joined, what, True)
    shape, fresh = fact.shape or (), reader.rows_of(step.fresh)
    if step.reset.single and step.reset.batched:
        flag, shape = reader.value_of(step.reset), (Dimension.constant(1),) * len(shape)
    else:
        flag = reader.rows_of(step.reset, np.dtype(bool))
    if sums is None:
        return hold(recurrence, flag, shape, fresh, fact)
    before = feeding.cut(sums, [1], [_END], [0])
    fresh = _join(emit, fresh, before, fact, less=True)
    replacement = hold(recurrence, flag, shape, fresh, fact)
    if isinstance(replacement, str):
        return replacement
    last = emit.squeeze(emit.add("Gather", [sums, feeding.trips], "last", axis=0), 0, "last")
    every = {one: _join(emit, rows, before, fact) for one, rows in replacement.every.items()}
    emit_final = replacement.final.get(state)
    if emit_final is None:
        return dataclasses.replace(replacement, every=every)
    final: Callable[[], Value] = lambda: _join(emit, emit_final(), last, fact)  # noqa: E731
    what = "a Gather of rows and a CumSum"
    return dataclasses.replace(replacement, what=what, every=every, final={state: final})


def _sums(recurrence: Recurrence, rows: Value, fact: Fact) -> Value:
    """Emit the sums before each iteration and after the last; truth values by their parity."""
    emit = recurrence.trips.emit
    truth = fact.elem_type == _TYPES.BOOL
    if truth:
        rows = emit.add("Cast", [rows], "numbers", to=_TYPES.INT64)
    first = recurrence.first_row()
    dtype = np.dtype(np.int64) if truth else onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type)
    zero = emit.constant(np.array(0, dtype), "zero")
    zeros = emit.add("Expand", [zero, emit.add("Shape", [first], "shape")], "zeros")
    sums = emit.running_sum(emit.concat([zeros, rows], 0, "rows"), "sums")
    if not truth:
        return sums
    two = emit.constant(np.array(2, np.int64), "two")
    return emit.add("Cast", [emit.add("Mod", [sums, two], "odd")], "odd", to=_TYPES.BOOL)


def _join(emit: Builder, one: Value, other: Value, fact: Fact, less: bool = False) -> Value:
    """Emit the sum in a group, or the difference."""
    truth = fact.elem_type == _TYPES.BOOL
    return emit.add("Xor" if truth else "Sub" if less else "Add", [one, other], "joined")


# Compositions ------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Composition:
    """The composition of steps, of which rows are the parts that are no fixed number.

    Attributes:
        elem_type: the element type of the state.
        parts: the names of the parts of a row: "reset", "factor", "offset", "lower", "upper".
        fixed: the factor of all iterations; None if it is a part, or 1.
        swaps: true if the factor may be negative, which swaps the two bounds.
        old: the next value of the state, which the composed values replace.
    """

    elem_type: int
    parts: tuple[str, ...]
    fixed: Value | None = None
    swaps: bool = False
    old: Value | None = None

    def __call__(
        self, emit: Builder, early: Sequence[Value], late: Sequence[Value], distance: Value
    ) -> list[Value]:
        """Compose the steps of earlier iterations with those of later ones."""
        before = dict(zip(self.parts, early, strict=True))
        after = dict(zip(self.parts, late, strict=True))
        factor = after.get("factor")
        if self.fixed is not None:
            exponent = emit.add("Cast", [distance], "exponent", to=self.elem_type)
            factor = emit.add("Pow", [self.fixed, exponent], "power")

        def scaled(value: Value) -> Value:
            return value if factor is None else emit.add("Mul", [factor, value], "scaled")

        moved = [name for name in ("offset", "lower", "upper") if name in after]
        joined: dict[str, Value] = {name: scaled(before[name]) for name in moved}
        if self.swaps:
            ends = [joined["lower"], joined["upper"]]
            joined |= {
                "lower": emit.add("Min", ends, "least"),
                "upper": emit.add("Max", ends, "most"),
            }
        if "offset" in after:
            joined = {n: emit.add("Add", [v, after["offset"]], "moved") for n, v in joined.items()}
        if "factor" in after:
            joined["factor"] = emit.add("Mul", [before["factor"], after["factor"]], "factors")
        if "lower" in after:
            for name in [n for n in ("lower", "upper") if n in joined]:
                joined[name] = emit.add("Max", [joined[name], after["lower"]], name)
        if "upper" in after:
            for name in ("lower", "upper") if self.swaps else ("upper",):
                joined[name] = emit.add("Min", [joined[name], after["upper"]], name)
        if "reset" in after:
            flag = after["reset"]
            joined = {
                name: select(emit, flag, after[name], value, self.elem_type, name, self.old)
                for name, value in joined.items()
            }
            joined["reset"] = emit.add("Or", [before["reset"], flag], "reset")
        return [joined[name] for name in self.parts]


def _obstacle(factor: Coefficient, numbers: Array | None, fact: Fact) -> str:
    """The obstacle to powers of a factor, with its elements if it is constant; empty if none."""
    if factor.number == 0.0:
        return "its next value does not depend on it"
    is_large = numbers is not None and not bool(np.all(np.abs(numbers) <= 1))
    if fact.elem_type in _FLOATS and is_large:
        return "powers of its factor may overflow"
    return ""


def _composition(
    recurrence: Recurrence, reader: StepReader, step: Step, fact: Fact
) -> Replacement | str:
    """Replace a state by a parallel prefix of its steps."""
    plain, factor = step.plain, step.factor
    obstacle = _obstacle(factor, reader.array_of(factor), fact)
    if not obstacle and fact.elem_type == _TYPES.BOOL:
        obstacle = "some next values do not depend on it"
    if obstacle:
        return f"it is no linear recurrence: {obstacle}"
    is_fixed = factor.number is None and not factor.batched and fact.elem_type in _FLOATS
    once = is_fixed and not is_every_read(recurrence) and recurrence.trips.emit.opset >= 12
    if once and not plain.is_bounded and not step.is_reset:
        return _weighted_sum(recurrence, step, reader)
    if not is_small(fact):
        return "it is a linear recurrence of a state too large for steps of doubling distance"
    parts = {"factor": factor, "offset": plain.offset, "lower": plain.lower, "upper": plain.upper}
    if is_fixed or factor.number == 1.0:
        del parts["factor"]
    if plain.is_bounded and plain.offset.number == 0.0:
        del parts["offset"]
    swaps = plain.is_bounded and not factor.positive
    if swaps:
        parts |= reader.ordered_bounds(plain)
    present = {name: part for name, part in parts.items() if part is not None}
    monoid = Composition(
        fact.elem_type,
        (*(["reset"] if step.is_reset else []), *present),
        reader.value_of(factor) if is_fixed else None,
        swaps,
        recurrence.states[0].result,
    )
    rows, facts = _rows(recurrence, reader, step, present, fact, _is_scaled(plain, monoid))
    joined = recurrence.prefixes(monoid, rows, facts)
    value = joined[-1]  # the tightest bound of a constant, or its offset
    if _is_scaled(plain, monoid):
        after = recurrence.trips.feeding.cut(value, [1], [_END], [0])
        value = recurrence.trips.emit.concat([recurrence.first_row(), after], 0, "rows")
    exact = fact.elem_type in _INTEGERS or ("offset" not in present and factor.number == 1.0)
    what = "bounds" if exact and plain.is_bounded else "linear steps"
    return replace_all(recurrence, value, f"{what} of doubling distance", exact)


def _rows(
    recurrence: Recurrence,
    reader: StepReader,
    step: Step,
    parts: dict[str, Coefficient],
    fact: Fact,
    scaled: bool,
) -> tuple[list[Value], list[Fact]]:
    """Emit the parts of all iterations, the constant function of the initial value first."""
    emit, (state,) = recurrence.trips.emit, recurrence.states
    # The initial value is the first row, of which the factor is never read.
    first = bound = recurrence.first_row()
    if scaled:
        # A power that underflows to 0 makes NaN of an infinity, such as the start of a maximum.
        limits = np.finfo(onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type))
        least, most = (emit.constant(np.array(n), "finite") for n in (limits.min, limits.max))
        bound = emit.add("Min", [emit.add("Max", [first, least], "first"), most], "first")
    rows, facts = [], []
    flag = None
    if step.is_reset:
        flag = reader.rows_of(step.reset, np.dtype(bool))
        fresh = reader.rows_of(step.fresh)
        yes = emit.constant(np.array(True), "yes")
        start = emit.add("Expand", [yes, emit.add("Shape", [first], "shape")], "first")
        rows.append(emit.concat([start, flag], 0, "resets"))
        facts.append(Fact(_TYPES.BOOL, fact.shape))
    for name, part in parts.items():
        own = reader.rows_of(part)
        if flag is not None and name != "factor":
            own = select(emit, flag, fresh, own, fact.elem_type, name, state.result)
        rows.append(emit.concat([bound if name in ("lower", "upper") else first, own], 0, "rows"))
        facts.append(fact)
    return rows, facts


def _is_scaled(plain: Bounded, monoid: Composition) -> bool:
    """Test for bounds that a factor multiplies."""
    return plain.is_bounded and (monoid.fixed is not None or "factor" in monoid.parts)


def _weighted_sum(recurrence: Recurrence, step: Step, reader: StepReader) -> Replacement:
    """Replace the last value by a sum of offsets, weighted by powers."""
    (state,), emit, feeding = recurrence.states, recurrence.trips.emit, recurrence.trips.feeding
    fact, base = recurrence.fact(state.initial), reader.value_of(step.factor)
    later = emit.add("Sub", [feeding.trips, feeding.integers(1)], "last")
    later = emit.add("Sub", [later, feeding.numbers(feeding.trips)], "later")
    powers = []
    for exponent, count in ((later, len(fact.shape or ())), (feeding.trips, 0)):
        numbers = emit.add("Cast", [exponent], "exponents", to=fact.elem_type)
        if count:
            numbers = emit.unsqueeze(numbers, tuple(range(1, 1 + count)), "exponents")
        powers.append(emit.add("Pow", [base, numbers], "powers"))
    weighted = emit.add("Mul", [powers[0], reader.rows_of(step.plain.offset)], "weighted")
    added = emit.reduce("ReduceSum", weighted, (0,), "added")
    initial = emit.add("Mul", [powers[1], feeding.same(state.initial).value], "initial")
    total = emit.add("Add", [initial, added], state.result.name)
    if not fact.shape:
        total = emit.squeeze(total, 0, state.result.name)
    what = describe("a weighted sum", False)
    return Replacement(what, False, {}, {state: lambda: total})
