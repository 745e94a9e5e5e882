"""Count the iterations of a Loop that ends at a first hit, by a search.

y = Loop (n, yes) <                             hits = Loop (size, yes) <body = (i, c) => (c, hit)>
   body = b (i, c) => (go, r) {                 first = ArgMax (Concat (hits, true))
      e = Gather (x, i)                 ->      m = Min (n, first + 1)
      hit = Greater (e, limit)                  y = Loop (m, yes) <body = b (i, c) => (c, r)>
      go = Not (hit) r = Exp (e)
   }
>

The search runs to the end of the rows that the condition reads, so it must not fail there. Both
loops are left to vectorize-loops and raise-recurrences, and the pass acts only if these take both.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import onnx

from ....analysis.iterations.trip_count import skip_identities
from ....analysis.iterations.trip_count_bound import NO_MAXIMUM
from ....analysis.safety.speculation import Speculation
from ....analysis.shapes.inference import ShapeInference
from ....analysis.shapes.nonzero_iterations import runs_certainly
from ....facts.notions import Equality
from ....facts.obstacle import Obstacle
from ....facts.reason import Message
from ....ir import Graph, Model, Node, Operator, Value, empty_header, load
from ....ir.copying import copy_graph, copy_model
from ....ops.batching import Unbatchable
from ....ops.builder import Builder, RewriteError
from ....ops.randomness import find_random
from ....ops.schema_queries import takes
from ....records import record
from ...iteration.iterations import ROW_BYTES
from ...iteration.loop_view import add_holder, declaration, read
from ...iteration.places import ElementRead, element_reads
from ...iteration.splice import set_own_outputs
from ...loops.count_loops import ExitPlan, count_exits, end_by_count, read_exits
from ...loops.trip_count_formulas import integer
from ...utils.legality import externally_named
from ...utils.sites import Site, SitePass
from ...utils.traversal import inside_out
from ...vectorize.vectorize_loops import VectorizeLoops
from .raise_recurrences import RaiseRecurrences

_BOOL, _INT32, _INT64 = onnx.TensorProto.BOOL, onnx.TensorProto.INT32, onnx.TensorProto.INT64
_ENDLESS = np.iinfo(np.int64).max
_NUMBER = ((), (1,))
_CARRIED = (
    *("Identity", "Cast", "Where", "And", "Or", "Not", "Xor", "Max", "Min", "Add", "Sub"),
    *("Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Equal", "Unsqueeze", "Squeeze"),
)
"""The operators on states in a condition that may be searched: others are no exact recurrence."""
_SEARCHED = Message(
    "searched", "its iterations are counted before it, by a search for the first hit"
)


@record(frozen=True)
class SearchLoops(SitePass):
    """Count the iterations of Loops that end at a first hit, by a search.

    Attributes:
        exact: replace recurrences of the Loop only bit-exactly.
        max_bytes: the size limit of a batched value of known size.
        row_bytes: the size limit of one iteration of a batched value with an unknown trip count.
    """

    exact: bool = False
    max_bytes: int = 1 << 28
    row_bytes: int = ROW_BYTES

    name: ClassVar[str] = "search-loops"
    dissolves_loops: ClassVar[bool] = True
    by_default: ClassVar[bool] = True
    works_on: ClassVar[tuple[str, ...]] = ("Loop",)
    adds: ClassVar[tuple[str, ...]] = ("Loop",)
    keeps_facts_of_others: ClassVar[bool] = False
    default_options: ClassVar[Mapping[str, Any]] = {"exact": True}

    @property
    def exactness(self) -> Equality:
        """Recurrences of a Loop may round on their own."""
        return "bits" if self.exact else "reals"

    def visit(self, site: Site) -> None:
        """Search the ends of one Loop."""
        graph, loop, model = site.graph, site.node, site.model
        plan = _plan(loop, model, site.inference)
        # On a copy first: a search that stays a loop would run the body twice.
        if plan is None or not self._succeeds(model, _loops(model).index((graph, loop))):
            return
        search = _Search(graph, loop, plan)
        self._ends(search, model)
        search.write()
        site.rewritten(_SEARCHED())

    def _succeeds(self, model: Model, index: int) -> bool:
        """Try the search on a copy of the model."""
        # A function that a conversion cuts out has references to its attributes, which no file may.
        copy = load(model) if model.training_info else copy_model(model)
        graph, loop = _loops(copy)[index]
        plan = _plan(loop, copy, ShapeInference(copy))
        if plan is None:
            return False
        search = _Search(graph, loop, plan)
        if not self._ends(search, copy):
            return False
        search.write()
        return self._vanishes(loop, ShapeInference(copy), exact=self.exact)

    def _ends(self, search: "_Search", model: Model) -> bool:
        """Bound the search, so that no iteration fails, and try it."""
        # From the tightest: rows that end before the trip count bound a search that reads them.
        for bound in search.bounds(ShapeInference(model)):
            search.graph.set_input(search.node, 0, bound)
            inference = ShapeInference(model)
            nodes = search.nodes()
            own = [node for node in search.node.body("body").nodes() if node in nodes]
            # The search runs past the hit, where the Loop would have ended before a failure.
            if Speculation(inference, model.functions).survey(own):
                continue
            return self._vanishes(search.node, inference, exact=True)
        return False

    def _vanishes(self, loop: Node, inference: ShapeInference, exact: bool) -> bool:
        """Test for a Loop that operators replace."""
        try:
            loop_view = read(loop)
        except Obstacle:
            return False
        bounds = self.max_bytes, self.row_bytes
        if VectorizeLoops(*bounds, exact=exact).vanishes(loop_view, inference):
            return True
        raising = RaiseRecurrences(exact=exact, max_bytes=self.max_bytes, row_bytes=self.row_bytes)
        facts = Speculation(inference, inference.model.functions).outside
        certain = runs_certainly(loop, facts)
        try:
            iterations, _ = raising.raise_loop(loop_view.around, loop_view, inference, certain)
        except (Unbatchable, RewriteError):
            return False
        return not exact or all(raised.exact for raised in iterations.replacements)


def _loops(model: Model) -> list[tuple[Graph, Node]]:
    return list(inside_out(model.graphs(), "Loop"))


def _plan(loop: Node, model: Model, inference: ShapeInference) -> ExitPlan | None:
    """The ends of a Loop of which some may be searched; None without one."""
    plan = read_exits(loop, inference)
    if plan is None or not plan.others or loop.op.is_sharded or externally_named(loop):
        return None
    body = loop.body("body")
    opset = body.root.opset()
    if not all(takes(op, 0, _INT64, opset) for op in ("Min", "Less")) or body.annotations:
        return None
    values = [part.value for part in plan.others]
    if any(v.constant is not None or inference.fact(v).shape not in _NUMBER for v in values):
        return None
    # The search runs the body ahead of the Loop: a draw would have another value the second time.
    if find_random(body, model.functions) is not None:
        return None
    reader = plan.reader
    nodes = _deciding_nodes(body, values)
    changing = {slot for slot in reader.carried_inputs() if reader.states[slot][0] is not slot}
    carried = body.dependents(changing) if changing else set()
    if any(not node.is_op(*_CARRIED) for node in nodes if node in carried):
        return None
    return plan


def _deciding_nodes(body: Graph, values: Sequence[Value]) -> Collection[Node]:
    """The nodes of a body on which values depend, through no earlier iteration."""
    producers = [v.producer for v in values if v.producer is not None and v.producer.graph is body]
    return {node for node in body.requirements(producers) if isinstance(node, Node)}


class _Search:
    """The search of one Loop, as another one before it that outputs the hits.

    Attributes:
        node: the new Loop.
    """

    def __init__(self, graph: Graph, loop: Node, plan: ExitPlan) -> None:
        self.graph, self._loop, self._plan = graph, loop, plan
        self._emit = Builder(graph)
        self._most = count_exits(loop, plan, self._emit)
        shape = (1,) * len(loop.body("body").inputs[1].shape or ())
        holds = self._emit.constant(np.full(shape, True), "holds")
        labels = ["" if value is None else value.name for value in loop.outputs]
        labels = [*labels[: len(loop.inputs) - 2], "hits"]
        inputs = [self._most, holds, *loop.inputs[2:]]
        self.node = add_holder(graph, Operator("Loop"), {}, ["body"], inputs, labels)
        self._hits = self.node.outputs[-1]
        self._fill()

    def _fill(self) -> None:
        """Copy the body, and let it output the hit of an iteration instead of rows."""
        source, states = self._loop.body("body"), len(self._loop.inputs) - 2
        body = self.graph.add_body(self.node, "body", empty_header("search"))
        copy_graph(source, body, {})
        copies = dict(zip(source.inputs, body.inputs, strict=True))
        for node, copy in zip(source.nodes(), body.nodes(), strict=True):
            copies |= {
                old: new
                for old, new in zip(node.outputs, copy.outputs, strict=True)
                if old is not None and new is not None
            }
        emit = Builder(body)
        stops = []
        for part in self._plan.others:
            value = copies.get(part.value, part.value)
            flag = emit.add("Not", [value], "stop") if part.holds else value
            axes = tuple(range(len(self._plan.reader.inference.fact(part.value).dims)))
            stops.append(emit.squeeze(flag, axes, "stop") if axes else flag)
        hit = stops[0]
        for stop in stops[1:]:
            hit = emit.add("Or", [hit, stop], "hit")
        infos = [*source.output_infos[: 1 + states]]
        if body.inputs[1].info is not None:
            infos[0] = onnx.ValueInfoProto()
            infos[0].CopyFrom(body.inputs[1].info)
        infos.append(declaration("hit", onnx.helper.make_tensor_type_proto(_BOOL, ())))
        results = [body.inputs[1], *map(skip_identities, body.outputs[1 : 1 + states]), hit]
        set_own_outputs(body, results, infos, first=1)

    def bounds(self, inference: ShapeInference) -> Iterator[Value]:
        """Emit trip counts by which the search may end: those of the rows that it reads first."""
        nodes, ends = self.nodes(), dict[_End, None]()
        try:
            reads = element_reads(read(self.node), inference)
        except Obstacle:
            reads = []
        for each in reads:
            end = _End.of(each, inference) if each.node in nodes else None
            if end is not None:
                ends[end] = None
                self._count(each)
        for end in ends:
            yield end.emit(self._emit)
        if integer(self._most) is None or (integer(self._most) or 0) < NO_MAXIMUM:
            yield self._most

    def _count(self, each: ElementRead) -> None:
        """Read a row by the iteration number, whose bounds are known."""
        body, start = self.node.body("body"), each.selection.start.value
        if not each.node.is_op("Gather") or start is None or each.selection.step != 1:
            return
        emit, number = Builder(body), body.inputs[0]
        value = emit.squeeze(number, 0, "iteration") if number.shape else number
        if start:
            offset = emit.integer(start, "start")
            value = emit.add("Add", [value, offset], "place")
        value = emit.unsqueeze(value, 0, "place") if each.keeps_axis else value
        body.set_input(each.node, 1, value)

    def nodes(self) -> Collection[Node]:
        """The nodes of its body that decide a hit."""
        body = self.node.body("body")
        return _deciding_nodes(body, [body.outputs[-1]])

    def write(self) -> None:
        """End the Loop by the first hit."""
        emit, hits, most = self._emit, self._hits, self._most
        assert hits is not None
        # ArgMax accepts numbers only (operator specification, T).
        numbers = emit.add("Cast", [hits], "hits", to=_INT32)
        # ArgMax takes the first of equal ones; a hit behind all rows stands for none.
        beyond = emit.constant(np.ones(1, np.int32), "beyond")
        all_hits = emit.concat([numbers, beyond], 0, "hits")
        first = emit.add("ArgMax", [all_hits], "first", axis=0, keepdims=0)
        size = emit.add("Size", [hits], "size")
        met = emit.add("Less", [first, size], "met")
        one, endless = (emit.integer(n, "k") for n in (1, _ENDLESS))
        iterations = emit.add(
            "Where", [met, emit.add("Add", [first, one], "iterations"), endless], "iterations"
        )
        iterations = emit.add("Min", [most, iterations], "iterations")
        end_by_count(self.graph, self._loop, self._plan, iterations)


@record(frozen=True)
class _End:
    """The end of the rows that a read of a body goes through.

    Attributes:
        axis: the axis of rows.
        start: the number of rows that it leaves out.
    """

    source: Value
    axis: int
    start: int

    @classmethod
    def of(cls, each: ElementRead, inference: ShapeInference) -> "_End | None":
        """The end of one read; None where it is not known."""
        selection = each.selection
        start, size = selection.start.value, inference.fact(selection.source).dims[selection.axis]
        if selection.step == -1 and selection.start == size - 1:
            return cls(selection.source, selection.axis, 0)
        if selection.step != 1 or start is None or start < 0:
            return None
        return cls(selection.source, selection.axis, start)

    def emit(self, emit: Builder) -> Value:
        """Emit the number of iterations up to the end."""
        axis, start = (emit.integer(n, "k") for n in (self.axis, self.start))
        shape = emit.add("Shape", [self.source], "shape")
        size = emit.add("Gather", [shape, axis], "size", axis=0)
        return emit.add("Sub", [size, start], "size") if self.start else size
