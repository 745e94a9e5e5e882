"""Convert Scans to Loops, for runtimes without Scan.

y = Scan <num_scan_inputs = 1,             y = Loop (n, yes, s) <body = b (i, c, a) => (c, r) {
    body = b (a, e) => (r) {         ->        e = Gather (x, i)
        r = Add (a, e)                         r = Add (a, e)
    }> (s, x)                              }>

Here n is the size of the axis that is scanned. The body returns its condition input unchanged,
which onnxruntime runs fastest.

Kept: Scans of opset 8, outputs filled backward below opset 10, and a Scan that may make no
iteration whose output sizes are unknown in that case.
"""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import onnx

from ...facts.fact import Fact
from ...facts.obstacle import Obstacle, require_none
from ...facts.reason import Message
from ...ir import Graph, Node, Operator, Template, Value
from ...ops.builder import Builder
from ...ops.schema_queries import ALLOWZERO, type_obstacle
from ...records import record
from ..iteration.loop_view import (
    LoopView,
    ScanInput,
    ScanOutput,
    add_holder,
    declaration,
    move_axis,
    read_replaceable,
    scalar_declaration,
)
from ..iteration.splice import add_input, all_labels, is_used, set_own_outputs
from ..scans.shapes import ScanShapes, Size, emit_sizes
from ..utils.replace_all_uses import replace_outputs
from ..utils.sites import Site, SitePass

_SLICE_BACKWARD = 10
"""The first opset whose Slice has steps."""


_LOOP = Message("scan-to-loop", "is a Loop now")


class ScansToLoops(SitePass):
    """Convert Scans to Loops."""

    name: ClassVar[str] = "scans-to-loops"
    sites: ClassVar[tuple[str, ...]] = ("Scan",)
    adds: ClassVar[tuple[str, ...]] = ("Loop",)

    def visit(self, site: Site) -> None:
        """Convert one Scan."""
        conversion = _Conversion(site)
        conversion.rewrite(site.graph, conversion.plan(read_replaceable(site.node)))
        site.rewritten(_LOOP())


@record(frozen=True)
class _Plan:
    """A Scan that can become a Loop.

    Attributes:
        length: its trip count; None if unknown.
        elements: the fact of an element of each scan output.
        sizes: for each scan output, the sizes of an element that a Loop without iterations would
            lose; None if it keeps them.
    """

    loop_view: LoopView
    length: int | None
    elements: Sequence[Fact]
    sizes: Sequence[Sequence[Size] | None]


class _Conversion:
    """The conversion of one Scan."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.inference = site.inference
        self.fold = site.visits.folder.fold
        self.opset = site.graph.root.opset()

    # Planning ------------------------------------------------------------------------------------

    def plan(self, loop_view: LoopView) -> _Plan:
        """The plan for a Scan as a Loop."""
        shapes = ScanShapes(loop_view.node, self.opset, self.inference)
        shapes.require_axes()
        self._check_writable(loop_view, self.opset)
        sizes: list[Sequence[Size] | None] = []
        certain = self.site.is_certain
        for index, one in enumerate(loop_view.scan_outputs):
            needed = not certain and is_used(loop_view.around, one.output)
            sizes.append(_unknown_sizes(one, shapes, index, self.opset) if needed else None)
        elements = [shapes.element(index) for index in range(len(loop_view.scan_outputs))]
        return _Plan(loop_view, shapes.length(), elements, sizes)

    def _check_writable(self, loop_view: LoopView, opset: int) -> None:
        """Raise the obstacle to reading scan inputs and moving axes of scan outputs."""
        for scanned in loop_view.scan_inputs:
            fact = self.inference.fact(scanned.source)
            reason = type_obstacle(("Gather",), fact.elem_type, opset, "Scan")
            require_none(reason and f"its scan input '{scanned.source.name}' {reason}")
            if scanned.axis < 0 and fact.shape is None:
                raise Obstacle(f"it scans '{scanned.source.name}', whose rank is not known")
        for one in loop_view.scan_outputs:
            fact = self.inference.fact(one.result)
            if one.axis and fact.shape is None:
                raise Obstacle(f"it returns '{one.result.name}', whose rank is not known")
            if one.backward and opset < _SLICE_BACKWARD:
                what = f"it fills '{one.result.name}' backward"
                raise Obstacle(f"{what}; convert to opset {_SLICE_BACKWARD}")
        values = [state.argument for state in loop_view.states]
        for value in (*values, *(one.result for one in loop_view.scan_outputs)):
            elem_type = self.inference.fact(value).elem_type
            operators = ("Loop", "Identity", "Transpose", "Slice", "Reshape")
            reason = type_obstacle(operators, elem_type, opset, "Scan")
            require_none(reason and f"its '{value.name}' {reason}")

    # Rewriting -----------------------------------------------------------------------------------

    def rewrite(self, graph: Graph, plan: _Plan) -> None:
        """Replace a Scan by a Loop."""
        loop_view, node = plan.loop_view, plan.loop_view.node
        emitter = Builder(graph, self.fold)
        iterations = self._iterations(emitter, plan)
        holds = emitter.constant(np.array(True), "holds")
        initial = [state.initial for state in loop_view.states]
        like = Operator("Loop", extra=node.op.extra)
        labels = all_labels(node, loop_view.body.outputs)
        inputs = [iterations, holds, *initial]
        loop = add_holder(graph, like, {}, ["body"], inputs, labels, node.name)
        last = None
        if any(scanned.backward for scanned in loop_view.scan_inputs):
            one = emitter.integer(1, "one")
            last = emitter.add("Sub", [iterations, one], "last")
        self._add_body(loop, plan, last)
        results = list(loop.outputs[: len(node.outputs)])
        stacked = zip(loop_view.scan_outputs, plan.sizes, strict=True)
        for index, (one_output, sizes) in enumerate(stacked, len(initial)):
            value = results[index] if index < len(results) else None
            if value is not None and is_used(graph, one_output.output):
                results[index] = self._arrange(emitter, value, one_output, iterations, sizes)
        replace_outputs(graph, node, results)

    def _iterations(self, emitter: Builder, plan: _Plan) -> Value:
        if plan.length is not None:
            return emitter.integer(plan.length, "iterations")
        # All scan inputs have one length; the first one tells it.
        first = plan.loop_view.scan_inputs[0]
        shape = emitter.add("Shape", [first.source], f"{first.source.name}_shape")
        axis = emitter.constant(np.array(self._axis(first), np.int64), "axis")
        return emitter.add("Gather", [shape, axis], "iterations")

    def _axis(self, scanned: ScanInput) -> int:
        shape = self.inference.fact(scanned.source).shape
        return scanned.axis if shape is None else scanned.axis % len(shape)

    def _add_body(self, loop: Node, plan: _Plan, last: Value | None) -> None:
        """Add the body of the Loop: reads of the elements, then the body of the Scan."""
        loop_view, inference = plan.loop_view, self.inference
        scan, facts = loop_view.body, [inference.fact(s.result) for s in loop_view.states]
        infos = [
            declaration(value.name, fact.type_proto(private=False))
            for value, fact in zip(scan.outputs, [*facts, *plan.elements], strict=True)
        ]
        body = loop.parent.add_body(loop, "body", scan.header)
        number = body.add_input("i", scalar_declaration("i", onnx.TensorProto.INT64))
        holds = body.add_input("holds", scalar_declaration("holds", onnx.TensorProto.BOOL))
        states = [add_input(body, state.argument, inference) for state in loop_view.states]
        inside = Builder(body)
        # In the body they are iteration numbers.
        inside.shape_of = lambda v: () if v.graph is body else inference.fact(v).shape
        elements = self._elements(inside, loop_view, number, last)
        template = Template(scan, body, fold=self.fold)
        results = template.instantiate([*states, *elements])
        flag = scalar_declaration("holds", onnx.TensorProto.BOOL)
        set_own_outputs(body, [holds, *results], [flag, *infos], first=1)

    def _elements(
        self, emitter: Builder, loop_view: LoopView, number: Value, last: Value | None
    ) -> list[Value | None]:
        """Emit the elements of the scan inputs in an iteration; None without a reader."""
        backward = None
        elements: list[Value | None] = []
        for scanned in loop_view.scan_inputs:
            if not loop_view.body.is_used(scanned.argument):
                elements.append(None)
                continue
            if scanned.backward and backward is None:
                backward = emitter.add("Sub", [last, number], "from_end")
            index = backward if scanned.backward else number
            axis, label = self._axis(scanned), scanned.argument.name
            elements.append(emitter.add("Gather", [scanned.source, index], label, axis=axis))
        return elements

    def _arrange(
        self,
        emitter: Builder,
        value: Value,
        stacked: ScanOutput,
        iterations: Value,
        sizes: Sequence[Size] | None,
    ) -> Value:
        """Emit a Loop's scan output in the shape, order and axis of the Scan's."""
        label = value.name
        if sizes is not None:
            parts = [
                emitter.unsqueeze(iterations, 0, "length"),
                emit_sizes(emitter, sizes, "sizes"),
            ]
            shape = emitter.concat(parts, 0, "shape")
            # Without iterations a Loop sets sizes that its body does not declare to 0.
            value = emitter.add("Reshape", [value, shape], label, allowzero=1)
        if stacked.backward:
            value = emitter.reverse(value, label)
        element = self.inference.fact(stacked.result).shape
        rank = 1 if element is None else len(element) + 1
        return emitter.transpose(value, move_axis(rank, 0, stacked.axis % rank), label)


def _unknown_sizes(
    stacked: ScanOutput, shapes: ScanShapes, index: int, opset: int
) -> Sequence[Size] | None:
    """The sizes of an element that a Loop without iterations would lose; None if it keeps them."""
    sizes = shapes.element_sizes(index)
    where = f"there may be no iterations, and the sizes of '{stacked.result.name}'"
    if sizes is None:
        raise Obstacle(f"{where} are not known then")
    if all(isinstance(size, int) for size in sizes):
        return None
    if opset < ALLOWZERO:
        raise Obstacle(f"{where} are not constant; convert to opset {ALLOWZERO} first")
    return sizes
