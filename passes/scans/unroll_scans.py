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

Kept: lengths that only run time determines, random numbers, and types that Split, Squeeze,
Unsqueeze or Concat lack.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import onnx

from ...analysis.constants.provenance import origins
from ...facts.obstacle import Obstacle, require_none
from ...facts.reason import Message
from ...ir import Array, Template, Value, count_nodes
from ...ir.option_names import by
from ...ops.builder import Builder
from ...ops.schema_queries import type_obstacle
from ...records import field, record
from ..base import MAY_BE_CONTROL_FLOW
from ..costs.cost_model import require_copies
from ..costs.goal import GoalName
from ..costs.table import Costs, cost_table
from ..iteration.loop_view import ScanLayout, unreadable
from ..utils.budget import DEFAULT_MAX_NODES, Budget
from ..utils.legality import externally_named, require_no_draws
from ..utils.loop_facts import record_facts, settled_outputs
from ..utils.replace_all_uses import replace_outputs
from ..utils.sites import Site, SitePass
from .shapes import ScanShapes

_ROWS_UNKNOWN = Message("row-lengths-unknown", "the lengths of its rows depend on {cause}")
_SIZE_UNKNOWN = Message("scan-size-unknown", "its {size} depends on {cause}")

_UNROLLED = Message("scan-unrolled", "unrolled, {trips} iteration{s}")


@record(frozen=True)
class UnrollScans(SitePass):
    """Unroll every Scan of a constant length (and batch, in opset 8).

    Options:
        max_trips: the trip count, of all rows together, above which a Scan stays; no limit by
            default.
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
    copies: GoalName = field(default="load", metadata={"code_only": True})

    def visit(self, site: Site) -> None:
        """Unroll one Scan, and the Scans in the copies of its body."""
        unroller = _ScanUnroller(self, site)
        plan = unroller.plan()
        unroller.unroll(plan)
        site.visit_new(plan.template.holders)


class _ScanUnroller:
    def __init__(self, options: UnrollScans, site: Site) -> None:
        self.options = options
        self.site = site
        self.budget = Budget(site.context.meter, options.max_nodes, options.max_trips)

    def plan(self) -> Rows:
        """The rows of the Scan, with the body to copy.

        Raises:
            Obstacle: unrolling is not possible.
        """
        site, node, graph = self.site, self.site.node, self.site.graph
        version = graph.root.opset()
        require_none(unreadable(node, version) or externally_named(node))
        require_no_draws(node, site.model.functions)
        shapes = ScanShapes(node, version, site.inference)
        # Scan, attribute scan_input_axes: a negative axis is allowed from opset 11 on; any other
        # one outside of the rank fails at run time, and an unrolled Scan would hide that.
        shapes.require_axes()
        scan, longest = shapes.with_writable_axes(), shapes.length()
        if longest is None:
            raise Obstacle(_size_obstacle("length", scan))
        # Opset 8 has a batch axis and `sequence_lens`; opset 9 dropped both.
        lengths = _row_lengths(scan, shapes, longest) if version == 8 else (longest,)
        template = Template(scan.body, graph, fold=site.visits.folder.fold, keep_infos=False)
        rows = Rows(scan, shapes, lengths, longest, template)
        self.budget.require_iterations(rows.iterations, rows.cost, replaced=count_nodes(node))
        each, table = len(scan.scan_inputs) + len(rows.used_outputs), cost_table(self.options.costs)
        require_copies(scan.body, rows.iterations, each, table, self.options.copies)
        _require_zeros(rows)
        if rows.iterations:
            _require_types(rows, version)
        return rows

    def unroll(self, plan: Rows) -> None:
        """Replace the Scan by copies of the body."""
        site, node = self.site, self.site.node
        emitter = Builder(site.graph, site.visits.folder.fold)
        moves = plan.moves
        # Before the node is gone: afterwards nothing says what types its outputs had.
        facts = settled_outputs(site.inference, node, plan.iterations)
        results = (
            self.run_rows(emitter, plan) if plan.iterations else _without_iterations(emitter, plan)
        )
        record_facts(site.context, site.inference, node, facts, results)
        replace_outputs(site.graph, node, results[: len(node.outputs)])
        nodes = plan.cost if self.options.costs == "none" else 0
        site.rewritten(site.context.with_offer(node, _UNROLLED(trips=plan.iterations), nodes))
        self.budget.spend(plan.template.added + moves, plan.template.growth(node) + moves)

    def run_rows(self, emitter: Builder, plan: Rows) -> list[Value | None]:
        """Copy the body for every iteration of every row, and return the Scan's outputs."""
        scan, count = plan.scan, len(plan.scan.states)
        finals, rows, iterations = [], [], 0
        parts = zip(plan.states(emitter), plan.elements(emitter), strict=True)
        for row, (state, elements) in enumerate(parts):
            row_results = []
            for iteration, element in enumerate(elements):
                suffix = f"_{row}_{iteration}" if len(plan.lengths) > 1 else f"_{iteration}"
                results = plan.template.instantiate([*state, *element], suffix)
                state = results[:count]
                row_results.append(results[count:])
                what = f"unrolling {scan.node.label}"
                self.site.context.instrumentation.report_step(what, iterations, plan.iterations)
                iterations += 1
            finals.append(state)
            rows.append(row_results)
        stacked: list[Value | None] = [None] * len(scan.scan_outputs)
        for index, old in plan.used_outputs.items():
            column = [[results[index] for results in row] for row in rows]
            stacked[index] = plan.stack(emitter, index, column, old.name)
        return [*_final_states(emitter, plan, finals), *stacked]


def _final_states(
    emitter: Builder, plan: Rows, finals: Sequence[Sequence[Value]]
) -> list[Value | None]:
    """The states after the last iteration of each row."""
    old_states = plan.scan.final_states
    if not plan.batched:
        return list(finals[0][: len(old_states)])
    results: list[Value | None] = [None] * len(old_states)
    for index, old in enumerate(old_states):
        if old is not None and emitter.graph.is_used(old):
            labels = zip(finals, row_labels(old.name, len(finals)), strict=True)
            rows = [emitter.unsqueeze(row[index], 0, label) for row, label in labels]
            results[index] = emitter.concat(rows, 0, old.name)
    return results


def _without_iterations(emitter: Builder, plan: Rows) -> list[Value | None]:
    """The outputs of a Scan without iterations: initial states, and zeros, or empty tensors."""
    scan = plan.scan
    stacked: list[Value | None] = [None] * len(scan.scan_outputs)
    for index, old in plan.used_outputs.items():
        shape = list(element_shape(plan.shapes, index) or ())
        if plan.batched:
            shape[:0] = [len(plan.lengths), plan.longest]
        else:
            # A negative scan_output_axis counts axes of the stacked output, which has one more than
            # an element.
            shape.insert(scan.output_axes[index] % (len(shape) + 1), 0)
        zeros = zeros_of(plan.shapes, index, tuple(shape))
        stacked[index] = emitter.constant(zeros, old.name)
    return [*scan.states[: len(scan.final_states)], *stacked]


def _row_lengths(scan: ScanLayout, shapes: ScanShapes, longest: int) -> tuple[int, ...]:
    """The length of each row of a Scan 8."""
    batch, lengths = shapes.batch(), scan.sequence_lens
    if batch is None:
        raise Obstacle(_size_obstacle("batch", scan))
    if lengths is None:
        return (longest,) * batch
    if lengths.constant is None:
        raise Obstacle(_ROWS_UNKNOWN(origins(lengths)))
    numbers = tuple([int(length) for length in lengths.constant.numpy().reshape(-1)])
    if len(numbers) != batch or not all(0 <= number <= longest for number in numbers):
        raise Obstacle(
            f"its sequence_lens {list(numbers)} do not fit {batch} rows of length {longest}, so it"
            " fails at run time"
        )
    return numbers


def _size_obstacle(what: str, scan: ScanLayout) -> str:
    return _SIZE_UNKNOWN(origins(scan.scan_inputs[0], sizes=True), size=what)


def _require_zeros(plan: Rows) -> None:
    """Raise the obstacle to zeros, or an empty tensor, for a scan output."""
    # Every position is written by an iteration, so nothing is filled up.
    if all(length == plan.longest for length in plan.lengths) and plan.iterations:
        return
    for index, output in plan.used_outputs.items():
        enough = element_shape(plan.shapes, index) is not None or plan.iterations
        if not enough or not plan.shapes.element(index).elem_type:
            why = "it has short rows" if plan.iterations else "it makes no iterations"
            raise Obstacle(
                f"{why}, and the type and shape of an element of its scan output '{output.name}'"
                " are not known; declare them in the body, or fix the shapes of the inputs with"
                f" {by('--shape')}"
            )


def _require_types(plan: Rows, opset: int) -> None:
    """Raise the obstacle of an element type to Split or Concat."""
    scan, several = plan.scan, len(plan.lengths) > 1 or plan.longest > 1
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
        require_none(why and f"its scan {what} '{value.name}' {why}")


def slices(emitter: Builder, value: Value, count: int, axis: int, rest: int = 0) -> list[Value]:
    """Emit one Split for the first `count` slices of length 1; the axis has `rest` more."""
    # A Split into one part would be a copy.
    if count == 1 and not rest:
        return [value]
    labels = [f"{value.name}_{index}" for index in range(count)]
    sizes = [1] * count
    if rest:
        labels, sizes = [*labels, f"{value.name}_rest"], [*sizes, rest]
    return emitter.split(value, sizes, axis, labels)[:count]


@record(frozen=True)
class Rows:
    """The rows of a Scan: those of the batch of a Scan 8, a single one from version 9 on.

    Attributes:
        longest: the length of a full row.
        template: the body, ready to be copied.
    """

    scan: ScanLayout
    shapes: ScanShapes
    lengths: Sequence[int]
    longest: int
    template: Template

    @property
    def batched(self) -> bool:
        """True for a Scan 8."""
        return self.shapes.version == 8

    @property
    def iterations(self) -> int:
        """The trip count of all rows together."""
        return sum(self.lengths)

    @property
    def used_outputs(self) -> dict[int, Value]:
        """The scan outputs in use, by position."""
        graph, outputs = self.template.into, enumerate(self.scan.scan_outputs)
        return {i: value for i, value in outputs if value is not None and graph.is_used(value)}

    @property
    def moves(self) -> int:
        """The maximum number of nodes that split the inputs and stack the outputs."""
        rows, moved = len(self.lengths) + 1, len(self.scan.scan_inputs) + len(self.used_outputs)
        states = 2 * len(self.scan.states) * rows if self.batched else 0
        return moved * (self.iterations + rows) + states

    @property
    def cost(self) -> int:
        """The maximum number of nodes that unrolling adds."""
        return self.template.cost(self.iterations) + self.moves

    def states(self, emitter: Builder) -> list[list[Value]]:
        """The initial states of each row."""
        if not self.batched:
            return [list(self.scan.states)]
        count = len(self.lengths)
        columns = [
            [emitter.squeeze(v, 0, f"{v.name}_row") for v in slices(emitter, state, count, 0)]
            for state in self.scan.states
        ]
        return [[column[row] for column in columns] for row in range(count)]

    def elements(self, emitter: Builder) -> list[list[list[Value | None]]]:
        """The elements of the scan inputs, by row and iteration; None without a reader."""
        scan, columns = self.scan, list[Sequence[Sequence[Value | None]]]()
        forward: dict[tuple[Value, int], list[list[Value]]] = {}
        arguments = scan.body.inputs[len(scan.states) :]
        scanned = zip(
            arguments, scan.scan_inputs, scan.input_axes, scan.input_backward, strict=True
        )
        for argument, value, axis, backward in scanned:
            if not scan.body.is_used(argument):
                columns.append([[None] * length for length in self.lengths])
                continue
            # Two scan inputs over one value, as in bidirectional models, share the Split; the
            # backward one reads the same parts in reverse.
            if (value, axis) not in forward:
                count = len(self.lengths) if self.batched else 1
                rows = slices(emitter, value, count, 0)
                pairs = zip(rows, self.lengths, strict=True)
                forward[value, axis] = [self._row(emitter, row, axis, n) for row, n in pairs]
            columns.append([row[:: -1 if backward else 1] for row in forward[value, axis]])
        return [
            [[column[row][iteration] for column in columns] for iteration in range(length)]
            for row, length in enumerate(self.lengths)
        ]

    def _row(self, emitter: Builder, row: Value, axis: int, length: int) -> list[Value]:
        """Emit the elements of one row, in the order of the axis."""
        if not length:
            return []
        axes = (0, 1) if self.batched else (axis,)
        parts = slices(emitter, row, length, axes[-1], self.longest - length)
        return [emitter.squeeze(part, axes, f"{part.name}_element") for part in parts]

    def stack(
        self, emitter: Builder, index: int, rows: Sequence[Sequence[Value]], label: str
    ) -> Value:
        """Emit a scan output from the elements of each row; at least one has some."""
        axis = self.scan.output_axes[index]
        axes = (0, 1) if self.batched else (axis,)
        extended = [[emitter.unsqueeze(v, axes, f"{v.name}_row") for v in row] for row in rows]
        if not self.batched:
            # Direction 1 prepends: the last iteration's element comes first (Scan,
            # scan_output_directions).
            backward = self.scan.output_backward[index]
            return emitter.concat(extended[0][:: -1 if backward else 1], axis, label)
        sample = next(row[0] for row in extended if row)
        # Scan 8 leaves the elements after the end of a row open; onnxruntime writes zeros, and the
        # original may have been used with them.
        padded = [[*row, *self._zeros(emitter, index, len(row), sample)] for row in extended]
        labels = row_labels(label, len(rows))
        parts = [emitter.concat(row, 1, own) for row, own in zip(padded, labels, strict=True)]
        return emitter.concat(parts, 0, label)

    def _zeros(self, emitter: Builder, index: int, length: int, sample: Value) -> list[Value]:
        """Emit zeros after the end of a row of some length."""
        count, shape = self.longest - length, element_shape(self.shapes, index)
        if not count:
            return []
        if shape is not None:
            zeros = zeros_of(self.shapes, index, (1, count, *shape))
            return [emitter.constant(zeros, "zeros")]
        # The sizes are known at run time only: those of an element that was computed.
        zero = emitter.constant(zeros_of(self.shapes, index, ()), "zero")
        like = emitter.add("Shape", [sample], f"{sample.name}_shape")
        return [emitter.add("Expand", [zero, like], f"{sample.name}_zeros")] * count


def row_labels(label: str, count: int) -> list[str]:
    """The labels of the rows of a value."""
    return [label] if count == 1 else [f"{label}_{number}" for number in range(count)]


def element_shape(shapes: ScanShapes, index: int) -> tuple[int, ...] | None:
    """The shape of an element of a scan output in numbers; None if known only at run time."""
    sizes = shapes.element_sizes(index)
    if sizes is None:
        return None
    numbers = tuple([size for size in sizes if isinstance(size, int)])
    return numbers if len(numbers) == len(sizes) else None


def zeros_of(shapes: ScanShapes, index: int, shape: tuple[int, ...]) -> Array:
    """Zeros (empty strings) of the element type of a scan output, which must be known."""
    dtype = onnx.helper.tensor_dtype_to_np_dtype(shapes.element(index).elem_type)
    return np.full(shape, "" if dtype.kind in "OUS" else 0, dtype)
