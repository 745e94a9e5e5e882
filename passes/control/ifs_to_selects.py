"""Replace an If on a run-time condition by both branches and a select.

    y = If (c) <
       then_branch = t () => (a) { a = Relu(x) },
       else_branch = e () => (b) { b = Neg(x) }
    >
->
    a = Relu(x)
    b = Neg(x)
    y = Where(c, a, b)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from ...analysis.constants.folding import Folder
from ...analysis.safety.select_legality import unselectable, without_select
from ...analysis.safety.speculation import Hazard, Speculation
from ...facts.fact import Fact
from ...facts.reason import Message
from ...ir import Graph, Model, Node, Template, Value
from ...ops.builder import Builder
from ..base import Pass, PassContext
from ..utils.legality import caller_attribute, externally_named
from ..utils.replace_all_uses import replace_values
from ..utils.select import broadcasting, select
from ..utils.traversal import inside_out

_BRANCHES = ("then_branch", "else_branch")

_CONSTANT = Message(
    "condition-constant", "its condition is constant; inline-ifs takes the branch that it decides"
)
_HAZARD = Message("branch-may-fail", "its {branch} cannot run when it is not taken: {cause}")
_NO_SELECT = Message("output-not-selectable", "its output '{output}' {cause}")
_SELECTED = Message("selected", "both branches run, selects choose")


@dataclasses.dataclass(frozen=True)
class IfsToSelects(Pass):
    """Convert Ifs on run-time conditions to selects, where neither branch can fail.

    Options:
        in_loops: convert only Ifs in the bodies of Loops and Scans.
    """

    name: ClassVar[str] = "ifs-to-selects"
    works_on: ClassVar[tuple[str, ...]] = ("If",)
    in_loops: bool = False

    def run(self, model: Model, context: PassContext) -> bool:
        """Convert inner Ifs before the ones around them."""
        converter = _Converter(self, model, context)
        places = [*inside_out(model.graphs(), "If")]
        if self.in_loops:
            places = [place for place in places if _is_in_loop(place[0])]
        changes = [converter.visit(*place) for place in places]
        return any(changes)


def _is_in_loop(graph: Graph) -> bool:
    holder = graph.holder
    while holder is not None and not holder.is_op("Loop", "Scan"):
        assert holder.graph is not None
        holder = holder.graph.holder
    return holder is not None


class _Converter:
    def __init__(self, options: IfsToSelects, model: Model, context: PassContext) -> None:
        self.options = options
        self.context = context
        self.folder = Folder(model)
        self.speculation = Speculation(context.inference(model), model.functions)

    def visit(self, graph: Graph, node: Node) -> bool:
        """Convert one If, or add a remark with the obstacle."""
        reason = self.obstacle(node)
        facts: list[Fact] = []
        if reason is None:
            facts, reason = self.outputs(graph, node)
        if reason is not None:
            self.context.kept(self.options, node, reason)
            return False
        self.convert(graph, node, facts)
        return True

    def obstacle(self, node: Node) -> str | None:
        """The obstacle to a conversion that lies outside of the branches; None without one."""
        assert node.graph is not None
        condition = node.inputs[0]
        if condition is not None and condition.constant is not None:
            return _CONSTANT()
        older = without_select(node.graph.root.opset())
        return older or caller_attribute(node) or externally_named(node)

    def outputs(self, graph: Graph, node: Node) -> tuple[list[Fact], str | None]:
        """The facts of the outputs, and the obstacle to selects between them."""
        results = []
        for name in _BRANCHES:
            try:
                results.append(self.speculation.run_untaken(node, name))
            except Hazard as hazard:
                return [], _HAZARD(str(hazard), branch=name)
        for value, then_output, else_output in zip(node.outputs, *results, strict=False):
            if value is not None and graph.is_used(value):
                why = unselectable(then_output.fact, else_output.fact, graph.root.opset())
                if why is not None:
                    return [], _NO_SELECT(why, output=value.name)
        return [one.fact for one in results[0]], None

    def convert(self, graph: Graph, node: Node, facts: Sequence[Fact]) -> None:
        """Replace an If by both branches and a select for each output."""
        path, flag = node.path, node.inputs[0]
        assert flag is not None
        emitter = Builder(graph, self.folder.fold)
        yes, no = [self.copy(graph, node.body(name)) for name in _BRANCHES]
        shape = self.speculation.outside(flag).fact.shape
        rank = min((len(fact.shape or ()) for fact in facts), default=0)
        condition = broadcasting(emitter, flag, shape, rank, f"{flag.name}_scalar")
        selections = {
            old: select(emitter, condition, a, b, fact.elem_type, old.name, old)
            for old, a, b, fact in zip(node.outputs, yes, no, facts, strict=False)
            if old is not None and graph.is_used(old)
        }
        replace_values(graph, selections)
        graph.remove(node)
        self.context.rewritten(self.options, node, path, _SELECTED())

    def copy(self, graph: Graph, branch: Graph) -> list[Value]:
        """The outputs of a copied branch; its declarations hold only where it is selected."""
        return Template(branch, graph, fold=self.folder.fold, keep_infos=False).instantiate([])
