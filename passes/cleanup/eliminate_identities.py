"""Remove Identity nodes by letting their readers read what they copy.

y = Relu(x)                y = Relu(x)
z = Identity(y)     ->     w = Add(y, y)
w = Add(z, z)
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from ...ir import Graph, Model, Node, Value
from ..base import Pass
from ..context import PassContext


@dataclasses.dataclass(frozen=True)
class EliminateIdentities(Pass):
    """Remove Identity nodes, save those that let an output carry its name."""

    name: ClassVar[str] = "eliminate-identities"
    by_default: ClassVar[bool] = True
    cleans_up: ClassVar[bool] = True

    def run(self, model: Model, context: PassContext) -> bool:
        """Remove them in every graph."""
        changed = False
        for graph in model.graphs():
            given = set(graph.outputs)
            for node in graph.nodes_of("Identity"):
                changed |= _eliminate(graph, node, given)
        return changed


def _eliminate(graph: Graph, node: Node, given: set[Value]) -> bool:
    source, copy = node.inputs[0], node.outputs[0]
    if source is None or copy is None or copy.pinned:
        return False
    if copy in given:
        if source in given or not can_give_out(graph, source):
            return False
        given.discard(copy)
        given.add(source)
    graph.replace_uses(copy, source)
    graph.remove(node)
    return True


def can_give_out(graph: Graph, source: Value) -> bool:
    """Whether a value that is no output yet can stand among the graph's outputs."""
    producer = source.producer
    return producer is not None and producer.graph is graph and not source.pinned
