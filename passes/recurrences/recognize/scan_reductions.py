"""Reductions over iterations: sums, products, maxima, minima, conjunctions, disjunctions.

s = s0                                     rows = Concat (s0, v)
for t: s = s + v[t], y[t] = s       ->     sums = CumSum (rows), y = sums[1:], s = sums[-1]

The initial state is the first row, so that there is one even without iterations. CumSum adds the
rows in the order of the Loop, so it is bit-exact. The other operators have no cumulative form; a
parallel prefix computes all their values. Where only the last value is read, a reduction suffices,
unless onnxruntime computes it of integers in doubles.
"""

from __future__ import annotations

import functools

import numpy as np
import onnx

from ....analysis.trips.trip_count import skip_identities
from ....facts.fact import Fact
from ....facts.polynomial import product
from ....ir import Graph, Operator, Value
from ....ops.batching import Operand, Unbatchable
from ....ops.builder import Builder
from ....ops.schema_queries import takes
from ...scans.parallel_prefix import MOST_STEP_BYTES, OneOperator
from .recurrence import Recurrence, Replacement

_TYPES = onnx.TensorProto
_FLOATS = (_TYPES.FLOAT, _TYPES.DOUBLE, _TYPES.FLOAT16)
_COMMON = (*_FLOATS, _TYPES.INT32, _TYPES.INT64)
"""The element types with kernels of CumSum, ReduceMax and ReduceMin in runtimes."""


_KINDS = {name: name for name in ("Add", "Mul", "Max", "Min", "And", "Or")}
_KINDS |= {"Sum": "Add", "Sub": "Add"}
"""The operators of one iteration, and of two rows."""

_SHORT = 64
"""The elements of a state from which on the number of rows does not matter."""

_ROUNDING = ("Add", "Mul")
"""The operators whose order may change bits of all but integers."""
_INTEGERS = (
    *(_TYPES.INT8, _TYPES.INT16, _TYPES.INT32, _TYPES.INT64),
    *(_TYPES.UINT8, _TYPES.UINT16, _TYPES.UINT32, _TYPES.UINT64),
)

_LAST: dict[str, tuple[str, tuple[int, ...]]] = {
    "Mul": ("ReduceProd", _FLOATS),
    "Max": ("ReduceMax", _COMMON),
    "Min": ("ReduceMin", _COMMON),
    "And": ("ReduceMin", (_TYPES.BOOL,)),
    "Or": ("ReduceMax", (_TYPES.BOOL,)),
}
"""The operator of the last value, and the element types with exact kernels in every runtime.

onnxruntime has no kernels for others, and multiplies integers as floats.
"""

Terms = list[tuple[Value, bool]]
"""The terms that every iteration adds to a state, in order, each with true if subtracted."""


def raise_accumulation(recurrence: Recurrence) -> Replacement | str:
    """Replace a state by a reduction, if every iteration adds state-independent terms."""
    accumulation = _read(recurrence)
    if isinstance(accumulation, str):
        return f"it is no accumulation: {accumulation}"
    kind, terms = accumulation
    (state,) = recurrence.states
    fact = recurrence.fact(state.initial).without_content()
    if fact.shape is None or fact.shape != recurrence.fact(state.result).shape:
        return "it is no accumulation: its shape may change"
    recurrence.require_room(fact)
    added = _emit_terms(recurrence, kind, terms, fact)
    return accumulate(recurrence, kind, added, fact, len(terms) == 1)


def accumulate(
    recurrence: Recurrence,
    kind: str,
    added: Value,
    fact: Fact,
    one_term: bool,
    may_be_nan: bool = True,
) -> Replacement | str:
    """Replace a state by a reduction of rows, in the shape of the state.

    Args:
        recurrence: the state.
        kind: the operator on two rows.
        added: the row of each iteration.
        fact: the fact of the state.
        one_term: true if each iteration adds one value, without an addition of its own.
        may_be_nan: true if a row or the initial value may be NaN.
    """
    (state,), emit, trips = recurrence.states, recurrence.trips.emit, recurrence.trips
    summed = fact.elem_type in _COMMON and takes("CumSum", 0, fact.elem_type, emit.opset)
    sums = kind == "Add" and summed
    exact = kind not in _ROUNDING or fact.elem_type in _INTEGERS
    joins = trips.options.costs == "none" or _joins_initial(recurrence, fact)
    if sums and fact.elem_type in _FLOATS and not joins:
        return _sums(recurrence, added, exact)
    first = emit.unsqueeze(trips.feeding.same(state.initial).value, 0, "first")
    rows = emit.concat([first, added], 0, state.argument.name)
    if sums:
        joined = emit.running_sum(rows, f"{state.argument.name}_sums")
        exact = exact or (fact.elem_type != _TYPES.FLOAT16 and one_term)
        return replace_all(recurrence, joined, "CumSum", exact)
    reduction, types = _LAST.get(kind, ("", ()))
    if fact.elem_type not in types or is_every_read(recurrence):
        if not is_small(fact):
            return (
                f"it is a running {kind}, which no operator gives, and steps of doubling distance"
                f" pay for states of at most {MOST_STEP_BYTES} bytes"
            )
        (joined,) = recurrence.prefixes(OneOperator(Operator(kind)), [rows], [fact])
        return replace_all(recurrence, joined, f"{kind} in steps of doubling distance", exact)
    last = _last(emit, reduction, rows, fact.elem_type, may_be_nan)
    return Replacement(describe(reduction, exact), exact, {}, {state: lambda: last})


def _last(emit: Builder, reduction: str, rows: Value, elem_type: int, may_be_nan: bool) -> Value:
    """Emit a reduction that keeps NaN, also of truth values, as numbers.

    onnxruntime's reductions may lose a NaN, while Max and Min propagate it.
    """
    if elem_type == _TYPES.BOOL:
        numbers = emit.add("Cast", [rows], "numbers", to=_TYPES.INT32)
        largest = emit.reduce(reduction, numbers, (0,), "last_number")
        return emit.add("Cast", [largest], "last", to=_TYPES.BOOL)
    last = emit.reduce(reduction, rows, (0,), "last")
    if reduction == "ReduceProd" or elem_type not in _FLOATS or not may_be_nan:
        return last
    flags = emit.add("Cast", [emit.add("IsNaN", [rows], "nan")], "nan", to=_TYPES.FLOAT)
    count = emit.reduce("ReduceSum", flags, (0,), "nans")
    any_nan = emit.add("Cast", [count], "any_nan", to=_TYPES.BOOL)
    dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
    nan = emit.constant(np.array(np.nan, dtype), "nan")
    return emit.add("Where", [any_nan, nan, last], "last")


def _joins_initial(recurrence: Recurrence, fact: Fact) -> bool:
    """Test for an initial state that is faster as a row than as a summand.

    onnxruntime adds it row by row, which takes as long for rows of few elements as for others.
    """
    size = product(fact.shape or ()).value
    is_short = size is not None and 1 < size < _SHORT
    return is_short and is_every_read(recurrence) and not _is_zero(recurrence.states[0].initial)


def _is_zero(initial: Value) -> bool:
    constant = initial.constant
    return constant is not None and not np.any(constant.numpy())


def _sums(recurrence: Recurrence, rows: Value, exact: bool) -> Replacement:
    """Replace a state of floats by sums, and add the initial state last.

    One node for an initial state of 0, else two. onnxruntime's ReduceSum of integers departs from
    the specification (`ops.departures`), so these are always the last row of a CumSum.
    """
    (state,), emit = recurrence.states, recurrence.trips.emit
    sums = emit.running_sum(rows, state.result.name)
    total = emit.reduce("ReduceSum", rows, (0,), state.result.name)
    if not _is_zero(state.initial):
        before = recurrence.trips.feeding.same(state.initial).value
        sums, total = (emit.add("Add", [before, v], state.result.name) for v in (sums, total))
    what = "CumSum" if is_every_read(recurrence) else "ReduceSum"
    return Replacement(describe(what, exact), exact, {state: sums}, {state: lambda: total})


def is_small(fact: Fact) -> bool:
    """Test for a state small enough for a parallel prefix."""
    size = product(fact.shape or ()).value
    if size is None or not fact.elem_type:
        return False
    return size * onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type).itemsize <= MOST_STEP_BYTES


def replace_all(recurrence: Recurrence, joined: Value, what: str, exact: bool) -> Replacement:
    """Replace all values of a state, from rows with the initial one first."""
    (state,), feeding, emit = recurrence.states, recurrence.trips.feeding, recurrence.trips.emit
    every = feeding.cut(joined, [1], [np.iinfo(np.int64).max], [0])
    last = emit.add("Gather", [joined, feeding.trips], "last", axis=0)
    final = emit.squeeze(last, 0, state.result.name)
    return Replacement(describe(what, exact), exact, {state: every}, {state: lambda: final})


def describe(what: str, exact: bool) -> str:
    """The operator as a remark calls it."""
    return what if exact else f"{what}, up to rounding"


# Terms -------------------------------------------------------------------------------------------


def _read(recurrence: Recurrence) -> tuple[str, Terms] | str:
    """Match a state whose next value one kind of operator computes, or return the obstacle."""
    if len(recurrence.states) > 1:
        return "states depend on each other"
    (state,) = recurrence.states
    carried = {state.argument, *(v for node in recurrence.nodes for v in node.outputs)}
    terms: Terms = []
    value, kind = skip_identities(state.result), None
    while value is not state.argument:
        node = value.producer
        own = _KINDS.get(node.op.qualname) if node is not None else None
        if node is None or own is None or kind not in (None, own):
            return f"{node} makes the next value" if node is not None else "it is replaced"
        inputs = [v for v in node.inputs if v is not None]
        before = [v for v in inputs if v in carried]
        if len(before) != 1 or (node.is_op("Sub") and before[0] is not inputs[0]):
            return f"{node} takes it another way"
        terms += reversed([(v, node.is_op("Sub")) for v in inputs if v is not before[0]])
        value, kind = skip_identities(before[0]), own
    if kind is None or not terms:
        return "nothing is added"
    return kind, terms[::-1]


def is_every_read(recurrence: Recurrence) -> bool:
    """Test for readers of values before the last iteration."""
    (state,) = recurrence.states
    body, circle = recurrence.trips.loop_view.body, set(recurrence.nodes)
    values = {state.argument, *(v for node in recurrence.nodes for v in node.outputs if v)}
    outputs = [one.result for one in recurrence.trips.loop_view.scan_outputs]
    others = [one.result for one in recurrence.trips.loop_view.states if one is not state]
    users = [user for value in values for user in body.users(value)]
    return any(value in values for value in (*outputs, *others)) or any(
        not isinstance(user, Graph) and user not in circle for user in users
    )


def _emit_terms(recurrence: Recurrence, kind: str, terms: Terms, fact: Fact) -> Value:
    """Emit the terms of every iteration, in the shape of the state, iterations first."""
    emit, rows = recurrence.trips.emit, []
    for value, subtracted in terms:
        row = broadcast(recurrence, recurrence.trips.operand(value), fact)
        rows.append(emit.add("Neg", [row], f"{value.name}_less") if subtracted else row)
    return functools.reduce(lambda one, other: emit.add(kind, [one, other], "added"), rows)


def broadcast(recurrence: Recurrence, operand: Operand, fact: Fact) -> Value:
    """Broadcast a batched value to the shape of the state."""
    emit, feeding, shape = recurrence.trips.emit, recurrence.trips.feeding, operand.fact.shape
    if shape is None or fact.shape is None:
        raise Unbatchable(f"adds '{operand.value.name}', whose rank is not known")
    if operand.batched and shape == fact.shape:
        return operand.value
    value = operand.value
    missing = len(fact.shape) - len(shape)
    if operand.batched and missing:
        value = emit.unsqueeze(value, tuple(range(1, 1 + missing)), f"{value.name}_lifted")
    size = feeding.trips
    if fact.shape:
        own = emit.add("Shape", [feeding.same(recurrence.states[0].initial).value], "own")
        size = emit.concat([size, own], 0, "size")
    return emit.add("Expand", [value, size], f"{value.name}_spread")
