"""Replace an If on a constant condition by the branch that runs.

    yes = Constant <value = bool {1}> ()
    y = If (yes) <
       then_branch = t () => (a) { a = Relu(x) },
       else_branch = e () => (b) { b = Neg(x) }
    >
->
    y = Relu(x)

An If on a run-time condition is inlined where a node certainly refuses a rank in one branch or
after it, since inputs on which the original fails are outside of the claim: `squeeze(-1)` as an If
before an LSTM, Gemm or Conv.
"""

import functools
from collections.abc import Callable
from typing import ClassVar, NamedTuple

from ...analysis.constants.folding import Folder
from ...analysis.constants.provenance import Provenance, origins
from ...analysis.safety.refused_branches import refused_branch
from ...analysis.shapes.inference import ShapeInference
from ...facts.obstacle import Obstacle, require_none
from ...facts.reason import Message, Reason
from ...ir import Graph, Model, Node, Template
from ..base import MAY_BE_CONTROL_FLOW, Pass, PassContext
from ..utils.legality import caller_attribute, externally_named, unnameable_output
from ..utils.replace_all_uses import replace_values

_CONDITION_UNKNOWN = Message("branch-unknown", "its condition depends on {cause}")
_CONDITION_SIZE = Message(
    "condition-not-scalar", "its condition has {elements} elements; If requires one"
)
_INLINED = Message("branch-inlined", "inlined, its condition is always {condition}")
_REFUSED = Message(
    "branch-refused", "inlined, since {node} refuses a rank that its {branch} brings"
)
_INLINED_WITH = Message("inlined-with-branch", "inlined with the branch around it")


class Decision(NamedTuple):
    """The branch that an If takes, and the reason."""

    branch: str
    why: Reason


Decide = Callable[[Node], Decision]
"""Function that returns the decision of an If, or raises the obstacle."""


class InlineIfs(Pass):
    """Inline the taken branch of every If whose condition is constant."""

    name: ClassVar[str] = "inline-ifs"
    by_default: ClassVar[bool] = True
    works_on = MAY_BE_CONTROL_FLOW

    def run(self, model: Model, context: PassContext) -> bool:
        """Inline outer Ifs before the Ifs in their branches."""
        folder, inference = Folder(model), context.inference(model)
        # An If that is inlined changes what values after it depend on, and those are asked later.
        decide = functools.partial(_decision, Provenance(), inference)
        changes = [self._visit_graph(root.graph, folder, context, decide) for root in model.roots()]
        return any(changes)

    def _visit_graph(
        self, graph: Graph, folder: Folder, context: PassContext, decide: Decide
    ) -> bool:
        changed = False
        # A stack: the next node is the last.
        pending = graph.holders()[::-1]
        while pending:
            node = pending.pop()
            try:
                decision = decide(node) if node.is_op("If") else None
            except Obstacle as obstacle:
                context.kept(self, node, obstacle.reason)
                decision = None
            if decision is not None:
                pending += self._inline(graph, node, decision, folder, context)[::-1]
                changed = True
                continue
            for inner in node.graphs():
                changed |= self._visit_graph(inner, folder, context, decide)
        return changed

    def _inline(
        self, graph: Graph, node: Node, decision: Decision, folder: Folder, context: PassContext
    ) -> list[Node]:
        """Inline one If, and return the nodes of its branch that hold graphs."""
        path, branch = node.path, node.body(decision.branch)
        template = Template(branch, graph, fold=folder.fold)
        pairs = zip(node.outputs, template.instantiate([]), strict=False)
        results_of = {old: new for old, new in pairs if old is not None}
        for old in results_of:
            # The If's declaration covers both branches, so it is dropped.
            old.info = None
        replace_values(graph, results_of)
        graph.remove(node)
        context.rewritten(self, node, path, decision.why)
        for inner, where in template.resolved.items():
            context.rewritten(self, inner, where, _INLINED_WITH())
        return template.holders


def _decision(provenance: Provenance, inference: ShapeInference, node: Node) -> Decision:
    """The branch that an If takes."""
    condition = node.operand(0)
    if condition.constant is None:
        refused = None if caller_attribute(node) else refused_branch(node, inference)
        if refused is None:
            raise Obstacle(_CONDITION_UNKNOWN(origins(condition, provenance=provenance)))
        unfit, refusing = refused
        holds, why = unfit == "else_branch", _REFUSED(branch=unfit, node=str(refusing))
    elif condition.constant.size != 1:
        raise Obstacle(_CONDITION_SIZE(elements=condition.constant.size))
    else:
        holds = bool(condition.constant.numpy().reshape(()))
        why = _INLINED(condition="true" if holds else "false")
    branch = "then_branch" if holds else "else_branch"
    reason = caller_attribute(node) or externally_named(node)
    require_none(reason or unnameable_output(node, node.body(branch).outputs))
    return Decision(branch, why)
