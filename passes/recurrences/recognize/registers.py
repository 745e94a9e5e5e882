"""Registers: states that drop their oldest rows and append new ones, as windows of all rows.

a, y = Loop (n, , a0, x) <                      rows = Concat (a0, es)
   body = b (i, c, s) => (c2, t) {        ->    ts = Gather (rows, 1 + i + [0, ..., k - 1])
      t = Concat (Slice (s, 1, END), e)
   }
>

So do caches of convolutions that see one element at a time, and sliding windows by hand. The new
rows may also come first.
"""

from typing import NamedTuple

from ....facts.magnitudes import LAST_OF_64_BITS
from ....ir import Value
from ....ops.batching import Window
from ....ops.views import read_slice
from ...utils.stacked_rows import concat_rows
from ..weights import Unfit
from .recurrence import Recurrence, Replacement


class _Register(NamedTuple):
    """A state of some rows.

    Attributes:
        element: the rows that each iteration adds.
        axis: the axis of the rows.
        size: the number of rows.
        step: the number of new rows in an iteration.
        at_end: true if new rows are the last ones; false if they are the first.
    """

    element: Value
    axis: int
    size: int
    step: int
    at_end: bool


def raise_register(recurrence: Recurrence) -> Replacement:
    """Replace a state that drops its oldest rows and adds new ones."""
    register = _read(recurrence)
    if register is None:
        raise Unfit("it is not a register: it does not drop its oldest rows for new ones")
    (state,), iterations = recurrence.states, recurrence.iterations
    emit, feeding, axis = iterations.emit, iterations.feeding, register.axis
    recurrence.require_room(recurrence.state_fact)
    element = iterations.operand(register.element)
    rows, shape = iterations.every(register.element), element.fact.shape or ()
    initial = feeding.same(state.initial).value
    if register.at_end:
        parts = [initial, concat_rows(rows, axis, shape, emit)]
    else:
        parts = [concat_rows(feeding.reverse(rows), axis, shape, emit), initial]
    joined = emit.concat(parts, axis, state.argument.name)
    every = _windows(recurrence, register, joined)
    # Windows that overlap: a reader that reduces them needs the rows alone (`sliding_windows`).
    if register.at_end and register.step < register.size:
        rows = feeding.cut(joined, register.step, LAST_OF_64_BITS, axis)
        feeding.windows[every] = Window(rows, axis, register.step, register.size, True, True)
    ends = (-register.size, LAST_OF_64_BITS) if register.at_end else (0, register.size)
    final = feeding.cut(joined, *ends, axis)
    return Replacement("a register", True, {state: every}, {state: final})


def _windows(recurrence: Recurrence, register: _Register, joined: Value) -> Value:
    """Emit the rows of the state after each iteration."""
    emit, feeding = recurrence.emit, recurrence.feeding
    numbers = feeding.numbers(feeding.iterations)
    if not register.at_end:
        numbers = feeding.reverse(numbers)
    count = emit.vector((register.step,), "count")
    starts = emit.unsqueeze(emit.add("Mul", [numbers, count], "starts"), 1, "starts")
    first = register.step if register.at_end else 0
    places = emit.vector(tuple(range(first, first + register.size)), "places")
    places = emit.add("Add", [starts, places], "places")
    axis = register.axis
    windows = emit.add("Gather", [joined, places], "windows", axis=axis)
    rank = len(recurrence.fact(recurrence.states[0].initial).shape or ()) + 1
    perm = [axis, *(other for other in range(rank) if other != axis)]
    return emit.transpose(windows, perm, "windows")


def _read(recurrence: Recurrence) -> _Register | None:
    """The register of a recurrence; None for another one."""
    if len(recurrence.states) > 1 or len(recurrence.nodes) != 2:
        return None
    (state,), (cut, join) = recurrence.states, recurrence.nodes
    fact = recurrence.fact(state.initial)
    if not join.is_op("Concat") or join.output() is not state.result or len(join.inputs) != 2:
        return None
    view = read_slice(cut, recurrence.fact)
    if view is None or view.source is not state.argument or not fact.shape:
        return None
    at_end = join.input(0) is cut.output()
    element = join.input(1 if at_end else 0)
    axis = join.attribute("axis") % len(fact.shape)
    size, (first, last) = fact.shape[axis].value, view.numbers
    shapes = [None if v is None else recurrence.fact(v).shape for v in (element, state.result)]
    if element is None or size is None or shapes[0] is None:
        return None
    if first is None or last is None or view.axis != axis:
        return None
    step = shapes[0][axis].value
    if step is None or not 0 < step <= size or shapes[1] != fact.shape:
        return None
    bounds = (step, size) if at_end else (0, size - step)
    fits = slice(first, last).indices(size)[:2] == bounds
    return _Register(element, axis, size, step, at_end) if fits else None
