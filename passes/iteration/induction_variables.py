"""Induction variables, and states that are values of the previous iteration."""

from __future__ import annotations

import onnx

from ...analysis.iterations.trip_count import skip_identities
from ...facts.fact import Content, Fact, content_from
from ...facts.polynomial import Dimension
from ...ir import Value
from ...ops.batching import Operand, Unbatchable
from .batched_inputs import Feeding
from .loop_view import LoopView, State

_COUNTED = {6: "int32", 7: "int64"}
"""The types of counters, by `onnx.TensorProto.DataType`."""


def is_invariant(state: State) -> bool:
    """Test for a state that the body returns unchanged."""
    return skip_identities(state.result) is state.argument


def step_of(state: State, loop_view: LoopView) -> Value | None:
    """The loop-invariant step of an induction variable; None for other states."""
    node, body = skip_identities(state.result).producer, loop_view.body
    if node is None or not node.is_op("Add", "Sub") or node.graph is not body:
        return None
    one, other = node.inputs
    # Of a Sub, only the first operand may be the state: step - state alternates in sign.
    if node.is_op("Add") and other is state.argument:
        one, other = other, one
    # A step that the body computes may differ from iteration to iteration.
    if one is not state.argument or other is None or (other.graph is body and not other.constant):
        return None
    return other


def counts_iterations(state: State, loop_view: LoopView) -> bool:
    """Test for a state that starts at 0 with step 1."""
    step, node = step_of(state, loop_view), skip_identities(state.result).producer
    if step is None or node is None or not node.is_op("Add"):
        return False
    return _is_number(state.initial, 0) and _is_number(step, 1)


def iteration_like(value: Value, loop_view: LoopView) -> bool:
    """Test for the iteration number, or a state that equals it."""
    iteration = loop_view.iteration
    if value is iteration:
        return True
    if iteration is None or iteration.shape:
        return False
    counters = [state for state in loop_view.states if state.argument is value]
    return any(
        state.initial.elem_type == onnx.TensorProto.INT64 and counts_iterations(state, loop_view)
        for state in counters
    )


def _is_number(value: Value, number: int) -> bool:
    tensor = value.constant
    return tensor is not None and tensor.dims == () and bool(tensor.numpy() == number)


def counter(
    state: State, loop_view: LoopView, feeding: Feeding
) -> tuple[Value, Content | None] | None:
    """Emit the values of an induction variable, with its symbolic elements.

    One value more than iterations: the first is the initial one. None for other states.
    """
    other, node = step_of(state, loop_view), skip_identities(state.result).producer
    if other is None or node is None:
        return None
    initial, step = feeding.same(state.initial), feeding.same(other)
    shape, elem_type, emit = initial.fact.shape, initial.fact.elem_type, feeding.emit
    # No floats: one product and one sum round otherwise than one addition per iteration.
    if shape is None or elem_type not in _COUNTED or step.fact.shape not in (shape, ()):
        return None
    one_more = emit.add("Add", [feeding.iterations, feeding.integers(1)], "ends")
    numbers = feeding.numbers(one_more)
    if counts_iterations(state, loop_view) and elem_type == onnx.TensorProto.INT64:
        return numbers, content_from(feeding.number)
    numbers = emit.add("Cast", [numbers], "numbers", to=elem_type)
    if shape:
        numbers = emit.unsqueeze(numbers, tuple(range(1, 1 + len(shape))), "numbers")
    offset = emit.add("Mul", [numbers, step.value], "added")
    joined = emit.add(node.op_type, [initial.value, offset], state.argument.name)
    return joined, _elements(
        initial.fact, step.fact, feeding.number * (1 if node.is_op("Add") else -1)
    )


def _elements(initial: Fact, step: Fact, steps: Dimension) -> Content | None:
    """The symbolic elements of an induction variable."""
    first, change = initial.content, step.content
    if first is None or change is None or None in (*first.reshape(-1), *change.reshape(-1)):
        return None
    return content_from(first + change * steps)


def shift(state: State, result: Operand, feeding: Feeding) -> Value:
    """Emit the values of a state that equals a value of the previous iteration.

    Raises:
        Unbatchable: a shape that may change.
    """
    initial = feeding.inference.fact(state.initial)
    if initial.shape is None or initial.shape != result.fact.shape:
        raise Unbatchable(f"carries '{state.argument.name}', whose shape may change")
    first = feeding.emit.unsqueeze(feeding.same(state.initial).value, 0, "first")
    rows = feeding.every(result, state.argument.name)
    return feeding.emit.concat([first, rows], 0, state.argument.name)
