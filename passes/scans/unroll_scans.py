"""Replace a Scan by one copy of its body for each iteration.

    y = Scan <num_scan_inputs = 1, body = b (float e) => (float r) { r = Neg (e) }> (x)
->  (x is float[2])
    x_0, x_1 = Split <axis = 0> (x, sizes)
    x_0_element = Squeeze (x_0, axes)
    x_1_element = Squeeze (x_1, axes)
    r_0 = Neg (x_0_element)
    r_1 = Neg (x_1_element)
    r_0_row = Unsqueeze (r_0, axes)
    r_1_row = Unsqueeze (r_1, axes)
    y = Concat <axis = 0> (r_0_row, r_1_row)

In opset 8 each row of the batch is unrolled on its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

from ...analysis.constants.folding import Folder
from ...analysis.constants.provenance import origins
from ...facts.reason import Message
from ...ir import Graph, Model, Node, Template, Value
from ...ir.option_names import by
from ...ops.builder import Builder
from ...ops.schema_queries import unsayable
from ..base import MAY_BE_CONTROL_FLOW, Pass
from ..context import PassContext
from ..utils.budget import DEFAULT_MAX_NODES, Budget
from ..utils.cost_model import refuses_copies
from ..utils.costs import Costs
from ..utils.legality import externally_named, random_body
from ..utils.traversal import inside_out
from .elements import Stack, Unstacked, element_shape, zeros_of
from .layout import ScanLayout, replace_outputs, unreadable
from .opset import survey_scans
from .shapes import ScanShapes

_ROWS_UNKNOWN = Message("row-lengths-unknown", "the lengths of its rows depend on {cause}")
_SIZE_UNKNOWN = Message("scan-size-unknown", "its {size} depends on {cause}")

_UNROLLED = Message("scan-unrolled", "unrolled, {trips} trip{s}")


@dataclasses.dataclass(frozen=True)
class UnrollScans(Pass):
    """Unroll every Scan of a constant length (and batch, in opset 8).

    Options:
        max_trips: the trip count, of all rows together, above which a Scan stays; no limit by
            default.
        max_nodes: the limit of nodes that the whole rewrite may add.
        costs: the target where a Scan stays if its copies would load or run slower.
    """

    name: ClassVar[str] = "unroll-scans"
    by_default: ClassVar[bool] = True
    works_on = MAY_BE_CONTROL_FLOW
    max_trips: int | None = None
    max_nodes: int = DEFAULT_MAX_NODES
    costs: Costs = "none"

    def run(self, model: Model, context: PassContext) -> bool:
        """Unroll inner Scans before the ones around them."""
        unroller = _ScanUnroller(self, model, context)
        changes = [unroller.visit(*place) for place in inside_out(model.graphs(), "Scan")]
        return any(changes)


@dataclasses.dataclass(frozen=True)
class _Plan:
    """A Scan that can be unrolled.

    Attributes:
        scan: the Scan.
        shapes: its sizes.
        template: its body, ready to be copied.
        lengths: the length of each row of a Scan 8; that of the one row from version 9 on.
        longest: the length of a full row.
        batched: true for a Scan 8.
    """

    scan: ScanLayout
    shapes: ScanShapes
    template: Template
    lengths: tuple[int, ...]
    longest: int
    batched: bool

    @property
    def trips(self) -> int:
        """The trip count of all rows together."""
        return sum(self.lengths)

    @property
    def used_outputs(self) -> list[int]:
        """The positions of the scan outputs in use."""
        graph = self.template.into
        return [
            index
            for index, value in enumerate(self.scan.scan_outputs)
            if value is not None and graph.is_used(value)
        ]

    @property
    def moves(self) -> int:
        """The maximum number of nodes that split the inputs and stack the outputs."""
        rows = len(self.lengths) + 1
        moved = len(self.scan.scan_inputs) + len(self.used_outputs)
        states = 2 * len(self.scan.states) * rows if self.batched else 0
        return moved * (self.trips + rows) + states

    @property
    def cost(self) -> int:
        """The maximum number of nodes that unrolling adds."""
        return self.template.cost(self.trips) + self.moves


class _ScanUnroller:
    def __init__(self, options: UnrollScans, model: Model, context: PassContext) -> None:
        self.options = options
        self.model = model
        self.context = context
        self.budget = Budget(context.meter, options.max_nodes, options.max_trips)
        self.folder = Folder(model)
        batched = [root for root in model.roots() if root.opset() == 8]
        # Scans of opset 8 add facts that inference alone would not reach.
        self.inference = (
            context.analyses.new_inference(model) if batched else context.inference(model)
        )
        survey_scans(batched, 8, self.inference)

    def visit(self, graph: Graph, node: Node) -> bool:
        """Unroll one Scan, or add a remark with the obstacle."""
        plan = self.plan(graph, node)
        if isinstance(plan, _Plan):
            self.unroll(graph, plan)
            for holder in plan.template.holders:
                if holder.is_op("Scan"):
                    self.visit(graph, holder)
            return True
        self.context.kept(self.options, node, plan)
        return False

    def plan(self, graph: Graph, node: Node) -> _Plan | str:
        """The plan for a Scan, or the obstacle to unrolling."""
        version = graph.root.opset()
        reason = unreadable(node, version) or externally_named(node)
        reason = reason or random_body(node, self.model.functions)
        if reason is not None:
            return reason
        shapes = ScanShapes(node, version, self.inference)
        outside = shapes.axis_outside()
        if outside is not None:
            return f"{outside}, so it fails at run time"
        scan, longest = shapes.with_writable_axes(), shapes.length()
        if isinstance(scan, str):
            return scan
        if longest is None:
            return _size_obstacle("length", scan)
        lengths = _row_lengths(scan, shapes, longest) if version == 8 else (longest,)
        if isinstance(lengths, str):
            return lengths
        template = Template(scan.body, graph, fold=self.folder.fold, keep_infos=False)
        plan = _Plan(scan, shapes, template, lengths, longest, version == 8)
        refusal = self.budget.refuses_trips(plan.trips, plan.cost)
        if refusal is None and self.options.costs != "none":
            rows = len(scan.scan_inputs) + len(plan.used_outputs)
            refusal = refuses_copies(scan.body, plan.trips, rows)
        return refusal or _unknown_zeros(plan) or _unsayable(plan, version) or plan

    def unroll(self, graph: Graph, plan: _Plan) -> None:
        """Replace the Scan by copies of the body."""
        node, path = plan.scan.node, plan.scan.node.path
        emitter = Builder(graph, self.folder.fold)
        moves = plan.moves
        results = self.run_rows(emitter, plan) if plan.trips else _without_trips(emitter, plan)
        replace_outputs(graph, node, results[: len(node.outputs)])
        what = _UNROLLED(trips=plan.trips)
        self.context.rewritten(self.options, node, path, self.context.with_offer(node, what))
        self.budget.spend(plan.template.added + moves)

    def run_rows(self, emitter: Builder, plan: _Plan) -> list[Value | None]:
        """Copy the body for every iteration of every row, and return the Scan's outputs."""
        scan, count = plan.scan, len(plan.scan.states)
        parts = Unstacked(scan, emitter, plan.lengths, plan.longest, plan.batched)
        finals, rows, trips = [], [], 0
        for row, (state, elements) in enumerate(zip(parts.states(), parts.elements(), strict=True)):
            row_results = []
            for trip, element in enumerate(elements):
                suffix = f"_{row}_{trip}" if len(plan.lengths) > 1 else f"_{trip}"
                results = plan.template.instantiate([*state, *element], suffix)
                state = results[:count]
                row_results.append(results[count:])
                self.report(scan.node, trips, plan.trips)
                trips += 1
            finals.append(state)
            rows.append(row_results)
        stacked = [
            self.stack(emitter, plan, index, rows) if index in plan.used_outputs else None
            for index in range(len(scan.scan_outputs))
        ]
        return [*_final_states(emitter, plan, finals), *stacked]

    def stack(
        self, emitter: Builder, plan: _Plan, index: int, rows: Sequence[Sequence[Sequence[Value]]]
    ) -> Value:
        old = plan.scan.scan_outputs[index]
        assert old is not None
        stack = Stack(plan.scan, index, plan.shapes, emitter, plan.longest, plan.batched)
        return stack.join([[results[index] for results in row] for row in rows], old.name)

    def report(self, node: Node, trip: int, trips: int) -> None:
        self.context.instrumentation.report_step(f"unrolling {node.label}", trip, trips)


def _final_states(
    emitter: Builder, plan: _Plan, finals: Sequence[Sequence[Value]]
) -> list[Value | None]:
    """The states after the last iteration of each row."""
    if not plan.batched:
        return list(finals[0][: len(plan.scan.final_states)])
    results: list[Value | None] = []
    for index, old in enumerate(plan.scan.final_states):
        if old is None or not emitter.graph.is_used(old):
            results.append(None)
            continue
        one = len(finals) == 1
        rows = [
            emitter.unsqueeze(row[index], 0, old.name if one else f"{old.name}_{number}")
            for number, row in enumerate(finals)
        ]
        results.append(emitter.concat(rows, 0, old.name))
    return results


def _without_trips(emitter: Builder, plan: _Plan) -> list[Value | None]:
    """The outputs of a Scan without iterations: initial states, and zeros, or empty tensors."""
    results: list[Value | None] = list(plan.scan.states[: len(plan.scan.final_states)])
    for index, old in enumerate(plan.scan.scan_outputs):
        element = element_shape(plan.shapes, index) if index in plan.used_outputs else None
        if old is None or element is None:
            results.append(None)
            continue
        shape = list(element)
        if plan.batched:
            shape[:0] = [len(plan.lengths), plan.longest]
        else:
            shape.insert(plan.scan.output_axes[index] % (len(shape) + 1), 0)
        zeros = zeros_of(plan.shapes, index, tuple(shape))
        results.append(emitter.constant(zeros, old.name))
    return results


def _row_lengths(scan: ScanLayout, shapes: ScanShapes, longest: int) -> tuple[int, ...] | str:
    """The length of each row of a Scan 8, or the obstacle to them."""
    batch, lengths = shapes.batch(), scan.sequence_lens
    if batch is None:
        return _size_obstacle("batch", scan)
    if lengths is None:
        return (longest,) * batch
    if lengths.constant is None:
        return _ROWS_UNKNOWN(origins(lengths))
    numbers = tuple([int(length) for length in lengths.constant.numpy().reshape(-1)])
    if len(numbers) != batch or not all(0 <= number <= longest for number in numbers):
        return (
            f"its sequence_lens {list(numbers)} do not fit {batch} rows of length {longest}, so it"
            " fails at run time"
        )
    return numbers


def _size_obstacle(what: str, scan: ScanLayout) -> str:
    return _SIZE_UNKNOWN(origins(scan.scan_inputs[0], sizes=True), size=what)


def _unknown_zeros(plan: _Plan) -> str | None:
    """The obstacle to zeros, or an empty tensor, for a scan output."""
    if all(length == plan.longest for length in plan.lengths) and plan.trips:
        return None
    for index in plan.used_outputs:
        enough = element_shape(plan.shapes, index) is not None or plan.trips
        if not enough or not plan.shapes.element(index).elem_type:
            output = plan.scan.scan_outputs[index]
            assert output is not None
            why = "it has short rows" if plan.trips else "it makes no trips"
            return (
                f"{why}, and the type and shape of an element of its scan output '{output.name}'"
                " are not known; declare them in the body, or fix the shapes of the inputs with"
                f" {by('--shape')}"
            )
    return None


def _unsayable(plan: _Plan, opset: int) -> str | None:
    """The obstacle of an element type to Split or Concat; None without one."""
    if not plan.trips:
        return None
    scan, several = plan.scan, len(plan.lengths) > 1 or plan.longest > 1
    facts = plan.shapes.input_facts()[-len(scan.scan_inputs) :]
    apart = ["Squeeze", "Split"] if several else ["Squeeze"]
    for value, fact, inner in zip(
        scan.scan_inputs, facts, scan.body.inputs[len(scan.states) :], strict=True
    ):
        why = unsayable(apart, fact.elem_type, opset, "Scan")
        if why is not None and scan.body.is_used(inner):
            return f"its scan input '{value.name}' {why}"
    together = ["Unsqueeze", "Concat"] if several else ["Unsqueeze"]
    for index in plan.used_outputs:
        why = unsayable(together, plan.shapes.element(index).elem_type, opset, "Scan")
        if why is not None:
            return f"its scan output '{scan.scan_outputs[index].name}' {why}"  # type: ignore[union-attr]
    return None
