"""Unswitch loops: move an If on a loop-invariant condition out of a Loop or Scan.

y = Loop (n, yes, x) <                          y = If (c) <
   body = b (i, d, a) => (d, r) {                  then_branch = t () => (u) {
      r = If (c) <                                    u = Loop (n, yes, x) <... r = Exp (a) ...>
         then_branch = ... Exp (a) ...,   ->       },
         else_branch = ... Neg (a) ...             else_branch = e () => (v) {
      >                                               v = Loop (n, yes, x) <... r = Neg (a) ...>
   }                                               }
>                                               >

Each of the two loops may then have a faster form. Only one of them runs, so memory stays as it was.

Kept: a condition of several elements, which only a loop with iterations tests; a loop of more than
1,000 nodes, of three such Ifs, or with a sequence output.
"""

from typing import ClassVar

import numpy as np

from ...analysis.iterations.trip_count import skip_identities
from ...analysis.shapes.inference import ShapeInference
from ...facts.obstacle import require_none
from ...facts.reason import Message
from ...ir import Graph, Node, Value, copy_node, count_nodes
from ...ir.subgraph_arity import BRANCHES
from ...ops.builder import Builder
from ..iteration.loop_view import add_choice
from ..iteration.splice import fact_declaration
from ..utils.legality import caller_attribute, externally_named
from ..utils.replace_all_uses import replace_outputs
from ..utils.sites import Site, SitePass

_MOST_NODES = 1_000
"""The limit of nodes in a loop that is copied."""
_MOST_CHOICES = 3
"""The limit of Ifs around a loop, each of which has doubled it."""

_UNSWITCHED = Message("unswitched", "'{condition}' is tested once, before it")
_LARGE = Message("loop-too-large", "two copies of its {nodes} nodes would need too much space")


class UnswitchLoops(SitePass):
    """Move Ifs on loop-invariant conditions out of Loops and Scans."""

    name: ClassVar[str] = "unswitch-loops"
    works_on: ClassVar[tuple[str, ...]] = ("If",)
    sites: ClassVar[tuple[str, ...]] = ("Loop", "Scan")

    def visit(self, site: Site) -> None:
        """Unswitch one loop by one condition."""
        condition = _condition(site.node, site.inference)
        if condition is None or _depth(site.graph) >= _MOST_CHOICES:
            return
        nodes = count_nodes(site.node)
        require_none(_LARGE(nodes=nodes) if nodes > _MOST_NODES else None)
        _unswitch(site.graph, site.node, condition, site.inference)
        site.rewritten(_UNSWITCHED(condition=condition.name))


def _condition(loop: Node, inference: ShapeInference) -> Value | None:
    """The loop-invariant condition of an If in a body; None without one that may move.

    A loop without iterations does not test it, so it must be one truth value in any case.
    """
    if "body" not in loop.bodies or loop.op.is_sharded or caller_attribute(loop):
        return None
    if any(value is not None and not inference.fact(value).elem_type for value in loop.outputs):
        return None  # a sequence, which an If of an old opset does not return
    body = loop.body("body")
    for node in body.nodes_of("If"):
        condition = node.inputs[0]
        source = None if condition is None else skip_identities(condition)
        if source is None or source.graph is body or source.constant is not None:
            continue
        if inference.fact(source).shape in ((), (1,)) and not externally_named(loop):
            return source
    return None


def _depth(graph: Graph) -> int:
    """The number of Ifs around a graph."""
    depth, holder = 0, graph.holder
    while holder is not None:
        depth, holder = depth + holder.is_op("If"), holder.parent.holder
    return depth


def _unswitch(graph: Graph, loop: Node, condition: Value, inference: ShapeInference) -> None:
    """Replace a loop by an If with a copy in each branch."""
    outputs = [value for value in loop.outputs if value is not None]
    infos = [fact_declaration(value, inference) for value in outputs]
    shape = tuple(1 for _ in inference.fact(condition).shape or ())
    labels, names = [value.name for value in outputs], BRANCHES
    choice, *branches = add_choice(graph, condition, labels, names, loop.name)
    for branch, holds in zip(branches, (True, False), strict=True):
        truth = Builder(branch).constant(np.full(shape, holds), condition.name)
        copy = copy_node(loop, branch, {condition: truth})
        branch.set_outputs([value for value in copy.outputs if value is not None], infos)
    chosen = iter(choice.outputs)
    replace_outputs(graph, loop, [value and next(chosen) for value in loop.outputs])
