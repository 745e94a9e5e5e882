"""Cells that keep the state of a row where a mask says so: h = Where (mask, new, h).

An operator knows no such mask, but each row may be shorter than the others. So the elements of each
row that count are put first, in their order, and as many steps as those are made. After trip t
the state is then that after as many steps as the row had elements that count, up to there:

rows = Concat (h0, h_all), counts = CumSum (mask), h = GatherElements (rows, counts)
"""

from __future__ import annotations

import dataclasses

import numpy as np
import onnx

from ....analysis.trips.trip_count import behind_identities
from ....ir import Node, Operator, Value
from ....ir.lazy import lazy_property
from ....ops.builder import Builder
from ...vectorize.loop_view import State
from .recurrence import Recurrence

_INT64 = onnx.TensorProto.INT64


@dataclasses.dataclass(frozen=True)
class Mask:
    """What tells in each row whether a trip counts.

    Attributes:
        value: it, of truth values.
        keeps: whether a state is kept where it is true, and not where it is false.
    """

    value: Value
    keeps: bool

    def operand(self, node: Node) -> Value | None:
        """What a Where gives where a trip counts; None where it asks something else."""
        return node.input(1 + self.keeps) if node.input(0) is self.value else None


def find_mask(recurrence: Recurrence) -> Mask | None:
    """The mask by which all states of a recurrence are kept, or None."""
    found = {_mask_of(recurrence, state) for state in recurrence.states}
    return found.pop() if len(found) == 1 else None


def _mask_of(recurrence: Recurrence, state: State) -> Mask | None:
    node = behind_identities(state.result).producer
    if node is None or not node.is_op("Where") or node not in recurrence.nodes:
        return None
    condition, *branches = node.inputs
    if condition is None or condition.producer in recurrence.nodes:
        return None
    for keeps, branch in zip((True, False), branches, strict=True):
        if branch is not None and behind_identities(branch) is state.given:
            return Mask(condition, keeps)
    return None


def mask_aliases(state: State) -> list[Value]:
    """The values of the body that are what a masked state is on the next trip."""
    names, last = [state.result], behind_identities(state.result)
    while names[-1] is not last:
        node = names[-1].producer
        assert node is not None and node.inputs[0] is not None
        names.append(node.inputs[0])
    return names


class Packing:
    """The elements that count, before the others.

    Args:
        emit: makes the nodes.
        counts: 1 where a trip counts and else 0: [trips, batch, 1] of int64, with one element at
            least.
    """

    def __init__(self, emit: Builder, counts: Value) -> None:
        self._emit = emit
        self._counts = counts

    @lazy_property
    def _reached(self) -> Value:
        """How many elements have counted up to each trip."""
        return self._emit.running_sum(self._counts, "reached")

    @lazy_property
    def _all(self) -> Value:
        """How many count in each row, [batch, 1]."""
        return self._emit.reduce("ReduceSum", self._counts, (0,), "lengths")

    @lazy_property
    def _nothing(self) -> Value:
        """Whether none counts in a row, [batch, 1]."""
        return self._emit.add("Equal", [self._all, self._emit.vector((0,), "k")], "nothing")

    @lazy_property
    def lengths(self) -> Value:
        """How many steps are made in each row; one for none, which no operator takes."""
        one = self._emit.add("Cast", [self._nothing], "one", to=_INT64)
        steps = self._emit.add("Add", [self._all, one], "steps")
        steps = self._emit.squeeze(steps, 1, "steps")
        return self._emit.add("Cast", [steps], "steps", to=onnx.TensorProto.INT32)

    def pack(self, fed: Value) -> Value:
        """What is fed, [trips, batch, elements], with what counts first."""
        emit = self._emit
        shape = emit.add("Shape", [self._counts], "shape")
        trips = emit.add("Gather", [shape, emit.vector((0,), "k")], "trips")
        # From the number of trips down for what counts, and from 0 down for the rest.
        zero, one = (emit.constant(np.array(n, np.int64), "k") for n in (0, 1))
        numbers = emit.add("Range", [zero, emit.scalar(trips, "trips"), one], "numbers")
        keys = emit.add("Mul", [self._counts, trips], "keys")
        keys = emit.add("Sub", [keys, emit.unsqueeze(numbers, (1, 2), "numbers")], "keys")
        _, order = emit.several(Operator.make("TopK", axis=0), [keys, trips], ["sorted", "order"])
        return self._gathered(fed, order)

    def every(self, hidden: Value, initial: Value) -> Value:
        """The states after each trip, [trips, batch, elements].

        Args:
            hidden: those after each step.
            initial: that before the first one, [1, batch, elements].
        """
        return self._gathered(self._emit.concat([initial, hidden], 0, "rows"), self._reached)

    def last(self, final: Value, initial: Value) -> Value:
        """The state after the last trip, [1, batch, elements], of that after the last step."""
        return self._emit.add("Where", [self._nothing, initial, final], final.name)

    def _gathered(self, source: Value, places: Value) -> Value:
        """For each row elements at other places."""
        ones = self._emit.vector((1, 1), "ones")
        shape = self._emit.add("Shape", [source], "shape")
        width = self._emit.add("Gather", [shape, self._emit.vector((2,), "k")], "width")
        shape = self._emit.concat([ones, width], 0, "shape")
        places = self._emit.add("Expand", [places, shape], "places")
        return self._emit.add("GatherElements", [source, places], source.name, axis=0)
