"""Replace a Loop by one copy of its body for each iteration.

    two = Constant <value_int = 2> ()
    y = Loop (two, , x) <body = b (i, c, a) => (c, b) { b = Relu(a) }>
->
    b_0 = Relu(x)
    y = Relu(b_0)

Only the nodes that the condition depends on run before anything is copied, so a `while` with a
counter, or a Loop that ends when a state has a certain size, is unrolled, too.

Kept: a trip count that depends on an input or a shape, random numbers (copies of a seeded node
would draw the same), scan outputs of types that Unsqueeze or Concat lack, a Loop without an initial
condition whose body computes one (the specification ignores that condition, onnxruntime does not:
`absent_cond`), and a Loop by which a conversion expresses an operator, beyond 1,000 nodes.
"""

from collections.abc import Sequence
from typing import ClassVar

from ...analysis.iterations.body_inputs import condition_tensor, declared_shape, shaped_number
from ...analysis.iterations.constructs import is_written
from ...analysis.iterations.trip_count import AbsentCond, trip_count
from ...analysis.iterations.zero_iterations import ScanElements
from ...facts.obstacle import Obstacle, require_none
from ...facts.reason import Message
from ...ir import Graph, Node, Template, Tensor, Value, count_nodes
from ...limits import limit
from ...ops.builder import Builder
from ...records import field, record
from ..base import MAY_BE_CONTROL_FLOW
from ..costs.cost_model import require_copies
from ..costs.goal import GoalName
from ..costs.table import Costs, cost_table
from ..utils.budget import DEFAULT_MAX_NODES, Budget
from ..utils.legality import (
    caller_attribute,
    externally_named,
    require_no_draws,
    require_stackable,
    unnameable_output,
)
from ..utils.loop_facts import record_facts, settled_outputs
from ..utils.replace_all_uses import replace_outputs
from ..utils.sites import Site, SitePass

UNROLLED = Message("unrolled", "unrolled, {trips} iteration{s}")
_WRITTEN = Message(
    "written-loop",
    "it expresses an operator, and its {trips} iterations would add {nodes} nodes, over"
    " written_loop_nodes={most}",
)
_MOST_WRITTEN = limit("written_loop_nodes")
_DECIDED = Message("decided-on-each-trip", "decided on each iteration")


@record(frozen=True)
class UnrollLoops(SitePass):
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
    dissolves_loops: ClassVar[bool] = True
    by_default: ClassVar[bool] = True
    works_on = MAY_BE_CONTROL_FLOW
    sites: ClassVar[tuple[str, ...]] = ("Loop",)
    max_trips: int | None = None
    max_nodes: int = DEFAULT_MAX_NODES
    absent_cond: AbsentCond = "keep"
    costs: Costs = "none"
    copies: GoalName = field(default="load", metadata={"code_only": True})

    def visit(self, site: Site) -> None:
        """Unroll one Loop, and those in its copies that became constant."""
        unroller = _LoopUnroller(self, site)
        template, iterations = unroller.plan()
        unroller.unroll(template, iterations)
        site.visit_new(template.holders)


class _LoopUnroller:
    def __init__(self, options: UnrollLoops, site: Site) -> None:
        self.options = options
        self.site, self.graph, self.loop = site, site.graph, site.node
        self.budget = Budget(site.context.meter, options.max_nodes, options.max_trips)

    def plan(self) -> tuple[Template, int]:
        """The body to copy, and the trip count.

        Raises:
            Obstacle: unrolling is not possible.
        """
        loop, folder = self.loop, self.site.visits.folder
        require_none(caller_attribute(loop))
        require_no_draws(loop, self.site.model.functions)
        require_none(externally_named(loop))
        body, scanned = loop.body("body"), _scan_outputs(loop)
        template = Template(body, self.graph, fold=folder.fold, keep_infos=False)
        most = self.budget.most_iterations(template.cost(2) - template.cost(1) + scanned)
        # One iteration over the limit is enough to refuse: the rest is not counted.
        iterations = trip_count(loop, folder, most + 1, self.options.absent_cond)
        if iterations.count is None:
            more = f", more than {self.budget.exceeded_limit(most)}" if iterations.exceeded else ""
            raise Obstacle(iterations.reason + more)
        cost = template.cost(iterations.count) + scanned * (iterations.count + 1)
        options, count = self.options, iterations.count
        self.budget.require_iterations(count, cost, replaced=count_nodes(loop))
        self._require_unwritten(count, cost)
        require_copies(body, count, scanned, cost_table(options.costs), options.copies)
        self._require_outputs(count)
        return template, count

    def _require_unwritten(self, iterations: int, cost: int) -> None:
        """Raise the reason to keep a Loop that a conversion wrote."""
        supports, opset = self.site.context.supports, self.graph.root.opset()
        has_loop = supports is None or supports("Loop", opset)
        if cost > _MOST_WRITTEN and is_written(self.loop) and has_loop:
            raise Obstacle(_WRITTEN(trips=iterations, nodes=cost, most=_MOST_WRITTEN))

    def _require_outputs(self, iterations: int) -> None:
        """Raise the obstacle to an output without the Loop."""
        loop = self.loop
        body, first = loop.body("body"), len(loop.inputs) - 2
        if iterations:
            require_none(unnameable_output(loop, body.outputs[1 : 1 + first]))
            require_stackable(self.graph, loop, iterations)
            return
        elements = ScanElements(loop, self.site.model)
        for index in range(first, len(loop.outputs)):
            if loop.outputs[index] is not None and elements.of(index + 1) is None:
                raise Obstacle(
                    "it makes no iterations, and the element type or the sizes of its scan output"
                    f" '{body.outputs[index + 1].name}' are not certain; declare them in the body"
                )
        require_none(unnameable_output(loop, [v for v in loop.inputs[2:] if v is not None]))

    def unroll(self, template: Template, iterations: int) -> None:
        """Replace the Loop by `iterations` copies of the body."""
        site, graph, loop, context = self.site, self.graph, self.loop, self.site.context
        body, inference = loop.body("body"), site.inference
        facts = settled_outputs(inference, loop, iterations)
        inputs = IterationInputs(graph, body)
        states = len(loop.inputs) - 2
        carried: Sequence[Value | None] = loop.inputs[2:]
        scanned: list[list[Value]] = [[] for _ in body.outputs[1 + states :]]
        condition = inputs.condition
        report, work = context.instrumentation.report_step, f"unrolling {site.path}"
        for iteration in range(iterations):
            arguments = [inputs.iteration(iteration), condition, *carried]
            results = template.step(arguments, f"_{iteration}")
            # Such a condition ends nothing, but the next iteration may read it.
            if self.options.absent_cond == "ignore" and loop.input(1) is None:
                condition = results[0]
            carried = results[1 : 1 + states]
            for column, value in zip(scanned, results[1 + states :], strict=True):
                column.append(template.place(value))
            report(work, iteration, iterations)
        final = [template.place(value) if value is not None else None for value in carried]
        outputs = [*final, *self.stack(scanned)]
        record_facts(context, inference, loop, facts, outputs)
        replace_outputs(graph, loop, outputs[: len(loop.outputs)])
        inputs.drop_unused()
        nodes = template.added if self.options.costs == "none" else 0
        site.rewritten(context.with_offer(loop, UNROLLED(trips=iterations), nodes))
        for node, where in template.resolved.items():
            context.rewritten(self.options, node, where, _DECIDED())
        stacked = sum(len(column) for column in scanned)
        self.budget.spend(template.added + stacked, template.growth(loop) + stacked)

    def stack(self, scanned: Sequence[Sequence[Value]]) -> list[Value | None]:
        """The scan outputs: the values of their iterations along a new first axis."""
        graph, loop = self.graph, self.loop
        emitter = Builder(graph, self.site.visits.folder.fold)
        stacked: list[Value | None] = []
        first = len(loop.inputs) - 2
        # Without an iteration, declarations alone tell the type and sizes of an element.
        elements = None if any(scanned) else ScanElements(loop, self.site.model)
        for index, column in enumerate(scanned, first):
            old = loop.outputs[index] if index < len(loop.outputs) else None
            if old is None or not graph.is_used(old):
                stacked.append(None)
            elif elements is not None:
                element = elements.of(index + 1)
                assert element is not None
                stacked.append(graph.add_initializer(old.name, element.none()))
            else:
                stacked.append(emitter.stack(column, 0, old.name))
        return stacked


def _scan_outputs(loop: Node) -> int:
    return len(loop.body("body").outputs) - (len(loop.inputs) - 1)


class IterationInputs:
    """The iteration numbers and the condition that the copies of a body read."""

    def __init__(self, graph: Graph, body: Graph) -> None:
        self.graph = graph
        self.label = body.inputs[0].name
        self.shape = declared_shape(body.inputs[0])
        self.numbered = body.is_used(body.inputs[0])
        self._constants: list[Value] = []
        self.condition = self._constant(condition_tensor(body, True), body.inputs[1].name)
        self._unnumbered = self.condition

    def iteration(self, iteration: int) -> Value:
        """The number of an iteration; any value where no node reads it."""
        if not self.numbered:
            return self._unnumbered
        return self._constant(shaped_number(self.shape, iteration), f"{self.label}_{iteration}")

    def _constant(self, tensor: Tensor, label: str) -> Value:
        self._constants.append(self.graph.add_initializer(label, tensor))
        return self._constants[-1]

    def drop_unused(self) -> None:
        """Remove the constants that folding left without a reader."""
        for value in self._constants:
            if not self.graph.is_used(value):
                self.graph.remove_initializer(value)
