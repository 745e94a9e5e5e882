"""Reductions over iterations: sums, products, maxima, minima, conjunctions, disjunctions.

s = s0                                     rows = Concat (s0, v)
for t: s = s + v[t], y[t] = s       ->     sums = CumSum (rows), y = sums[1:], s = sums[-1]

The initial state is the first row, so that there is one even without iterations. CumSum adds the
rows in the order of the Loop, so it is bit-exact. The other operators have no cumulative form; a
parallel prefix computes all their values. Where only the last value is read, a reduction suffices.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import onnx

from ....analysis.trips.trip_count import skip_identities
from ....facts.fact import Fact
from ....facts.polynomial import product
from ....ir import Graph, Operator, Value
from ....ops.batching import Operand, Unbatchable
from ....ops.builder import Builder
from ....ops.schema_queries import takes
from ...vectorize.loop_view import State
from .parallel_prefix import parallel_prefix
from .recurrence import Recurrence, Replacement

_TYPES = onnx.TensorProto
_FLOATS = (_TYPES.FLOAT, _TYPES.DOUBLE, _TYPES.FLOAT16)
_COMMON = (*_FLOATS, _TYPES.INT32, _TYPES.INT64)
"""The element types with kernels of CumSum, ReduceMax and ReduceMin in runtimes."""


_MOST_BYTES = 256
"""The size limit of a state for a parallel prefix, which moves rows several times.

For states of 64 floats it is 2 to 6 times as fast as a Loop (200 to 4,000 iterations, onnxruntime),
for 256 floats as slow.
"""


@dataclasses.dataclass(frozen=True)
class _Kind:
    """A kind of reduction.

    Attributes:
        op_type: the operator on two rows.
        rounds: true if another order may change bits of floats.
        what: the operator of the last value, as a remark calls it.
        last: the emitter of the last value from all rows.
        types: the element types with exact kernels in every runtime: onnxruntime has no kernels
            for others, and multiplies integers as floats.
    """

    op_type: str
    rounds: bool = False
    what: str = ""
    last: Callable[[Builder, Value, int], Value] | None = None
    types: tuple[int, ...] = ()


def _reduction(op_type: str) -> Callable[[Builder, Value, int], Value]:
    return lambda emit, rows, elem_type: emit.reduce(op_type, rows, (0,), "last")


def _extreme(op_type: str) -> Callable[[Builder, Value, int], Value]:
    """The emitter of a maximum or minimum that keeps NaN.

    onnxruntime's reductions may lose a NaN, while Max and Min propagate it.
    """

    def last(emit: Builder, rows: Value, elem_type: int) -> Value:
        largest = emit.reduce(op_type, rows, (0,), "last")
        if elem_type not in _FLOATS:
            return largest
        flags = emit.add("Cast", [emit.add("IsNaN", [rows], "nan")], "nan", to=_TYPES.FLOAT)
        count = emit.reduce("ReduceSum", flags, (0,), "nans")
        any_nan = emit.add("Cast", [count], "any_nan", to=_TYPES.BOOL)
        dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
        nan = emit.constant(np.array(np.nan, dtype), "nan")
        return emit.add("Where", [any_nan, nan, largest], "last")

    return last


def _flags(op_type: str) -> Callable[[Builder, Value, int], Value]:
    """The emitter of a reduction of truth values, as numbers."""

    def last(emit: Builder, rows: Value, elem_type: int) -> Value:
        numbers = emit.add("Cast", [rows], "numbers", to=_TYPES.INT32)
        largest = emit.reduce(op_type, numbers, (0,), "last_number")
        return emit.add("Cast", [largest], "last", to=_TYPES.BOOL)

    return last


_SUM = _Kind("Add", rounds=True)
_PRODUCT = _Kind("Mul", True, "ReduceProd", _reduction("ReduceProd"), _FLOATS)
_LARGEST = _Kind("Max", False, "ReduceMax", _extreme("ReduceMax"), _COMMON)
_SMALLEST = _Kind("Min", False, "ReduceMin", _extreme("ReduceMin"), _COMMON)
_ALL = _Kind("And", False, "ReduceMin", _flags("ReduceMin"), (_TYPES.BOOL,))
_ANY = _Kind("Or", False, "ReduceMax", _flags("ReduceMax"), (_TYPES.BOOL,))
_KINDS = {
    "Add": _SUM,
    "Sum": _SUM,
    "Sub": _SUM,
    "Mul": _PRODUCT,
    "Max": _LARGEST,
    "Min": _SMALLEST,
    "And": _ALL,
    "Or": _ANY,
}


@dataclasses.dataclass(frozen=True)
class _Accumulation:
    """A state and the terms that every iteration adds to it.

    Attributes:
        state: the state.
        kind: the kind of reduction.
        terms: the terms in order, each with true if subtracted.
    """

    state: State
    kind: _Kind
    terms: tuple[tuple[Value, bool], ...]


def raise_accumulation(recurrence: Recurrence) -> Replacement | str:
    """Replace a state by a reduction, if every iteration adds state-independent terms."""
    accumulation = _read(recurrence)
    if isinstance(accumulation, str):
        return f"it is no accumulation: {accumulation}"
    state, kind, emit = accumulation.state, accumulation.kind, recurrence.emit
    fact = recurrence.fact(state.initial).without_content()
    if fact.shape is None or fact.shape != recurrence.fact(state.result).shape:
        return "it is no accumulation: its shape may change"
    recurrence.trips.require_room(recurrence.nodes[-1], fact)
    if _may_reorder(recurrence, accumulation, fact):
        return _sums(recurrence, accumulation, fact)
    first = emit.unsqueeze(recurrence.trips.feeding.same(state.initial).value, 0, "first")
    rows = emit.concat([first, _emit_terms(recurrence, accumulation, fact)], 0, state.argument.name)
    exact = not (kind.rounds and fact.elem_type in _FLOATS)
    if kind is _SUM and _has_cumsum(fact.elem_type, emit.opset):
        joined = emit.running_sum(rows, f"{state.argument.name}_sums")
        exact = exact or (fact.elem_type != _TYPES.FLOAT16 and len(accumulation.terms) == 1)
        return _replace_all(recurrence, joined, "CumSum", exact)
    if kind.last is None or fact.elem_type not in kind.types or _is_every_read(recurrence):
        if not _is_small(fact):
            return (
                f"it is a running {kind.op_type}, which no operator gives, and steps of doubling"
                f" distance pay for states of at most {_MOST_BYTES} bytes"
            )
        most = recurrence.trips.feeding.most_trips()
        most = None if most is None else most + 1
        straight = recurrence.trips.options.straight
        joined = parallel_prefix(emit, Operator(kind.op_type), rows, fact, most, straight)
        what = f"{kind.op_type} in steps of doubling distance"
        return _replace_all(recurrence, joined, what, exact)
    last = kind.last(emit, rows, fact.elem_type)
    return Replacement(_describe(kind.what, exact), exact, {}, {state: lambda: last})


def _may_reorder(recurrence: Recurrence, accumulation: _Accumulation, fact: Fact) -> bool:
    """Test for a sum that may be reordered."""
    if recurrence.trips.options.costs == "none" or accumulation.kind is not _SUM:
        return False
    return fact.elem_type in _FLOATS and _has_cumsum(fact.elem_type, recurrence.emit.opset)


def _sums(recurrence: Recurrence, accumulation: _Accumulation, fact: Fact) -> Replacement:
    """Replace the state by sums of all rows, and add the initial state last.

    One node for an initial state of 0, else two.
    """
    emit, state, rows = (
        recurrence.emit,
        accumulation.state,
        _emit_terms(recurrence, accumulation, fact),
    )
    sums = emit.running_sum(rows, state.result.name)
    total = emit.reduce("ReduceSum", rows, (0,), state.result.name)
    initial = state.initial.constant
    if initial is None or np.any(initial.numpy()):
        before = recurrence.trips.feeding.same(state.initial).value
        sums, total = (emit.add("Add", [before, v], state.result.name) for v in (sums, total))
    what = "CumSum" if _is_every_read(recurrence) else "ReduceSum"
    return Replacement(_describe(what, exact=False), False, {state: sums}, {state: lambda: total})


def _is_small(fact: Fact) -> bool:
    size = product(fact.shape or ()).value
    if size is None or not fact.elem_type:
        return False
    return size * onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type).itemsize <= _MOST_BYTES


def _replace_all(recurrence: Recurrence, joined: Value, what: str, exact: bool) -> Replacement:
    """Replace all values of a state, from rows with the initial one first."""
    (state,), feeding, emit = recurrence.states, recurrence.trips.feeding, recurrence.emit
    every = feeding.cut(joined, [1], [np.iinfo(np.int64).max], [0])
    last = emit.add("Gather", [joined, feeding.trips], "last", axis=0)
    final = emit.squeeze(last, 0, state.result.name)
    return Replacement(_describe(what, exact), exact, {state: every}, {state: lambda: final})


def _describe(what: str, exact: bool) -> str:
    return what if exact else f"{what}, up to rounding"


def _has_cumsum(elem_type: int, opset: int) -> bool:
    return elem_type in _COMMON and takes("CumSum", 0, elem_type, opset)


# Terms -------------------------------------------------------------------------------------------


def _read(recurrence: Recurrence) -> _Accumulation | str:
    """Match a state whose next value one kind of operator computes, or return the obstacle."""
    if len(recurrence.states) > 1:
        return "states depend on each other"
    (state,) = recurrence.states
    carried = {state.argument, *(v for node in recurrence.nodes for v in node.outputs)}
    terms: list[tuple[Value, bool]] = []
    value, kind = skip_identities(state.result), None
    while value is not state.argument:
        node = value.producer
        own = _KINDS.get(node.op.qualname) if node is not None else None
        if node is None or own is None or (kind is not None and own is not kind):
            return f"{node} makes the next value" if node is not None else "it is replaced"
        inputs = [v for v in node.inputs if v is not None]
        before = [v for v in inputs if v in carried]
        if len(before) != 1 or (node.is_op("Sub") and before[0] is not inputs[0]):
            return f"{node} takes it another way"
        terms += reversed([(v, node.is_op("Sub")) for v in inputs if v is not before[0]])
        value, kind = skip_identities(before[0]), own
    if kind is None or not terms:
        return "nothing is added"
    return _Accumulation(state, kind, tuple(reversed(terms)))


def _is_every_read(recurrence: Recurrence) -> bool:
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


def _emit_terms(recurrence: Recurrence, accumulation: _Accumulation, fact: Fact) -> Value:
    """Emit the terms of every iteration, in the shape of the state, iterations first."""
    emit, total = recurrence.emit, None
    for value, subtracted in accumulation.terms:
        row = _broadcast(recurrence, recurrence.trips.operand(value), accumulation.state, fact)
        if subtracted:
            row = emit.add("Neg", [row], f"{value.name}_less")
        total = row if total is None else emit.add(accumulation.kind.op_type, [total, row], "added")
    assert total is not None
    return total


def _broadcast(recurrence: Recurrence, operand: Operand, state: State, fact: Fact) -> Value:
    """Broadcast a batched value to the shape of a state."""
    emit, feeding, shape = recurrence.emit, recurrence.trips.feeding, operand.fact.shape
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
        own = emit.add("Shape", [feeding.same(state.initial).value], "own")
        size = emit.concat([size, own], 0, "size")
    return emit.add("Expand", [value, size], f"{value.name}_spread")
