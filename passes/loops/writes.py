"""States that only collect: each trip adds an element, and no trip reads what is there.

s = SequenceEmpty ()                                a = Scan <...> (x)  or what gives all rows
t = Loop (n, , s) <... u2 = SequenceInsert (u, e)   t = SplitToSequence <keepdims = 0> (a)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator

from ...ir import Graph, Node, Value
from .repetition import Repetition, State


@dataclasses.dataclass(frozen=True)
class Write:
    """A state to which every trip adds an element.

    Attributes:
        state: the state.
        node: what adds the element: SequenceInsert at the end, Concat with one other value, or
            ScatterND.
        element: what is added.
        place: where ScatterND puts it, which is another place on every trip; None for the others.
    """

    state: State
    node: Node
    element: Value
    place: Value | None = None


def find_writes(repetition: Repetition, is_place: Callable[[Value], bool]) -> Iterator[Write]:
    """The states that only collect.

    Args:
        repetition: the Loop or Scan.
        is_place: whether an index of one row is another one on every trip, and not negative.
    """
    for state in repetition.states:
        node = _only_link(repetition.body, state)
        if node is not None:
            write = _as_write(state, node, is_place)
            if write is not None:
                yield write


def _only_link(body: Graph, state: State) -> Node | None:
    """The one node that reads a state and gives it on, where nothing else reads either."""
    node = state.result.producer
    if node is None or node.graph is not body or node.bodies or state.given.pinned:
        return None
    reads, results = body.uses(state.given), body.uses(state.result)
    alone = len(reads) == 1 and reads[0].user is node and len(results) == 1
    return node if alone and not state.result.pinned else None


def _as_write(state: State, node: Node, is_place: Callable[[Value], bool]) -> Write | None:
    first, others = node.input(0), [value for value in node.inputs[1:] if value is not None]
    if node.is_op("Concat") and len(node.inputs) == 2:
        one, other = node.inputs
        element = other if one is state.given else one
        return None if element is None else Write(state, node, element)
    if first is not state.given:
        return None
    if node.is_op("SequenceInsert") and len(others) == 1:
        return Write(state, node, others[0])
    if node.is_op("ScatterND") and node.attribute("reduction", b"none") in (b"none", "none"):
        place, element = others
        return Write(state, node, element, place) if is_place(place) else None
    return None
