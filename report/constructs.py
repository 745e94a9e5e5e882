"""The control flow of a model: trip counts and loop-carried state."""

from collections.abc import Iterator, Sequence

from ..analysis.constants.folding import Folder
from ..analysis.constants.provenance import Provenance
from ..analysis.iterations.constructs import control_flow
from ..analysis.iterations.trip_count import trip_count
from ..driver.inspect import decided_by
from ..ir import Model, Node, Value
from ..records import record
from .model_data import Place

MOST_CONSTRUCTS = 500
"""The most described constructs of one model."""
_MOST_TRIED = 200
"""The limit of evaluated iterations of a condition."""


@record(frozen=True)
class Carried:
    """Loop-carried state: the initial value, the body's input, its update, and the final output."""

    initial: str
    inside: str
    update: str
    result: str


@record(frozen=True)
class ConstructData:
    """A Loop, Scan, If or other node with bodies.

    Attributes:
        place: the place of the node.
        path: its path as in remarks.
        runs: the trip count or branch, or the values that decide it.
        read: the scanned inputs, each with the body's input.
        stacked: the scan outputs, each with the body's output.
        captured: the captured values of its bodies.
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
    """The constructs of a model, outer before inner, and the number of others."""
    nodes = list(control_flow(model))
    places = _places(model, nodes[:most])
    tools = Folder(model), Provenance()
    return [_describe(node, places[node], *tools) for node in nodes[:most]], len(nodes[most:])


def _places(model: Model, nodes: Sequence[Node]) -> dict[Node, Place]:
    selection, places = set(nodes), {}
    for number, graph in enumerate(model.graphs()):
        for index, node in enumerate(graph.nodes()):
            if node in selection:
                places[node] = (number, index)
    return places


def _describe(node: Node, place: Place, folder: Folder, provenance: Provenance) -> ConstructData:
    carried: tuple[Carried, ...] = ()
    read: tuple[tuple[str, str], ...] = ()
    stacked: tuple[tuple[str, str], ...] = ()
    if node.is_op("Loop", "Scan") and "body" in node.bodies and not node.op.references:
        body, arguments = node.body("body"), node.inputs
        if node.is_op("Loop"):
            arguments, states = arguments[2:], len(arguments) - 2
            inside, results = body.inputs[2:], body.outputs[1:]
        else:
            # The first input of Scan 8 holds the lengths of sequences, and its body
            # has none for it.
            arguments = arguments[len(arguments) != len(body.inputs) :]
            states = len(body.inputs) - int(node.attribute("num_scan_inputs", 0))
            inside, results = body.inputs, body.outputs
        rows = zip(arguments[:states], inside, results, node.outputs[:states], strict=False)
        carried = tuple([Carried(*map(_name, row)) for row in rows])
        read = tuple(_pairs(arguments[states:], inside[states:]))
        stacked = tuple(_pairs(node.outputs[states:], results[states:]))
    bodies = list(node.graphs())
    captured = [value for graph in bodies for value in graph.captures()]
    outside = [v for v in captured if v.constant is None and v.graph not in bodies]
    return ConstructData(
        place,
        node.op.qualname,
        node.path,
        _runs(node, folder, provenance),
        carried,
        read,
        stacked,
        tuple(dict.fromkeys(_name(value) for value in outside)),
    )


def _pairs(outside: Sequence[Value | None], inside: Sequence[Value]) -> Iterator[tuple[str, str]]:
    for one, other in zip(outside, inside, strict=False):
        yield _name(one), _name(other)


def _name(value: Value | None) -> str:
    return "" if value is None else value.name


def _runs(node: Node, folder: Folder, provenance: Provenance) -> str:
    if node.op.references:
        return "decided by the caller of the function"
    if node.is_op("Loop") and "body" in node.bodies:
        iterations = trip_count(node, folder, _MOST_TRIED)
        if iterations.count is not None:
            return _count(iterations.count)
        if iterations.exceeded:
            return f"more than {_MOST_TRIED} iterations"
    elif node.is_op("Scan") and "body" in node.bodies:
        return _rows(node)
    elif node.is_op("If") and node.inputs and node.inputs[0] is not None:
        constant = node.inputs[0].constant
        if constant is not None and constant.is_readable and constant.size == 1:
            return f"always takes the {'then' if constant.numpy().all() else 'else'}_branch"
    decider = decided_by(node, provenance)
    return "decided by constants" if decider == "constants" else f"decided by {decider}"


def _count(iterations: int) -> str:
    return "1 iteration" if iterations == 1 else f"{iterations} iterations"


def _rows(scan: Node) -> str:
    """The trip count of a Scan, from the size of a scanned input."""
    inputs = int(scan.attribute("num_scan_inputs", 0))
    if not inputs:
        return "unknown trip count"
    eight = len(scan.inputs) > len(scan.body("body").inputs)
    axes = scan.attribute("scan_input_axes", None) or [0] * inputs
    for value, axis in zip(scan.inputs[-inputs:], axes, strict=False):
        shape = None if value is None else value.shape
        # The first axis of Scan 8 is the batch.
        axis = 1 if eight else axis
        if shape and -len(shape) <= axis < len(shape) and isinstance(shape[axis], int):
            return _count(int(str(shape[axis])))
    return f"an iteration for each part of {', '.join(map(_name, scan.inputs[-inputs:]))}"
