"""States that need no trip after the other: counters, and what the trip before made."""

from __future__ import annotations

import onnx

from ...analysis.trips.trip_count import skip_identities
from ...facts.fact import Content, Fact, content_from
from ...facts.polynomial import Dimension
from ...ir import Value
from ...ops.batching import Operand, Unbatchable
from .batched_inputs import Feeding
from .loop_view import Repetition, State

_COUNTED = {6: "int32", 7: "int64"}
"""Types of counters, by `onnx.TensorProto.DataType`."""


def is_invariant(state: State) -> bool:
    """Whether a state is given on as it came."""
    return skip_identities(state.result) is state.given


def counted_by(state: State, repetition: Repetition) -> Value | None:
    """What every trip adds to a state or subtracts from it, where that comes from outside the body
    or is a constant, and nothing else happens to the state; None for another one."""
    node, body = state.result.producer, repetition.body
    if node is None or not node.is_op("Add", "Sub") or node.graph is not body:
        return None
    one, other = node.inputs
    if node.is_op("Add") and other is state.given:
        one, other = other, one
    if one is not state.given or other is None or (other.graph is body and not other.constant):
        return None
    return other


def counts_trips(state: State, repetition: Repetition) -> bool:
    """Whether a state is 0 on the first trip and one more on each."""
    step, node = counted_by(state, repetition), state.result.producer
    if step is None or node is None or not node.is_op("Add"):
        return False
    return _is_number(state.initial, 0) and _is_number(step, 1)


def iteration_like(value: Value, repetition: Repetition) -> bool:
    """Whether a value of the body is the number of the trip, or a state that is the same."""
    iteration = repetition.iteration
    if value is iteration:
        return True
    if iteration is None or iteration.shape:
        return False
    counters = [state for state in repetition.states if state.given is value]
    return any(
        state.initial.elem_type == onnx.TensorProto.INT64 and counts_trips(state, repetition)
        for state in counters
    )


def _is_number(value: Value, number: int) -> bool:
    tensor = value.constant
    return tensor is not None and tensor.dims == () and bool(tensor.numpy() == number)


def counter(
    state: State, repetition: Repetition, feeding: Feeding
) -> tuple[Value, Content | None] | None:
    """The values of an integer to which every trip adds the same number, and its elements as they
    follow from the number of the trip; None for another one.

    There is one more than there are trips: the first is the initial one.
    """
    other, node = counted_by(state, repetition), state.result.producer
    if other is None or node is None:
        return None
    initial, step = feeding.same(state.initial), feeding.same(other)
    shape, elem_type, emit = initial.fact.shape, initial.fact.elem_type, feeding.emit
    if shape is None or elem_type not in _COUNTED or step.fact.shape not in (shape, ()):
        return None
    one_more = emit.add("Add", [feeding.trips, feeding.integers(1)], "ends")
    numbers = feeding.numbers(one_more)
    if counts_trips(state, repetition) and elem_type == onnx.TensorProto.INT64:
        return numbers, content_from(feeding.number)
    numbers = emit.add("Cast", [numbers], "numbers", to=elem_type)
    if shape:
        numbers = emit.unsqueeze(numbers, tuple(range(1, 1 + len(shape))), "numbers")
    added = emit.add("Mul", [numbers, step.value], "added")
    joined = emit.add(node.op_type, [initial.value, added], state.given.name)
    return joined, _reached(
        initial.fact, step.fact, feeding.number * (1 if node.is_op("Add") else -1)
    )


def _reached(initial: Fact, step: Fact, steps: Dimension) -> Content | None:
    """The elements of a counter on any trip."""
    first, added = initial.content, step.content
    if first is None or added is None or None in (*first.reshape(-1), *added.reshape(-1)):
        return None
    return content_from(first + added * steps)


def shifted(state: State, result: Operand, feeding: Feeding) -> Value:
    """The values of a state that each trip makes of other things: results, one trip later.

    Raises:
        Unbatchable: its shape may change.
    """
    initial = feeding.inference.fact(state.initial)
    if initial.shape is None or initial.shape != result.fact.shape:
        raise Unbatchable(f"carries '{state.given.name}', whose shape may change")
    first = feeding.emit.unsqueeze(feeding.same(state.initial).value, 0, "first")
    rows = feeding.every(result, state.given.name)
    return feeding.emit.concat([first, rows], 0, state.given.name)
