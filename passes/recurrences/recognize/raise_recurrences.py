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
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ....analysis.safety.speculation import Speculation
from ....analysis.shapes.inference import ShapeInference
from ....analysis.shapes.nonzero_trips import runs_certainly
from ....facts.bounds import Known
from ....facts.reason import Message
from ....ir import Graph, Model, Node, Value
from ....ir.option_names import by
from ....ops.batching import Unbatchable
from ....ops.builder import RewriteError
from ...base import Pass
from ...context import PassContext
from ...scans.layout import replace_outputs
from ...utils.costs import Costs
from ...utils.traversal import inside_out
from ...vectorize.loop_view import LoopView, read
from ...vectorize.memory import ROW_BYTES, MemoryBounds
from ...vectorize.splice import copy_results, is_used, keep_results, propagate_facts
from ...vectorize.zero_trips import ZeroTripSizes

if TYPE_CHECKING:
    from .recurrence import Raiser

_NO_CELL = Message("no-recurrence", "it {cause}")
_NO_SHORTER = Message(
    "recurrence-no-shorter", "it could be {recurrence}, which is no shorter than its trips"
)
_INEXACT = Message("recurrence-inexact", "it could be {recurrence}: {option}")
_RAISED = Message("recurrence-raised", "is now {recurrence}")


@dataclasses.dataclass(frozen=True)
class RaiseRecurrences(Pass):
    """Replace recurrences in Loops and Scans by the operators that compute them.

    Attributes:
        exact: replace only bit-exactly; remarks offer the other replacements, also for unrolled
            nodes.
        straight: emit only straight-line code of fewer nodes than copies of the body.
        max_bytes: the size limit of a batched value of known size.
        row_bytes: the size limit of one iteration of a batched value with an unknown trip count.
        max_identity: the limit of columns of an addend that an operator multiplies by ones and
            zeros, since it has no addends without a weight.
        costs: the target where cells stay if the operator is slower, and sums may be reordered.
        spread_nan: allow operators that multiply values that may be infinite or NaN by ones and
            zeros, which spreads NaN to other gates and columns.
        keep_nan: leave cells, since onnxruntime's GRU, LSTM and RNN may turn a NaN into a number.
    """

    exact: bool = False
    straight: bool = False
    max_bytes: int = 1 << 28
    row_bytes: int = ROW_BYTES
    max_identity: int = 384
    costs: Costs = "none"
    spread_nan: bool = False
    keep_nan: bool = False

    name: ClassVar[str] = "raise-recurrences"
    by_default: ClassVar[bool] = True
    works_on: ClassVar[tuple[str, ...]] = ("Loop", "Scan")
    default_options: ClassVar[Mapping[str, Any]] = {"exact": True, "straight": True}
    adds: ClassVar[tuple[str, ...]] = ("RNN", "GRU", "LSTM", "Loop")

    def run(self, model: Model, context: PassContext) -> bool:
        """Raise inner constructs before outer ones."""
        inference = context.inference(model)
        facts = Speculation(inference, model.functions).outside
        changed = False
        for graph, node in inside_out(model.graphs(), *self.works_on):
            changed |= self._visit(graph, node, inference, facts, context)
        return changed

    def _inexact(self) -> str:
        """The pipeline that emits the operators that remarks offer."""
        fields = {field.name: field.default for field in dataclasses.fields(self)}
        options = {"exact": "false"} | {
            name: str(value).lower()
            for name, value in self.options()
            if name not in self.default_options and value != fields[name]
        }
        return f"straighten{{{','.join(f'{name}={value}' for name, value in options.items())}}}"

    def _visit(
        self,
        graph: Graph,
        node: Node,
        inference: ShapeInference,
        facts: Callable[[Value], Known],
        context: PassContext,
    ) -> bool:
        path, loop_view = node.path, read(node)
        context.offers.pop(node.op, None)
        if isinstance(loop_view, str):
            context.kept(self, node, loop_view)
            return False
        try:
            certain = runs_certainly(node, facts)
            raising = _Raising(graph, loop_view, inference, certain, self)
        except (Unbatchable, RewriteError) as reason:
            context.kept(self, node, _NO_CELL(str(reason)))
            return False
        if self.straight and not raising.is_shorter():
            context.kept(self, node, _NO_SHORTER(recurrence=raising.what))
            return False
        if self.exact and not raising.is_exact():
            way = by(f"--passes '{self._inexact()}'")
            offer = _INEXACT(recurrence=raising.what, option=way)
            context.offers[node.op] = offer
            context.kept(self, node, offer)
            return False
        raising.replace()
        context.rewritten(self, node, path, _RAISED(recurrence=raising.what))
        return True


def _raisers() -> tuple[Raiser, ...]:
    """The raisers in the order of trial, imported on the first loop."""
    from .cell_emission import raise_cell
    from .scan_reductions import raise_accumulation

    return raise_accumulation, raise_cell


class _Raising:
    """Operators that replace a Loop or Scan, emitted in a scratch graph.

    Raises:
        Unbatchable: no operator replaces it.
    """

    def __init__(
        self,
        graph: Graph,
        loop_view: LoopView,
        inference: ShapeInference,
        certain: bool,
        options: RaiseRecurrences,
    ) -> None:
        from .recurrence import AllTrips

        self._graph = graph
        self._loop_view = loop_view
        self._trips = trips = AllTrips(
            loop_view,
            inference,
            MemoryBounds(options.max_bytes, options.row_bytes),
            certain,
            _raisers(),
            options.max_identity,
            options.straight,
            options.costs,
            options.spread_nan,
            options.keep_nan,
        )
        if not trips.replacements:
            raise Unbatchable("carries nothing that an operator could compute")
        dropped = ZeroTripSizes(loop_view, inference)
        self._results = [
            *(trips.final(s) if is_used(graph, s.final) else None for s in loop_view.states),
            *(
                trips.stack(one, [] if certain else dropped.of(one))
                if is_used(graph, one.output)
                else None
                for one in loop_view.scan_outputs
            ),
        ]
        _drop_unread(trips.emit.graph, self._results)

    @property
    def what(self) -> str:
        """The operators, in words."""
        return " and ".join(raised.what for raised in self._trips.replacements)

    def is_exact(self) -> bool:
        """Test for bit-exact operators."""
        return all(raised.exact for raised in self._trips.replacements)

    def is_shorter(self) -> bool:
        """Test for fewer nodes than copies of the body for all iterations."""
        most = self._trips.feeding.most_trips()
        return most is None or len(self._trips.emit.graph) < most * len(self._loop_view.body)

    def replace(self) -> None:
        """Replace the Loop or Scan by the operators."""
        node = self._loop_view.node
        copies = copy_results(self._trips.feeding, self._results, self._graph)
        propagate_facts(self._trips.feeding, copies)
        replace_outputs(self._graph, node, copies[: len(node.outputs)])


def _drop_unread(graph: Graph, results: Sequence[Value | None]) -> None:
    """Drop outputs of operators without a reader."""
    keep_results(graph, results)
    for node in graph.nodes_of("RNN", "GRU", "LSTM"):
        outputs = [v if v is not None and graph.is_used(v) else None for v in node.outputs]
        graph.set_node_outputs(node, outputs)
