"""States that the first iteration with a condition sets, and no later one.

w = Where (And (c, w < 0), i, w)       w = Concat (w0, is)[ArgMax (Concat (false, c and w0 < 0))]

An unset value fails a test that no new value passes, so only the first one is stored.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import onnx

from ....analysis.iterations.trip_count import skip_identities
from ....facts.fact import Fact, element, integers
from ....facts.polynomial import Dimension
from ....facts.types import PLAIN_INTEGERS
from ....ir import Node, Value
from ....ops.batching import Operand
from .coefficients import broadcast
from .recurrence import Recurrence, Replacement

_TYPES = onnx.TensorProto
_MOST = {"Less": 0, "LessOrEqual": -1, "Equal": -1}
"""The largest bound of each test that no number from 0 on passes."""


class _Hit(NamedTuple):
    """A store of the first value.

    Attributes:
        value: the value that is stored.
        flag: the condition that iterations compute without the state.
        test: the test for an unset state.
    """

    value: Value
    flag: Value
    test: Node


def raise_first(recurrence: Recurrence) -> Replacement | str:
    """Replace a state that keeps the value of the first iteration with a condition."""
    hit = _read(recurrence)
    if hit is None:
        return "it is no first index: no condition sets it once"
    (state,), iterations = recurrence.states, recurrence.iterations
    fact = recurrence.fact(state.initial).without_content()
    flags, value = iterations.operand(hit.flag), iterations.operand(hit.value)
    number = element(value.fact)
    if not isinstance(number, Dimension) or not iterations.extent.never_negative(number):
        return "it is no first index: a value may look like an unset one"
    if fact.shape is None or fact.shape != recurrence.fact(state.result).shape:
        return "its shape may change"
    if flags.fact.shape is None or len(flags.fact.shape) > len(fact.shape):
        return "its condition has another shape"
    recurrence.require_room(fact)
    return _emit(recurrence, hit, flags, value, fact)


def _emit(
    recurrence: Recurrence, hit: _Hit, flags: Operand, value: Operand, fact: Fact
) -> Replacement:
    """Emit the value of the first iteration with the condition."""
    (state,), emit, feeding = (
        recurrence.states,
        recurrence.iterations.emit,
        recurrence.iterations.feeding,
    )
    initial = feeding.same(state.initial).value
    bound = feeding.same(hit.test.inputs[1]) if hit.test.inputs[1] is not None else None
    assert bound is not None
    unset = emit.apply(hit.test.op, [initial, bound.value], "unset")
    hits = broadcast(recurrence, hit.flag, fact.shape or ())
    hits = emit.add("And", [hits, emit.unsqueeze(unset, 0, "unset")], "hits")
    numbers = emit.add("Cast", [hits], "numbers", to=_TYPES.INT32)
    first = emit.unsqueeze(initial, 0, "first")
    none = emit.add("Sub", [first, first], "none")
    none = emit.add("Cast", [none], "none", to=_TYPES.INT32)
    joined = emit.concat([first, broadcast(recurrence, hit.value, fact.shape or ())], 0, "rows")
    places = emit.concat([none, numbers], 0, "places")
    place = emit.add("ArgMax", [places], "place", axis=0, keepdims=1)
    row = emit.add("GatherElements", [joined, place], "row", axis=0)
    final = emit.squeeze(row, 0, state.result.name)
    met = emit.add("Cast", [emit.running_sum(numbers, "met")], "met", to=_TYPES.BOOL)
    every = emit.add("Where", [met, row, first], state.argument.name)
    return Replacement("a first index", True, {state: every}, {state: lambda: final})


def _read(recurrence: Recurrence) -> _Hit | None:
    """The store of a first value; None for another recurrence."""
    if len(recurrence.states) > 1:
        return None
    (state,), choice = recurrence.states, skip_identities(recurrence.states[0].result).producer
    if choice is None or not choice.is_op("Where") or choice not in recurrence.nodes:
        return None
    condition, value, other = choice.inputs
    if other is not state.argument or condition is None or value is None:
        return None
    both = skip_identities(condition).producer
    if both is None or not both.is_op("And") or both not in recurrence.nodes:
        return None
    for flag, unset in (both.inputs, both.inputs[::-1]):
        test = None if unset is None else unset.producer
        if flag is None or test is None or test not in recurrence.nodes:
            continue
        nodes = {node for node in recurrence.nodes if not node.is_op("Identity")}
        if nodes == {choice, both, test} and _is_unset(recurrence, test, state.argument):
            return _Hit(value, flag, test)
    return None


def _is_unset(recurrence: Recurrence, test: Node, argument: Value) -> bool:
    """Test for a comparison of a state that no number from 0 on passes."""
    if not test.is_op(*_MOST) or test.input(0) is not argument or test.op.references:
        return False
    bound = test.input(1)
    numbers = None if bound is None else integers(recurrence.fact(bound))
    fact = recurrence.fact(argument)
    if numbers is None or fact.elem_type not in PLAIN_INTEGERS:
        return False
    same = recurrence.fact(test.output()).shape == fact.shape
    return same and bool(np.all(numbers <= _MOST[test.op_type]))
