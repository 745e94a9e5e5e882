"""A common view of Loop and Scan: states, scan inputs, scan outputs."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

from ...analysis.iterations.block_places import computes_blocks
from ...analysis.iterations.trip_count import always_holds
from ...facts.fact import Shape
from ...facts.obstacle import Obstacle, require_none
from ...facts.polynomial import Dimension
from ...facts.reason import Message
from ...ir import Graph, Node, Value
from ..utils.legality import caller_attribute, externally_named
from .scan_layout import read_scan, unreadable

_OUTPUT_NAMED = Message("loop-output-named", "an output of it is named from outside the data flow")
_ENDS_ITSELF = Message("body-decides-end", "its body decides when it ends")
_BLOCKS = Message("computes-blocks", "it computes a block of iterations at once, within memory")
_NO_MAXIMUM = Message("no-maximum", "it has no maximum")
_STATE_ABSENT = Message("initial-state-absent", "an initial state is absent")
_SHARDED = Message("sharded", "its device configurations refer to its tensors")
_OLD_SCAN = Message("scan-of-opset-eight", "it is a Scan of opset 8; convert to opset 9 first")


class State(NamedTuple):
    """A loop-carried state.

    Attributes:
        initial: the initial value, outside.
        argument: the body's input.
        result: the body's output.
        final: the final value, outside; None where omitted.
    """

    initial: Value
    argument: Value
    result: Value
    final: Value | None


@dataclasses.dataclass(frozen=True)
class ScanInput:
    """A scan input: an element along an axis for each iteration.

    Attributes:
        source: the value, outside.
        argument: the body's input.
        axis: the scanned axis.
        backward: true if the first iteration reads the last element.
        size: the number of elements per iteration; None for one element without the axis.
    """

    source: Value
    argument: Value
    axis: int
    backward: bool
    size: int | None = None

    def count(self, shape: Shape) -> Dimension:
        """The number of elements in a source of a shape."""
        length = shape[self.axis]
        if length.value is None or self.size is None:
            return length
        return Dimension.constant(length.value // self.size)


@dataclasses.dataclass(frozen=True)
class ScanOutput:
    """A scan output: the stack of an element of each iteration."""

    result: Value
    output: Value | None
    axis: int
    backward: bool


@dataclasses.dataclass(frozen=True)
class LoopView:
    """A Loop whose condition always holds, a Scan from opset 9 on, or a SequenceMap.

    Attributes:
        node: the Loop, Scan or SequenceMap.
        maximum: the maximum trip count of a Loop; None for the others.
        start: the initial condition of a Loop; None if it is true.
        iteration: the body's iteration number; None but for a Loop.
        condition: the body's condition input, which is true; None but for a Loop.
        states: the loop-carried states.
        scan_inputs: the scan inputs.
        scan_outputs: the scan outputs.
        same: the loop-invariant operands of a SequenceMap, outside and in the body.
    """

    node: Node
    maximum: Value | None
    start: Value | None
    iteration: Value | None
    condition: Value | None
    states: tuple[State, ...]
    scan_inputs: tuple[ScanInput, ...]
    scan_outputs: tuple[ScanOutput, ...]
    same: tuple[tuple[Value, Value], ...] = ()

    @property
    def around(self) -> Graph:
        """The graph of the node."""
        assert self.node.graph is not None
        return self.node.graph

    @property
    def body(self) -> Graph:
        """The graph that runs in each iteration."""
        return self.node.body("body")


def read(node: Node) -> LoopView:
    """The view of a Loop or Scan.

    Raises:
        Obstacle: it has none.
    """
    check_readable(node)
    return (_read_loop if node.is_op("Loop") else _read_scan)(node)


def read_replaceable(node: Node) -> LoopView:
    """The view of a Loop or Scan that a node of another operator may replace.

    Raises:
        Obstacle: it has none, or something speaks of the node as it is.
    """
    loop_view = read(node)
    require_none(_SHARDED() if node.op.is_sharded else externally_named(node))
    return loop_view


def check_readable(node: Node) -> None:
    """Raise the obstacle to any view of a node."""
    pinned = any(value is not None and value.pinned for value in node.outputs)
    require_none(caller_attribute(node), _OUTPUT_NAMED() if pinned else None)


def _read_loop(node: Node) -> LoopView:
    body, maximum = node.body("body"), node.input(0)
    if not always_holds(body):
        raise Obstacle(_ENDS_ITSELF())
    if computes_blocks(body):
        raise Obstacle(_BLOCKS())
    if maximum is None:
        raise Obstacle(_NO_MAXIMUM())
    count = len(node.inputs) - 2
    states = _states(node, 2, 2, 1, count)
    rest = list(zip(body.outputs[1 + count :], node.outputs[count:], strict=False))
    # A node may have fewer outputs than its body.
    unasked = [(result, None) for result in body.outputs[1 + count + len(rest) :]]
    return LoopView(
        node,
        maximum,
        node.input(1),
        body.inputs[0],
        body.inputs[1],
        states,
        (),
        tuple([ScanOutput(result, output, 0, False) for result, output in [*rest, *unasked]]),
    )


def _read_scan(node: Node) -> LoopView:
    assert node.graph is not None
    require_none(_OLD_SCAN() if node.graph.root.opset() < 9 else unreadable(node, 9))
    layout = read_scan(node, 9)
    count = len(layout.states)
    arguments, results = layout.body.inputs[count:], layout.body.outputs[count:]
    scanned = layout.input_axes, layout.input_backward
    stacked = layout.output_axes, layout.output_backward
    return LoopView(
        node,
        None,
        None,
        None,
        None,
        _states(node, 0, 0, 0, count),
        tuple(map(ScanInput, layout.scan_inputs, arguments, *scanned)),
        tuple(map(ScanOutput, results, layout.scan_outputs, *stacked)),
    )


def _states(node: Node, outside: int, inside: int, results: int, count: int) -> tuple[State, ...]:
    """The states, from their positions in the node's inputs, the body's inputs and outputs."""
    body = node.body("body")
    states = []
    for index in range(count):
        initial = node.inputs[outside + index]
        if initial is None:
            raise Obstacle(_STATE_ABSENT())
        final = node.outputs[index] if index < len(node.outputs) else None
        argument, result = body.inputs[inside + index], body.outputs[results + index]
        states.append(State(initial, argument, result, final))
    return tuple(states)
