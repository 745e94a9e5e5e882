"""Hoist loop-invariant nodes out of a Loop or Scan.

y = Loop (n, yes, x) <                       e = Exp (w)
   body = b (i, c, a) => (c, r) {            y = Loop (n, yes, x) <
      e = Exp (w)                     ->        body = b (i, c, a) => (c, r) {
      r = Mul (a, e)                               r = Mul (a, e)
   }                                            }
>                                            >

Kept inside: a node that may fail where the loop may make no iteration, random numbers, operators of
other domains, and Constants and Identities, which cost nothing there.
"""

from collections.abc import Sequence
from typing import ClassVar

from ...analysis.iterations.zero_iterations import declare_elements
from ...facts.reason import Message
from ...ir import Graph, Model, Node, Value, normal_domain
from ...ir.copying import copy_node
from ...ops.cost_estimates import FREE
from ...ops.randomness import find_random_in
from ..base import MAY_BE_CONTROL_FLOW
from ..utils.replace_all_uses import enter_constants, remove_hoisted
from ..utils.sites import Site, SitePass

_STAYS = Message(
    "invariant-stays",
    "{node} is the same on every iteration but stays inside, since there may be none and it"
    " {cause}",
)
_HOISTED = Message("hoisted", "{nodes} nodes run once, before it, instead of on every iteration")
_ONE_HOISTED = Message("node-hoisted", "1 node runs once, before it, instead of on every iteration")


class HoistInvariants(SitePass):
    """Hoist loop-invariant nodes out of Loops and Scans."""

    name: ClassVar[str] = "hoist-invariants"
    by_default: ClassVar[bool] = True
    works_on = MAY_BE_CONTROL_FLOW
    sites: ClassVar[tuple[str, ...]] = ("Loop", "Scan")

    def visit(self, site: Site) -> None:
        """Hoist nodes out of one body; they may leave the body around it, too."""
        if site.node.op.references:
            return
        body = site.node.body("body")
        candidates = _candidates(body, site.model)
        if not candidates:
            return
        certain = site.is_certain
        hazards = {} if certain else site.visits.speculation.survey(candidates)
        staying = body.dependents(hazards) if hazards else set()
        # Operators without a cost move only for nodes that need them.
        worth = [n for n in candidates if n not in staying and not n.is_op(*FREE)]
        needed = body.requirements(worth) if worth else set()
        moving = [node for node in candidates if node in needed]
        if hazards:
            first = next(iter(hazards.values()))
            site.noted(_STAYS(first.why, node=str(first.node)))
        doubt = declare_elements(site.node, site.model) if moving else None
        if doubt:
            site.noted(doubt)
        elif moving:
            _move(moving, body, site.graph, certain)
            site.rewritten(_ONE_HOISTED() if len(worth) == 1 else _HOISTED(nodes=len(worth)))


def _candidates(body: Graph, model: Model) -> list[Node]:
    """The loop-invariant nodes that may move, producers first."""
    varying = body.dependents(body.inputs)
    fixed = [node for node in body.nodes() if node not in varying]
    if all(node.is_op(*FREE) for node in fixed):
        return []
    fixtures = [node for node in fixed if _is_pinned(node, model)]
    staying = body.dependents(fixtures) if fixtures else set()
    return [node for node in fixed if node not in staying]


def _is_pinned(node: Node, model: Model) -> bool:
    """Test for a node that must stay: random, named externally, or of a foreign domain."""
    if any(value is not None and value.pinned for value in node.outputs):
        return True
    # Operators of other domains may have side effects.
    foreign = normal_domain(node.domain) and node.op.function_key not in model.functions
    return bool(foreign) or find_random_in(node, model.functions) is not None


def _move(nodes: Sequence[Node], body: Graph, graph: Graph, certain: bool) -> None:
    """Move loop-invariant nodes to the graph around the body.

    Their declarations hold there only if the body certainly runs.
    """
    values: dict[Value, Value] = {}
    for node in nodes:
        enter_constants(graph, node, values)
        for value in copy_node(node, graph, values).outputs:
            if value is not None and not certain:
                value.info = None
            elif value is not None and value.info is not None:
                graph.value_infos.append(value)
    remove_hoisted(body, nodes, values)
