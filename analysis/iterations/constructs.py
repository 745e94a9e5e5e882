"""The constructs of a model, and the values that decide their control flow."""

from collections.abc import Iterator

from ...ir import Graph, Model, Node, Value
from ..constants.dependence import Query
from .trip_count import always_holds

WRITTEN = "straightline_iteration"
"""The name of the body of a Loop by which a conversion expresses an operator. Files keep it, so a
second rewrite knows such a Loop."""


def is_written(loop: Node) -> bool:
    """Test for a Loop by which a conversion expresses an operator."""
    return any(body.name.startswith(WRITTEN) for body in loop.bodies.get("body", ()))


def control_flow(model: Model) -> Iterator[Node]:
    """The nodes with graph attributes (Loop, Scan, If and others), outer before inner."""
    for root in model.roots():
        yield from _holders(root.graph)


def _holders(graph: Graph) -> Iterator[Node]:
    if not any(op.holds_graphs for op in graph.operators()):
        return
    for node in graph.nodes():
        if node.op.holds_graphs:
            yield node
        for inner in node.graphs():
            yield from _holders(inner)


def deciding(node: Node) -> list[Query]:
    """The values whose elements or sizes decide the trip count or the branch."""
    if node.is_op("Scan") and "body" in node.bodies:
        return _deciding_length(node)
    return [Query(value, False) for value in _read_to_decide(node)]


def _deciding_length(scan: Node) -> list[Query]:
    """The values that decide a Scan: sequence lengths at opset 8, and the first scanned input. The
    last input stands for it where num_scan_inputs is an attribute of the enclosing function."""
    many = 1 if scan.op.references else scan.attribute("num_scan_inputs", 0)
    scanned = scan.inputs[-many:][:1]
    lengths = scan.inputs[:1] if len(scan.inputs) > len(scan.body("body").inputs) else []
    queries = [Query(value, False) for value in lengths if value is not None]
    return [*queries, *(Query(value, True) for value in scanned if value is not None)]


def _read_to_decide(node: Node) -> list[Value]:
    if node.is_op("Loop") and "body" in node.bodies:
        ends = [] if always_holds(node.body("body")) else [node.body("body").outputs[0]]
        return [value for value in (*node.inputs[:2], *ends) if value is not None]
    return [value for value in node.inputs[: 1 if node.is_op("If") else None] if value is not None]
