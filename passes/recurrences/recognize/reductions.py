"""Emissions of a single state that need no prefix of pairs: sums, extremes, rows that replace it.

| an iteration | last value | all values |
|---|---|---|
| s + e | ReduceSum, or the last row of CumSum | CumSum |
| s * e, max, min, and, or | ReduceProd, ReduceMax, ReduceMin | a parallel prefix |
| a fixed factor, s * a + e | a sum weighted by powers | a parallel prefix of pairs |
| e where c, else s | the last row of Compress, or ReduceMax of numbers | Compress, CumSum, Gather |
| e where c, else s + f, in a group | the same, less the sum until then, plus the sum until now |

The initial state is the first row, so that there is one even without iterations. CumSum adds the
rows in the order of the loop, so it is bit-exact. Integers and truth values with Xor are groups.
"""

from collections.abc import Sequence

import numpy as np
import onnx

from ....analysis.iterations.trip_count import skip_identities
from ....facts.fact import Fact
from ....facts.polynomial import product
from ....facts.types import IEEE_FLOATS, INTEGER_BITS, PLAIN_INTEGERS
from ....ir import Graph, Operator, Value
from ....ops.builder import Builder
from ....ops.schema_queries import is_defined, takes
from ...scans.parallel_prefix import MOST_STEP_BYTES, OneOperator, by_count
from ..weights import Unfit
from .coefficients import Coefficient
from .extremes import raise_best
from .intervals import Intervals
from .normal_form import Bounded, Part, Step
from .recurrence import Recurrence, Replacement
from .step_functions import StepReader

_TYPES = onnx.TensorProto
_COMMON = (*IEEE_FLOATS, *PLAIN_INTEGERS)
"""The element types with kernels of CumSum, ReduceMax and ReduceMin in runtimes."""
_SHORT = 64
"""The elements of a state from which on the number of rows does not matter."""

_ROUNDING = ("Add", "Mul")
"""The operators whose order may change bits of all but integers."""

_LAST: dict[str, tuple[str, tuple[int, ...]]] = {
    "Mul": ("ReduceProd", IEEE_FLOATS),
    "Max": ("ReduceMax", _COMMON),
    "Min": ("ReduceMin", _COMMON),
    "And": ("ReduceMin", (_TYPES.BOOL,)),
    "Or": ("ReduceMax", (_TYPES.BOOL,)),
}
"""The operator of the last value, and the element types with exact kernels in every runtime.

onnxruntime has no kernels for others, and multiplies integers as floats.
"""


_SIGN_KEEPING = ("Div", "Identity", "Mul", "Neg", "Where")


def reduce_step(
    recurrence: Recurrence, reader: StepReader, step: Step, fact: Fact
) -> Replacement | None:
    """Replace a state that needs no prefix of pairs; None for others."""
    plain, (weight,) = step.plain, step.plain.weights
    # A constant function is no recurrence: `AllIterations` has such states as plain values.
    if weight is None:
        return None
    still = is_zero(plain.offset)
    is_sum = weight.number == 1.0 and not plain.is_bounded
    if reader.modulus is not None:
        is_rest = skip_identities(recurrence.states[0].result).producer
        is_plain = is_sum and not step.is_reset and is_rest is not None and is_rest.is_op("Mod")
        is_wide = fact.elem_type == _TYPES.INT64 and Intervals(recurrence).counts()
        if not is_plain or plain.offset is None or not is_wide:
            return None
        return _rest(recurrence, reader, reader.modulus, plain.offset)
    if step.is_reset:
        if is_sum and still and step.fresh.number is not None and fact.elem_type == _TYPES.BOOL:
            return _truth(recurrence, reader, step, fact)
        if is_sum and (still or fact.elem_type in (*INTEGER_BITS, _TYPES.BOOL)):
            return _hold(recurrence, reader, step, fact)
        return None
    if is_sum and still:
        return _same_value(recurrence, reader)
    if is_sum and fact.elem_type == _TYPES.BOOL:
        sums = _sums(recurrence, reader, plain, fact)
        joined = _join(recurrence.emit, recurrence.first_row(), sums, fact)
        return replace_rows(recurrence, [joined], "a parity", True)
    kind, part = _operation(plain, reader.semiring.act)
    if is_sum:
        kind, part = "Add", plain.offset
    comparison = reader.comparison
    best = None if comparison is None else raise_best(recurrence, comparison, fact)
    if best is None and part is not None:
        is_number = comparison is not None
        return accumulate(recurrence, kind, reader.rows_of(part), fact, is_number)
    return best


def _same_value(recurrence: Recurrence, reader: StepReader) -> Replacement:
    """Replace a state that no iteration changes."""
    (state,), feeding = recurrence.states, recurrence.feeding
    initial = feeding.same(state.initial)
    # A sum with 0 loses the sign of a zero.
    exact = not reader.is_float or all(node.is_op(*_SIGN_KEEPING) for node in recurrence.nodes)
    rows = feeding.every(initial, "same")
    what = describe("the initial value", exact)
    return Replacement(what, exact, {state: rows}, {state: initial.value})


def is_zero(part: Part) -> bool:
    """Test for an absent coefficient, or the number 0."""
    return part is None or part.number == 0.0


def _operation(plain: Bounded, act: str) -> tuple[str, Part]:
    """The operation of a function with one coefficient, and that; no coefficient for others."""
    (weight,) = plain.weights
    if not is_zero(plain.offset) or weight is None:
        return "", None
    if not plain.is_bounded:
        return act, weight if weight.number is None else None
    if weight.number != 1.0 or (plain.lower is not None and plain.upper is not None):
        return "", None
    return ("Min", plain.upper) if plain.lower is None else ("Max", plain.lower)


# Reductions --------------------------------------------------------------------------------------


def accumulate(
    recurrence: Recurrence, kind: str, added: Value, fact: Fact, is_number: bool = False
) -> Replacement:
    """Replace a state by a reduction of rows, in the shape of the state.

    Args:
        kind: the operator on two rows.
        added: the row of each iteration.
        is_number: true if no row is NaN.
    """
    (state,), emit, iterations = recurrence.states, recurrence.emit, recurrence.iterations
    sums = kind == "Add" and _has_sums(fact.elem_type, emit)
    exact = kind not in _ROUNDING or fact.elem_type in INTEGER_BITS
    joins = iterations.options.costs == "none" or _joins_initial(recurrence, fact)
    if sums and fact.elem_type in IEEE_FLOATS and not joins:
        return _reduced_sums(recurrence, added, exact)
    if sums and fact.elem_type in INTEGER_BITS and _starts_at_zero(recurrence):
        every = emit.running_sum(added, f"{state.argument.name}_sums")
        return Replacement("CumSum", True, {state: every})
    (rows,) = recurrence.from_first([added])
    if sums:
        joined = emit.running_sum(rows, f"{state.argument.name}_sums")
        exact = exact or (fact.elem_type != _TYPES.FLOAT16 and _is_one_operation(recurrence))
        return replace_rows(recurrence, [joined], "CumSum", exact)
    reduction, types = _LAST.get(kind, ("", ()))
    if fact.elem_type not in types or is_every_read(recurrence):
        if not is_small(fact):
            raise Unfit(
                f"it is a running {kind}, which no operator computes, and steps of doubling"
                f" distance pay for states of at most {MOST_STEP_BYTES} bytes"
            )
        (joined,) = recurrence.prefixes(OneOperator(Operator(kind)), [rows], [fact])
        return replace_rows(recurrence, [joined], f"{kind} in steps of doubling distance", exact)
    is_number = is_number and not may_be_nan(state.initial)
    last = _last(emit, reduction, rows, fact.elem_type, is_number)
    return Replacement(describe(reduction, exact), exact, {}, {state: last})


def _has_sums(elem_type: int, emit: Builder) -> bool:
    """Test for running sums of an element type."""
    return elem_type in _COMMON and takes("CumSum", 0, elem_type, emit.opset)


def _rest(
    recurrence: Recurrence, reader: StepReader, modulus: Coefficient, offset: Coefficient
) -> Replacement:
    """Replace the rest of a sum by the rest of all sums."""
    emit = recurrence.emit
    (rows,) = recurrence.from_first([reader.rows_of(offset)])
    rest = emit.add("Mod", [emit.running_sum(rows, "sums"), reader.value_of(modulus)], "rest")
    # Without iterations the state is not a rest.
    after = recurrence.feeding.after(rest)
    return Replacement("CumSum and Mod", True, {recurrence.states[0]: after})


def _is_one_operation(recurrence: Recurrence) -> bool:
    """Test for an iteration that is one addition of a value.

    Another operator adds a 0 that is none of its own, which loses the sign of a zero: Max (s, s).
    """
    nodes = [node for node in recurrence.nodes if not node.is_op("Identity")]
    return len(nodes) == 1 and nodes[0].is_op("Add", "Sub", "Sum") and len(nodes[0].inputs) == 2


def may_be_nan(initial: Value) -> bool:
    """Test for an initial value that is not a constant without NaN."""
    return initial.array is None or bool(np.isnan(initial.array).any())


def _last(emit: Builder, reduction: str, rows: Value, elem_type: int, is_number: bool) -> Value:
    """Emit a reduction that keeps NaN, also of truth values, as numbers.

    onnxruntime's reductions may lose a NaN, while Max and Min propagate it.
    """
    if elem_type == _TYPES.BOOL:
        numbers = emit.add("Cast", [rows], "numbers", to=_TYPES.INT32)
        largest = emit.reduce(reduction, numbers, (0,), "last_number")
        return emit.add("Cast", [largest], "last", to=_TYPES.BOOL)
    # A product of NaN is NaN in every kernel; onnxruntime's ReduceMax may skip one.
    last = emit.reduce(reduction, rows, (0,), "last")
    if reduction == "ReduceProd" or elem_type not in IEEE_FLOATS or is_number:
        return last
    flags = emit.add("Cast", [emit.add("IsNaN", [rows], "nan")], "nan", to=_TYPES.FLOAT)
    count = emit.reduce("ReduceSum", flags, (0,), "nans")
    any_nan = emit.add("Cast", [count], "any_nan", to=_TYPES.BOOL)
    return emit.add("Where", [any_nan, emit.number(np.nan, elem_type, "nan"), last], "last")


def _joins_initial(recurrence: Recurrence, fact: Fact) -> bool:
    """Test for an initial state that is faster as a row than as a summand.

    onnxruntime adds it row by row, which takes as long for rows of few elements as for others.
    """
    size = product(fact.shape or ()).value
    is_short = size is not None and 1 < size < _SHORT
    return is_short and is_every_read(recurrence) and not _starts_at_zero(recurrence)


def _starts_at_zero(recurrence: Recurrence) -> bool:
    constant = recurrence.states[0].initial.constant
    return constant is not None and not np.any(constant.numpy())


def _reduced_sums(recurrence: Recurrence, rows: Value, exact: bool) -> Replacement:
    """Replace a state of floats by sums, and add the initial state last.

    One node for an initial state of 0, else two. onnxruntime's ReduceSum of integers departs from
    the specification (`ops.departures`), so these are always the last row of a CumSum.
    """
    (state,), emit = recurrence.states, recurrence.emit
    sums = emit.running_sum(rows, state.result.name)
    total = emit.reduce("ReduceSum", rows, (0,), state.result.name)
    if not _starts_at_zero(recurrence):
        before = recurrence.feeding.same(state.initial).value
        sums, total = (emit.add("Add", [before, v], state.result.name) for v in (sums, total))
    what = "CumSum" if is_every_read(recurrence) else "ReduceSum"
    return Replacement(describe(what, exact), exact, {state: sums}, {state: total})


def weigh_last(
    recurrence: Recurrence, reader: StepReader, step: Step, fact: Fact
) -> Replacement | None:
    """Replace the last value by a sum of offsets, weighted by powers of a factor.

    The factor is the same in all iterations:

    s = a^T * s0 + sum of a^(T - 1 - t) * b[t]
    """
    (state,), emit, feeding = recurrence.states, recurrence.emit, recurrence.feeding
    (weight,), offset = step.plain.weights, step.plain.offset
    # Numbers of iterations are no float16.
    types = (_TYPES.FLOAT, _TYPES.DOUBLE)
    if step.is_reset or step.plain.is_bounded or fact.elem_type not in types or emit.opset < 12:
        return None
    if weight is None or weight.number is not None or weight.batched or offset is None:
        return None
    if is_every_read(recurrence):
        return None
    later = emit.add("Sub", [feeding.iterations, feeding.integers(1)], "last")
    later = emit.add("Sub", [later, feeding.numbers(feeding.iterations)], "later")
    powers = []
    for exponent, count in ((later, len(fact.shape or ())), (feeding.iterations, 0)):
        numbers = emit.add("Cast", [exponent], "exponents", to=fact.elem_type)
        numbers = emit.lift(numbers, count, "exponents")
        powers.append(emit.add("Pow", [reader.value_of(weight), numbers], "powers"))
    weighted = emit.add("Mul", [powers[0], reader.rows_of(offset)], "weighted")
    added = emit.reduce("ReduceSum", weighted, (0,), "added")
    initial = emit.add("Mul", [powers[1], feeding.same(state.initial).value], "initial")
    total = emit.add("Add", [initial, added], state.result.name)
    if not fact.shape:
        total = emit.squeeze(total, 0, state.result.name)
    return Replacement(describe("a weighted sum", False), False, {}, {state: total})


# Rows that replace the state ---------------------------------------------------------------------


def _truth(recurrence: Recurrence, reader: StepReader, step: Step, fact: Fact) -> Replacement:
    """Replace a truth value that iterations set, or clear."""
    is_set = step.fresh.number == 1.0
    flags = reader.rows_of(step.reset if is_set else reader.opposite(step.reset), np.dtype(bool))
    return accumulate(recurrence, "Or" if is_set else "And", flags, fact)


def _hold(recurrence: Recurrence, reader: StepReader, step: Step, fact: Fact) -> Replacement | None:
    """Replace a state that iterations replace, or add to in a group: exactly."""
    emit, feeding, fresh = recurrence.emit, recurrence.feeding, reader.rows_of(step.fresh)
    if is_zero(step.plain.offset):
        return _held(recurrence, reader, step.reset, fresh, fact)
    if not _has_sums(_TYPES.INT64 if fact.elem_type == _TYPES.BOOL else fact.elem_type, emit):
        return None
    sums = _sums(recurrence, reader, step.plain, fact)
    # s = fresh + (sums now - sums then): exact in a group, as integers wrap in both.
    before = feeding.after(sums)
    fresh = _join(emit, fresh, before, fact, less=True)
    replacement = _held(recurrence, reader, step.reset, fresh, fact)
    if replacement is None:
        return None
    every, final, rows = (
        {own: _join(emit, value, by, fact) for own, value in values.items()}
        for values, by in (
            (replacement.every, before),
            (replacement.final, feeding.final(sums, "last")),
            (replacement.rows, sums),
        )
    )
    what = "a Gather of rows and a CumSum"
    return Replacement(what, True, every, final, rows)


def _sums(recurrence: Recurrence, reader: StepReader, plain: Bounded, fact: Fact) -> Value:
    """Emit the sums before each iteration and after the last; truth values by their parity."""
    emit, offset = recurrence.emit, plain.offset
    assert offset is not None
    rows, first = reader.rows_of(offset), recurrence.first_row()
    dtype = onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type)
    zero = emit.constant(np.array(0, dtype), "zero")
    zeros = emit.add("Expand", [zero, emit.add("Shape", [first], "shape")], "zeros")
    rows = emit.concat([zeros, rows], 0, "rows")
    truth = fact.elem_type == _TYPES.BOOL
    return by_count(emit, "Xor", rows) if truth else emit.running_sum(rows, "sums")


def _join(emit: Builder, one: Value, other: Value, fact: Fact, less: bool = False) -> Value:
    """Emit the sum in a group, or the difference."""
    truth = fact.elem_type == _TYPES.BOOL
    return emit.add("Xor" if truth else "Sub" if less else "Add", [one, other], "joined")


def _held(
    recurrence: Recurrence, reader: StepReader, reset: Coefficient, rows: Value, fact: Fact
) -> Replacement | None:
    """Replace a state by the row that replaced it last; None where steps must compose."""
    if reset.single:
        return _held_whole(recurrence, reader, reset, rows, fact)
    if not is_defined("GatherElements", recurrence.emit.opset):
        return None
    (state,), emit, feeding = recurrence.states, recurrence.emit, recurrence.feeding
    # Places are int64 whatever the elements are, and the steps move these.
    numbers = Fact(_TYPES.INT64, fact.shape)
    is_all = is_every_read(recurrence)
    if is_all and not is_small(numbers) and not recurrence.is_once:
        raise Unfit("it is kept by elements, and steps of doubling distance pay for small states")
    flag = reader.rows_of(reset, np.dtype(bool))
    first = recurrence.first_row()
    joined = emit.concat([first, rows], 0, "rows")
    one, zero = (emit.integer(n, "k") for n in (1, 0))
    iteration = emit.add("Add", [feeding.numbers(feeding.iterations), one], "iterations")
    iteration = emit.lift(iteration, len(fact.dims), "iterations")
    places = emit.add("Where", [flag, iteration, zero], "places")
    start = emit.add("Expand", [zero, emit.add("Shape", [first], "shape")], "start")
    places = emit.concat([start, places], 0, "places")
    if is_all:
        if recurrence.is_once:
            places = emit.running_sum(places, "places")
        else:
            (places,) = recurrence.prefixes(OneOperator(Operator("Max")), [places], [numbers])
        every = emit.add("GatherElements", [joined, places], "values", axis=0)
        return Replacement("a Gather of rows", True, rows={state: every})
    last = emit.reduce("ReduceMax", places, (0,), "last", keepdims=1)
    row = emit.add("GatherElements", [joined, last], "last", axis=0)
    final = emit.squeeze(row, 0, state.result.name)
    return Replacement("a Gather of rows", True, {}, {state: final})


def _held_whole(
    recurrence: Recurrence, reader: StepReader, reset: Coefficient, rows: Value, fact: Fact
) -> Replacement:
    """Replace a state that is replaced as a whole: gather the rows that replace it."""
    (state,), emit, feeding = recurrence.states, recurrence.emit, recurrence.feeding
    flag = reader.flags_of(reset)
    # Compress keeps the order, so the row after k replacements is row k of the joined ones.
    chosen = emit.add("Compress", [rows, flag], "chosen", axis=0)
    joined = emit.concat([recurrence.first_row(), chosen], 0, "rows")
    numbers = emit.add("Cast", [flag], "numbers", to=_TYPES.INT64)
    places = emit.running_sum(numbers, "places")
    every = emit.add("Gather", [joined, places], state.argument.name, axis=0)
    last = emit.add("Gather", [joined, feeding.integers(-1)], "last", axis=0)
    final = emit.squeeze(last, 0, state.result.name)
    return Replacement("a Gather of rows", True, {state: every}, {state: final})


# Results -----------------------------------------------------------------------------------------


def replace_rows(
    recurrence: Recurrence, joined: Sequence[Value], what: str, exact: bool
) -> Replacement:
    """Replace all values of states, from rows with the initial one first."""
    rows = dict(zip(recurrence.states, joined, strict=True))
    return Replacement(describe(what, exact), exact, rows=rows)


def describe(what: str, exact: bool) -> str:
    """The operator as a remark calls it."""
    return what if exact else f"{what}, up to rounding"


def is_small(fact: Fact) -> bool:
    """Test for a state small enough for a parallel prefix."""
    size = product(fact.shape or ()).value
    if size is None or not fact.elem_type:
        return False
    return size * onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type).itemsize <= MOST_STEP_BYTES


def is_every_read(recurrence: Recurrence) -> bool:
    """Test for readers of values before the last iteration."""
    (state,) = recurrence.states
    body, circle = recurrence.iterations.loop_view.body, set(recurrence.nodes)
    values = recurrence.inside
    outputs = [one.result for one in recurrence.iterations.loop_view.scan_outputs]
    others = [one.result for one in recurrence.iterations.loop_view.states if one is not state]
    users = [user for value in values for user in body.users(value)]
    return any(value in values for value in (*outputs, *others)) or any(
        not isinstance(user, Graph) and user not in circle for user in users
    )
