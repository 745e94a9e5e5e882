"""Remove nodes and initializers that no output depends on.

y = Relu(x)                y = Relu(x)
unused = Exp(x)     ->
"""

from collections.abc import Set
from typing import ClassVar

from ...ir import Graph, Model, Node, Value
from ...ir.io.deserialize import FlatModel
from ..base import Pass, PassContext


class EliminateDeadNodes(Pass):
    """Remove nodes and initializers that nothing uses; inputs and externally named values stay."""

    name: ClassVar[str] = "eliminate-dead-nodes"
    keeps_facts: ClassVar[bool] = True
    by_default: ClassVar[bool] = True
    cleans_up: ClassVar[bool] = True

    def is_idle(self, flat: FlatModel) -> bool:
        """Test for a model in which all is read."""
        return not flat.holds_unread

    def run(self, model: Model, context: PassContext) -> bool:
        """Remove them in every graph, users before what they used."""
        changes = [sweep(root.graph) for root in model.roots()]
        return any(changes)

    def violation(self, model: Model) -> str | None:
        """Return the nodes and constants that nothing uses."""
        unused = [str(one) for root in model.roots() for one in unread(root.graph)]
        return ", ".join(unused) or None


def unread(graph: Graph) -> set[Node | Value]:
    """The nodes and constants that nothing uses, in a graph and its nested graphs."""
    dead: set[Node | Value] = set()
    for inner in graph.walk():
        dead.update(inner.unneeded(), _unused_initializers(inner))
    return dead


def sweep(graph: Graph, keep: Set[Node | Value] = frozenset()) -> bool:
    """Remove unused nodes in a graph and its nested graphs, then their unused operands.

    Args:
        keep: nodes and constants that stay.
    """
    changed = _sweep_nodes(graph, keep)
    changes = [sweep(inner, keep) for node in graph.holders() for inner in node.graphs()]
    if any(changes):
        _sweep_nodes(graph, keep)
    return _sweep_initializers(graph, keep) or changed or any(changes)


def _sweep_nodes(graph: Graph, keep: Set[Node | Value]) -> bool:
    """Remove unneeded nodes, then the operands that only they needed."""
    dead = [node for node in graph.unneeded() if node not in keep]
    if not dead:
        return False
    while dead:
        node = dead.pop()
        sources = graph.providers(node)
        graph.remove(node)
        nodes = [s for s in sources if isinstance(s, Node) and s not in keep]
        dead += [s for s in nodes if not graph.is_needed(s)]
    return True


def _sweep_initializers(graph: Graph, keep: Set[Node | Value]) -> bool:
    unused = [value for value in _unused_initializers(graph) if value not in keep]
    for value in unused:
        graph.remove_initializer(value)
    return bool(unused)


def _unused_initializers(graph: Graph) -> list[Value]:
    unused = [
        value
        for value in graph.initializers
        if value.constant is not None and not value.pinned and not graph.is_used(value)
    ]
    inputs = set(graph.inputs) if unused else set()
    return [value for value in unused if value not in inputs]
