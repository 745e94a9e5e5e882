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
from ....ir import Graph, Model, Node, Value
from ....ir.option_names import by
from ....ops.batching import Unbatchable
from ....ops.builder import RewriteError
from ...base import Pass
from ...context import PassContext
from ...scans.layout import replace_outputs
from ...utils.costs import Costs
from ...vectorize.loop_view import Repetition, read
from ...vectorize.memory import ROW_BYTES, MemoryBounds
from ...vectorize.splice import copied, is_used, leave_out_unread, pass_on_facts
from ...vectorize.zero_trips import SizesToDrop

if TYPE_CHECKING:
    from .recurrence import Raiser


@dataclasses.dataclass(frozen=True)
class RaiseRecurrences(Pass):
    """Replace recurrences in Loops and Scans by the operators that compute them.

    Attributes:
        exact: only where that gives the same bits; what else could be raised is offered in the
            remarks, also of what is unrolled then.
        straight: only straight lines, and of fewer nodes than copies of the body would be.
        max_bytes: the largest value of all trips that is made, where sizes are known.
        row_bytes: the largest value of one iteration that is made for all of them, where only run
            time tells how many there are.
        max_identity: how many columns of what is added to gates an operator may multiply by ones
            and zeros, since it takes nothing without a weight.
        costs: leave cells of which the operator would be slower there, and add up in any order.
        spread_nan: make operators that multiply by weights of ones and zeros what may be infinite
            or NaN, which then becomes NaN in other gates and columns, too.
        keep_nan: leave cells, since onnxruntime's GRU, LSTM and RNN may make a number of a NaN.
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
        """Raise inner constructs before the ones around them."""
        inference = context.inference(model)
        known = Speculation(inference, model.functions).outside
        changed = False
        for graph in reversed(list(model.graphs())):
            for node in graph.nodes_of(*self.works_on):
                changed |= self._visit(graph, node, inference, known, context)
        return changed

    def _inexact(self) -> str:
        """The pipeline that makes the operators that are only offered otherwise."""
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
        known: Callable[[Value], Known],
        context: PassContext,
    ) -> bool:
        path, repetition = node.path, read(node)
        context.offers.pop(node.op, None)
        if isinstance(repetition, str):
            context.kept(self, node, repetition)
            return False
        try:
            certain = runs_certainly(node, known)
            raising = _Raising(graph, repetition, inference, certain, self)
        except (Unbatchable, RewriteError) as reason:
            context.kept(self, node, f"it {reason}")
            return False
        if self.straight and not raising.is_shorter():
            context.kept(
                self, node, f"it could be {raising.what}, which is no shorter than its trips"
            )
            return False
        if self.exact and not raising.is_exact():
            way = by(f"--passes '{self._inexact()}'")
            offer = f"it could be {raising.what}: {way}"
            context.offers[node.op] = offer
            context.kept(self, node, offer)
            return False
        raising.put_in_place()
        context.rewritten(self, node, path, f"is now {raising.what}")
        return True


def _raisers() -> tuple[Raiser, ...]:
    """What a recurrence may be, in the order in which it is tried; loaded once there is a loop."""
    from .cell_emission import raise_cell
    from .scan_reductions import raise_accumulation

    return raise_accumulation, raise_cell


class _Raising:
    """A Loop or Scan with operators in its place, made beside it.

    Raises:
        Unbatchable: that cannot be done.
    """

    def __init__(
        self,
        graph: Graph,
        repetition: Repetition,
        inference: ShapeInference,
        certain: bool,
        options: RaiseRecurrences,
    ) -> None:
        from .recurrence import AllTrips

        self._graph = graph
        self._repetition = repetition
        self._trips = trips = AllTrips(
            repetition,
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
        dropped = SizesToDrop(repetition, inference)
        self._results = [
            *(trips.final(s) if is_used(graph, s.final) else None for s in repetition.states),
            *(
                trips.stacked(one, [] if certain else dropped.of(one))
                if is_used(graph, one.output)
                else None
                for one in repetition.stacked
            ),
        ]
        _leave_out(trips.emit.graph, self._results)

    @property
    def what(self) -> str:
        """What the recurrences are, in words."""
        return " and ".join(raised.what for raised in self._trips.replacements)

    def is_exact(self) -> bool:
        """Whether the operators give the bits that the trips give."""
        return all(raised.exact for raised in self._trips.replacements)

    def is_shorter(self) -> bool:
        """Whether there are fewer nodes than in copies of the body for all trips."""
        most = self._trips.feeding.most_trips()
        return most is None or len(self._trips.emit.graph) < most * len(self._repetition.body)

    def put_in_place(self) -> None:
        """Put the operators in the place of the Loop or Scan."""
        node = self._repetition.node
        placed = copied(self._trips.feeding, self._results, self._graph)
        pass_on_facts(self._trips.feeding, placed)
        replace_outputs(self._graph, node, placed[: len(node.outputs)])


def _leave_out(graph: Graph, results: Sequence[Value | None]) -> None:
    """Let operators compute only the outputs that something reads."""
    leave_out_unread(graph, results)
    for node in graph.nodes_of("RNN", "GRU", "LSTM"):
        read = [v if v is not None and graph.is_used(v) else None for v in node.outputs]
        graph.set_node_outputs(node, read)
