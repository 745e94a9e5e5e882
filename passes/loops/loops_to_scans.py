"""Convert Loops that only their maximum trip count ends to Scans.

y = Loop (n, yes, s) <body = b (i, c, a) => (c2, r) {
    c2 = Identity (c)                      y = Scan <num_scan_inputs = 1,
    e = Gather (x, i)                ->        body = b (a, e) => (r) { r = Add (a, e) }> (s, x)
    r = Add (a, e)
}>

onnxruntime fails on a Scan of no elements. Where there may be none, an If holds the Scan, and its
other branch computes the Loop's outputs without iterations.

Reads at the iteration number or a counter become scan inputs, on the first axis: onnxruntime 1.31
crashes on others. A Scan takes 0.4 to 0.8 of the time of the Loop from 20 iterations on; of four,
up to 1.1 times as long.

Kept: a Loop that its condition ends, states of changing shape, Loops below opset 9, and `Slice (x,
i, i + 1)` where it may be empty.
"""

from collections.abc import Sequence
from typing import ClassVar

from ...analysis.iterations.block_places import is_in_block
from ...analysis.iterations.body_inputs import condition_tensor
from ...facts.attribute_or_input import listed_numbers
from ...facts.fact import UNKNOWN, Fact, constant_fact
from ...facts.obstacle import Obstacle, require_none
from ...facts.polynomial import Dimension
from ...facts.reason import Message
from ...ir import Fold, Graph, Node, Operator, Template, Value, upstream
from ...ir.lazy import lazy_property
from ...ops.builder import Builder
from ...ops.operand_view import writers
from ...ops.schema_queries import type_obstacle
from ...records import record
from ..costs.table import Costs, cost_table
from ..iteration.loop_view import (
    LoopView,
    add_holder,
    move_axis,
    read_replaceable,
    scan_attributes,
)
from ..iteration.places import ElementRead, Selection, element_reads
from ..iteration.splice import (
    TripCountGuard,
    add_input,
    all_labels,
    drop_dead_nodes,
    fact_declaration,
    set_own_outputs,
)
from ..utils.replace_all_uses import replace_outputs
from ..utils.sites import Site, SitePass

_SCAN = Message("loop-to-scan", "is a Scan now")
_GUARDED_SCAN = Message(
    "loop-to-guarded-scan", "is a Scan now, in an If as there may be no iterations"
)

_FEW_ITERATIONS = Message(
    "few-trips", "it may make less than {trips} iterations, for which a Scan may be slower"
)
_MAY_BE_EMPTY = Message(
    "scan-may-be-empty",
    "there may be no iterations, and onnxruntime fails on a Scan of none; choose"
    " loops-to-scans{{guard=true}} to have an If around it",
)
_OLD_OPSET = Message(
    "scan-too-old", "it is of opset {opset}, whose Scan differs; convert to opset 9 first"
)
_NO_TENSOR = Message("state-no-tensor", "it carries '{value}', which is not a tensor")
_SHAPE_CHANGES = Message("state-shape-changes", "it carries '{value}', whose shape may change")
_TEXT_EXTENDED = Message(
    "text-extended",
    "onnxruntime's StringConcat extends the text in memory, which for '{value}' in a Scan is an"
    " earlier one",
)
_RANK_UNKNOWN = Message("output-rank-unknown", "it returns '{value}', whose rank is not known")


@record(frozen=True)
class LoopsToScans(SitePass):
    """Convert Loops that only their maximum trip count ends to Scans.

    Attributes:
        guard: put a Scan that may have no elements into an If, since onnxruntime fails on it;
            without it such Loops stay.
        costs: the target where a Loop stays unless a Scan is certainly faster, or the Loop runs for
            a block of iterations of a loop around it.
    """

    guard: bool = True
    costs: Costs = "none"

    name: ClassVar[str] = "loops-to-scans"
    dissolves_loops: ClassVar[bool] = True
    sites: ClassVar[tuple[str, ...]] = ("Loop",)
    adds: ClassVar[tuple[str, ...]] = ("Scan", "If")

    def visit(self, site: Site) -> None:
        """Convert one Loop."""
        conversion = _Conversion(self, site)
        loop_view = read_replaceable(site.node)
        site.rewritten(conversion.rewrite(site.graph, conversion.plan(loop_view)))


@record(frozen=True)
class _Plan:
    """A Loop that can become a Scan.

    Attributes:
        iterations: its trip count, where sizes decide it; it may be negative.
        reads: the reads that become elements of scan inputs.
        numbered: true if the body reads the iteration number for anything else.
        guard: the If around it; None if there is a first iteration.
    """

    loop_view: LoopView
    iterations: Dimension | None
    reads: Sequence[ElementRead]
    numbered: bool
    guard: TripCountGuard | None


class _Conversion:
    """The conversion of one Loop."""

    def __init__(self, options: LoopsToScans, site: Site) -> None:
        self.site = site
        self.inference = site.inference
        self.fold = site.visits.folder.fold
        self.opset = site.graph.root.opset()
        self.guard = options.guard
        self.costs = cost_table(options.costs)

    # Planning ------------------------------------------------------------------------------------

    def plan(self, loop_view: LoopView) -> _Plan:
        """The plan for a Loop as a Scan."""
        self._check_scannable(loop_view)
        iterations = self.inference.number(loop_view.maximum)
        least = None if iterations is None else iterations.at_least
        is_block = is_in_block(loop_view.around)
        # Measured: below this count an If and a Gather cost more than a Scan saves.
        if self.costs and not is_block and (least or 0) < self.costs.least_scanned:
            raise Obstacle(_FEW_ITERATIONS(trips=self.costs.least_scanned))
        reads = [
            read
            for read in element_reads(loop_view, self.inference)
            if self._is_scannable(read, iterations)
        ]
        numbered = _is_numbered(loop_view, reads)
        certain = self.site.is_certain
        require_none(None if certain or self.guard else _MAY_BE_EMPTY())
        guard = None if certain else TripCountGuard(loop_view, self.inference)
        return _Plan(loop_view, iterations, reads, numbered, guard)

    def _check_scannable(self, loop_view: LoopView) -> None:
        """Raise the obstacle to a Loop's states and outputs in a Scan."""
        require_none(_OLD_OPSET(opset=self.opset) if self.opset < 9 else None)
        for state in loop_view.states:
            initial, result = (self.inference.fact(v) for v in (state.initial, state.result))
            if initial.other is not None:
                raise Obstacle(_NO_TENSOR(value=state.argument.name))
            # A Loop's state may change its shape from iteration to iteration, a Scan's may not.
            if initial.shape is None or initial.shape != result.shape:
                raise Obstacle(_SHAPE_CHANGES(value=state.argument.name))
            if "StringConcat" in writers(state.result):
                raise Obstacle(_TEXT_EXTENDED(value=state.argument.name))
        for one in loop_view.scan_outputs:
            if self.inference.fact(one.result).shape is None:
                raise Obstacle(_RANK_UNKNOWN(value=one.result.name))
        states = [state.argument for state in loop_view.states]
        for value in (*states, *(one.result for one in loop_view.scan_outputs)):
            elem_type = self.inference.fact(value).elem_type
            reason = type_obstacle(("Scan", "Identity"), elem_type, self.opset, "Loop")
            require_none(reason and f"its '{value.name}' {reason}")

    def _is_scannable(self, read: ElementRead, iterations: Dimension | None) -> bool:
        """Test whether scanned elements equal the elements that the body reads."""
        selection = read.selection
        fact = self.inference.fact(selection.source)
        operators = ("Scan", "Transpose", "Unsqueeze", "Gather")
        if type_obstacle(operators, fact.elem_type, self.opset, "Gather") is not None:
            return False
        if self.is_whole(selection, iterations):
            return True
        if selection.start.value is None and not _is_backward(selection, iterations):
            return False
        # A read that may fail must fail in the new form, too: it is a Gather there as well. A Slice
        # beyond the elements does not fail.
        return read.checked or self._is_within(selection, iterations)

    def _is_within(self, selection: Selection, iterations: Dimension | None) -> bool:
        """Test whether there certainly is an element for every iteration."""
        shape, start = self.inference.fact(selection.source).shape, selection.start
        if shape is None or iterations is None:
            return False
        last = start if selection.step == -1 else start + iterations - 1
        first = start - iterations + 1 if selection.step == -1 else start
        return first.less(0) is False and last.less(shape[selection.axis]) is True

    def is_whole(self, selection: Selection, iterations: Dimension | None) -> bool:
        """Test for reads of all elements along the axis, forward or backward."""
        shape = self.inference.fact(selection.source).shape
        if (
            shape is None
            or iterations is None
            or shape[selection.axis].equals(iterations) is not True
        ):
            return False
        return (selection.step == 1 and selection.start == 0) or _is_backward(selection, iterations)

    # Rewriting -----------------------------------------------------------------------------------

    def rewrite(self, graph: Graph, plan: _Plan) -> str:
        """Replace a Loop by a Scan, or by an If with one."""
        node = plan.loop_view.node
        if plan.guard is None:
            results = self._add_scan(graph, plan, "")[: len(node.outputs)]
        else:
            results = plan.guard.emit(
                graph, lambda some: self._add_scan(some, plan, "_scan"), self.fold
            )
        replace_outputs(graph, node, results)
        return _SCAN() if plan.guard is None else _GUARDED_SCAN()

    def _add_scan(self, graph: Graph, plan: _Plan, suffix: str) -> Sequence[Value | None]:
        """Emit the Scan for a Loop, and return its outputs."""
        loop_view, node = plan.loop_view, plan.loop_view.node
        sources = ScanSources(graph, loop_view, self.fold)
        elements: dict[Selection, Value] = {}
        for read in plan.reads:
            selection = read.selection
            if selection not in elements:
                rank = len(self.inference.fact(selection.source).shape or ())
                sources.add(selection, rank, self.is_whole(selection, plan.iterations))
                elements[selection] = self._add_element(loop_view.body, selection)
            _read_element(loop_view.body, read, elements[selection])
        numbered = plan.numbered or not plan.reads
        if numbered:
            sources.add_numbers()
        attributes = scan_attributes([(0, flag) for flag in sources.backward], [])
        inputs = [*(state.initial for state in loop_view.states), *sources.values]
        like = Operator("Scan", extra=node.op.extra)
        labels = all_labels(node, loop_view.body.outputs[1:], suffix)
        scan = add_holder(graph, like, attributes, ["body"], inputs, labels, node.name)
        self._add_body(scan, loop_view, numbered)
        return scan.outputs

    def _add_element(self, body: Graph, selection: Selection) -> Value:
        """Add an input to the Loop's body for an element of a scan input."""
        fact, axis = self.inference.fact(selection.source), selection.axis
        shape = fact.shape or ()
        one = Fact(fact.elem_type, shape[:axis] + shape[axis + 1 :])
        value = body.add_input(f"{selection.source.name}_element")
        self.inference.assume(value, one)
        return value

    def _add_body(self, scan: Node, loop_view: LoopView, numbered: bool) -> None:
        assert scan.graph is not None
        loop, inference = loop_view.body, self.inference
        infos = [fact_declaration(value, inference) for value in loop.outputs[1:]]
        body = scan.graph.add_body(scan, "body", loop.header)
        holds = body.add_initializer(loop.inputs[1].name, condition_tensor(loop, True))
        states = [add_input(body, value, inference) for value in loop.inputs[2:]]
        number = add_input(body, loop.inputs[0], inference) if numbered else None
        drop_dead_nodes(loop)  # dead nodes may read the iteration number
        template = Template(loop, body, fold=self.fold)
        results = template.instantiate([number, holds, *states])[1:]
        set_own_outputs(body, results, infos)


def _is_backward(selection: Selection, iterations: Dimension | None) -> bool:
    """Test whether the last iteration reads the first element."""
    return selection.step == -1 and iterations is not None and selection.start == iterations - 1


def _is_numbered(loop_view: LoopView, reads: Sequence[ElementRead]) -> bool:
    """Test for an output that depends on the iteration number apart from some reads."""
    import networkx as nx

    body, read_nodes = loop_view.body, {read.node for read in reads}
    others = nx.subgraph_view(body.view(), filter_node=lambda vertex: vertex not in read_nodes)
    results = {body.vertex(value) for value in body.outputs[1:]}
    return loop_view.iteration in upstream(others, results - read_nodes)


def _read_element(body: Graph, site: ElementRead, slot: Value) -> None:
    """Replace a read of an element by an input of the body."""
    emitter, old = Builder(body), site.node.output()
    if not site.keeps_axis:
        body.replace_uses(old, slot)
        return
    axis = site.selection.axis
    for user in body.users(old):
        if isinstance(user, Node) and _squeezes(user, axis) and not user.output().pinned:
            body.replace_uses(user.output(), slot)
            body.remove(user)
    if body.is_used(old):
        body.replace_uses(old, emitter.unsqueeze(slot, axis, old.name))


def _squeezes(node: Node, axis: int) -> bool:
    """Test for a Squeeze of exactly this axis."""
    if not node.is_op("Squeeze") or node.op.references:
        return False
    facts = [
        UNKNOWN if v is None or v.constant is None else constant_fact(v.constant)
        for v in node.inputs
    ]
    return listed_numbers(node, facts, "axes", 1) == [axis]


class ScanSources:
    """The scan inputs of a Scan, the scanned axis first.

    onnxruntime crashes on some empty tensors with another scanned axis.

    Attributes:
        values: the scan inputs.
        backward: for each, true if scanned from its end.
    """

    def __init__(self, graph: Graph, loop_view: LoopView, fold: Fold) -> None:
        self.emit = Builder(graph, fold)
        self.loop_view = loop_view
        self.values: list[Value] = []
        self.backward: list[bool] = []

    def add(self, selection: Selection, rank: int, whole: bool) -> None:
        """Scan the elements of a selection; `whole` if they are all along the axis."""
        source, axis = selection.source, selection.axis
        tensor = self.loop_view.body.initializers.get(source)
        if tensor is not None:
            # The body's initializer is not visible around the loop.
            source = self.emit.graph.add_initializer(source.name, tensor)
        if not whole:
            rows = [source, self._indices(selection)]
            source = self.emit.add("Gather", rows, f"{source.name}_read", axis=axis)
        first = self.emit.transpose(source, move_axis(rank, axis, 0), f"{source.name}_first")
        self.values.append(first)
        self.backward.append(selection.step == -1)

    def add_numbers(self) -> None:
        """Scan the iteration numbers, of the rank that the body declares."""
        assert self.loop_view.iteration is not None
        rank = len(self.loop_view.iteration.shape or ())
        self.values.append(self.emit.lift(self._iota, rank, "numbers"))
        self.backward.append(False)

    def _indices(self, selection: Selection) -> Value:
        """The positions of the elements along the axis; backward from the last one."""
        start = selection.start.value
        if selection.step == -1 or not start:
            return self._iota
        offset = self.emit.integer(start, "start")
        return self.emit.add("Add", [self._iota, offset], "places")

    @lazy_property
    def _iota(self) -> Value:
        assert self.loop_view.maximum is not None
        count = self.emit.scalar(self.loop_view.maximum, "iterations")
        return self.emit.numbers(count, "numbers")
