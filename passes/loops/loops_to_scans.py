"""Write Loops of which nothing but the maximum decides the trips as Scans.

y = Loop (n, yes, s) <body = b (i, c, a) => (c2, r) {
    c2 = Identity (c)                      y = Scan <num_scan_inputs = 1,
    e = Gather (x, i)                ->        body = b (a, e) => (r) { r = Add (a, e) }> (s, x)
    r = Add (a, e)
}>

onnxruntime fails on a Scan of no elements. Where run time may tell that there are none, the Scan
stands in an If, whose other branch gives what the Loop gives then.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ...analysis.shapes.inference import ShapeInference
from ...analysis.shapes.scan_elements import ScanElement
from ...analysis.trips.body_inputs import given_condition
from ...analysis.trips.zero_trips import ScanElements, in_doubt
from ...facts.fact import Fact, decided, element
from ...facts.polynomial import Dimension
from ...ir import Graph, Model, Node, Operator, Template, Value, captured_by
from ...ir.copying import empty_header
from ...ops.builder import Builder
from ...ops.schema_queries import unsayable
from ..base import Pass
from ..context import PassContext
from ..scans.layout import add_holder, output_labels, replace_outputs
from ..utils.costs import LEAST_SCANNED, Costs
from ..vectorize.affine_reads import ElementRead, Selection, element_reads
from ..vectorize.loop_view import Repetition
from ..vectorize.splice import drop_unread
from .new_bodies import add_input, all_labels, clean, declared, give_out_own
from .other_form import OtherForm
from .scan_sources import ScanSources


@dataclasses.dataclass(frozen=True)
class LoopsToScans(Pass):
    """Write Loops of which nothing but the maximum decides the trips as Scans.

    Attributes:
        guard: put a Scan that may have no elements into an If, since onnxruntime fails on it;
            without it such Loops stay.
        costs: leave Loops that a Scan is not certainly faster than there.
    """

    guard: bool = True
    costs: Costs = "none"

    name: ClassVar[str] = "loops-to-scans"

    def run(self, model: Model, context: PassContext) -> bool:
        """Rewrite inner Loops before the ones around them."""
        return _LoopsToScans(model, context.inference(model), self).run(self, context)


@dataclasses.dataclass(frozen=True)
class _Plan:
    """A Loop that can be a Scan.

    Attributes:
        repetition: the Loop.
        trips: how many trips it makes, where sizes tell; it may be negative.
        reads: what becomes an element of a scan input.
        numbered: whether the body needs the number of the trip for more than that.
        certain: whether there is a first trip.
        empty: the elements of each scan output where there are no trips; none where there are.
    """

    repetition: Repetition
    trips: Dimension | None
    reads: Sequence[ElementRead]
    numbered: bool
    certain: bool
    empty: Sequence[ScanElement]


class _LoopsToScans(OtherForm[_Plan]):
    op_type = "Loop"

    def __init__(self, model: Model, inference: ShapeInference, options: LoopsToScans) -> None:
        super().__init__(model, inference)
        self.guard = options.guard
        self.costs = options.costs

    # Whether it can be ---------------------------------------------------------------------------

    def plan(self, repetition: Repetition, opset: int) -> _Plan | str:
        """How to write a Loop as a Scan, or why it must stay."""
        reason = self._unscannable(repetition, opset)
        if reason is not None:
            return reason
        assert repetition.maximum is not None
        number = element(self.inference.fact(repetition.maximum))
        trips = number if isinstance(number, Dimension) else None
        if self.costs != "none" and not _makes_many(trips):
            return f"it may make less than {LEAST_SCANNED} trips, for which a Scan may be slower"
        reads = [
            found
            for found in element_reads(repetition, self.inference)
            if self._is_scannable(found, trips, opset)
        ]
        certain, numbered = self.is_certain(repetition.node), _is_numbered(repetition, reads)
        return self._guarded(_Plan(repetition, trips, reads, numbered, certain, ()), opset)

    def _guarded(self, plan: _Plan, opset: int) -> _Plan | str:
        node, repetition = plan.repetition.node, plan.repetition
        whole = all(self.is_whole(found.selection, plan.trips) for found in plan.reads)
        if (plan.numbered or not plan.reads or not whole) and opset < 11:
            return "its trips are to be numbered, for which there is no Range; convert to opset 11"
        if plan.certain:
            return plan
        if not self.guard:
            return (
                "there may be no trips, and onnxruntime fails on a Scan of none; choose"
                " loops-to-scans{guard=true} to have an If around it"
            )
        first = 1 + len(repetition.states)
        elements = ScanElements(node, self.model, self.inference)
        count = len(node.outputs) - len(repetition.states)
        empty = [elements.of(first + index) for index in range(count)]
        for output, known in zip(repetition.stacked, empty, strict=False):
            if known is None:
                return in_doubt(output.result)
        return dataclasses.replace(plan, empty=[known for known in empty if known is not None])

    def _unscannable(self, repetition: Repetition, opset: int) -> str | None:
        """Why what a Loop carries and gives out cannot go through a Scan; None if it can."""
        if opset < 9:
            return f"it is of opset {opset}, whose Scan is another one; convert to opset 9 first"
        for state in repetition.states:
            initial, result = (self.inference.fact(v) for v in (state.initial, state.result))
            if initial.other is not None:
                return f"it carries '{state.given.name}', which is no tensor"
            if initial.shape is None or initial.shape != result.shape:
                return f"it carries '{state.given.name}', whose shape may change"
        for one in repetition.stacked:
            if self.inference.fact(one.result).shape is None:
                return f"it gives out '{one.result.name}', whose rank is not known"
        for value in [
            *(s.given for s in repetition.states),
            *(s.result for s in repetition.stacked),
        ]:
            reason = unsayable(
                ("Scan", "Identity"), self.inference.fact(value).elem_type, opset, "Loop"
            )
            if reason is not None:
                return f"its '{value.name}' {reason}"
        return None

    def _is_scannable(self, found: ElementRead, trips: Dimension | None, opset: int) -> bool:
        """Whether reading all elements at once gives what reading them one by one gives."""
        selection = found.selection
        fact = self.inference.fact(selection.source)
        operators = ("Scan", "Transpose", "Unsqueeze", "Gather")
        if unsayable(operators, fact.elem_type, opset, "Gather") is not None:
            return False
        if self.is_whole(selection, trips):
            return True
        if selection.start.value is None and not _is_backward(selection, trips):
            return False
        # What may fail must do so in the new form as well, and is a Gather there, too. A Slice
        # that meets no element does not fail.
        return found.checked or self._is_within(selection, trips)

    def _is_within(self, selection: Selection, trips: Dimension | None) -> bool:
        """Whether there certainly is an element for every trip."""
        shape, start = self.inference.fact(selection.source).shape, selection.start
        if shape is None or trips is None:
            return False
        last = start if selection.step == -1 else start + trips - 1
        first = start - trips + 1 if selection.step == -1 else start
        return first.less(0) is False and last.less(shape[selection.axis]) is True

    def is_whole(self, selection: Selection, trips: Dimension | None) -> bool:
        """Whether all elements along the axis are read, in their order or the opposite one."""
        shape = self.inference.fact(selection.source).shape
        if shape is None or trips is None or shape[selection.axis].equals(trips) is not True:
            return False
        return (selection.step == 1 and selection.start == 0) or _is_backward(selection, trips)

    # Rewriting -----------------------------------------------------------------------------------

    def rewrite(self, graph: Graph, plan: _Plan) -> str:
        """Put a Scan, or an If with one, in the place of a Loop."""
        node = plan.repetition.node
        if plan.certain:
            results = self._add_scan(graph, plan, "")[: len(node.outputs)]
        else:
            results = self._add_guard(graph, plan)
        replace_outputs(graph, node, results)
        return "is a Scan now" + ("" if plan.certain else ", in an If as there may be no trips")

    def _add_guard(self, graph: Graph, plan: _Plan) -> Sequence[Value | None]:
        """An If with the Scan, and with what the Loop gives where it makes no trips."""
        repetition, node = plan.repetition, plan.repetition.node
        labels = output_labels(node, "")
        kept = [index for index, value in enumerate(node.outputs) if value is not None]
        guard = add_holder(
            graph,
            Operator("If"),
            {},
            ["then_branch", "else_branch"],
            [self._runs(Builder(graph, self.folder.fold), repetition)],
            [labels[index] for index in kept],
            node.name,
        )
        made = iter(guard.outputs)
        infos = [declared(node.output(index), self.inference) for index in kept]
        taken = graph.add_body(guard, "then_branch", empty_header("some"))
        scanned = self._add_scan(taken, plan, "_scan")
        other = graph.add_body(guard, "else_branch", empty_header("none"))
        without = _without_trips(Builder(other), plan)
        taken.set_outputs([v for i in kept if (v := scanned[i]) is not None], infos)
        other.set_outputs([without[index] for index in kept], infos)
        clean(other)
        return [None if value is None else next(made) for value in node.outputs]

    def _runs(self, emitter: Builder, repetition: Repetition) -> Value:
        """Whether there is a trip."""
        assert repetition.maximum is not None
        zero = emitter.constant(np.array(0, np.int64), "none")
        some = emitter.add("Greater", [repetition.maximum, zero], "some")
        start = repetition.start
        if start is not None and not self._holds(start):
            some = emitter.add("And", [start, some], "some")
        return some

    def _holds(self, condition: Value) -> bool:
        known = decided(self.inference.fact(condition))
        return known is not None and bool(known.all())

    def _add_scan(self, graph: Graph, plan: _Plan, suffix: str) -> Sequence[Value | None]:
        """A Scan for a Loop; its outputs."""
        repetition, node = plan.repetition, plan.repetition.node
        sources = ScanSources(graph, repetition, self.folder.fold)
        elements: dict[Selection, Value] = {}
        for found in plan.reads:
            selection = found.selection
            if selection not in elements:
                rank = len(self.inference.fact(selection.source).shape or ())
                sources.add(selection, rank, self.is_whole(selection, plan.trips))
                elements[selection] = self._add_element(repetition.body, selection)
            _read_element(repetition.body, found, elements[selection])
        numbered = plan.numbered or not plan.reads
        if numbered:
            sources.add_numbers()
        attributes: dict[str, int | list[int]] = {"num_scan_inputs": len(sources.values)}
        if any(sources.backward):
            attributes["scan_input_directions"] = [int(flag) for flag in sources.backward]
        given = [*(state.initial for state in repetition.states), *sources.values]
        like = Operator("Scan", extra=node.op.extra)
        labels = all_labels(node, repetition.body.outputs[1:], suffix)
        scan = add_holder(graph, like, attributes, ["body"], given, labels, node.name)
        self._add_body(scan, repetition, numbered)
        return scan.outputs

    def _add_element(self, body: Graph, selection: Selection) -> Value:
        """An input of the Loop's body, on the way to the Scan, for an element of a scan input."""
        fact, axis = self.inference.fact(selection.source), selection.axis
        shape = fact.shape or ()
        one = Fact(fact.elem_type, shape[:axis] + shape[axis + 1 :])
        value = body.add_input(f"{selection.source.name}_element")
        self.inference.assume(value, one)
        return value

    def _add_body(self, scan: Node, repetition: Repetition, numbered: bool) -> None:
        assert scan.graph is not None
        loop, inference = repetition.body, self.inference
        infos = [declared(value, inference) for value in loop.outputs[1:]]
        body = scan.graph.add_body(scan, "body", loop.header)
        holds = body.add_initializer(loop.inputs[1].name, given_condition(loop, True))
        given = [add_input(body, value, inference) for value in loop.inputs[2:]]
        number = add_input(body, loop.inputs[0], inference) if numbered else None
        drop_unread(loop)  # what nothing needs may read the number of the iteration all the same
        template = Template(loop, body, fold=self.folder.fold)
        results = template.instantiate([number, holds, *given])[1:]
        give_out_own(body, results, infos)


def _makes_many(trips: Dimension | None) -> bool:
    least = None if trips is None else trips.at_least
    return least is not None and least >= LEAST_SCANNED


def _is_backward(selection: Selection, trips: Dimension | None) -> bool:
    """Whether the last trip reads the first element."""
    return selection.step == -1 and trips is not None and selection.start == trips - 1


def _is_numbered(repetition: Repetition, reads: Sequence[ElementRead]) -> bool:
    """Whether the number of the trip leads to a result other than through some reads."""
    body, read_nodes = repetition.body, {found.node for found in reads}
    seen: set[Value] = set(body.outputs[1:])
    stack = list(seen)
    while stack:
        value = stack.pop()
        if value is repetition.iteration:
            return True
        node = value.producer
        if node is None or node.graph is not body or node in read_nodes:
            continue
        for source in (*node.inputs, *captured_by(node)):
            if source is not None and source not in seen:
                seen.add(source)
                stack.append(source)
    return False


def _read_element(body: Graph, found: ElementRead, given: Value) -> None:
    """Let what reads an element read an input of the body."""
    emitter, old = Builder(body), found.node.output()
    if not found.keeps_axis:
        body.replace_uses(old, given)
        return
    axis = found.selection.axis
    for user in body.users(old):
        if isinstance(user, Node) and _squeezes(user, axis) and not user.output().pinned:
            body.replace_uses(user.output(), given)
            body.remove(user)
    if body.is_used(old):
        body.replace_uses(old, emitter.unsqueeze(given, axis, old.name))


def _squeezes(node: Node, axis: int) -> bool:
    """Whether a node takes exactly this axis away."""
    if not node.is_op("Squeeze") or node.op.references:
        return False
    axes: list[int] | None = node.attribute("axes")
    given = node.input(1)
    if given is not None and given.constant is not None:
        axes = given.constant.numpy().reshape(-1).tolist()
    return axes == [axis]


def _without_trips(emitter: Builder, plan: _Plan) -> list[Value]:
    """What a Loop gives where it makes no trips."""
    made = [
        emitter.add("Identity", [state.initial], state.given.name)
        for state in plan.repetition.states
    ]
    for one, known in zip(plan.repetition.stacked, plan.empty, strict=False):
        nothing = emitter.graph.add_initializer(one.result.name, known.none())
        made.append(emitter.add("Identity", [nothing], one.result.name))
    return made
