"""Replace recurrences by the operators that compute them.

y, h = Scan <num_scan_inputs = 1,
   body = b (h, x) => (r, s) {
      a = MatMul (x, w) c = MatMul (h, u)   ->   y, h = RNN (x, w', u', b', , h0)
      d = Add (a, c) r = Tanh (d)
      s = Identity (r)
   }
> (h0, x)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from ...analysis.safety.speculation import Speculation
from ...analysis.shapes.inference import ShapeInference
from ...analysis.trips.certainty import runs_certainly
from ...ir import Graph, Model, Node, Value
from ...operators.batching import Unbatchable
from ..base import Pass, RewriteError, Run
from ..loops.placing import drop_unread, give_out, is_used, put_in_place
from ..loops.repetition import Repetition, read
from ..loops.zero_trips import sizes_to_drop
from ..scans.layout import replace_outputs
from .accumulations import raise_accumulation
from .gated import raise_cell
from .recurrence import AllTrips, Raiser

RAISERS: tuple[Raiser, ...] = (raise_accumulation, raise_cell)
"""What a recurrence may be, in the order in which it is tried."""


@dataclasses.dataclass(frozen=True)
class RaiseRecurrences(Pass):
    """Replace recurrences in Loops and Scans by the operators that compute them.

    Attributes:
        max_bytes: the largest value of all trips that is made, where sizes are known.
        max_identity: how many columns of what is added to gates an operator may multiply by ones
            and zeros, since it takes nothing without a weight.
    """

    max_bytes: int = 1 << 28
    max_identity: int = 384

    name: ClassVar[str] = "raise-recurrences"

    def run(self, model: Model, run: Run) -> bool:
        """Raise inner constructs before the ones around them."""
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
            made = _raise(graph, repetition, inference, self)
        except (Unbatchable, RewriteError) as reason:
            run.kept(self, node, f"it {reason}")
            return False
        run.rewritten(self, node, path, f"is now {' and '.join(made)}")
        return True


def _raise(
    graph: Graph, repetition: Repetition, inference: ShapeInference, options: RaiseRecurrences
) -> list[str]:
    """Put operators in the place of a Loop or Scan; what they are.

    Raises:
        Unbatchable: that cannot be done; nothing is changed then.
    """
    node, model = repetition.node, inference.model
    certain = runs_certainly(node, Speculation(inference, model.functions).outside)
    trips = AllTrips(
        repetition, inference, options.max_bytes, certain, RAISERS, options.max_identity
    )
    if not trips.made:
        raise Unbatchable("carries nothing that is a recurrence; vectorize-loops is for it")
    states = [
        trips.final(state) if is_used(graph, state.final) else None for state in repetition.states
    ]
    rows = [
        trips.stacked(one, [] if certain else sizes_to_drop(repetition, one, inference))
        if is_used(graph, one.output)
        else None
        for one in repetition.stacked
    ]
    _leave_out(trips.emit.graph, [*states, *rows])
    placed = put_in_place(trips.feeding, [*states, *rows], graph)
    replace_outputs(graph, node, placed[: len(node.outputs)])
    return trips.made


def _leave_out(graph: Graph, results: Sequence[Value | None]) -> None:
    """Let operators compute only the outputs that something reads."""
    give_out(graph, [value for value in results if value is not None])
    drop_unread(graph)
    for node in graph.nodes():
        if node.is_op("RNN", "GRU", "LSTM"):
            read = [v if v is not None and graph.is_used(v) else None for v in node.outputs]
            graph.set_node_outputs(node, read)
