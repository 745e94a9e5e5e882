"""States that keep their value until a condition replaces it.

s = Where (c, v, s)        rows = Concat (s0, Compress (v, c)), s = rows[CumSum (c)]
"""

from __future__ import annotations

import numpy as np
import onnx

from ....analysis.trips.trip_count import skip_identities
from ....facts.fact import Fact, Shape
from ....ir import Operator, Value
from ...scans.parallel_prefix import OneOperator
from .recurrence import Recurrence, Replacement
from .scan_reductions import broadcast, is_every_read, is_small

_TYPES = onnx.TensorProto


def raise_held(recurrence: Recurrence) -> Replacement | str:
    """Replace a state that a Where either keeps or replaces by a state-independent value."""
    nodes = [node for node in recurrence.nodes if not node.is_op("Identity")]
    if len(recurrence.states) > 1 or len(nodes) != 1:
        return "it is not kept by one Where"
    (state,), (node,) = recurrence.states, nodes
    if not node.is_op("Where") or skip_identities(state.result) is not node.output():
        return "it is not kept by one Where"
    condition, one, other = node.inputs
    assert condition is not None and one is not None and other is not None
    if condition is state.argument or one is other:
        return "it is not kept by one Where"
    is_kept = one is state.argument
    value = other if is_kept else one
    fact = recurrence.fact(state.initial).without_content()
    flags = recurrence.trips.operand(condition)
    if fact.shape is None or fact.shape != recurrence.fact(state.result).shape:
        return "its shape may change"
    if flags.fact.shape is None:
        return "its condition has an unknown rank"
    trips = recurrence.trips
    recurrence.require_room(fact)
    rows = broadcast(recurrence, trips.operand(value), fact)
    flag = trips.feeding.every(flags, condition.name)
    if is_kept:
        flag = trips.emit.add("Not", [flag], "replaced")
    return hold(recurrence, flag, flags.fact.shape, rows, fact)


def hold(
    recurrence: Recurrence, flag: Value, shape: Shape, rows: Value, fact: Fact
) -> Replacement | str:
    """Replace a state by the row that replaced it last.

    Args:
        recurrence: the state.
        flag, shape: the condition, iterations first, and its shape in one of them.
        rows: the values that may replace the state.
        fact: the fact of the state.
    """
    if all(dim == 1 for dim in shape):
        return _whole(recurrence, flag, rows, len(shape))
    if shape != fact.shape:
        return "its condition has another shape"
    return _by_element(recurrence, flag, rows, fact)


def _whole(recurrence: Recurrence, flag: Value, rows: Value, rank: int) -> Replacement:
    """Replace a state that is replaced as a whole: gather the rows that replace it."""
    (state,), emit, feeding = recurrence.states, recurrence.trips.emit, recurrence.trips.feeding
    if rank:
        flag = emit.squeeze(flag, tuple(range(1, 1 + rank)), "replaced")
    first = emit.unsqueeze(feeding.same(state.initial).value, 0, "first")
    chosen = emit.add("Compress", [rows, flag], "chosen", axis=0)
    joined = emit.concat([first, chosen], 0, "rows")
    numbers = emit.add("Cast", [flag], "numbers", to=_TYPES.INT64)
    places = emit.running_sum(numbers, "places")
    every = emit.add("Gather", [joined, places], state.argument.name, axis=0)
    last = emit.add("Gather", [joined, feeding.integers(-1)], "last", axis=0)
    final = emit.squeeze(last, 0, state.result.name)
    return Replacement("a Gather of rows", True, {state: every}, {state: lambda: final})


def _by_element(recurrence: Recurrence, flag: Value, rows: Value, fact: Fact) -> Replacement | str:
    """Replace a state of which single elements are replaced: gather by the last iteration."""
    (state,), emit, feeding = recurrence.states, recurrence.trips.emit, recurrence.trips.feeding
    numbers = Fact(_TYPES.INT64, fact.shape)
    is_all = is_every_read(recurrence)
    if is_all and not is_small(numbers):
        return "it is kept by elements, and steps of doubling distance pay for small states"
    first = emit.unsqueeze(feeding.same(state.initial).value, 0, "first")
    joined = emit.concat([first, rows], 0, "rows")
    one, zero = (emit.constant(np.array(n, np.int64), "k") for n in (1, 0))
    trip = emit.add("Add", [feeding.numbers(feeding.trips), one], "trips")
    trip = emit.unsqueeze(trip, tuple(range(1, 1 + len(fact.shape or ()))), "trips")
    places = emit.add("Where", [flag, trip, zero], "places")
    start = emit.add("Expand", [zero, emit.add("Shape", [first], "shape")], "start")
    places = emit.concat([start, places], 0, "places")
    if is_all:
        (places,) = recurrence.prefixes(OneOperator(Operator("Max")), [places], [numbers])
        every = emit.add("GatherElements", [joined, places], "values", axis=0)
        every = feeding.cut(every, [1], [np.iinfo(np.int64).max], [0])
        return Replacement("a Gather of rows", True, {state: every})
    last = emit.reduce("ReduceMax", places, (0,), "last", keepdims=1)
    row = emit.add("GatherElements", [joined, last], "last", axis=0)
    final = emit.squeeze(row, 0, state.result.name)
    return Replacement("a Gather of rows", True, {}, {state: lambda: final})
