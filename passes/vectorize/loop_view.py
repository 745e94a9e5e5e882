"""A Loop or a Scan read as one: what its body is fed with, and what comes of what it gives."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from ...analysis.trips.trip_count import always_holds
from ...facts.fact import Shape
from ...facts.polynomial import Dimension
from ...facts.reason import Message
from ...ir import Graph, Node, Value
from ..scans.layout import read_scan, unreadable
from ..utils.legality import given_by_caller

_OUTPUT_NAMED = Message("loop-output-named", "an output of it is named from outside the data flow")
_ENDS_ITSELF = Message("body-decides-end", "its body decides when it ends")
_NO_MAXIMUM = Message("no-maximum", "it has no maximum")
_STATE_ABSENT = Message("initial-state-absent", "an initial state is absent")
_OLD_SCAN = Message("scan-of-opset-eight", "it is a Scan of opset 8; convert to opset 9 first")


class State(NamedTuple):
    """What is carried from trip to trip.

    Attributes:
        initial: what the first trip is given, outside.
        given: what the body is given.
        result: what the body gives on.
        final: what the last trip gave on, outside; None where nobody asks.
    """

    initial: Value
    given: Value
    result: Value
    final: Value | None


@dataclasses.dataclass(frozen=True)
class Scanned:
    """What is taken apart along an axis, an element for each trip.

    Attributes:
        source: what is taken apart.
        given: what the body is given.
        axis: along which axis.
        backward: whether the first trip is given the last element.
        size: how much of the axis each trip is given; None where it is given one element, without
            the axis.
    """

    source: Value
    given: Value
    axis: int
    backward: bool
    size: int | None = None

    def count(self, shape: Shape) -> Dimension:
        """How many elements a source of a shape has."""
        length = shape[self.axis]
        if length.value is None or self.size is None:
            return length
        return Dimension.constant(length.value // self.size)


@dataclasses.dataclass(frozen=True)
class Stacked:
    """What is put together from an element of each trip."""

    result: Value
    output: Value | None
    axis: int
    backward: bool


@dataclasses.dataclass(frozen=True)
class Repetition:
    """A Loop whose condition always holds, a Scan from opset 9 on, or a SequenceMap.

    Attributes:
        node: the Loop, Scan or SequenceMap.
        maximum: how many trips a Loop makes; None for the others.
        start: whether a Loop makes any; None where it does.
        iteration: what the body is given as the number of the trip; None but for a Loop.
        condition: what the body is given as the condition, which is true; None but for a Loop.
        same: what a SequenceMap gives its body that is no sequence: outside, and in the body.
    """

    node: Node
    maximum: Value | None
    start: Value | None
    iteration: Value | None
    condition: Value | None
    states: tuple[State, ...]
    scanned: tuple[Scanned, ...]
    stacked: tuple[Stacked, ...]
    same: tuple[tuple[Value, Value], ...] = ()

    @property
    def around(self) -> Graph:
        """The graph that the node is in."""
        assert self.node.graph is not None
        return self.node.graph

    @property
    def body(self) -> Graph:
        """The graph that runs on each trip."""
        return self.node.body("body")


def read(node: Node) -> Repetition | str:
    """A Loop or Scan as a repetition, or why it is none."""
    reason = given_by_caller(node)
    if reason is not None:
        return reason
    if any(value is not None and value.pinned for value in node.outputs):
        return _OUTPUT_NAMED()
    return _read_loop(node) if node.is_op("Loop") else _read_scan(node)


def _read_loop(node: Node) -> Repetition | str:
    body = node.body("body")
    if not always_holds(body):
        return _ENDS_ITSELF()
    maximum = node.input(0)
    if maximum is None:
        return _NO_MAXIMUM()
    count = len(node.inputs) - 2
    states = _states(node, 2, 2, 1, count)
    if states is None:
        return _STATE_ABSENT()
    rest = list(zip(body.outputs[1 + count :], node.outputs[count:], strict=False))
    unasked = [(result, None) for result in body.outputs[1 + count + len(rest) :]]
    return Repetition(
        node,
        maximum,
        node.input(1),
        body.inputs[0],
        body.inputs[1],
        states,
        (),
        tuple([Stacked(result, output, 0, False) for result, output in [*rest, *unasked]]),
    )


def _read_scan(node: Node) -> Repetition | str:
    assert node.graph is not None
    if node.graph.root.opset() < 9:
        return _OLD_SCAN()
    reason = unreadable(node, 9)
    if reason is not None:
        return reason
    layout = read_scan(node, 9)
    body, count = layout.body, len(layout.states)
    states = _states(node, 0, 0, 0, count)
    if states is None:
        return _STATE_ABSENT()
    return Repetition(
        node,
        None,
        None,
        None,
        None,
        states,
        tuple(
            map(
                Scanned,
                layout.scanned,
                body.inputs[count:],
                layout.input_axes,
                layout.input_backward,
            )
        ),
        tuple(
            map(
                Stacked,
                body.outputs[count:],
                layout.scan_outputs,
                layout.output_axes,
                layout.output_backward,
            )
        ),
    )


def _states(
    node: Node, outside: int, inside: int, given_back: int, count: int
) -> tuple[State, ...] | None:
    """The states, by where they begin among the node's inputs, the body's inputs and outputs."""
    body = node.body("body")
    states = []
    for index in range(count):
        initial = node.inputs[outside + index]
        if initial is None:
            return None
        final = node.outputs[index] if index < len(node.outputs) else None
        given, result = body.inputs[inside + index], body.outputs[given_back + index]
        states.append(State(initial, given, result, final))
    return tuple(states)
