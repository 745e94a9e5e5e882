"""Remove what no output depends on.

y = Relu(x)                y = Relu(x)
unused = Exp(x)     ->
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from ...ir import Graph, Model, Node
from ..base import Pass, Run


@dataclasses.dataclass(frozen=True)
class EliminateDeadNodes(Pass):
    """Remove nodes and initializers that nothing uses; inputs and whatever is named stay."""

    name: ClassVar[str] = "eliminate-dead-nodes"
    by_default: ClassVar[bool] = True
    cleans_up: ClassVar[bool] = True

    def run(self, model: Model, run: Run) -> bool:
        """Remove them in every graph, users before what they used."""
        changed = False
        for root in model.roots():
            changed |= _sweep(root.graph)
        return changed


def _sweep(graph: Graph) -> bool:
    """Sweep a graph, then the graphs inside it, then whatever those alone kept alive."""
    changed = _sweep_nodes(graph)
    inner_changed = False
    for node in graph.holders():
        for inner in node.graphs():
            inner_changed |= _sweep(inner)
    if inner_changed:
        _sweep_nodes(graph)
    return _sweep_initializers(graph) or changed or inner_changed


def _sweep_nodes(graph: Graph) -> bool:
    """Remove what nothing needs, then what only that had needed."""
    dead = graph.unneeded()
    if not dead:
        return False
    view = graph.view()
    while dead:
        node = dead.pop()
        sources = list(view.pred[node])
        graph.remove(node)
        dead += [s for s in sources if isinstance(s, Node) and not graph.is_needed(s)]
    return True


def _sweep_initializers(graph: Graph) -> bool:
    unused = [
        value
        for value in graph.initializers
        if value.constant is not None and not value.pinned and not graph.is_used(value)
    ]
    inputs = set(graph.inputs) if unused else set()
    unused = [value for value in unused if value not in inputs]
    for value in unused:
        graph.remove_initializer(value)
    return bool(unused)
