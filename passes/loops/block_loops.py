"""Compute a block of a loop's iterations at once, in a Loop over the blocks.

y = Scan <body = b (e) => (r) {            ys = Loop (blocks) <body = (i) => (rs) {
   d = Sub (w, e)                    ->        es = Gather (x, i * k .. i * k + k - 1)
   r = ReduceSum (d)                           rs = ReduceSum (Sub (w, es)) }>
}> (x)                                     y = the first n of ys
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from ...analysis.shapes.inference import ShapeInference
from ...analysis.trips.block_places import is_in_block
from ...facts.notions import Equality
from ...facts.reason import Message
from ...ir import Graph, Model, Node
from ...ops.batching import Unbatchable
from ...ops.builder import RewriteError
from ..base import Pass, PassContext
from ..costs.table import BLOCK_BYTES
from ..iteration.loop_view import read
from ..iteration.scan_layout import replace_outputs
from ..iteration.splice import propagate_facts, splice
from ..utils.traversal import inside_out

_NOT_BLOCKED = Message("not-blocked", "it {cause}")
_IN_BLOCK = Message("in-block", "it runs for a block of iterations of a loop around it")
_BLOCKS = Message("blocked", "computes a block of trips at once, of at most {size} bytes a value")


@dataclasses.dataclass(frozen=True)
class BlockLoops(Pass):
    """Compute blocks of the iterations of Loops and Scans at once, for bounded memory.

    Options:
        block_bytes: the size of the largest value of a block, which should fit a cache.
        exact: add up floats in the order of the loop.
    """

    block_bytes: int = BLOCK_BYTES
    exact: bool = False

    name: ClassVar[str] = "block-loops"
    works_on: ClassVar[tuple[str, ...]] = ("Loop", "Scan")
    adds: ClassVar[tuple[str, ...]] = ("Loop",)

    @property
    def exactness(self) -> Equality:
        """Sums of floats round in another order, unless exact."""
        return "bits" if self.exact else "reals"

    def run(self, model: Model, context: PassContext) -> bool:
        """Rewrite inner loops before outer ones.

        Recurrences of an inner loop run for a block of the outer one if possible, else for a block
        of their own.
        """
        inference = context.inference(model)
        changed, recurrent = False, set[Node]()
        for graph, node in inside_out(model.graphs(), *self.works_on):
            outcome = self._visit(graph, node, inference, context, False)
            changed |= outcome is True
            if outcome is None:
                recurrent.add(node)
        for graph, node in inside_out(model.graphs(), *self.works_on):
            if node in recurrent:
                changed |= bool(self._visit(graph, node, inference, context, True))
        return changed

    def _visit(
        self,
        graph: Graph,
        node: Node,
        inference: ShapeInference,
        context: PassContext,
        residual: bool,
    ) -> bool | None:
        """Rewrite one loop, and return whether it changed; None if it needs a residual loop."""
        from .blocks import BlockLoop, NeedsResidual  # imported on the first loop

        path, loop_view = node.path, read(node)
        if isinstance(loop_view, str):
            context.kept(self, node, loop_view)
            return False
        if is_in_block(graph):
            context.kept(self, node, _IN_BLOCK())
            return False
        try:
            block_loop = BlockLoop(loop_view, inference, self.block_bytes, self.exact, residual)
        except NeedsResidual:
            return None
        except (Unbatchable, RewriteError) as reason:
            context.kept(self, node, _NOT_BLOCKED(cause=str(reason)))
            return False
        copies = splice(block_loop.feeding, block_loop.results, graph)
        facts = propagate_facts(block_loop.feeding, copies)
        replace_outputs(graph, node, copies)
        if graph.holder is None:
            context.analyses.facts |= facts
        context.rewritten(self, node, path, _BLOCKS(size=self.block_bytes))
        return True
