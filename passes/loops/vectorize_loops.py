"""Compute all trips of a Loop or Scan at once where none needs what another one made.

y = Scan <body = b (e) => (r) {            a = MatMul (x, w)
   a = MatMul (e, w)                 ->    y = Relu (a)
   r = Relu (a)
}> (x)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

import onnx

from ...analysis.constants.folding import Folder
from ...analysis.safety.speculation import Speculation
from ...analysis.shapes.inference import ShapeInference
from ...analysis.trips.certainty import runs_certainly
from ...ir import Graph, Model, Node, Template, Value
from ...operators.batching import Unbatchable
from ..base import Pass, RewriteError, Run
from ..scans.layout import replace_outputs
from .batcher import Batcher
from .repetition import Repetition, read
from .zero_trips import sizes_to_drop


@dataclasses.dataclass(frozen=True)
class VectorizeLoops(Pass):
    """Compute all trips of Loops and Scans at once where none needs what another one made.

    Attributes:
        max_bytes: the largest value of all trips that is made, where sizes are known.
    """

    max_bytes: int = 1 << 28

    name: ClassVar[str] = "vectorize-loops"

    def run(self, model: Model, run: Run) -> bool:
        """Vectorize inner constructs before the ones around them."""
        inference = ShapeInference(model)
        changed = False
        for graph in reversed(list(model.graphs())):
            for node in [n for n in graph.nodes() if n.is_op("Loop", "Scan")]:
                changed |= self._visit(graph, node, inference, run)
        return changed

    def _visit(self, graph: Graph, node: Node, inference: ShapeInference, run: Run) -> bool:
        path, repetition = node.path, read(node)
        if isinstance(repetition, str):
            run.kept(self, node, repetition)
            return False
        try:
            _vectorize(graph, repetition, inference, self.max_bytes)
        except (Unbatchable, RewriteError) as reason:
            run.kept(self, node, f"it {reason}")
            return False
        run.rewritten(self, node, path, "all trips are computed at once")
        return True


def _vectorize(
    graph: Graph, repetition: Repetition, inference: ShapeInference, max_bytes: int
) -> None:
    """Put what computes all trips at once in the place of a Loop or Scan.

    Raises:
        Unbatchable: that cannot be done; nothing is changed then.
    """
    node, model = repetition.node, inference.model
    certain = runs_certainly(node, Speculation(inference, model.functions).outside)
    batcher = Batcher(repetition, inference, max_bytes)
    states = [
        batcher.final(state) if _is_used(graph, state.final) else None
        for state in repetition.states
    ]
    rows = [
        batcher.stacked(one, [] if certain else sizes_to_drop(repetition, one, inference))
        if _is_used(graph, one.output)
        else None
        for one in repetition.stacked
    ]
    results = _put_in_place(batcher, [*states, *rows], graph, Folder(model))
    replace_outputs(graph, node, results[: len(node.outputs)])


def _is_used(graph: Graph, value: Value | None) -> bool:
    return value is not None and graph.is_used(value)


def _put_in_place(
    batcher: Batcher, results: Sequence[Value | None], graph: Graph, folder: Folder
) -> list[Value | None]:
    """Copy the graph of a batcher into the one around the loop; what its results are there."""
    scratch = batcher.emit.graph
    given = [value for value in results if value is not None]
    scratch.set_outputs(given, [onnx.ValueInfoProto(name=value.name) for value in given])
    _drop_unread(scratch)
    made = iter(
        Template(scratch, graph, fold=folder.fold).instantiate(list(batcher.feeding.outside))
    )
    return [None if value is None else next(made) for value in results]


def _drop_unread(graph: Graph) -> None:
    """Remove what was made for values that nobody asked for."""
    for node in reversed(graph.nodes()):
        if not graph.is_needed(node):
            graph.remove(node)
    for value in list(graph.initializers):
        if not graph.is_used(value):
            graph.remove_initializer(value)
