"""Compute at once, for all trips of a Loop, Scan or SequenceMap, what needs nothing that another
trip made.

y = Scan <body = b (e) => (r) {            a = MatMul (x, w)
   a = MatMul (e, w)                 ->    y = Relu (a)
   r = Relu (a)
}> (x)
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from ...analysis.shapes.inference import ShapeInference
from ...facts.reason import Message, Reason
from ...ir import Graph, Model, Node
from ...ir.option_names import by
from ...ops.batching import Unbatchable
from ...ops.builder import RewriteError
from ..base import Pass
from ..context import PassContext
from ..utils.traversal import inside_out
from .loop_view import Repetition, read
from .memory import ROW_BYTES, IterationMemory, MemoryBounds
from .sequence_maps import read_map, read_tensors

_NOT_BATCHED = Message("not-vectorized", "it {cause}")
_AT_ONCE = Message("vectorized", "all trips are computed at once")
_ROWS = Message("reads-tensors", "it reads rows of a tensor, not elements of a sequence")


@dataclasses.dataclass(frozen=True)
class VectorizeLoops(Pass):
    """Compute at once what no trip of a Loop or Scan needs of another one.

    Attributes:
        max_bytes: the largest value of all trips that is made, where sizes are known.
        row_bytes: the largest value of one iteration that is made for all of them, where only run
            time tells how many there are.
    """

    max_bytes: int = 1 << 28
    row_bytes: int = ROW_BYTES

    name: ClassVar[str] = "vectorize-loops"
    by_default: ClassVar[bool] = True
    works_on: ClassVar[tuple[str, ...]] = ("Loop", "Scan", "SequenceMap")

    def run(self, model: Model, context: PassContext) -> bool:
        """Vectorize inner constructs before the ones around them."""
        inference = context.inference(model)
        changed = False
        for graph, node in inside_out(model.graphs(), *self.works_on):
            changed |= self._read_tensors(node, inference, context)
            changed |= self._visit(graph, node, inference, context)
        return changed

    def _read_tensors(self, node: Node, inference: ShapeInference, context: PassContext) -> bool:
        found = [read_tensors(body, inference) for body in node.graphs()]
        if any(found):
            context.rewritten(self, node, node.path, _ROWS())
        return any(found)

    def _visit(
        self, graph: Graph, node: Node, inference: ShapeInference, context: PassContext
    ) -> bool:
        from .vectorization import Vectorization  # with all that vectorizes, once there is a loop

        path = node.path
        repetition = read_map(node, inference) if node.is_op("SequenceMap") else read(node)
        if isinstance(repetition, str):
            context.kept(self, node, repetition)
            return False
        bounds = MemoryBounds(self.max_bytes, self.row_bytes)
        memory, offer = IterationMemory(repetition, inference, bounds), ""
        try:
            found = Vectorization(repetition, inference, memory)
            offer = self._offer(repetition, inference, memory) if found.division.inside else ""
            growth = memory.growth(found.feeding.most_dimension())
            left = found.put_in_place(graph)
            if graph.holder is None:
                context.analyses.facts |= found.facts
        except (Unbatchable, RewriteError) as reason:
            offer = self._offer(repetition, inference, memory)
            context.kept(self, node, _NOT_BATCHED(str(reason)) + offer)
            return False
        if left is None:
            done = [_AT_ONCE(), *([] if growth is None else [growth])]
            context.rewritten(self, node, path, Reason.join(done))
        else:
            context.rewritten(self, node, path, found.told)
            if node.op in context.offers:
                context.offers[left.op] = context.offers.pop(node.op)
            context.kept(self, left, _NOT_BATCHED(found.reason) + offer)
        return True

    def _offer(
        self, repetition: Repetition, inference: ShapeInference, memory: IterationMemory
    ) -> str:
        """The option with which a loop goes that stays for its memory; tried before it is named."""
        from .vectorization import Vectorization

        if not memory.refused:
            return ""
        row_bytes = memory.enough()
        bounds = MemoryBounds(self.max_bytes, row_bytes)
        try:
            tried = Vectorization(
                repetition, inference, IterationMemory(repetition, inference, bounds)
            )
        except (Unbatchable, RewriteError):
            return ""
        option = f"--passes 'straighten{{row_bytes={row_bytes}}}'"
        return "" if tried.division.inside else f"; compute them at once with {by(option)}"
