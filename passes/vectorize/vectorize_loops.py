"""Vectorize the iterations of a Loop, Scan or SequenceMap.

y = Scan <body = b (e) => (r) {            a = MatMul (x, w)
   a = MatMul (e, w)                 ->    y = Relu (a)
   r = Relu (a)
}> (x)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

from ...analysis.shapes.inference import ShapeInference
from ...facts.notions import Equality
from ...facts.reason import Message, Reason
from ...ir import Graph, Model, Node
from ...ir.option_names import by
from ...ops.batching import Unbatchable
from ...ops.builder import RewriteError
from ...ops.moving_bounds import ORDERED
from ..base import Pass, PassContext
from ..iteration.loop_view import LoopView, read
from ..iteration.memory import ROW_BYTES, IterationMemory, MemoryBounds
from ..iteration.sequence_maps import read_map, read_tensors
from ..utils.traversal import inside_out

_NOT_BATCHED = Message("not-vectorized", "it {cause}")
_AT_ONCE = Message("vectorized", "all trips are computed at once")
_ROWS = Message("reads-tensors", "it reads rows of a tensor, not elements of a sequence")


@dataclasses.dataclass(frozen=True)
class VectorizeLoops(Pass):
    """Batch the nodes of Loops and Scans over all iterations, except recurrences.

    Attributes:
        max_bytes: the size limit of a batched value of known size.
        row_bytes: the size limit of one iteration of a batched value with an unknown trip count.
        block_bytes: the size of a block of iterations that block-loops computes, which gets values
            that outgrow it and the loop's inputs and outputs; 0 for no blocks.
        exact: add and multiply floats in the order of the loop; remarks offer the other forms.
    """

    max_bytes: int = 1 << 28
    row_bytes: int = ROW_BYTES
    block_bytes: int = dataclasses.field(default=0, metadata={"code_only": True})
    exact: bool = False

    name: ClassVar[str] = "vectorize-loops"
    by_default: ClassVar[bool] = True
    default_options: ClassVar[Mapping[str, Any]] = {"exact": True}
    works_on: ClassVar[tuple[str, ...]] = ("Loop", "Scan", "SequenceMap")

    @property
    def exactness(self) -> Equality:
        """Sums of windows round in another order, unless exact."""
        return "bits" if self.exact else "reals"

    def run(self, model: Model, context: PassContext) -> bool:
        """Vectorize inner constructs before outer ones."""
        changed, again = False, True
        while again:
            inference, again = context.inference(model), False
            context.remarks.forget_kept(self)
            for graph, node in inside_out(model.graphs(), *self.works_on):
                changed |= self._read_tensors(node, inference, context)
                outcome = self._visit(graph, node, inference, context)
                changed |= outcome is not None
                again |= outcome is True
            if again:
                context.analyses.invalidate(False)
        return changed

    def _read_tensors(self, node: Node, inference: ShapeInference, context: PassContext) -> bool:
        changes = [read_tensors(body, inference) for body in node.graphs()]
        if any(changes):
            context.rewritten(self, node, node.path, _ROWS())
        return any(changes)

    def _visit(
        self, graph: Graph, node: Node, inference: ShapeInference, context: PassContext
    ) -> bool | None:
        """Vectorize one construct.

        Returns:
            None without a change; true if new loops are to be visited.
        """
        from .vectorization import Vectorization  # imported on the first loop

        path = node.path
        loop_view = read_map(node, inference) if node.is_op("SequenceMap") else read(node)
        if isinstance(loop_view, str):
            context.kept(self, node, loop_view)
            return None
        bounds = MemoryBounds(self.max_bytes, self.row_bytes, self.block_bytes)
        memory, offer = IterationMemory(loop_view, inference, bounds), ""
        try:
            vectorization = Vectorization(loop_view, inference, memory, self.exact)
            offer = (
                self._offer(loop_view, inference, memory)
                if vectorization.distribution.inside
                else ""
            )
            growth = memory.growth(vectorization.feeding.most_dimension)
            loop = vectorization.splice(graph)
            if graph.holder is None:
                context.analyses.facts |= vectorization.facts
        except (Unbatchable, RewriteError) as reason:
            offer = self._offer(loop_view, inference, memory)
            context.kept(self, node, _NOT_BATCHED(str(reason)) + offer)
            return None
        if loop is None:
            parts = [_AT_ONCE(), *([] if growth is None else [growth])]
            context.rewritten(self, node, path, Reason.join(parts))
        else:
            context.rewritten(self, node, path, vectorization.summary)
            if node.op in context.offers:
                context.offers[loop.op] = context.offers.pop(node.op)
            context.kept(self, loop, _NOT_BATCHED(vectorization.reason) + offer)
        return vectorization.feeding.adds_loops

    def _offer(
        self, loop_view: LoopView, inference: ShapeInference, memory: IterationMemory
    ) -> str:
        """The fewest options that vectorize all of a loop, after trials."""
        larger: dict[str, Any] = {"row_bytes": memory.enough()} if memory.refused else {}
        looser: dict[str, Any] = {"exact": False} if self.exact and _reduces(loop_view) else {}
        for options in (larger, looser, {**larger, **looser}):
            pass_ = dataclasses.replace(self, **options)
            if options and pass_.vanishes(loop_view, inference):
                listed = ",".join(f"{name}={value}".lower() for name, value in options.items())
                rounded = "" if pass_.exact == self.exact else ", up to rounding,"
                way = by(f"--passes 'straighten{{{listed}}}'")
                return f"; compute them at once{rounded} with {way}"
        return ""

    def vanishes(self, loop_view: LoopView, inference: ShapeInference) -> bool:
        """Test for a loop of which nothing would stay."""
        from .vectorization import Vectorization

        bounds = MemoryBounds(self.max_bytes, self.row_bytes)
        memory = IterationMemory(loop_view, inference, bounds)
        try:
            trial = Vectorization(loop_view, inference, memory, self.exact)
        except (Unbatchable, RewriteError):
            return False
        return not trial.distribution.inside


def _reduces(loop_view: LoopView) -> bool:
    """Test for sums and products, whose order `exact` keeps."""
    graphs = loop_view.body.walk()
    return any(node.is_op(*ORDERED) for graph in graphs for node in graph.nodes())
