"""Hoist nodes that both branches of an If compute out of it.

y = If (c) <                                          e = Exp (x)
   then_branch = t () => (a) {                        y = If (c) <
      e = Exp (x) a = Neg (e)                 ->         then_branch = t () => (a) { a = Neg (e) },
   },                                                    else_branch = f () => (b) { b = Abs (e) }
   else_branch = f () => (b) {                        >
      d = Exp (x) b = Abs (d)
   }
>

One of the branches runs, so such a node runs in any case. Of an If with equal branches nothing
remains.

Kept: nodes that draw random numbers, calls of unknown domains, tensors that are named outside the
data flow.
"""

from collections.abc import Hashable
from typing import ClassVar

from ...analysis.shapes.single_node_model import reads_of
from ...facts.reason import Message
from ...ir import Graph, Node, Value
from ...ir.copying import copy_node
from ...ir.subgraph_arity import BRANCHES
from ...ops.cost_estimates import FREE
from ..base import MAY_BE_CONTROL_FLOW
from ..utils.legality import can_carry, externally_named
from ..utils.replace_all_uses import enter_constants, remove_hoisted
from ..utils.sites import Site, SitePass
from ..utils.value_numbering import Calls, NodeKeys

_HOISTED = Message("common-hoisted", "nodes that both branches compute run before it: {nodes}")
"""Operators that move only for nodes that need them."""

_Keyed = dict[Hashable, list[Node]]
"""The nodes of a branch by their keys, producers first."""


class HoistCommonNodes(SitePass):
    """Hoist nodes that both branches of an If compute."""

    name: ClassVar[str] = "hoist-common-nodes"
    by_default: ClassVar[bool] = True
    works_on = MAY_BE_CONTROL_FLOW
    sites: ClassVar[tuple[str, ...]] = ("If",)

    def visit(self, site: Site) -> None:
        """Hoist out of one If; nodes may leave the If around it, too."""
        node, root = site.node, site.graph.root
        if externally_named(node) is None and not node.op.references:
            keys = NodeKeys(root, Calls(site.model.functions), site.context.analyses.keys)
            count = _Common(node, keys).hoist(site.graph)
            if count:
                site.rewritten(_HOISTED(nodes=count))


class _Common:
    """The nodes that both branches of an If compute."""

    def __init__(self, node: Node, keys: NodeKeys) -> None:
        self._keys = keys
        self._branches = [node.body(name) for name in BRANCHES]
        one, other = (self._number(branch) for branch in self._branches)
        self._pairs: dict[Hashable, tuple[list[Node], list[Node]]] = {}
        moving: set[Node] = set()
        for key in one:
            if key in other and self._is_complete(one[key][0], moving):
                self._pairs[key] = one[key], other[key]
                moving.update(one[key])

    def _is_complete(self, node: Node, moving: set[Node]) -> bool:
        """Test for a node whose operands move with it, or stand around the If.

        Dead nodes of its bodies, of which keys say nothing, may read others.
        """
        inside = [value for value in reads_of(node) if value.graph is self._branches[0]]
        return all(value.producer is None or value.producer in moving for value in inside)

    def _number(self, branch: Graph) -> _Keyed:
        """The nodes of a branch that may move, by keys."""
        same: dict[Value, Hashable] = {}
        keyed: _Keyed = {}
        for node in branch.nodes():
            if _may_move(branch, node):
                key = self._keys.enter(node, same)
                keyed.setdefault(key, []).append(node)
        keyed.pop(None, None)
        return keyed

    def hoist(self, graph: Graph) -> int:
        """Move the nodes to the graph around the If, and return their number."""
        moving = self._needed()
        values: dict[Value, Value] = {}
        for key in moving:
            enter_constants(graph, self._pairs[key][0][0], values)
            first, *others = [node for nodes in self._pairs[key] for node in nodes]
            copy = copy_node(first, graph, values)
            for node in (first, *others):
                for old, new in zip(node.outputs, copy.outputs, strict=True):
                    if old is not None and new is not None:
                        values[old] = new
            _declare(copy, self._pairs[key])
        for branch, position in zip(self._branches, (0, 1), strict=True):
            nodes = [node for key in moving for node in self._pairs[key][position]]
            remove_hoisted(branch, nodes, values)
        return sum(not self._pairs[key][0][0].is_op(*FREE) for key in moving)

    def _needed(self) -> list[Hashable]:
        """The keys of nodes to move, producers first."""
        pairs, key_of = self._pairs, {}
        for key, (nodes, _) in pairs.items():
            key_of.update(dict.fromkeys(nodes, key))
        # Constants and Identities move only for what reads them.
        needed = {key for key, (nodes, _) in pairs.items() if not nodes[0].is_op(*FREE)}
        for key in reversed(list(pairs)):
            if key in needed:
                node = pairs[key][0][0]
                producers = [value.producer for value in reads_of(node)]
                needed |= {key_of[one] for one in producers if one in key_of}
        return [key for key in pairs if key in needed]


def _may_move(branch: Graph, node: Node) -> bool:
    """Test for a node whose outputs another graph may hold."""
    outputs = [value for value in node.outputs if value is not None]
    if node.op.references or any(value.pinned for value in outputs):
        return False
    return all(can_carry(branch, value, value) for value in outputs)


def _declare(copy: Node, pair: tuple[list[Node], list[Node]]) -> None:
    """Keep the declarations that both branches share."""
    one, other = (nodes[0] for nodes in pair)
    for new, old, twin in zip(copy.outputs, one.outputs, other.outputs, strict=True):
        if new is None or old is None or twin is None:
            continue
        same = old.info is not None and twin.info is not None and old.type == twin.type
        if not same:
            new.info = None
        elif copy.graph is not None:
            copy.graph.value_infos.append(new)
