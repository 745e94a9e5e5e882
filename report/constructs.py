"""The control flow of a model: how often each Loop or Scan runs, and what it carries."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from ..analysis.constants.folding import Folder
from ..analysis.trips.constructs import control_flow
from ..analysis.trips.trip_count import trip_count
from ..driver.inspect import decided_by
from ..ir import Graph, Model, Node, Value
from .model_data import Place

MOST_CONSTRUCTS = 500
"""So many constructs of one model at most are described."""
_MOST_TRIED = 200
"""So many trips at most are tried of a condition that is computed."""


@dataclasses.dataclass(frozen=True)
class Carried:
    """A state of a Loop or Scan: what it starts as, what a trip calls it, what a trip makes of it,
    and what is given out in the end."""

    initial: str
    inside: str
    made: str
    result: str


@dataclasses.dataclass(frozen=True)
class ConstructData:
    """A Loop, Scan, If or other node that holds graphs.

    Attributes:
        place: where it stands.
        operator: its operator.
        path: its place as remarks name it.
        runs: how often, or which branch, and what decides that.
        carried: its states.
        read: what is read a part each trip, with what a trip calls it.
        stacked: what each trip adds a part to, with what a trip calls that.
        captured: what its bodies read from around.
    """

    place: Place
    operator: str
    path: str
    runs: str
    carried: tuple[Carried, ...] = ()
    read: tuple[tuple[str, str], ...] = ()
    stacked: tuple[tuple[str, str], ...] = ()
    captured: tuple[str, ...] = ()


def constructs_of(model: Model, most: int = MOST_CONSTRUCTS) -> tuple[list[ConstructData], int]:
    """The constructs of a model, outer before inner, and how many more there are."""
    found = list(control_flow(model))
    places = _places(model, found[:most])
    folder = Folder(model)
    return [_describe(node, places[node], folder) for node in found[:most]], len(found[most:])


def _places(model: Model, nodes: Sequence[Node]) -> dict[Node, Place]:
    wanted, places = set(nodes), {}
    for number, graph in enumerate(model.graphs()):
        for index, node in enumerate(graph.nodes()):
            if node in wanted:
                places[node] = (number, index)
    return places


def _describe(node: Node, place: Place, folder: Folder) -> ConstructData:
    found = ConstructData(
        place, node.op.qualname, node.path, _runs(node, folder), captured=_captured(node)
    )
    if "body" not in node.bodies or node.op.references:
        return found
    body = node.body("body")
    if node.is_op("Loop"):
        states = len(node.inputs) - 2
        return dataclasses.replace(
            found,
            carried=_carried(node.inputs[2:], body.inputs[2:], body.outputs[1:], node, states),
            stacked=_stacked(node, body.outputs[1 + states :], states),
        )
    if node.is_op("Scan"):
        given = node.inputs if len(node.inputs) == len(body.inputs) else node.inputs[1:]
        states = len(body.inputs) - int(node.attribute("num_scan_inputs", 0))
        return dataclasses.replace(
            found,
            carried=_carried(given[:states], body.inputs, body.outputs, node, states),
            read=tuple(_pairs(given[states:], body.inputs[states:])),
            stacked=_stacked(node, body.outputs[states:], states),
        )
    return found


def _carried(
    initial: Sequence[Value | None],
    inside: Sequence[Value],
    made: Sequence[Value],
    node: Node,
    states: int,
) -> tuple[Carried, ...]:
    rows = zip(initial, inside, made, node.outputs[:states], strict=False)
    return tuple([Carried(*map(_name, row)) for row in rows])


def _stacked(node: Node, made: Sequence[Value], states: int) -> tuple[tuple[str, str], ...]:
    return tuple(_pairs(node.outputs[states:], made))


def _pairs(outside: Sequence[Value | None], inside: Sequence[Value]) -> Iterator[tuple[str, str]]:
    for one, other in zip(outside, inside, strict=False):
        yield _name(one), _name(other)


def _name(value: Value | None) -> str:
    return "" if value is None else value.name


def _captured(node: Node) -> tuple[str, ...]:
    values = [value for graph in node.graphs() for value in graph.captures()]
    outside = [v for v in values if v.constant is None and not _is_within(v.graph, node)]
    return tuple(dict.fromkeys(value.name for value in outside))


def _is_within(graph: Graph | None, node: Node) -> bool:
    return any(graph is inner for inner in node.graphs())


def _runs(node: Node, folder: Folder) -> str:
    if node.op.references:
        return "decided by the caller of the function"
    if node.is_op("Loop") and "body" in node.bodies:
        trips = trip_count(node, folder, _MOST_TRIED)
        if trips.count is not None:
            return _count(trips.count)
        if trips.exceeded:
            return f"more than {_MOST_TRIED} trips"
    elif node.is_op("Scan") and "body" in node.bodies:
        return _rows(node)
    elif node.is_op("If") and node.inputs and node.inputs[0] is not None:
        constant = node.inputs[0].constant
        if constant is not None and constant.is_readable and constant.size == 1:
            return f"always takes the {'then' if constant.numpy().all() else 'else'}_branch"
    decider = decided_by(node)
    return "decided by constants" if decider == "constants" else f"decided by {decider}"


def _count(trips: int) -> str:
    return "1 trip" if trips == 1 else f"{trips} trips"


def _rows(scan: Node) -> str:
    """How often a Scan runs, which the size of what it reads tells."""
    inputs = int(scan.attribute("num_scan_inputs", 0))
    if not inputs:
        return "not known how often"
    eight = len(scan.inputs) > len(scan.body("body").inputs)
    axes = scan.attribute("scan_input_axes", None) or [0] * inputs
    for value, axis in zip(scan.inputs[-inputs:], axes, strict=False):
        shape = None if value is None else value.shape
        axis = 1 if eight else axis
        if shape and -len(shape) <= axis < len(shape) and isinstance(shape[axis], int):
            return _count(int(str(shape[axis])))
    return f"a trip for each part of {', '.join(map(_name, scan.inputs[-inputs:]))}"
