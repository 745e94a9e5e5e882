"""Replace an If on a constant condition by the branch that runs.

    yes = Constant <value = bool {1}> ()
    y = If (yes) <
       then_branch = t () => (a) { a = Relu(x) },
       else_branch = e () => (b) { b = Neg(x) }
    >
->
    y = Relu(x)
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import ClassVar

from ...analysis.constants.folding import Folder
from ...analysis.constants.provenance import Provenance, origins
from ...facts.reason import Message
from ...ir import Graph, Model, Node, Template, Tensor
from ..base import MAY_BE_CONTROL_FLOW, Pass
from ..context import PassContext
from ..utils.legality import caller_attribute, externally_named, unnameable_output
from ..utils.replace_all_uses import replace_values

_CONDITION_UNKNOWN = Message("branch-unknown", "its condition depends on {cause}")
_CONDITION_SIZE = Message(
    "condition-not-scalar", "its condition has {elements} elements; If takes one"
)
_INLINED = Message("branch-inlined", "inlined, its condition is always {condition}")
_INLINED_WITH = Message("inlined-with-branch", "inlined with the branch around it")


Obstacle = Callable[[Node], "str | None"]


@dataclasses.dataclass(frozen=True)
class InlineIfs(Pass):
    """Inline the taken branch of every If whose condition is constant."""

    name: ClassVar[str] = "inline-ifs"
    by_default: ClassVar[bool] = True
    works_on = MAY_BE_CONTROL_FLOW

    def run(self, model: Model, context: PassContext) -> bool:
        """Inline outer Ifs before the Ifs in their branches."""
        folder = Folder(model)
        # An If that is inlined changes what values after it depend on, and those are asked later.
        obstacle = functools.partial(_obstacle, Provenance())
        changes = [
            self._visit_graph(root.graph, folder, context, obstacle) for root in model.roots()
        ]
        return any(changes)

    def _visit_graph(
        self, graph: Graph, folder: Folder, context: PassContext, obstacle: Obstacle
    ) -> bool:
        changed = False
        # A stack: the next node is the last.
        pending = graph.holders()[::-1]
        while pending:
            node = pending.pop()
            reason = obstacle(node) if node.is_op("If") else ""
            if reason is None:
                pending += self._inline(graph, node, folder, context)[::-1]
                changed = True
                continue
            if reason:
                context.kept(self, node, reason)
            for inner in node.graphs():
                changed |= self._visit_graph(inner, folder, context, obstacle)
        return changed

    def _inline(self, graph: Graph, node: Node, folder: Folder, context: PassContext) -> list[Node]:
        """Inline one If, and return the nodes of its branch that hold graphs."""
        path = node.path
        condition = node.inputs[0]
        assert condition is not None and condition.constant is not None
        branch = _taken_branch(node, condition.constant)
        template = Template(branch, graph, fold=folder.fold)
        pairs = zip(node.outputs, template.instantiate([]), strict=False)
        results_of = {old: new for old, new in pairs if old is not None}
        for old in results_of:
            # The If's declaration covers both branches, so it is dropped.
            old.info = None
        replace_values(graph, results_of)
        graph.remove(node)
        always = "true" if branch is node.body("then_branch") else "false"
        context.rewritten(self, node, path, _INLINED(condition=always))
        for inner, where in template.resolved.items():
            context.rewritten(self, inner, where, _INLINED_WITH())
        return template.holders


def _obstacle(provenance: Provenance, node: Node) -> str | None:
    """Reason why an If stays; None for one that is inlined."""
    condition = node.inputs[0]
    assert condition is not None
    if condition.constant is None:
        return _CONDITION_UNKNOWN(origins(condition, provenance=provenance))
    if condition.constant.size != 1:
        return _CONDITION_SIZE(elements=condition.constant.size)
    branch = _taken_branch(node, condition.constant)
    reason = caller_attribute(node) or externally_named(node)
    return reason or unnameable_output(node, branch.outputs)


def _taken_branch(node: Node, condition: Tensor) -> Graph:
    holds = bool(condition.numpy().reshape(()))
    return node.body("then_branch" if holds else "else_branch")
