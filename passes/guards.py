"""Reasons to leave a construct alone that several passes share."""

from __future__ import annotations

from ..ir import Graph, Node
from ..ir.references import named_tensors

_IDENTITY_OF_SEQUENCES = 14


def named_from_outside(node: Node) -> str | None:
    """Why a node that holds graphs cannot be dissolved because something names its tensors."""
    for value in node.outputs:
        if value is not None and value.pinned:
            return f"its output '{value.name}' is named from outside the data flow"
    for graph in node.graphs():
        found = _naming_node(graph)
        if found is not None:
            return f"{found} inside it names tensors in its attributes, and copying renames them"
    return None


def _naming_node(graph: Graph) -> Node | None:
    for inner in graph.walk():
        for node in inner.unordered_nodes():
            if named_tensors(node.op):
                return node
    return None


def unnameable_output(node: Node) -> str | None:
    """Why an output of the whole graph might end without a node to carry its name: it is no
    tensor, and Identity takes only tensors in this opset."""
    graph = node.graph
    assert graph is not None
    if graph.root.opset() >= _IDENTITY_OF_SEQUENCES:
        return None
    for value in node.outputs:
        type_ = value.type if value is not None else None
        if type_ is not None and not type_.HasField("tensor_type") and value in graph.outputs:
            return (
                f"its output '{value}' is a sequence and an output of the graph, which opset"
                f" {graph.root.opset()} cannot name by an Identity; convert to opset 14 first"
            )
    return None
