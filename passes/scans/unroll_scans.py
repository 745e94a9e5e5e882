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

Kept: Scans of opset 8, lengths that only run time determines, random numbers, and types that Split,
Squeeze, Unsqueeze or Concat lack.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import onnx

from ...analysis.constants.provenance import origins
from ...facts.obstacle import Obstacle, require_none
from ...facts.reason import Message
from ...ir import Template, Value, count_nodes
from ...ir.option_names import by
from ...ops.builder import Builder
from ...ops.schema_queries import type_obstacle
from ..base import MAY_BE_CONTROL_FLOW
from ..costs.cost_model import refuses_copies
from ..costs.goal import GoalName
from ..costs.table import Costs, cost_table
from ..iteration.loop_view import ScanLayout, check_scan, replace_outputs
from ..utils.budget import DEFAULT_MAX_NODES, Budget
from ..utils.legality import externally_named, random_body
from ..utils.loop_facts import record_facts, settled_outputs
from ..utils.sites import Site, SitePass
from .shapes import ScanShapes

_LENGTH_UNKNOWN = Message("scan-length-unknown", "its length depends on {cause}")

_UNROLLED = Message("scan-unrolled", "unrolled, {trips} iteration{s}")


@dataclasses.dataclass(frozen=True)
class UnrollScans(SitePass):
    """Unroll every Scan of a constant length.

    Options:
        max_trips: the trip count above which a Scan stays; no limit by default.
        max_nodes: the limit of nodes that the whole rewrite may add.
        costs: the table of costs by which a Scan stays if its copies load too long.
        copies: the goal that says how long: "load" no longer than the Scan.
    """

    name: ClassVar[str] = "unroll-scans"
    by_default: ClassVar[bool] = True
    works_on = MAY_BE_CONTROL_FLOW
    sites: ClassVar[tuple[str, ...]] = ("Scan",)
    max_trips: int | None = None
    max_nodes: int = DEFAULT_MAX_NODES
    costs: Costs = "none"
    copies: GoalName = dataclasses.field(default="load", metadata={"code_only": True})

    def visit(self, site: Site) -> None:
        """Unroll one Scan, and the Scans in the copies of its body."""
        unroller = _ScanUnroller(self, site)
        plan = unroller.plan()
        unroller.unroll(plan)
        site.visit_new(plan.template.holders)


@dataclasses.dataclass(frozen=True)
class _Plan:
    """A Scan that can be unrolled.

    Attributes:
        scan: the Scan.
        shapes: its sizes.
        iterations: its trip count.
        template: its body, ready to be copied.
    """

    scan: ScanLayout
    shapes: ScanShapes
    iterations: int
    template: Template

    @property
    def used_outputs(self) -> dict[int, Value]:
        """The scan outputs in use, by position."""
        graph, outputs = self.template.into, enumerate(self.scan.scan_outputs)
        return {i: value for i, value in outputs if value is not None and graph.is_used(value)}

    @property
    def moves(self) -> int:
        """The maximum number of nodes that split the inputs and stack the outputs."""
        return (len(self.scan.scan_inputs) + len(self.used_outputs)) * (self.iterations + 2)

    @property
    def cost(self) -> int:
        """The maximum number of nodes that unrolling adds."""
        return self.template.cost(self.iterations) + self.moves


class _ScanUnroller:
    def __init__(self, options: UnrollScans, site: Site) -> None:
        self.options = options
        self.site = site
        self.budget = Budget(site.context.meter, options.max_nodes, options.max_trips)

    def plan(self) -> _Plan:
        """The plan for a Scan.

        Raises:
            Obstacle: unrolling is not possible.
        """
        site, node, graph = self.site, self.site.node, self.site.graph
        version = graph.root.opset()
        check_scan(node)
        require_none(externally_named(node) or random_body(node, site.model.functions))
        shapes = ScanShapes(node, version, site.inference)
        # Scan, attribute scan_input_axes: a negative axis is allowed from opset 11 on; any other
        # one outside of the rank fails at run time, and an unrolled Scan would hide that.
        outside = shapes.axis_outside()
        require_none(outside and f"{outside}, so it fails at run time")
        scan, length = shapes.with_writable_axes(), shapes.length()
        if length is None:
            raise Obstacle(_LENGTH_UNKNOWN(origins(scan.scan_inputs[0], sizes=True)))
        template = Template(scan.body, graph, fold=site.visits.folder.fold, keep_infos=False)
        plan = _Plan(scan, shapes, length, template)
        require_none(
            self.budget.refuses_iterations(plan.iterations, plan.cost, replaced=count_nodes(node))
        )
        table = cost_table(self.options.costs)
        if table is not None:
            rows = len(scan.scan_inputs) + len(plan.used_outputs)
            copies = self.options.copies
            require_none(refuses_copies(scan.body, plan.iterations, rows, table, copies))
        require_none(_unsayable(plan, version) if length else _unknown_empty(plan))
        return plan

    def unroll(self, plan: _Plan) -> None:
        """Replace the Scan by copies of the body."""
        site, node = self.site, self.site.node
        emitter = Builder(site.graph, site.visits.folder.fold)
        moves = plan.moves
        # Before the node is gone: afterwards nothing says what types its outputs had.
        facts = settled_outputs(site.inference, node, plan.iterations)
        results = (
            self._copy(emitter, plan) if plan.iterations else _without_iterations(emitter, plan)
        )
        record_facts(site.context, site.inference, node, facts, results)
        replace_outputs(site.graph, node, results[: len(node.outputs)])
        nodes = plan.cost if self.options.costs == "none" else 0
        site.rewritten(site.context.with_offer(node, _UNROLLED(trips=plan.iterations), nodes))
        self.budget.spend(plan.template.added + moves, plan.template.growth(node) + moves)

    def _copy(self, emitter: Builder, plan: _Plan) -> list[Value | None]:
        """Copy the body for every iteration, and return the Scan's outputs."""
        scan, count, rows = plan.scan, len(plan.scan.states), list[Sequence[Value]]()
        state: Sequence[Value] = scan.states
        for iteration, element in enumerate(elements(emitter, scan, plan.iterations)):
            results = plan.template.instantiate([*state, *element], f"_{iteration}")
            state = results[:count]
            rows.append(results[count:])
            what = f"unrolling {scan.node.label}"
            self.site.context.instrumentation.report_step(what, iteration, plan.iterations)
        stacked: list[Value | None] = [None] * len(scan.scan_outputs)
        for index, old in plan.used_outputs.items():
            stacked[index] = stack(emitter, scan, index, [row[index] for row in rows], old.name)
        return [*state[: len(scan.final_states)], *stacked]


def _without_iterations(emitter: Builder, plan: _Plan) -> list[Value | None]:
    """The outputs of a Scan without iterations: initial states, and empty tensors."""
    scan, stacked = plan.scan, list[Value | None]([None] * len(plan.scan.scan_outputs))
    for index, old in plan.used_outputs.items():
        shape = _element_shape(plan.shapes, index) or []
        # A negative scan_output_axis counts axes of the stacked output, which has one more than an
        # element.
        shape.insert(scan.output_axes[index] % (len(shape) + 1), 0)
        dtype = onnx.helper.tensor_dtype_to_np_dtype(plan.shapes.element(index).elem_type)
        stacked[index] = emitter.constant(np.empty(shape, dtype), old.name)
    return [*scan.states[: len(scan.final_states)], *stacked]


def _unknown_empty(plan: _Plan) -> str | None:
    """The obstacle to an empty tensor for a scan output."""
    for index, output in plan.used_outputs.items():
        shape = _element_shape(plan.shapes, index)
        if shape is None or not plan.shapes.element(index).elem_type:
            return (
                "it makes no iterations, and the type and shape of an element of its scan output"
                f" '{output.name}' are not known; declare them in the body, or fix the shapes of"
                f" the inputs with {by('--shape')}"
            )
    return None


def _unsayable(plan: _Plan, opset: int) -> str | None:
    """The obstacle of an element type to Split or Concat; None without one."""
    scan, several = plan.scan, plan.iterations > 1
    facts = plan.shapes.input_facts[-len(scan.scan_inputs) :]
    # Only types are in question that a node is really emitted for: a Scan over strings of one
    # element needs no Split.
    apart = ["Squeeze", "Split"] if several else ["Squeeze"]
    together = ["Unsqueeze", "Concat"] if several else ["Unsqueeze"]
    inputs = zip(scan.scan_inputs, facts, scan.body.inputs[len(scan.states) :], strict=True)
    parts = [
        *(("input", v, apart, fact) for v, fact, inner in inputs if scan.body.is_used(inner)),
        *(
            ("output", v, together, plan.shapes.element(index))
            for index, v in plan.used_outputs.items()
        ),
    ]
    for what, value, operators, fact in parts:
        why = type_obstacle(operators, fact.elem_type, opset, "Scan")
        if why is not None:
            return f"its scan {what} '{value.name}' {why}"
    return None


def elements(emitter: Builder, scan: ScanLayout, length: int) -> list[list[Value | None]]:
    """Emit the elements of the scan inputs by iteration; None without a reader."""
    columns = list[Sequence[Value | None]]()
    forward: dict[tuple[Value, int], list[Value]] = {}
    arguments = scan.body.inputs[len(scan.states) :]
    scanned = zip(arguments, scan.scan_inputs, scan.input_axes, scan.input_backward, strict=True)
    for argument, value, axis, backward in scanned:
        if not scan.body.is_used(argument):
            columns.append([None] * length)
            continue
        # Two scan inputs over one value, as in bidirectional models, share the Split; the backward
        # one reads the same parts in reverse.
        if (value, axis) not in forward:
            labels = [f"{value.name}_{index}" for index in range(length)]
            # A Split into one part would be a copy.
            parts = [value] if length == 1 else emitter.split(value, [1] * length, axis, labels)
            forward[value, axis] = [
                emitter.squeeze(part, (axis,), f"{part.name}_element") for part in parts
            ]
        columns.append(forward[value, axis][:: -1 if backward else 1])
    return [list(row) for row in zip(*columns, strict=True)]


def stack(
    emitter: Builder, scan: ScanLayout, index: int, rows: Sequence[Value], label: str
) -> Value:
    """Emit a scan output from the elements of all iterations."""
    axis = scan.output_axes[index]
    extended = [emitter.unsqueeze(v, (axis,), f"{v.name}_row") for v in rows]
    # Direction 1 prepends: the last iteration's element comes first (Scan,
    # scan_output_directions).
    return emitter.concat(extended[:: -1 if scan.output_backward[index] else 1], axis, label)


def _element_shape(shapes: ScanShapes, index: int) -> list[int] | None:
    """The shape of an element of a scan output in numbers; None if known only at run time."""
    dims = shapes.element(index).shape
    if dims is None or any(dim.value is None for dim in dims):
        return None
    return [dim.value or 0 for dim in dims]
