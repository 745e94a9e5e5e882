"""Order in which passes visit the nodes of nested graphs."""

from collections.abc import Iterable, Iterator

from ...ir import Graph, Node


def inside_out(graphs: Iterable[Graph], *op_types: str) -> Iterator[tuple[Graph, Node]]:
    """Yield each node of some operators with its graph, nodes of inner graphs first.

    Args:
        graphs: outer ones before inner ones, as `Model.graphs` and `Graph.walk` yield them.
    """
    for graph in reversed(list(graphs)):
        for node in graph.nodes_of(*op_types):
            yield graph, node
