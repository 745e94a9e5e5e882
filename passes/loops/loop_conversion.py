"""Conversion of Loops to Scans, or Scans to Loops: the shared steps."""

from __future__ import annotations

import abc
from typing import ClassVar, Generic, TypeVar

from ...analysis.constants.folding import Folder
from ...analysis.safety.speculation import Speculation
from ...analysis.shapes.inference import ShapeInference
from ...analysis.shapes.nonzero_trips import runs_certainly
from ...ir import Graph, Model, Node
from ..base import Pass, PassContext
from ..iteration.loop_view import LoopView, read
from ..utils.legality import externally_named
from ..utils.traversal import inside_out

PlanT = TypeVar("PlanT")


class LoopConversion(abc.ABC, Generic[PlanT]):
    """Converter of each construct of a kind to the other kind.

    Attributes:
        op_type: the operator of the constructs.
    """

    op_type: ClassVar[str]

    def __init__(self, model: Model, inference: ShapeInference) -> None:
        self.model = model
        self.inference = inference
        self.folder = Folder(model)
        self._speculation = Speculation(self.inference, model.functions)

    def run(self, pass_: Pass, context: PassContext) -> bool:
        """Rewrite inner constructs before outer ones, and return whether the model changed."""
        changed = False
        for graph, node in inside_out(self.model.graphs(), self.op_type):
            path, plan = node.path, self._plan(node)
            if isinstance(plan, str):
                context.kept(pass_, node, plan)
                continue
            context.rewritten(pass_, node, path, self.rewrite(graph, plan))
            changed = True
        return changed

    def _plan(self, node: Node) -> PlanT | str:
        loop_view = read(node)
        if isinstance(loop_view, str):
            return loop_view
        assert node.graph is not None
        reason = externally_named(node)
        if node.op.is_sharded:
            reason = "its device configurations speak of its tensors as they are"
        return reason or self.plan(loop_view, node.graph.root.opset())

    def is_certain(self, node: Node) -> bool:
        """Test for a certain first iteration."""
        return runs_certainly(node, self._speculation.outside)

    @abc.abstractmethod
    def plan(self, loop_view: LoopView, opset: int) -> PlanT | str:
        """The plan for a construct in the other form, or the obstacle, without a change."""

    @abc.abstractmethod
    def rewrite(self, graph: Graph, plan: PlanT) -> str:
        """Replace a construct by the other form, and return the text of the remark."""
