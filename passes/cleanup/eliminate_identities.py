"""Remove Identity nodes: their readers read the source instead.

y = Relu(x)                y = Relu(x)
z = Identity(y)     ->     w = Add(y, y)
w = Add(z, z)
"""

from typing import ClassVar

from ...ir import Graph, Model, Node, Value
from ..base import Pass, PassContext
from ..utils.legality import can_be_output


class EliminateIdentities(Pass):
    """Remove Identity nodes, except those that give an output its name."""

    name: ClassVar[str] = "eliminate-identities"
    keeps_facts: ClassVar[bool] = True
    by_default: ClassVar[bool] = True
    cleans_up: ClassVar[bool] = True
    works_on: ClassVar[tuple[str, ...] | None] = ("Identity",)

    def run(self, model: Model, context: PassContext) -> bool:
        """Remove them in every graph."""
        changed = False
        for graph in model.graphs():
            outputs = set(graph.outputs)
            for node in graph.nodes_of("Identity"):
                changed |= _eliminate(graph, node, outputs)
        return changed


def _eliminate(graph: Graph, node: Node, outputs: set[Value]) -> bool:
    source, copy = node.inputs[0], node.outputs[0]
    if source is None or copy is None or copy.pinned:
        return False
    if copy in outputs:
        # One value cannot be two outputs: the copy keeps the second name.
        if source in outputs or not can_be_output(graph, source):
            return False
        outputs.discard(copy)
        outputs.add(source)
    graph.replace_uses(copy, source)
    graph.remove(node)
    return True
