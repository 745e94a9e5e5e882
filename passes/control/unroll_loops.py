"""Replace a Loop by one copy of its body for each iteration.

    two = Constant <value_int = 2> ()
    y = Loop (two, , x) <body = b (i, c, a) => (c, b) { b = Relu(a) }>
->
    b_0 = Relu(x)
    y = Relu(b_0)
"""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Sequence
from typing import ClassVar, Generic, TypeVar

from ...analysis.constants.folding import Folder
from ...analysis.trips.body_inputs import condition_tensor, declared_shape, shaped_number
from ...analysis.trips.trip_count import AbsentCond, trip_count
from ...analysis.trips.zero_trips import ScanElements
from ...facts.reason import Message
from ...ir import Graph, Model, Node, Template, Tensor, Value
from ...ops.builder import Builder
from ..base import MAY_BE_CONTROL_FLOW, Pass, PassContext
from ..costs.cost_model import refuses_copies
from ..costs.goal import GoalName
from ..costs.table import Costs, cost_table
from ..utils.budget import DEFAULT_MAX_NODES, Budget
from ..utils.legality import (
    caller_attribute,
    externally_named,
    random_body,
    unnameable_output,
    unstackable_output,
)
from ..utils.loop_facts import record_facts, settled_outputs
from ..utils.replace_all_uses import replace_values
from ..utils.traversal import inside_out

UNROLLED = Message("unrolled", "unrolled, {trips} trip{s}")
_DECIDED = Message("decided-on-each-trip", "decided on each trip")


@dataclasses.dataclass(frozen=True)
class UnrollLoops(Pass):
    """Unroll every Loop of a constant trip count.

    Options:
        max_trips: the trip count above which a Loop stays; no limit by default.
        max_nodes: how many nodes the whole rewrite may add.
        absent_cond: what a Loop without an initial condition means whose body computes one:
            "ignore" it (the specification), "honour" it (onnxruntime), or "keep" such a Loop.
        costs: the table of costs by which a Loop stays if its copies load too long.
        copies: the goal that says how long: "load" no longer than the Loop.
    """

    name: ClassVar[str] = "unroll-loops"
    by_default: ClassVar[bool] = True
    works_on = MAY_BE_CONTROL_FLOW
    max_trips: int | None = None
    max_nodes: int = DEFAULT_MAX_NODES
    absent_cond: AbsentCond = "keep"
    costs: Costs = "none"
    copies: GoalName = dataclasses.field(default="load", metadata={"code_only": True})

    def run(self, model: Model, context: PassContext) -> bool:
        """Unroll inner Loops before the ones around them."""
        budget = Budget(context.meter, self.max_nodes, self.max_trips)
        return _LoopUnroller(self, model, context, budget).run()


Options = TypeVar("Options", bound=Pass)


class LoopRewriter(abc.ABC, Generic[Options]):
    """Rewriter of the Loops of a model, inner ones first, by copies of their bodies."""

    def __init__(
        self, options: Options, model: Model, context: PassContext, budget: Budget
    ) -> None:
        self.options = options
        self.model = model
        self.context = context
        self.budget = budget
        self.folder = Folder(model)

    def run(self) -> bool:
        """Visit every Loop, and return whether one was rewritten."""
        changes = [self.visit(*place) for place in inside_out(self.model.graphs(), "Loop")]
        return any(changes)

    def visit(self, graph: Graph, loop: Node) -> bool:
        """Rewrite one Loop, or add a remark with the obstacle."""
        obstacle = self.rewrite(graph, loop)
        if obstacle is not None:
            self.context.kept(self.options, loop, obstacle)
        return obstacle is None

    @abc.abstractmethod
    def rewrite(self, graph: Graph, loop: Node) -> str | None:
        """Rewrite one Loop, or return the obstacle."""


class _LoopUnroller(LoopRewriter[UnrollLoops]):
    def rewrite(self, graph: Graph, loop: Node) -> str | None:
        obstacle = caller_attribute(loop) or random_body(loop, self.model.functions)
        obstacle = obstacle or externally_named(loop)
        if obstacle is not None:
            return obstacle
        body, scanned = loop.body("body"), _scan_outputs(loop)
        template = Template(body, graph, fold=self.folder.fold, keep_infos=False)
        most = self.budget.most_trips(template.cost(2) - template.cost(1) + scanned)
        trips = trip_count(loop, self.folder, most + 1, self.options.absent_cond)
        if trips.count is None:
            more = f", more than {self.budget.exceeded_limit(most)}" if trips.exceeded else ""
            return trips.reason + more
        cost = template.cost(trips.count) + scanned * (trips.count + 1)
        obstacle = self.budget.refuses_trips(trips.count, cost)
        table = cost_table(self.options.costs)
        if obstacle is None and table is not None:
            obstacle = refuses_copies(body, trips.count, scanned, table, self.options.copies)
        obstacle = obstacle or self.unwritable_output(graph, loop, trips.count)
        if obstacle is None:
            self.unroll(graph, loop, template, trips.count)
            for node in template.holders:
                if node.is_op("Loop"):  # its trip count may be constant only now
                    self.visit(graph, node)
        return obstacle

    def unwritable_output(self, graph: Graph, loop: Node, trips: int) -> str | None:
        """The obstacle to an output without the Loop; None without one."""
        body, first = loop.body("body"), len(loop.inputs) - 2
        if trips:
            unnameable = unnameable_output(loop, body.outputs[1 : 1 + first])
            return unnameable or unstackable_output(graph, loop, trips)
        elements = ScanElements(loop, self.model)
        for index in range(first, len(loop.outputs)):
            if loop.outputs[index] is not None and elements.of(index + 1) is None:
                return (
                    "it makes no trips, and the element type or the sizes of its scan output"
                    f" '{body.outputs[index + 1].name}' are not certain; declare them in the body"
                )
        return unnameable_output(loop, [value for value in loop.inputs[2:] if value is not None])

    def unroll(self, graph: Graph, loop: Node, template: Template, trips: int) -> None:
        """Replace the Loop by `trips` copies of the body."""
        path, body = loop.path, loop.body("body")
        inference = self.context.inference(self.model)
        facts = settled_outputs(inference, loop, trips)
        inputs = TripInputs(graph, body)
        states = len(loop.inputs) - 2
        carried: Sequence[Value | None] = loop.inputs[2:]
        scanned: list[list[Value]] = [[] for _ in body.outputs[1 + states :]]
        condition = inputs.condition
        for trip in range(trips):
            arguments = [inputs.iteration(trip), condition, *carried]
            results = template.step(arguments, f"_{trip}")
            if self.options.absent_cond == "ignore" and loop.input(1) is None:
                condition = results[0]
            carried = results[1 : 1 + states]
            for column, value in zip(scanned, results[1 + states :], strict=True):
                column.append(template.place(value))
            self.context.instrumentation.report_step(f"unrolling {path}", trip, trips)
        final = [template.place(value) if value is not None else None for value in carried]
        outputs = [*final, *self.stack(graph, loop, scanned)]
        record_facts(self.context, inference, loop, facts, outputs)
        pairs = zip(loop.outputs, outputs, strict=False)
        replace_values(graph, {o: v for o, v in pairs if o is not None and v is not None})
        graph.remove(loop)
        inputs.drop_unused()
        what = self.context.with_offer(loop, UNROLLED(trips=trips))
        self.context.rewritten(self.options, loop, path, what)
        for node, where in template.resolved.items():
            self.context.rewritten(self.options, node, where, _DECIDED())
        self.budget.spend(template.added + sum(len(column) for column in scanned))

    def stack(
        self, graph: Graph, loop: Node, scanned: Sequence[Sequence[Value]]
    ) -> list[Value | None]:
        """The scan outputs: the values of their iterations along a new first axis."""
        emitter = Builder(graph, self.folder.fold)
        stacked: list[Value | None] = []
        first = len(loop.inputs) - 2
        elements = None if any(scanned) else ScanElements(loop, self.model)
        for index, column in enumerate(scanned, first):
            old = loop.outputs[index] if index < len(loop.outputs) else None
            if old is None or not graph.is_used(old):
                stacked.append(None)
            elif elements is not None:
                element = elements.of(index + 1)
                assert element is not None
                stacked.append(graph.add_initializer(old.name, element.none()))
            else:
                rows = [emitter.unsqueeze(v, 0, f"{v.name}_row") for v in column]
                one = len(rows) == 1
                stacked.append(rows[0] if one else emitter.add("Concat", rows, old.name, axis=0))
        return stacked


def _scan_outputs(loop: Node) -> int:
    return len(loop.body("body").outputs) - (len(loop.inputs) - 1)


class TripInputs:
    """The iteration numbers and the condition that the copies of a body read."""

    def __init__(self, graph: Graph, body: Graph) -> None:
        self.graph = graph
        self.label = body.inputs[0].name
        self.shape = declared_shape(body.inputs[0])
        self.numbered = body.is_used(body.inputs[0])
        self._constants: list[Value] = []
        self.condition = self._constant(condition_tensor(body, True), body.inputs[1].name)
        self._unnumbered = self.condition

    def iteration(self, trip: int) -> Value:
        """The number of an iteration; any value where no node reads it."""
        if not self.numbered:
            return self._unnumbered
        return self._constant(shaped_number(self.shape, trip), f"{self.label}_{trip}")

    def _constant(self, tensor: Tensor, label: str) -> Value:
        self._constants.append(self.graph.add_initializer(label, tensor))
        return self._constants[-1]

    def drop_unused(self) -> None:
        """Remove the constants that folding left without a reader."""
        for value in self._constants:
            if not self.graph.is_used(value):
                self.graph.remove_initializer(value)
