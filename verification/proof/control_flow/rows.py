"""A Scan of version 9 or later, or a row of a Scan 8: run by its definition, or a recurrence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ....facts.fact import Fact
from ....facts.polynomial import Dimension
from ....reference.bodies import label
from ..budget import OpenError
from ..obligations import SAME_SIZES
from ..simplify.parts import backward
from .recurrences import Recurrence, recur
from .stacks import empty_stack, nothing, require_same, stack, trips_of

if TYPE_CHECKING:
    from ..compile_graph import Step
    from ..symbolic_execution import Execution, Frame, Value
    from ..term_manager import Terms
    from ..terms import Term

_NAMES_IN_8 = {"scan_input_directions": "directions"}


class Scan:
    """One Scan of version 9 or later, or one row of a Scan 8.

    Args:
        execution: what runs its body.
        step: its node.
        frame: the frame around it.
        states: the initial states.
        scanned: what it reads.
    """

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
        self._demand_same(lengths)
        self.length = next((n for n in lengths if n.value is not None), lengths[0])

    def _demand_same(self, lengths: Sequence[Dimension]) -> None:
        """Demand that all that is read has as many elements."""
        different = tuple(dict.fromkeys(lengths))
        if len(different) > 1:
            sizes = tuple(map(self.terms.size, different))
            self.execution.demand(self.terms.heads.own(SAME_SIZES), sizes, self.step)

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
        if trips is None or not self.terms.runs_loop(trips, len(self.body.steps)):
            return self._symbolic()
        values: list[Value] = list(self.states)
        elements: list[list[Value]] = []
        for trip in range(trips):
            results = self._trip(values, Dimension.constant(trip))
            values = results[: len(self.states)]
            elements.append(results[len(self.states) :])
        return [*values, *(self._output(k, elements) for k in range(self.outputs))]

    def _trip(self, states: Sequence[Value], trip: Dimension) -> list[Value]:
        """What the body gives on one trip, the states of which must keep their shapes."""
        results = self.call([*states, *self._rows(trip)])
        for state, made in zip(states, results, strict=False):
            require_same(self.execution, self.step, [state, made])
        return results

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
        require_same(self.execution, self.step, made)
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
            return always, self._trip(states, index)

        made = Recurrence(
            self.execution,
            trips=self.length,
            limit=self.terms.size(self.length),
            condition=None,
            inits=self.states,
            trip=trip,
            read=self.step.read,
            empty=self._empty,
            step=self.step,
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
    part = terms.narrow(x, axis, place, 1)
    return terms.view(part, x.shape[:axis] + x.shape[axis + 1 :])
