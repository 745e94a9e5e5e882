"""Replace Ifs whose condition only run time tells by both branches and a select.

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
from typing import ClassVar

from ..ir import Graph, Model, Node, Template, Value
from .analysis.bounds import Known
from .analysis.folding import Folder
from .analysis.shape_inference import ShapeInference
from .analysis.speculation import Hazard, Speculation
from .base import Pass, Run
from .emit import Emitter
from .guards import named_from_outside
from .replace import replace_value
from .select import OLDEST_OPSET, scalar, select, unselectable

_BRANCHES = ("then_branch", "else_branch")


@dataclasses.dataclass(frozen=True)
class IfsToSelects(Pass):
    """Run both branches of every If on run-time conditions, where that cannot fail, and select."""

    name: ClassVar[str] = "ifs-to-selects"

    def run(self, model: Model, run: Run) -> bool:
        """Convert inner Ifs before the ones around them."""
        converter = _Converter(self, model, run)
        changed = False
        for graph in reversed(list(model.graphs())):
            for node in [n for n in graph.nodes() if n.is_op("If")]:
                changed |= converter.visit(graph, node)
        return changed


class _Converter:
    def __init__(self, options: IfsToSelects, model: Model, session: Run) -> None:
        self.options = options
        self.session = session
        self.folder = Folder(model)
        self.speculation = Speculation(ShapeInference(model), model.functions)

    def visit(self, graph: Graph, node: Node) -> bool:
        """Convert one If, or say why not."""
        reason = self.obstacle(node)
        if reason is None:
            self.convert(graph, node)
            return True
        self.session.kept(self.options, node, reason)
        return False

    def obstacle(self, node: Node) -> str | None:
        """Why both branches cannot run, or their results not be selected; None if they can."""
        assert node.graph is not None
        condition, opset = node.inputs[0], node.graph.root.opset()
        if condition is not None and condition.constant is not None:
            return "its condition is constant; inline-ifs takes the branch that it decides"
        if opset < OLDEST_OPSET:
            return f"opset {opset} has no Where; convert to opset {OLDEST_OPSET} first"
        results = []
        for name in _BRANCHES:
            try:
                results.append(self.speculation.run(node.body(name)))
            except Hazard as hazard:
                return f"its {name} cannot run when it is not taken: {hazard}"
        return _unequal_output(node, *results, opset) or named_from_outside(node)

    def convert(self, graph: Graph, node: Node) -> None:
        """Put both branches and a select for each output in the place of an If."""
        path = node.path
        emitter = Emitter(graph, self.folder.fold)
        branches = [self.copy(graph, node.body(name)) for name in _BRANCHES]
        given = node.inputs[0]
        assert given is not None
        condition: Value | None = None
        for old, inner, one, other in zip(
            node.outputs, node.body("then_branch").outputs, *branches, strict=False
        ):
            if old is None or not graph.is_used(old):
                continue
            if condition is None:
                shape = self.speculation.outside(given).fact.shape
                condition = scalar(emitter, given, shape, f"{given.name}_scalar")
            elem_type = self.speculation.run(node.body("then_branch"))
            replace_value(graph, old, select(emitter, condition, one, other, elem_type, old.name))
        graph.remove(node)
        self.session.rewritten(self.options, node, path, "both branches run, and selects choose")

    def copy(self, graph: Graph, branch: Graph) -> list[Value]:
        """The results of a branch that now always runs; what it declares need not hold then."""
        return Template(branch, graph, fold=self.folder.fold, keep_infos=False).instantiate([])


def _unequal_output(node: Node, then: list[Known], other: list[Known], opset: int) -> str | None:
    for value, one, two in zip(node.outputs, then, other, strict=False):
        if value is not None:
            why = unselectable(one.fact, two.fact, opset)
            if why is not None:
                return f"its output '{value.name}' {why}"
    return None
