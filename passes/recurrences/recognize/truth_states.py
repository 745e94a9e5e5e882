"""Truth values that And, Or and Not compute of their previous value.

Such a state is f(s), with one f in each iteration. Where f(false) and f(true) are equal, it is
replaced; else it is kept, or negated:

r = Or (s, c)                       f(false) = c, f(true) = true: c replaces s by true
r = Xor (s, c)                      c negates s: the parity of the number of c
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import onnx

from ....facts.fact import Shape
from ....ir import Node, Value
from ..weights import Unfit
from .held_states import hold
from .linear_states import Coefficient, lift, spread
from .recurrence import Recurrence, Replacement

_TYPES = onnx.TensorProto
_OPERATORS = ("Identity", "And", "Or", "Xor", "Not")


def raise_truth(recurrence: Recurrence) -> Replacement | str:
    """Replace a truth value that is a function of its previous value."""
    if len(recurrence.states) > 1:
        return "it is no truth value: states depend on each other"
    (state,) = recurrence.states
    fact = recurrence.fact(state.initial).without_content()
    if fact.elem_type != _TYPES.BOOL or fact.shape is None:
        return "it is no truth value"
    for node in recurrence.nodes:
        if not node.is_op(*_OPERATORS) or recurrence.fact(node.output()).shape != fact.shape:
            return f"it is no truth value of And, Or and Not: {node} makes the next value"
    recurrence.require_room(fact)
    negating = any(node.is_op("Not", "Xor") for node in recurrence.nodes)
    if negating and any(node.is_op("And", "Or") for node in recurrence.nodes):
        return "it is no truth value that iterations either replace or negate"
    try:
        results = [_result(recurrence, fact.shape, truth) for truth in (False, True)]
    except Unfit as reason:
        return f"it is no truth value: {reason}"
    if negating and not _is_negated(recurrence):
        return "it is no truth value that a next one depends on"
    if negating:
        return _parity(recurrence, spread(recurrence, results[0], fact.shape))
    one, other = (spread(recurrence, result, fact.shape) for result in results)
    differs = recurrence.trips.emit.add("Xor", [one, other], "differs")
    flag = recurrence.trips.emit.add("Not", [differs], "replaced")
    return hold(recurrence, flag, fact.shape, one, fact)


def _result(recurrence: Recurrence, shape: Shape, truth: bool) -> Coefficient:
    """Emit the next value for a state that is true, or false, in all iterations."""
    (state,), emit = recurrence.states, recurrence.trips.emit
    constant = emit.constant(np.array(truth), "truth")
    values = {state.argument: Coefficient(None, constant)}

    def operand(value: Value | None) -> Coefficient:
        assert value is not None
        return values[value] if value in values else lift(recurrence, value, shape)

    for node in recurrence.nodes:
        values[node.output()] = _apply(node, operand, recurrence)
    return operand(state.result)


def _apply(
    node: Node, operand: Callable[[Value | None], Coefficient], recurrence: Recurrence
) -> Coefficient:
    operands = [operand(value) for value in node.inputs]
    if node.is_op("Identity"):
        return operands[0]
    values = [one.value for one in operands]
    return dataclasses.replace(
        operands[0],
        value=recurrence.trips.emit.add(node.op_type, values, node.output().name),
        batched=any(one.batched for one in operands),
        whole=any(one.whole for one in operands),
    )


def _is_negated(recurrence: Recurrence) -> bool:
    """Test for a next value that depends on the state: Xor of it with itself does not."""
    (state,) = recurrence.states
    odd = {state.argument}
    for node in recurrence.nodes:
        if sum(value in odd for value in node.inputs) % 2:
            odd.add(node.output())
    return state.result in odd


def _parity(recurrence: Recurrence, rows: Value) -> Replacement:
    """Emit the parity of the number of negations, and negate the initial value by it."""
    (state,), emit, feeding = recurrence.states, recurrence.trips.emit, recurrence.trips.feeding
    first = emit.unsqueeze(feeding.same(state.initial).value, 0, "first")
    joined = emit.concat([first, rows], 0, "rows")
    numbers = emit.add("Cast", [joined], "numbers", to=_TYPES.INT64)
    sums = emit.running_sum(numbers, "negations")
    two = emit.constant(np.array(2, np.int64), "two")
    odd = emit.add("Cast", [emit.add("Mod", [sums, two], "odd")], "odd", to=_TYPES.BOOL)
    every = feeding.cut(odd, [1], [np.iinfo(np.int64).max], [0])
    last = emit.add("Gather", [odd, feeding.integers(-1)], "last", axis=0)
    final = emit.squeeze(last, 0, state.result.name)
    return Replacement("a parity", True, {state: every}, {state: lambda: final})
