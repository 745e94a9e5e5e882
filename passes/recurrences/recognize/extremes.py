"""Extremes that a comparison keeps, and what belongs to them: the index or row of the best.

better = Greater (q, best)                      rows = Concat (best0, q)
best = Where (better, q, best)                  at = ArgMax <axis = 0> (rows)
where = Where (better, i, where)          ->    best = rows[at], where = Concat (where0, i)[at]

A comparison with NaN is false, so a NaN is never the best; the row of a NaN becomes the initial
value, or the least number where the last of equal ones counts.
"""

import numpy as np
import onnx

from ....facts.fact import Fact
from ....facts.types import PLAIN_FLOATS
from ....ir import Node, Value
from ....ops.batching import Unbatchable
from ....records import record
from ...iteration.loop_view import State
from .coefficients import broadcast
from .normal_form import Comparison
from .recurrence import Recurrence, Replacement

_TYPES = onnx.TensorProto
_INDEXED = (*PLAIN_FLOATS, _TYPES.INT32)
"""The types with an ArgMax in onnxruntime."""


@record(frozen=True)
class Companion:
    """A state that takes a value wherever an extreme takes its candidate.

    Attributes:
        node: the Where that makes its next value.
    """

    state: State
    node: Node
    value: Value


def raise_best(recurrence: Recurrence, comparison: Comparison, fact: Fact) -> Replacement | None:
    """Replace a state that keeps the best candidate, with its companions; None without any."""
    companions = _companions(recurrence, comparison, fact)
    if companions is None or not _has_order(recurrence, comparison, fact):
        return None
    return _best(recurrence, comparison, companions, fact)


def _companions(
    recurrence: Recurrence, comparison: Comparison, fact: Fact
) -> list[Companion] | None:
    """The states that change with an extreme; None if other values before the last are read."""
    iterations, (state,) = recurrence.iterations, recurrence.states
    body = iterations.loop_view.body
    names = [one.result for one in iterations.loop_view.scan_outputs]
    results = [one.result for one in iterations.loop_view.states if one is not state]
    values = recurrence.inside
    if any(value in values for value in (*names, *results)):
        return None
    dependents = body.dependents([state.argument])
    companions = []
    users = {u for v in values for u in body.users(v) if u not in (*recurrence.nodes, body)}
    for other in iterations.loop_view.states:
        node = other.result.producer
        if node not in users or not isinstance(node, Node) or not node.is_op("Where"):
            continue
        better, value, before = node.inputs
        own = iterations.inference.fact(other.initial).shape
        fits = own is not None and fact.shape in (own, ())
        own_users = [*body.users(other.argument), *body.users(other.result)]
        alone = all(user in (node, body) for user in own_users) and other.result not in names
        if better is not comparison.flag or before is not other.argument or not alone:
            return None
        if value is None or not fits or own != iterations.inference.fact(other.result).shape:
            return None
        if value in values or value.producer in dependents:
            return None
        companions.append(Companion(other, node, value))
    own_nodes = {one.node for one in companions}
    return companions if users <= own_nodes and companions else None


def _has_order(recurrence: Recurrence, comparison: Comparison, fact: Fact) -> bool:
    """Test for an initial value that is comparable, and more than the stand-in for NaN."""
    if fact.elem_type not in PLAIN_FLOATS:
        return fact.elem_type in _INDEXED
    (state,) = recurrence.states
    numbers = state.initial.array
    if numbers is None:
        return not comparison.is_last
    return not bool(np.isnan(numbers).any()) and not (
        comparison.is_last and np.isinf(numbers).any()
    )


def _candidates(recurrence: Recurrence, comparison: Comparison, fact: Fact) -> Value:
    """Emit the candidates of all iterations, a stand-in for each NaN."""
    iterations, (state,) = recurrence.iterations, recurrence.states
    rows = broadcast(recurrence, comparison.candidate, fact.shape or ())
    if fact.elem_type not in PLAIN_FLOATS:
        return rows
    # An equal earlier row wins with the first of equal ones, so the initial value stands for NaN.
    stand = iterations.feeding.same(state.initial).value
    if comparison.is_last:
        least = np.inf if comparison.kind == "Min" else -np.inf
        stand = iterations.emit.number(least, fact.elem_type, "least")
    flags = iterations.emit.add("IsNaN", [rows], "nan")
    return iterations.emit.add("Where", [flags, stand, rows], "candidates")


def _best(
    recurrence: Recurrence, comparison: Comparison, companions: list[Companion], fact: Fact
) -> Replacement:
    """Emit the index of the best candidate, and the values there."""
    iterations, (state,) = recurrence.iterations, recurrence.states
    emit, feeding = iterations.emit, iterations.feeding
    attributes = {"axis": 0, "keepdims": 1}
    if comparison.is_last:
        if emit.opset < 12:
            raise Unbatchable("keeps the last of equal ones, which ArgMax does from opset 12 on")
        attributes["select_last_index"] = 1
    (rows,) = recurrence.from_first([_candidates(recurrence, comparison, fact)])
    at = emit.add(f"Arg{comparison.kind}", [rows], "at", **attributes)
    finals = {state: _take(recurrence, rows, at, fact, state)}
    for one in companions:
        own = iterations.inference.fact(one.state.initial).without_content()
        joined = feeding.from_first(one.state, _spread(recurrence, one, own))
        finals[one.state] = _take(recurrence, joined, at, fact, one.state)
    return Replacement(f"Arg{comparison.kind}", True, {}, finals)


def _spread(recurrence: Recurrence, one: Companion, own: Fact) -> Value:
    """Emit the values that a companion may take, iterations first."""
    iterations = recurrence.iterations
    operand, (state,) = iterations.operand(one.value), recurrence.states
    if operand.fact.shape == own.shape:
        return iterations.feeding.every(operand, one.value.name)
    if own.shape == recurrence.fact(state.initial).shape:
        return broadcast(recurrence, one.value, own.shape or ())
    raise Unbatchable(f"takes '{one.value.name}', which has another shape")


def _take(recurrence: Recurrence, rows: Value, at: Value, best: Fact, state: State) -> Value:
    """Emit the row at an index, or of each element that at its own index."""
    emit = recurrence.emit
    row = emit.add("GatherElements" if best.shape else "Gather", [rows, at], "best", axis=0)
    return emit.squeeze(row, 0, state.result.name)
