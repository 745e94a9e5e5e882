"""Writing the Loops of a model as Scans or its Scans as Loops: what both ways share."""

from __future__ import annotations

import abc
from typing import ClassVar, Generic, TypeVar

from ...analysis.constants.folding import Folder
from ...analysis.safety.speculation import Speculation
from ...analysis.shapes.inference import ShapeInference
from ...analysis.shapes.nonzero_trips import runs_certainly
from ...ir import Graph, Model, Node
from ..base import Pass
from ..context import PassContext
from ..utils.legality import named_from_outside
from ..vectorize.loop_view import Repetition, read

PlanT = TypeVar("PlanT")


class OtherForm(abc.ABC, Generic[PlanT]):
    """Writes each construct of a kind as one of the other kind, or leaves it.

    Args:
        model: the model.
        inference: facts about its values.

    Attributes:
        op_type: the operator of the constructs.
        inference: facts about the model's values.
        folder: computes what is known.
    """

    op_type: ClassVar[str]

    def __init__(self, model: Model, inference: ShapeInference) -> None:
        self.model = model
        self.inference = inference
        self.folder = Folder(model)
        self._speculation = Speculation(self.inference, model.functions)

    def run(self, pass_: Pass, context: PassContext) -> bool:
        """Rewrite inner constructs before the ones around them; whether anything changed."""
        changed = False
        for graph in reversed(list(self.model.graphs())):
            for node in graph.nodes_of(self.op_type):
                path, plan = node.path, self._plan(node)
                if isinstance(plan, str):
                    context.kept(pass_, node, plan)
                    continue
                context.rewritten(pass_, node, path, self.rewrite(graph, plan))
                changed = True
        return changed

    def _plan(self, node: Node) -> PlanT | str:
        repetition = read(node)
        if isinstance(repetition, str):
            return repetition
        assert node.graph is not None
        reason = named_from_outside(node)
        if node.op.extra is not None and node.op.extra.device_configurations:
            reason = "its device configurations speak of its tensors as they are"
        return reason or self.plan(repetition, node.graph.root.opset())

    def is_certain(self, node: Node) -> bool:
        """Whether there is a first trip."""
        return runs_certainly(node, self._speculation.outside)

    @abc.abstractmethod
    def plan(self, repetition: Repetition, opset: int) -> PlanT | str:
        """How to write a construct in the other form, or why it must stay; nothing is changed."""

    @abc.abstractmethod
    def rewrite(self, graph: Graph, plan: PlanT) -> str:
        """Put the other form in the place of a construct; what was done, as a remark says it."""
