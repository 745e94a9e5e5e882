"""Scan 8 and 9+: run by their definition, or a Scan 9 as a recurrence."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import onnx

from ...facts.dimension import Dimension
from ...facts.fact import Fact
from ...reference.bodies import label
from ..budget import OpenError
from ..rules.parts import backward
from .loops import MOST_STEPS
from .recurrences import Recurrence, recur
from .registry import construct
from .stacks import empty_stack, nothing, stack, trips_of

if TYPE_CHECKING:
    from ..algebra import Terms
    from ..execution import Execution, Frame, Value
    from ..programs import Step
    from ..terms import Term


@construct("Scan")
def run_scan(
    execution: Execution, step: Step, args: tuple[Value, ...], frame: Frame
) -> Sequence[Value]:
    """Scan (operator specification, versions 8 to 25)."""
    if step.head.opset == 8:
        return _scan_8(execution, step, args, frame)
    count = step.head.attribute("num_scan_inputs")
    given = [arg for arg in args if arg is not None]
    if len(given) != len(args) or len(args) < count:
        raise OpenError(f"{label(step.node)} lacks an input")
    states, scanned = given[: len(given) - count], given[len(given) - count :]
    scan = _Scan(execution, step, frame, states, scanned)
    return scan.run()


_NAMES_IN_8 = {"scan_input_directions": "directions"}


class _Scan:
    """One Scan of version 9 or later, or one element of the batch of a Scan 8."""

    def __init__(
        self,
        execution: Execution,
        step: Step,
        frame: Frame,
        states: list[Term],
        scanned: list[Term],
    ) -> None:
        self.execution, self.step, self.frame = execution, step, frame
        self.states, self.scanned = states, scanned
        self.terms = execution.terms
        self.body = step.bodies["body"]
        self.call = execution.bound(self.body, frame)
        self.outputs = len(self.body.outputs) - len(states)
        self.axes = [
            self._axis(axis, len(x.fact.shape or (0,)))
            for axis, x in zip(self._list("scan_input_axes", len(scanned)), scanned, strict=True)
        ]
        self.backward = self._list("scan_input_directions", len(scanned))
        self.output_axes = self._list("scan_output_axes", self.outputs)
        self.output_backward = self._list("scan_output_directions", self.outputs)
        lengths = [trips_of(x.fact, axis) for x, axis in zip(scanned, self.axes, strict=True)]
        self.length = next((n for n in lengths if n.value is not None), lengths[0])

    def _list(self, name: str, count: int) -> list[int]:
        if self.step.head.opset == 8:
            name = _NAMES_IN_8.get(name, "")
        given = list(self.step.head.attribute(name) or [0] * count)
        if len(given) != count:
            raise OpenError(f"{label(self.step.node)}: {name} does not fit")
        return given

    def _axis(self, axis: int, rank: int) -> int:
        """An axis, counted from the front."""
        if not -rank <= axis < rank:
            raise OpenError(f"{label(self.step.node)} has no axis {axis} of {rank}")
        return axis % rank

    def run(self) -> Sequence[Value]:
        """Its outputs."""
        trips = self.length.value
        if trips is None or trips * max(len(self.body.steps), 1) > MOST_STEPS:
            return self._symbolic()
        values: list[Value] = list(self.states)
        elements: list[list[Value]] = []
        for trip in range(trips):
            results = self.call([*values, *self._rows(Dimension.constant(trip))])
            values = results[: len(self.states)]
            elements.append(results[len(self.states) :])
        return [*values, *(self._output(k, elements) for k in range(self.outputs))]

    def _rows(self, trip: Dimension) -> list[Term]:
        """What is read on one trip."""
        return [
            row(self.terms, x, axis, self.length - 1 - trip if back else trip)
            for x, axis, back in zip(self.scanned, self.axes, self.backward, strict=True)
        ]

    def _output(self, k: int, elements: list[list[Value]]) -> Term:
        if not elements:
            element = self._empty(len(self.states) + k)
            return empty_stack(
                self.terms, element, self._axis(self.output_axes[k], len(element.shape or ()) + 1)
            )
        made = [trip[k] for trip in elements]
        shape = None if made[0] is None else made[0].fact.shape
        if shape is None:
            raise OpenError(f"{label(self.step.node)} gives elements of unknown rank")
        axis = self._axis(self.output_axes[k], len(shape) + 1)
        ordered = made[::-1] if self.output_backward[k] else made
        return stack(self.terms, ordered, self.step.head, axis)

    def _empty(self, output: int) -> Fact:
        sample = [state.fact for state in self.states]
        for x, axis in zip(self.scanned, self.axes, strict=True):
            shape = x.fact.shape or ()
            sample.append(Fact(x.fact.elem_type, shape[:axis] + shape[axis + 1 :]))
        return nothing(self.terms, self.body, output, sample)

    def _symbolic(self) -> Sequence[Value]:
        always = self.terms.constant(np.array(True))

        def trip(index: Dimension, states: Sequence[Term]) -> tuple[Term, list[Value]]:
            return always, self.call([*states, *self._rows(index)])

        made = Recurrence(
            self.execution,
            trips=self.length,
            limit=self.terms.size(self.length),
            condition=None,
            inits=self.states,
            trip=trip,
            read=self.step.read,
            empty=self._empty,
            place=label(self.step.node),
        )
        results = recur(made)
        count = len(self.states)
        moved = [self._moved(k, results[count + k]) for k in range(self.outputs)]
        return [*results[:count], *moved]

    def _moved(self, k: int, stacked: Value) -> Value:
        """A scan output with its elements in the order and along the axis that it wants."""
        if stacked is None:
            return None
        if self.output_backward[k]:
            if stacked.fact.shape is None:
                raise OpenError(f"{label(self.step.node)} gives elements of unknown rank")
            stacked = backward(self.terms, stacked, 0)
        if self.output_axes[k] == 0:
            return stacked
        if stacked.fact.shape is None:
            raise OpenError(f"{label(self.step.node)} gives elements of unknown rank")
        rank = len(stacked.fact.shape)
        axis = self._axis(self.output_axes[k], rank)
        perm = [*range(1, axis + 1), 0, *range(axis + 1, rank)]
        return self.terms.op("Transpose", self.step.head, stacked, perm=perm)


def row(terms: Terms, x: Term, axis: int, place: Dimension) -> Term:
    """The element of a tensor at a place along an axis, without that axis."""
    assert x.fact.shape is not None
    part = terms.narrow(x, axis, place, 1)
    return terms.view(part, x.fact.shape[:axis] + x.fact.shape[axis + 1 :])


def _scan_8(
    execution: Execution, step: Step, args: tuple[Value, ...], frame: Frame
) -> Sequence[Value]:
    """Scan 8: each element of the batch on its own, for its own length."""
    terms, body = execution.terms, step.bodies["body"]
    lengths, *rest = args
    given = [value for value in rest if value is not None]
    count = step.head.attribute("num_scan_inputs")
    states, scanned = given[: len(given) - count], given[len(given) - count :]
    batch, longest = trips_of(scanned[0].fact, 0).value, trips_of(scanned[0].fact, 1).value
    if len(given) != len(rest):
        raise OpenError(f"{label(step.node)} lacks an input")
    if lengths is None and (batch is None or longest is None):
        return _of_any_size(execution, step, frame, states, scanned)
    if batch is None or longest is None:
        raise OpenError(f"{label(step.node)}: a Scan 8 of unknown batch or length, with lengths")
    trips = [longest] * batch if lengths is None else terms.numbers(lengths)
    if trips is None:
        raise OpenError(f"{label(step.node)}: lengths that run time tells")
    flags = list(step.head.attribute("directions") or [0] * count)
    call = execution.bound(body, frame)
    finals, rows = [], []
    for b, length in enumerate(trips):
        number = Dimension.constant(b)
        values: list[Value] = [row(terms, state, 0, number) for state in states]
        elements = []
        for trip in range(length):
            places = [length - 1 - trip if flag else trip for flag in flags]
            read = [
                row(terms, row(terms, x, 0, number), 0, Dimension.constant(place))
                for x, place in zip(scanned, places, strict=True)
            ]
            results = call([*values, *read])
            values = results[: len(states)]
            elements.append(results[len(states) :])
        finals.append(values)
        rows.append(elements)
    stacked = [
        stack(terms, [f[k] for f in finals], step.head) if finals else state
        for k, state in enumerate(states)
    ]
    sample = [_inner(state.fact, 1) for state in states] + [_inner(x.fact, 2) for x in scanned]
    empty = functools.partial(nothing, terms, body, sample=sample, captured={})
    return [*stacked, *_padded(execution, step, rows, longest, len(states), empty)]


def _of_any_size(
    execution: Execution, step: Step, frame: Frame, states: list[Term], scanned: list[Term]
) -> Sequence[Value]:
    """Scan 8 without lengths: for each element of the batch a Scan along the axis behind it."""
    terms, body = execution.terms, step.bodies["body"]
    known = [trips_of(term.fact, 0) for term in (*scanned, *states)]
    batch = next((size for size in known if size.value is not None), known[0])

    def one(place: Dimension) -> list[Value]:
        rows = [[row(terms, x, 0, place) for x in part] for part in (states, scanned)]
        return list(_Scan(execution, step, frame, rows[0], rows[1]).run())

    if batch.value:
        made = [one(Dimension.constant(b)) for b in range(batch.value)]
        columns = zip(*made, strict=True)
        return [None if c[0] is None else stack(terms, c, step.head) for c in columns]
    length = trips_of(scanned[0].fact, 1)
    sample = [_inner(s.fact, 1) for s in states] + [_inner(x.fact, 2) for x in scanned]

    def empty(output: int) -> Fact:
        if output < len(states):
            return sample[output]
        inner = nothing(terms, body, output, sample=sample, captured={})
        return Fact(inner.elem_type, (length, *(inner.shape or ())))

    if batch.value == 0:
        return [empty_stack(terms, empty(k)) for k in range(len(body.outputs))]
    always = terms.constant(np.array(True))
    return recur(
        Recurrence(
            execution,
            trips=batch,
            limit=terms.size(batch),
            condition=None,
            inits=[],
            trip=lambda index, _: (always, one(index)),
            read=step.read,
            empty=empty,
            place=label(step.node),
        )
    )


def _inner(fact: Fact, axes: int) -> Fact:
    return Fact(fact.elem_type, None if fact.shape is None else fact.shape[axes:])


def _padded(
    execution: Execution,
    step: Step,
    rows: list[list[list[Value]]],
    longest: int,
    states: int,
    empty: Callable[[int], Fact],
) -> list[Term]:
    """Scan outputs of all rows, zeros where a row has ended."""
    terms, outputs = execution.terms, []
    for k in range(len(step.bodies["body"].outputs) - states):
        made = [element[k] for row in rows for element in row]
        fact = made[0].fact if made and made[0] is not None else empty(states + k)
        if not rows or not longest:
            sizes = (Dimension.constant(len(rows)), Dimension.constant(longest))
            outputs.append(terms.void(Fact(fact.elem_type, (*sizes, *(fact.shape or ())))))
            continue
        blank = None if all(len(row) == longest for row in rows) else _zeros(terms, step, fact)
        full = [
            stack(terms, [*(e[k] for e in row), *[blank] * (longest - len(row))], step.head)
            for row in rows
        ]
        outputs.append(stack(terms, full, step.head))
    return outputs


def _zeros(terms: Terms, step: Step, fact: Fact) -> Term:
    if fact.shape is None or any(dim.value is None for dim in fact.shape):
        raise OpenError(f"{label(step.node)} pads elements of a size that run time tells")
    dtype = onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type)
    shape = [dim.value or 0 for dim in fact.shape]
    return terms.constant(np.full(shape, "" if dtype.kind in "OUS" else 0, dtype))
