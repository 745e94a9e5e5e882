"""Compute before a Loop or Scan what is the same on every trip.

y = Loop (n, yes, x) <                       e = Exp (w)
   body = b (i, c, a) => (c, r) {            y = Loop (n, yes, x) <
      e = Exp (w)                     ->        body = b (i, c, a) => (c, r) {
      r = Mul (a, e)                               r = Mul (a, e)
   }                                            }
>                                            >
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from ...analysis.safety.speculation import Speculation
from ...analysis.shapes.nonzero_trips import runs_certainly
from ...analysis.trips.zero_trips import declare_elements
from ...ir import Graph, Model, Node, Value, downstream, normal_domain, upstream
from ...ir.copying import captured_by, copy_node
from ...ops.randomness import find_random_in
from ..base import MAY_BE_CONTROL_FLOW, Pass
from ..context import PassContext

_FREE = ("Constant", "Identity")
"""To run these on every trip costs nothing, so they move only where others need them."""


@dataclasses.dataclass(frozen=True)
class HoistInvariants(Pass):
    """Compute before Loops and Scans what is the same on every trip."""

    name: ClassVar[str] = "hoist-invariants"
    by_default: ClassVar[bool] = True
    works_on = MAY_BE_CONTROL_FLOW

    def run(self, model: Model, context: PassContext) -> bool:
        """Hoist out of inner bodies before the ones around them, which it may leave, too."""
        hoister = _Hoister(self, model, context)
        changed = False
        for graph in reversed(list(model.graphs())):
            for node in graph.nodes_of("Loop", "Scan"):
                if not node.op.references:
                    changed |= hoister.visit(graph, node)
        return changed


class _Hoister:
    def __init__(self, options: HoistInvariants, model: Model, context: PassContext) -> None:
        self.options = options
        self.model = model
        self.context = context
        self.speculation = Speculation(context.inference(model), model.functions)

    def visit(self, graph: Graph, node: Node) -> bool:
        """Hoist what can leave one body, and say of the rest why not."""
        body = node.body("body")
        candidates = self._candidates(body)
        if not candidates:
            return False
        certain = runs_certainly(node, self.speculation.outside)
        hazards = {} if certain else self.speculation.survey(candidates)
        view = body.view()
        staying = downstream(view, hazards) if hazards else set()
        moving = _needed([n for n in candidates if n not in staying], body)
        if hazards:
            first = next(iter(hazards.values()))
            self.context.noted(
                self.options,
                node,
                f"{first.node} is the same on every trip but stays inside, since there may be none"
                f" and it {first.why}",
            )
        if not moving:
            return False
        doubt = declare_elements(node, self.model) if node.is_op("Loop") else ""
        if doubt:
            self.context.noted(self.options, node, doubt)
            return False
        _move(moving, body, graph, certain)
        count = len([n for n in moving if not n.is_op(*_FREE)])
        what = "1 node runs" if count == 1 else f"{count} nodes run"
        same = f"{what} once, before it, instead of on every trip"
        self.context.rewritten(self.options, node, node.path, same)
        return True

    def _candidates(self, body: Graph) -> list[Node]:
        """The nodes that neither depend on what changes from trip to trip nor draw or name
        anything; those that they read come first."""
        varying = downstream(body.view(), body.inputs)
        fixed = [node for node in body.nodes() if node not in varying]
        if all(node.is_op(*_FREE) for node in fixed):
            return []
        moored = [node for node in fixed if self._is_moored(node)]
        staying = downstream(body.view(), moored) if moored else set()
        return [node for node in fixed if node not in staying]

    def _is_moored(self, node: Node) -> bool:
        """Whether a node must stay where it is, however often that is run."""
        named = any(value is not None and value.pinned for value in node.outputs)
        functions = self.model.functions
        own = node.op.function_key in functions
        # What another domain's operator does besides computing is not known.
        foreign = bool(normal_domain(node.domain)) and not own
        return named or foreign or find_random_in(node, functions) is not None


def _needed(nodes: Sequence[Node], body: Graph) -> list[Node]:
    """Those worth moving, and what they read."""
    worth = [node for node in nodes if not node.is_op(*_FREE)]
    needed = upstream(body.view(), worth) if worth else set()
    return [node for node in nodes if node in needed]


def _move(nodes: Sequence[Node], body: Graph, graph: Graph, certain: bool) -> None:
    """Move nodes that depend on nothing inside the body to the graph around it.

    What the body declares of them holds there if the body runs.
    """
    values: dict[Value, Value] = {}
    for node in nodes:
        for value in (*node.inputs, *captured_by(node)):
            tensor = None if value is None else body.initializers.get(value)
            if value is not None and tensor is not None and value not in values:
                values[value] = graph.add_initializer(value.name, tensor)
        for value in copy_node(node, graph, values).outputs:
            if value is not None and not certain:
                value.info = None
            elif value is not None and value.info is not None:
                graph.value_infos.append(value)
    for node in reversed(nodes):
        for old in node.outputs:
            if old is not None and body.is_used(old):
                body.replace_uses(old, values[old])
        body.remove(node)
