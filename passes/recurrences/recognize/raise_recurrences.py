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
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from ....analysis.constants.folding import Folder
from ....analysis.shapes.inference import ShapeInference
from ....facts.notions import Equality
from ....facts.obstacle import Obstacle
from ....facts.reason import Message, Reason
from ....ir import Graph, Value
from ....ir.option_names import by
from ....ops.batching import Unbatchable
from ....records import record
from ...base import INEXACT
from ...iteration.iterations import IterationMemory, MemoryBounds, ZeroIterationSizes
from ...iteration.loop_view import LoopView, read
from ...iteration.splice import TripCountGuard, copy_results, is_used, keep_results, propagate_facts
from ...loops.count_loops import COUNTED, count_loop
from ...scans.parallel_prefix import joins_rows
from ...utils.replace_all_uses import replace_outputs
from ...utils.sites import Site, SitePass
from .options import RaiseOptions

if TYPE_CHECKING:
    from .recurrence import AllIterations

_CELLS = ("RNN", "GRU", "LSTM")
_NO_CELL = Message("no-recurrence", "it {cause}", rank=2)
_NOTHING = Message("no-state", "it carries nothing that an operator could compute")
_NO_SHORTER = Message(
    "recurrence-no-shorter",
    "it could be {recurrence}, which is no shorter than its iterations",
    rank=3,
)
_UNSUPPORTED = Message(
    "recurrence-unsupported", "it could be {recurrence}, which the target lacks", rank=3
)
_FEW = Message(
    "loop-over-distances",
    "its iterations are few, since it joins rows at doubling distances",
    rank=3,
)
_RAISED = Message("recurrence-raised", "is now {recurrence}")
_STRAIGHT = Message(
    "straight-steps",
    "without a loop {nodes} nodes run at any number of iterations, where the loop ran {few} at 16"
    " and {many} at 1,000; for fewer, {option}",
)
_LOOPED = Message(
    "looped-steps",
    "a loop over the distances runs {some} nodes at 16 iterations, where the loop ran {few}, and"
    " {most} at 1,000, where it ran {many}",
)
_ONE_LOOP = "--passes 'straighten{straight=false}'"


class _NoStateError(Unbatchable):
    """A loop without a state that an operator computes."""


@record(frozen=True)
class RaiseRecurrences(RaiseOptions, SitePass):
    """Replace recurrences in Loops and Scans by the operators that compute them."""

    name: ClassVar[str] = "raise-recurrences"
    dissolves_loops: ClassVar[bool] = True
    by_default: ClassVar[bool] = True
    works_on: ClassVar[tuple[str, ...]] = ("Loop", "Scan")
    predicate: ClassVar[Message] = _NO_CELL
    default_options: ClassVar[Mapping[str, Any]] = {"exact": True, "straight": True}
    adds: ClassVar[tuple[str, ...]] = (*_CELLS, "Loop", "If")

    @property
    def exactness(self) -> Equality:
        """Kernels round on their own, unless only exact replacements are allowed."""
        return "bits" if self.exact else "reals"

    def visit(self, site: Site) -> None:
        """Raise the recurrences of one construct."""
        graph, node, inference, context = site.graph, site.node, site.inference, site.context
        if joins_rows(node):  # of this pass, or one that does the same
            raise Obstacle(_FEW())
        context.offers.pop(node.op, None)
        if count_loop(graph, node, inference):
            site.rewritten(COUNTED())
        loop_view = read(node)
        bounds, guard = MemoryBounds(self.max_bytes, self.row_bytes), None
        memory = IterationMemory(loop_view, inference, bounds)
        try:
            iterations, results = self.raise_loop(
                graph, loop_view, inference, site.is_certain, memory
            )
        except _NoStateError as none:
            raise Obstacle(_NOTHING()) from none
        except Unbatchable:
            if not memory.needs_iteration or not node.is_op("Loop"):
                raise
            guard = TripCountGuard(loop_view, inference)
            iterations, results = self.raise_loop(graph, loop_view, inference, True)
        what = " and ".join(raised.what for raised in iterations.replacements)
        most, size = iterations.feeding.most_iterations, len(iterations.emit.graph)
        bounded = self.straight or self.exact
        if bounded and most is not None and size >= most * len(loop_view.body):
            raise Obstacle(_NO_SHORTER(recurrence=what))
        if self.exact and not all(raised.exact for raised in iterations.replacements):
            cells, opset = iterations.emit.graph.nodes_of(*_CELLS), graph.root.opset()
            if context.supports and not all(context.supports(n.op_type, opset) for n in cells):
                raise Obstacle(_UNSUPPORTED(recurrence=what))
            way = by(f"--passes '{self._inexact()}'")
            context.offers[node.op] = INEXACT(recurrence=what, option=way)
            raise Obstacle(context.offers[node.op])
        loops = iterations.emit.graph.nodes_of("Loop")
        site.visits.revisits |= not all(map(joins_rows, loops))
        if guard is None:
            copies = copy_results(iterations.feeding, results, graph)
            propagate_facts(iterations.feeding, copies)
        else:
            fold = Folder(inference.model).fold
            copies = guard.emit(graph, partial(copy_results, iterations.feeding, results), fold)
        replace_outputs(graph, node, copies[: len(node.outputs)])
        parts: list[Reason] = [_RAISED(recurrence=what)]
        if iterations.doubles and most is None:
            parts.append(_cost(iterations.emit.graph, loop_view.body))
        site.rewritten(Reason.join(parts))

    def _inexact(self) -> str:
        """The pipeline that emits the operators that remarks offer."""
        fields = {field.name: field.default for field in dataclasses.fields(self)}
        options = {"exact": "false"} | {
            name: str(value).lower()
            for name, value in self.options()
            if name not in self.default_options and value != fields[name]
        }
        return f"straighten{{{','.join(f'{name}={value}' for name, value in options.items())}}}"

    def raise_loop(
        self,
        graph: Graph,
        loop_view: LoopView,
        inference: ShapeInference,
        certain: bool,
        memory: IterationMemory | None = None,
    ) -> tuple[AllIterations, list[Value | None]]:
        """Emit the operators that replace a Loop or Scan in a scratch graph.

        Returns:
            the operators, and the outputs of the Loop or Scan.

        Raises:
            Unbatchable: no operator replaces it.
        """
        # Most models have no loop, and need no raiser.
        from .bit_matrices import raise_bits
        from .cell_emission import raise_cell
        from .composed_steps import raise_step
        from .finite_states import raise_finite
        from .fractions import raise_fraction
        from .frozen_states import raise_frozen
        from .images import raise_image
        from .joined_texts import raise_texts
        from .matrix_steps import raise_matrices
        from .observations import raise_observed
        from .recurrence import AllIterations
        from .registers import raise_register
        from .repeated_steps import raise_repeated

        steps = (
            raise_step,
            raise_finite,
            raise_observed,
            raise_register,
            raise_matrices,
            raise_image,
            raise_fraction,
            raise_bits,
            raise_texts,
        )
        raisers = [*steps, raise_repeated, raise_frozen, raise_cell]
        if self.exact:
            raisers.insert(0, raise_frozen)
        iterations = AllIterations(loop_view, inference, self, certain, raisers, memory)
        if not iterations.replacements:
            raise _NoStateError("carries nothing that an operator could compute")
        dropped = ZeroIterationSizes(loop_view, inference)
        results = [
            *(iterations.final(s) if is_used(graph, s.final) else None for s in loop_view.states),
            *(
                iterations.stack(one, [] if certain else dropped.of(one))
                if is_used(graph, one.output)
                else None
                for one in loop_view.scan_outputs
            ),
        ]
        scratch = iterations.emit.graph
        keep_results(scratch, results)
        for node in scratch.nodes_of(*_CELLS):
            read = [v if v is not None and scratch.is_used(v) else None for v in node.outputs]
            scratch.set_node_outputs(node, read)
        return iterations, results


def _cost(steps: Graph, body: Graph) -> Reason:
    """The nodes that run at 16 and at 1,000 iterations, before and after."""
    few, many = (_nodes_run(body, count) for count in (16, 1000))
    if not any(steps.nodes_of("Loop")):
        return _STRAIGHT(nodes=len(steps), few=few, many=many, option=by(_ONE_LOOP))
    some, most = (_nodes_run(steps, count) for count in (16, 1000))
    return _LOOPED(some=some, few=few, most=most, many=many)


def _nodes_run(graph: Graph, count: int) -> int:
    """The nodes that run, with those of bodies: a Loop over distances, or `count` iterations."""
    if graph.holder is not None:
        return count * len(graph)
    inside = sum(len(body) for node in graph.nodes_of("Loop") for body in node.graphs())
    return len(graph) + count.bit_length() * inside
