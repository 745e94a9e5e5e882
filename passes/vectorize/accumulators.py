"""States that only collect: each trip adds an element, and no trip reads what is there.

s = SequenceEmpty ()                                a = Scan <...> (x)  or what gives all rows
t = Loop (n, , s) <... u2 = SequenceInsert (u, e)   t = SplitToSequence <keepdims = 0> (a)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from ...ir import Graph, Node, Value
from .injective_indices import Places
from .loop_view import Repetition, State


@dataclasses.dataclass(frozen=True)
class Write:
    """A state to which every trip adds an element.

    Attributes:
        state: the state.
        node: what adds the element: SequenceInsert at the end, Concat with one other value,
            ScatterND or ScatterElements.
        element: what is added.
        place: where a Scatter puts it, which is another place on every trip; None for the others.
    """

    state: State
    node: Node
    element: Value
    place: Value | None = None


_COLLECTING = ("Concat", "SequenceInsert", "ScatterND", "ScatterElements")


def find_writes(repetition: Repetition, places: Places) -> Iterator[Write]:
    """The states that only collect.

    Args:
        repetition: the Loop or Scan.
        places: tells which places are others on every trip.
    """
    for state in repetition.states:
        node = _only_link(repetition.body, state)
        if node is not None:
            write = _as_write(state, node, places)
            if write is not None:
                yield write


def _only_link(body: Graph, state: State) -> Node | None:
    """The one node that reads a state and gives it on, where nothing else reads either."""
    node = state.result.producer
    if node is None or node.graph is not body or node.bodies or state.given.pinned:
        return None
    if not node.is_op(*_COLLECTING):
        return None
    reads, results = body.uses(state.given), body.uses(state.result)
    alone = len(reads) == 1 and reads[0].user is node and len(results) == 1
    return node if alone and not state.result.pinned else None


def _as_write(state: State, node: Node, places: Places) -> Write | None:
    first, others = node.input(0), [value for value in node.inputs[1:] if value is not None]
    if node.is_op("Concat") and len(node.inputs) == 2:
        one, other = node.inputs
        element = other if one is state.given else one
        return None if element is None else Write(state, node, element)
    if first is not state.given:
        return None
    if node.is_op("SequenceInsert") and len(others) == 1:
        return Write(state, node, others[0])
    if node.is_op("ScatterND", "ScatterElements") and _replaces(node):
        place, element = others
        found = places.is_place if node.is_op("ScatterND") else places.is_number
        return Write(state, node, element, place) if found(place) else None
    return None


def _replaces(node: Node) -> bool:
    """Whether a Scatter writes over what is there."""
    return node.attribute("reduction", b"none") in (b"none", "none")
