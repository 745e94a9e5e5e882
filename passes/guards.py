"""Reasons to leave a construct alone that several passes share."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir import Graph, Node, Value
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


def unnameable_output(node: Node, given: Sequence[Value]) -> str | None:
    """Why an output of the whole graph would end without a node to carry its name.

    Args:
        node: the construct to dissolve.
        given: what would stand in the place of its outputs. One that no node produces needs an
            Identity where it is an output of the graph, and below opset 14 that takes only tensors.
    """
    graph = node.graph
    assert graph is not None
    if graph.root.opset() >= _IDENTITY_OF_SEQUENCES or not graph.is_interface:
        return None
    for old, new in zip(node.outputs, given, strict=False):
        type_ = old.type if old is not None else None
        if type_ is None or type_.HasField("tensor_type") or new.producer is not None:
            continue
        if old in graph.outputs:
            return (
                f"its output '{new.name}' is a sequence and an output of the graph, which no"
                f" Identity can name in opset {graph.root.opset()}; convert to opset 14 first"
            )
    return None
