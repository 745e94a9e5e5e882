"""Logarithms of sums of exponentials, one term in each iteration: s = log (exp (s) + exp (x)).

Written so, the sums are a CumSum of exponentials. Written with the larger one of s and x as the
scale, the largest value so far is one recurrence, and the sum in its scale a linear one:

m' = max (m, x), sum' = sum * exp (m - m') + exp (x - m'), s = m + log (sum)
"""

from __future__ import annotations

import numpy as np
import onnx

from ....analysis.trips.trip_count import skip_identities
from ....facts.fact import Fact
from ....ir import Node, Operator, Value
from ...scans.parallel_prefix import OneOperator
from .composed_steps import Composition
from .recurrence import Recurrence, Replacement
from .scan_reductions import broadcast, is_small, replace_all

_FLOATS = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE)
_NO_LOG = "it is no logarithm of a sum"
_END = np.iinfo(np.int64).max


def raise_log_sum(recurrence: Recurrence) -> Replacement | str:
    """Replace a state to which each iteration adds a term, as logarithms."""
    if len(recurrence.states) > 1:
        return _NO_LOG
    (state,) = recurrence.states
    fact = recurrence.fact(state.initial).without_content()
    if fact.elem_type not in _FLOATS or fact.shape is None:
        return _NO_LOG
    result = skip_identities(state.result)
    term, emitter = _plain_term(result, state.argument), _by_cumsum
    if term is None:
        term, emitter = _scaled_term(result, state.argument), _by_steps
        if term is not None and not is_small(fact):
            return "it is a logarithm of a sum too large for steps of doubling distance"
    if term is None or term.producer in recurrence.nodes:
        return _NO_LOG
    if recurrence.fact(result).shape != fact.shape:
        return "its shape may change"
    recurrence.require_room(fact)
    rows = broadcast(recurrence, recurrence.trips.operand(term), fact)
    return emitter(recurrence, rows, fact)


# Forms -------------------------------------------------------------------------------------------


def _plain_term(result: Value, state: Value) -> Value | None:
    """Match x of Log (Exp (state) + Exp (x))."""
    total = _operand_of(result, "Log")
    one, other = (_operand_of(value, "Exp") for value in _pair(total, "Add"))
    return _other(one, other, state)


def _scaled_term(result: Value, state: Value) -> Value | None:
    """Match x of the same with terms scaled by Max (state, x)."""
    for largest, logarithm in (pair := _pair(result, "Add"), pair[::-1]):
        term = _other(*_pair(largest, "Max"), state)
        total = None if logarithm is None else _operand_of(logarithm, "Log")
        parts = [_operand_of(value, "Exp") for value in _pair(total, "Add")]
        differences = [_pair(part, "Sub") for part in parts]
        if term is None or any(pair[1] is not largest for pair in differences):
            continue
        one, other = (pair[0] for pair in differences)
        if _other(one, other, state) is term:
            return term
    return None


def _pair(value: Value | None, op_type: str) -> tuple[Value | None, Value | None]:
    """The two operands of an operator; None for another value."""
    node = _producer(value, op_type)
    if node is None or len(node.inputs) != 2:
        return None, None
    return node.inputs[0], node.inputs[1]


def _operand_of(value: Value | None, op_type: str) -> Value | None:
    node = _producer(value, op_type)
    return None if node is None else node.inputs[0]


def _producer(value: Value | None, op_type: str) -> Node | None:
    node = None if value is None else skip_identities(value).producer
    return node if node is not None and node.is_op(op_type) else None


def _other(one: Value | None, other: Value | None, state: Value) -> Value | None:
    """The operand beside the state."""
    if one is state:
        return other
    return one if other is state else None


# Replacements ------------------------------------------------------------------------------------


def _by_cumsum(recurrence: Recurrence, terms: Value, fact: Fact) -> Replacement:
    (state,), emit, feeding = recurrence.states, recurrence.trips.emit, recurrence.trips.feeding
    first = emit.unsqueeze(feeding.same(state.initial).value, 0, "first")
    powers = emit.add("Exp", [emit.concat([first, terms], 0, "rows")], "powers")
    logarithms = emit.add("Log", [emit.running_sum(powers, "sums")], "logarithms")
    # Without iterations the state is not its own logarithm.
    joined = emit.concat([first, feeding.cut(logarithms, [1], [_END], [0])], 0, "joined")
    return replace_all(recurrence, joined, "CumSum of exponentials", False)


def _by_steps(recurrence: Recurrence, terms: Value, fact: Fact) -> Replacement:
    (state,), emit, feeding = recurrence.states, recurrence.trips.emit, recurrence.trips.feeding
    first = emit.unsqueeze(feeding.same(state.initial).value, 0, "first")
    rows = emit.concat([first, terms], 0, "rows")
    (largest,) = recurrence.prefixes(OneOperator(Operator("Max")), [rows], [fact])
    before = feeding.cut(largest, [0], [-1], [0])
    after = feeding.cut(largest, [1], [_END], [0])
    dtype = onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type)
    sizes = [dim.value or 0 for dim in fact.shape or ()]
    ones = emit.constant(np.ones((1, *sizes), dtype), "ones")
    pair = []
    for value in (terms, before):
        scaled = emit.add("Exp", [emit.add("Sub", [value, after], "scaled")], "scaled")
        pair.append(emit.concat([ones, scaled], 0, "rows"))
    monoid = Composition(fact.elem_type, ("offset", "factor"))
    sums, _ = recurrence.prefixes(monoid, pair, [fact] * 2)
    joined = emit.add("Add", [largest, emit.add("Log", [sums], "logarithms")], "joined")
    return replace_all(recurrence, joined, "logarithms of linear steps", False)
