"""States that the first iteration with a condition sets, and no later one.

w = Where (And (c, w < 0), i, w)       w = Concat (w0, is)[ArgMax (Concat (false, c and w0 < 0))]

An unset value fails a test that no new value passes, so only the first one is stored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import onnx

from ....analysis.iterations.trip_count import skip_identities
from ....facts.fact import Fact, element, integers
from ....facts.polynomial import Dimension
from ....ir import Node, Value
from ....ops.batching import Operand
from ....ops.builder import Builder
from ...utils.select import select
from ..layers import required_input
from .coefficients import broadcast
from .recurrence import Recurrence, Replacement
from .reductions import is_small, replace_rows
from .semirings import NUMBERS

_TYPES = onnx.TensorProto
_MOST = {"Less": 0, "LessOrEqual": -1, "Equal": -1}
"""The largest bound of each test that no number from 0 on passes."""
_TESTS = (*_MOST, "Greater", "GreaterOrEqual")


class _Hit(NamedTuple):
    """A store of the first value.

    Attributes:
        value: the value that is stored.
        flag: the condition that iterations compute without the state.
        test: the test for an unset state.
        passes_none: true if no number from 0 on passes the test.
    """

    value: Value
    flag: Value
    test: Node
    passes_none: bool


def raise_first(recurrence: Recurrence) -> Replacement | str:
    """Replace a state that keeps the value of the first iteration with a condition."""
    hit = _read(recurrence)
    if hit is None:
        return "it is no first index: no condition sets it once"
    (state,), iterations = recurrence.states, recurrence.iterations
    fact = recurrence.fact(state.initial).without_content()
    flags, value = iterations.operand(hit.flag), iterations.operand(hit.value)
    if fact.shape is None or fact.shape != recurrence.fact(state.result).shape:
        return "its shape may change"
    if flags.fact.shape is None or len(flags.fact.shape) > len(fact.shape):
        return "its condition has another shape"
    recurrence.require_room(fact)
    number = element(value.fact)
    is_number = hit.passes_none and isinstance(number, Dimension)
    if is_number and iterations.extent.never_negative(number):
        return _emit(recurrence, hit, flags, value, fact)
    if not is_small(fact):
        return "a value may look like an unset one, and its state is too large for steps"
    return _by_steps(recurrence, hit, fact)


def _by_steps(recurrence: Recurrence, hit: _Hit, fact: Fact) -> Replacement:
    """Emit steps of doubling distance: of two stores, the later one where the first is unset."""
    emit, feeding, shape = (
        recurrence.iterations.emit,
        recurrence.iterations.feeding,
        fact.shape or (),
    )
    bound = feeding.same(required_input(hit.test, 1)).value
    old = recurrence.states[0].result

    def join(
        inside: Builder, early: Sequence[Value], late: Sequence[Value], distance: Value
    ) -> list[Value]:
        unset = inside.apply(hit.test.op, [early[1], bound], "unset")
        unset = inside.add("Or", [unset, inside.add("Not", [early[0]], "none")], "unset")
        later = inside.add("And", [unset, late[0]], "later")
        value = select(inside, later, late[1], early[1], fact.elem_type, "value", old)
        return [inside.add("Or", [early[0], late[0]], "stores"), value]

    first, yes = recurrence.first_row(), emit.constant(np.array(True), "yes")
    yes = emit.add("Expand", [yes, emit.add("Shape", [first], "shape")], "first")
    rows = [
        emit.concat([row, broadcast(recurrence, value, shape)], 0, "rows")
        for row, value in ((yes, hit.flag), (first, hit.value))
    ]
    facts = [Fact(_TYPES.BOOL, fact.shape), fact]
    _, values = recurrence.prefixes(join, rows, facts)
    return replace_rows(recurrence, [values], "a first value in steps of doubling distance", True)


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
        if nodes == {choice, both, test} and _is_test(recurrence, test, state.argument):
            return _Hit(value, flag, test, _passes_none(recurrence, test))
    return None


def _is_test(recurrence: Recurrence, test: Node, argument: Value) -> bool:
    """Test for a comparison of a state with one bound."""
    bound, fact = test.input(1), recurrence.fact(argument)
    if not test.is_op(*_TESTS) or test.input(0) is not argument or test.op.references:
        return False
    if bound is None or recurrence.iterations.varies(bound) or fact.elem_type not in NUMBERS:
        return False
    return recurrence.fact(test.output()).shape == fact.shape


def _passes_none(recurrence: Recurrence, test: Node) -> bool:
    """Test for a comparison that no number from 0 on passes."""
    numbers = integers(recurrence.fact(required_input(test, 1)))
    return numbers is not None and bool(np.all(numbers <= _MOST.get(test.op_type, -np.inf)))
