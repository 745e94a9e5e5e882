"""Replace Loops of a constant maximum trip count by straight-line code with selects.

    x = Loop (two, c, x0) <body = b (i, c1, a) => (go, r) { r = Relu(a)  go = Less(r, limit) }>
->
    r_0 = Relu(x0)
    go_0 = Less(r_0, limit)
    a_0 = Where(c, r_0, x0)
    live_1 = And(c, go_0)
    r_1 = Relu(a_0)
    x = Where(live_1, r_1, a_0)

An iteration after the last one reads the state of the last one, and the selects discard its
outputs.
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import onnx

from ...analysis.constants.provenance import origins
from ...analysis.iterations.trip_count import AbsentCond, is_ambiguous, trip_count
from ...analysis.iterations.trip_count_bound import MAXIMUM_UNKNOWN, maximum
from ...analysis.safety.predication import Iteration, predict
from ...analysis.safety.select_legality import without_select
from ...facts.fact import Shape
from ...facts.obstacle import Obstacle, require_none
from ...facts.reason import Message
from ...ir import Graph, Node, Template, Value, count_nodes
from ...ops.builder import Builder
from ...ops.randomness import find_random
from ...records import record
from ..utils.budget import DEFAULT_MAX_NODES, Budget
from ..utils.legality import caller_attribute, externally_named, require_stackable
from ..utils.replace_all_uses import replace_outputs
from ..utils.select import broadcasting, select
from ..utils.sites import Site, SitePass
from .unroll_loops import IterationInputs

_DECIDED = Message(
    "trip-count-known", "constants decide its iterations, {trips}; unroll-loops unrolls it"
)
_SELECT_NODES = 4
"""The maximum number of nodes in a select."""

_RANDOM = Message(
    "copies-draw", "it draws random numbers ({node}), and each copy would draw, live or not"
)
_PREDICATED = Message("predicated", "unrolled to {trips} iterations; Where picks the live results")


@record(frozen=True)
class PredicateLoops(SitePass):
    """Unroll Loops of a constant maximum trip count, with selects, where that cannot fail.

    Options:
        max_trips: leave Loops with a larger maximum; no limit by default.
        max_nodes: the limit of nodes that the whole rewrite may add.
        absent_cond: what a Loop without an initial condition means whose body computes one:
            "ignore" it (the specification), "honour" it (onnxruntime), or "keep" such a Loop.
    """

    name: ClassVar[str] = "predicate-loops"
    dissolves_loops: ClassVar[bool] = True
    sites: ClassVar[tuple[str, ...]] = ("Loop",)
    max_trips: int | None = None
    max_nodes: int = DEFAULT_MAX_NODES
    absent_cond: AbsentCond = "keep"

    def visit(self, site: Site) -> None:
        """Rewrite one Loop."""
        _Predicator(self, site).rewrite()


class _Predicator:
    def __init__(self, options: PredicateLoops, site: Site) -> None:
        self.options = options
        self.site, self.graph, self.loop = site, site.graph, site.node
        self.folder = site.visits.folder
        self.budget = Budget(site.context.meter, options.max_nodes, options.max_trips)

    def rewrite(self) -> None:
        """Rewrite the Loop, or raise the obstacle."""
        graph, loop = self.graph, self.loop
        self.check_outside()
        most = self.maximum()
        template = Template(loop.body("body"), graph, fold=self.folder.fold, keep_infos=False)
        self.budget.require_iterations(most, _cost(loop, template, most), maximum=True)
        iterations = predict(self.site.visits.speculation, loop, most)
        cut = not all(iteration.certain for iteration in iterations)
        require_stackable(graph, loop, len(iterations), ["Slice"] if cut else ())
        self.predicate(template, iterations)

    def check_outside(self) -> None:
        """Raise the obstacle to predication that lies outside of the body."""
        loop = self.loop
        require_none(caller_attribute(loop) or without_select(self.graph.root.opset()))
        most = self.budget.most_iterations()
        iterations = trip_count(loop, self.folder, most + 1, self.options.absent_cond)
        if iterations.count is not None:
            raise Obstacle(_DECIDED(trips=iterations.count))
        if self.options.absent_cond == "keep" and is_ambiguous(loop):
            raise Obstacle(iterations.reason)
        random = find_random(loop.body("body"), self.site.model.functions)
        require_none(None if random is None else _RANDOM(node=str(random)), externally_named(loop))

    def maximum(self) -> int:
        """The maximum trip count of the Loop."""
        count = self.loop.input(0)
        if count is not None and count.constant is None:  # it may end the Loop before the condition
            raise Obstacle(MAXIMUM_UNKNOWN(origins(count)))
        limit = self.budget.most_iterations()
        bound = maximum(self.loop, self.folder, limit, self.options.absent_cond)
        if bound.count is None:
            more = f", more than {self.budget.exceeded_limit(limit)}" if bound.exceeded else ""
            raise Obstacle(bound.reason + more)
        require_none(None if bound.count > 0 else "it makes no iterations")
        return bound.count

    def predicate(self, template: Template, iterations: Sequence[Iteration]) -> None:
        """Replace the Loop by a copy of the body for each possible iteration."""
        site, graph, loop, before = self.site, self.graph, self.loop, len(self.graph)
        writer = _IterationWriter(graph, loop, template, Builder(graph, self.folder.fold))
        if not iterations[0].certain:
            start = loop.operand(1)
            writer.go_on_if(start, site.visits.speculation.outside(start).fact.shape, "live_0")
        for number, iteration in enumerate(iterations):
            writer.write_iteration(number, iteration, last=number + 1 == len(iterations))
            report = site.context.instrumentation.report_step
            report(f"predicating {site.path}", number, len(iterations))
        replace_outputs(graph, loop, writer.outputs()[: len(loop.outputs)])
        writer.inputs.drop_unused()
        site.rewritten(_PREDICATED(trips=len(iterations)))
        added = len(graph) - before + 1
        self.budget.spend(added, added - count_nodes(loop))


class _IterationWriter:
    """Emitter of the iterations, one after another.

    Attributes:
        live: the flag of the next iteration, true if the Loop makes it; None where that is certain.
    """

    def __init__(self, graph: Graph, loop: Node, template: Template, emitter: Builder) -> None:
        self.graph = graph
        self.loop = loop
        self.body = loop.body("body")
        self.template = template
        self.emitter = emitter
        self.live: Value | None = None
        self.carried: list[Value | None] = list(loop.inputs[2:])
        self.flags: list[Value | None] = []
        self.columns: list[list[Value]] = [[] for _ in self.body.outputs[len(loop.inputs) - 1 :]]
        self.inputs = IterationInputs(graph, self.body)

    def go_on_if(self, condition: Value, shape: Shape | None, label: str) -> None:
        """Narrow the live flag of the next iteration by a condition."""
        holds = broadcasting(self.emitter, condition, shape, 0, f"{condition.name}_scalar")
        live = self.live
        self.live = holds if live is None else self.emitter.add("And", [live, holds], label)

    def write_iteration(self, number: int, iteration: Iteration, last: bool) -> None:
        """Emit one iteration, and select its outputs where it is live."""
        arguments = [self.inputs.iteration(number), self.inputs.condition, *self.carried]
        results = self.template.instantiate(arguments, f"_{number}")
        states = len(self.carried)
        new = results[1 : 1 + states]
        self.flags.append(self.live)
        self.carried = list(new) if iteration.certain else self.select(new, number, iteration)
        for column, value in zip(self.columns, results[1 + states :], strict=True):
            column.append(value)
        if not last and not iteration.goes_on:
            self.go_on_if(results[0], iteration.condition, f"live_{number + 1}")

    def select(self, new: Sequence[Value], number: int, iteration: Iteration) -> list[Value | None]:
        """The loop-carried states after an iteration that may not be live."""
        assert self.live is not None
        states: list[Value | None] = []
        for slot, new_one, old, elem_type in zip(
            self.body.inputs[2:], new, self.carried, iteration.elem_types, strict=True
        ):
            assert old is not None
            label = f"{slot.name}_{number}"
            states.append(select(self.emitter, self.live, new_one, old, elem_type, label, slot))
        return states

    def outputs(self) -> list[Value | None]:
        """The Loop's outputs: the loop-carried states, and the live rows of each scan output."""
        first = len(self.carried)
        names = [
            None if v is None or not self.graph.is_used(v) else v.name for v in self.loop.outputs
        ]
        columns = [
            (column, names[i] if i < len(names) else None)
            for i, column in enumerate(self.columns, first)
        ]
        cut = any(flag is not None for flag in self.flags) and any(name for _, name in columns)
        count = self.count() if cut else None
        return [*self.carried, *(self.stack(column, name, count) for column, name in columns)]

    def stack(self, column: list[Value], name: str | None, count: Value | None) -> Value | None:
        """The live rows of a scan output along a new first axis."""
        if name is None:
            return None
        stacked = self.emitter.stack(column, 0, name if count is None else f"{name}_all")
        if count is None:
            return stacked
        return self.emitter.add("Slice", [stacked, self.start, count], name)

    def count(self) -> Value:
        """The number of live iterations, int64 of shape [1]."""
        certain = sum(flag is None for flag in self.flags)
        emitter = self.emitter
        self.start = emitter.constant(np.zeros(1, np.int64), "start")
        flags = [emitter.unsqueeze(f, 0, f"{f.name}_flag") for f in self.flags if f is not None]
        if certain:
            flags.insert(0, emitter.constant(np.ones(certain, np.bool_), "certain"))
        numbers = emitter.add(
            "Cast", [emitter.concat(flags, 0, "live")], "live_number", to=onnx.TensorProto.INT64
        )
        return emitter.add("ReduceSum", [numbers], "count", keepdims=1)


def _cost(loop: Node, template: Template, iterations: int) -> int:
    """The maximum number of nodes in the copies and their selects."""
    outputs = len(loop.body("body").outputs)
    return template.cost(iterations) + outputs * _SELECT_NODES * (iterations + 1)
