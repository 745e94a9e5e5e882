"""Expand RNN, GRU and LSTM into the operators of their cells.

                                     xs = Transpose <perm = [1, 0, 2]> (x)
                                     fed = Add (MatMul (xs, w'), b')
y, h = RNN (x, w, r, b, , h0)   ->   fed_0, fed_1 = Split <axis = 1> (Reshape (fed))
                                     h_0 = Tanh (Add (fed_0, MatMul (h0, r')))
                                     h_1 = Tanh (Add (fed_1, MatMul (h_0, r')))
                                     y = Transpose (Reshape (Concat <axis = 1> (h_0, h_1)))
                                     h = Unsqueeze (h_1)

A Scan runs the steps where their number is unknown or over the limit of copies.

All forms are supported from opset 7 on: directions, layouts, `sequence_lens`, peepholes, clip,
activations. Results differ by rounding. A row without steps keeps its initial state, as specified;
onnxruntime returns zeros.

Kept: `Affine`, `ScaledTanh` and `ThresholdedRelu` without parameters, which onnxruntime reads as 0,
and below opset 9 `sequence_lens` and operators that need a Scan.
"""

import functools
from collections.abc import Sequence
from typing import ClassVar

from ....analysis.constants.folding import Folder
from ....analysis.constants.provenance import origins
from ....facts.obstacle import Obstacle
from ....facts.reason import Message
from ....ir import Graph, Model, Node, Value
from ....ops.builder import RewriteError
from ....records import record
from ...base import Pass, PassContext
from ...utils.budget import DEFAULT_MAX_NODES, Budget
from ...utils.replace_all_uses import replace_outputs
from ...utils.value_numbering import identity_key, merge_constants
from ..layers import INPUT, read_layer
from ..weights import Unfit
from .expansion import Expansion
from .scanned_steps import OLDEST_SCAN, emit_scans
from .straight_steps import UnrolledSteps, straight_cost

LENGTH_UNKNOWN = Message("sequence-length-unknown", "its length depends on {cause}")
_AS_SCAN = Message("written-as-scan", "is a Scan now: {cause}")


@record(frozen=True)
class ExpandRecurrences(Pass):
    """Expand RNN, GRU and LSTM into the operators of their cells.

    Options:
        straight: emit no Scan, and leave nodes that would need one.
        max_trips: the limit of unrolled steps; no limit by default.
        max_nodes: the limit of nodes that the whole rewrite may add.
    """

    name: ClassVar[str] = "expand-recurrences"
    works_on: ClassVar[tuple[str, ...]] = ("LSTM", "GRU", "RNN")
    adds: ClassVar[tuple[str, ...]] = ("Scan",)
    straight: bool = False
    max_trips: int | None = None
    max_nodes: int = DEFAULT_MAX_NODES

    def run(self, model: Model, context: PassContext) -> bool:
        """Expand all nodes without an obstacle."""
        return Expander(self, model, context, Folder(model)).expand()


class Expander:
    """Expander of the nodes of a model.

    Args:
        folder: the folder of weights, shared by equal weights of all its models.
    """

    def __init__(
        self, options: ExpandRecurrences, model: Model, context: PassContext, folder: Folder
    ) -> None:
        self.options = options
        self.model = model
        self.context = context
        self.folder = folder
        self.inference = context.inference(model)
        self.budget = Budget(context.meter, options.max_nodes, options.max_trips)

    def expand(self) -> bool:
        """Expand all nodes without an obstacle, and return whether there were any."""
        changed = False
        for graph in list(self.model.graphs()):
            nodes = graph.nodes_of(*self.options.works_on)
            weights = {value for node in nodes for value in node.inputs}
            others = set(graph.initializers).difference(weights) if nodes else set()
            rewritten = [node for node in nodes if self.visit(graph, node)]
            if rewritten:
                merge_constants(graph, others, identity_key)
                changed = True
        return changed

    def visit(self, graph: Graph, node: Node) -> bool:
        """Expand a node, or add a remark with the obstacle."""
        path, before = node.path, len(graph)
        try:
            of = Expansion(read_layer(node, self.inference), self.folder.fold)
            reason = self._obstacle_to_steps(of)
            if reason is not None and (self.options.straight or of.emit.opset < OLDEST_SCAN):
                raise reason
        except (Obstacle, RewriteError) as why:
            sentence = f"it {why}" if isinstance(why, Unfit) else why.args[0]
            self.context.kept(self.options, node, sentence)
            return False
        if reason is None:
            steps = of.layer.length or 0
            report = self.context.instrumentation.report_step
            progress = functools.partial(report, f"writing out {node.label}", total=steps)
            results: Sequence[Value | None] = UnrolledSteps(of, steps, progress).outputs()
            what = f"unrolled, {steps} step{'' if steps == 1 else 's'}"
        else:
            results, what = emit_scans(of), _AS_SCAN(reason.reason)
        replace_outputs(graph, node, results[: len(node.outputs)])
        self.budget.spend(len(graph) - before)
        self.context.rewritten(self.options, node, path, what)
        return True

    def _obstacle_to_steps(self, of: Expansion) -> Obstacle | None:
        """The obstacle to unrolled steps; None without one."""
        steps = of.layer.length
        if steps is None:
            return Obstacle(LENGTH_UNKNOWN(origins(of.layer.node.operand(INPUT), sizes=True)))
        try:
            self.budget.require_iterations(steps, straight_cost(of, steps))
        except Obstacle as obstacle:
            return obstacle
        return None
