"""Merge nodes that compute equal values: common subexpressions, by value numbering.

    a = Exp (x)                                  a = Exp (x)
    b = Exp (x)                                  c = Add (a, a)
    c = Add (a, b)                       ->      z = If (p) <
    z = If (p) <                                    then_branch = t () => (y) {
       then_branch = t () => (y) {                     y = Neg (a)
          e = Exp (x)  y = Neg (e)                  }, ...>
       }, ...>

A body may use a value of the graph around it that is computed before; nothing uses a value of a
body. Nodes with bodies merge where their bodies compute equal values. Nodes that draw random
numbers, and operators of unknown domains, stay.
"""

from collections import ChainMap
from collections.abc import Hashable, MutableMapping
from typing import ClassVar

from ...facts.reason import Message
from ...ir import Graph, Model, Node, Value
from ..base import Pass, PassContext
from ..utils.legality import can_carry
from ..utils.replace_all_uses import replace_values
from ..utils.value_numbering import Calls, NodeKeys

_MERGED = Message("merged", "nodes merged into others that compute the same: {nodes}")


class MergeSubexpressions(Pass):
    """Merge nodes that compute equal values, in bodies with nodes around them, too."""

    name: ClassVar[str] = "merge-subexpressions"
    keeps_facts: ClassVar[bool] = True

    def run(self, model: Model, context: PassContext) -> bool:
        """Number the values of every graph, outer graphs before the bodies in them."""
        merged, calls = 0, Calls(model.functions)
        for root in model.roots():
            merging = _Merging(NodeKeys(root, calls, context.analyses.keys))
            merging.visit(root.graph, {})
            merged += merging.apply()
        if merged:
            context.remarks.add_on_model(self, model, "rewritten", _MERGED(nodes=merged))
        return merged > 0


class _Merging:
    """Merging in one model or function."""

    def __init__(self, keys: NodeKeys) -> None:
        self._keys = keys
        self._same: dict[Value, Value] = {}
        self._bodies: dict[Node, Hashable | None] = {}
        self._removed: list[tuple[Graph, list[Node]]] = []

    def visit(self, graph: Graph, first: MutableMapping[Hashable, Node]) -> None:
        """Find the repeated nodes of a graph and its bodies.

        Args:
            first: the first node of each key, in this graph and in those around it.
        """
        outputs = set(graph.outputs)
        removed: list[Node] = []
        for node in graph.nodes():
            for body in node.graphs() if node.bodies else ():
                # What a body computes is not seen outside of it.
                self.visit(body, ChainMap({}, first))
            key = self._keys.of(node, self._same)
            if key is not None and node.bodies:
                key = self._with_bodies(node, key, first)
            if key is None:
                continue
            other = first.get(key)
            if other is None:
                first[key] = node
            elif _may_merge(graph, node, other, outputs):
                removed.append(node)
                for old, new in zip(node.outputs, other.outputs, strict=True):
                    if old is not None and new is not None:
                        self._same[old] = new
        if removed:
            self._removed.append((graph, removed))

    def _with_bodies(
        self, node: Node, key: Hashable, first: MutableMapping[Hashable, Node]
    ) -> Hashable | None:
        """The key of a node with its bodies, read where operands repeat."""
        other = first.setdefault(key, node)
        if other is node:
            return None
        for one in (other, node):
            if one not in self._bodies:
                self._bodies[one] = self._keys.of_bodies(one, self._same)
        if self._bodies[other] is not None:
            first.setdefault((key, self._bodies[other]), other)
        bodies = self._bodies[node]
        return None if bodies is None else (key, bodies)

    def apply(self) -> int:
        """Remove the repeated nodes, and return their number."""
        for graph, nodes in self._removed:
            outputs = [value for node in nodes for value in node.outputs if value is not None]
            replace_values(graph, {value: self._same[value] for value in outputs})
            for node in nodes:
                graph.remove(node)
        return sum(len(nodes) for _, nodes in self._removed)


def _may_merge(graph: Graph, node: Node, other: Node, outputs: set[Value]) -> bool:
    """Test whether a node may be removed, since another one computes the same."""
    others: set[Value] = set()
    for old, new in zip(node.outputs, other.outputs, strict=True):
        if old is None or new is None:
            continue
        if old.pinned:
            return False
        if old in outputs:
            # Of two outputs one would be an Identity of the other, and in a body, one twice.
            if node.is_op("Identity") or (new in outputs and not graph.is_interface):
                return False
            if not can_carry(graph, old, new, others):
                return False
            others.add(new)
    return True
