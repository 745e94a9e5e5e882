"""Loop distribution: the split of a body into batched parts and a residual loop.

Recurrences and nodes without a batching rule stay in the loop, with all nodes between two of them.
All others are batched: before the loop, or after it if they read values of the loop.
"""

from collections.abc import Callable, Iterable, Mapping

import onnx

from ...analysis.shapes.inference import ShapeInference
from ...analysis.shapes.single_node_model import reads_of
from ...facts.fact import Fact
from ...facts.types import PLAIN_INTEGERS
from ...ir import Node, Operator, Value, copy_node, empty_header
from ...ir.lazy import lazy_property
from ...ops.batching import DIFFERING, Operand, Unbatchable
from ...ops.builder import Builder, RewriteError
from ...ops.cost_estimates import FREE
from ..iteration.batched_inputs import Feeding
from ..iteration.dependence_graph import DependenceGraph, Vertex, Write
from ..iteration.loop_view import (
    LoopView,
    ScanInput,
    ScanOutput,
    State,
    add_holder,
    declaration,
    scan_attributes,
)
from ..iteration.places import iteration_like
from ..iteration.splice import drop_dead_nodes, is_used, own_output, set_results

_WITHOUT_STATES = 11
"""The first opset whose Loop may have no state."""
_CARRIED = declaration("carried", onnx.helper.make_tensor_type_proto(onnx.TensorProto.INT64, ()))

_PLACEHOLDER = Operator("Output", domain="straightline.remainder")
"""The placeholder of an output of the residual loop, until its outputs are known."""

PRODUCTS = ("MatMul", "Gemm", "Conv", "Einsum", "MatMulInteger", "ConvTranspose")
"""The operators whose time exceeds that of all others by far."""

_PRODUCT_WEIGHT = 4
"""The cost of a node with products, in other nodes."""


class Distribution:
    """The distribution of the nodes and states of a body.

    Args:
        compute: the batch interpreter; raises Unbatchable.
        is_partial: the test for outputs that cannot be read in each iteration.
        is_stackable: the test for such outputs that may be emitted.

    Attributes:
        inside: the nodes and states of the residual loop.
        after: the batched nodes and states that read values of the residual loop.
        reasons: the obstacles to batching, first one first; empty without a residual loop.
    """

    def __init__(
        self,
        dependences: DependenceGraph,
        compute: Callable[[Vertex], None],
        is_partial: Callable[[Vertex], bool],
        is_stackable: Callable[[Vertex], bool] = lambda vertex: False,
    ) -> None:
        self._dependences = dependences
        self._roots = dependences.roots
        self._compute = compute
        self._is_partial = is_partial
        self._is_stackable = is_stackable
        self.inside: set[Vertex] = set()
        self.after: set[Vertex] = set()
        self.reasons: list[str] = []
        order = self._divide()
        self._close(order)

    def _divide(self) -> list[Vertex]:
        """Batch all vertices without an obstacle, and return the topological order."""
        order: list[Vertex] = []
        for members in self._dependences.components_in_order():
            order += members
            vertex = next(iter(members))
            if len(members) > 1 or vertex in self._dependences.sources[vertex]:
                self._stay(members, _recurrence_reason(members))
                continue
            try:
                self._compute(vertex)
            except (Unbatchable, RewriteError) as reason:
                self._stay(members, str(reason))
                continue
            if any(v in self.inside or v in self.after for v in self._dependences.sources[vertex]):
                self.after.add(vertex)
        return order

    def _stay(self, members: set[Vertex], reason: str) -> None:
        self.inside |= members
        self.reasons.append(reason)

    def _close(self, order: list[Vertex]) -> None:
        """Keep vertices between two inner ones inside."""
        # Readers come first: whether one of them is inside decides for what it reads.
        for vertex in reversed(order):
            if vertex in self.after and self._leads_inside(vertex):
                self.after.remove(vertex)
                self.inside.add(vertex)
            elif vertex not in self.inside and self._is_read_iteration_by_iteration(vertex):
                self.after.discard(vertex)
                self._stay({vertex}, f"holds {vertex}, which {DIFFERING}")
        for vertex in order:
            # In the order of the nodes, so that an Identity of an Identity follows it inside.
            if vertex in self.after and self._only_names(vertex):
                self.after.remove(vertex)
                self.inside.add(vertex)

    def _only_names(self, vertex: Vertex) -> bool:
        """Test for an Identity of values of the residual loop, which may be its output."""
        is_name = isinstance(vertex, Node) and vertex.is_op("Identity")
        return is_name and all(v in self.inside for v in self._dependences.sources[vertex])

    def _is_read_iteration_by_iteration(self, vertex: Vertex) -> bool:
        """Test for a partial value that is an output or that the residual loop reads."""
        if not self._is_partial(vertex):
            return False
        if vertex in self._roots and not self._is_stackable(vertex):
            return True
        return any(user in self.inside for user in self._dependences.readers[vertex])

    def _leads_inside(self, vertex: Vertex) -> bool:
        if any(user in self.inside for user in self._dependences.readers[vertex]):
            return True
        # A state that is only an output costs nothing where its values are computed.
        only_final = isinstance(vertex, State) and not self._dependences.readers[vertex]
        return only_final and any(v in self.inside for v in self._dependences.sources[vertex])


def _recurrence_reason(members: set[Vertex]) -> str:
    names = sorted(vertex.argument.name for vertex in members if isinstance(vertex, State))
    return f"carries '{names[0]}', whose next value depends on the one before"


class ResidualOutputs:
    """The outputs of the residual loop, as nodes after the loop read them.

    Args:
        certain: true if there is a first iteration for all inputs.

    Attributes:
        finals: the final states, each with its placeholder.
        scan_outputs: the scan outputs of the original, each with its placeholder.
        rows: the values of the body that nodes after the loop read, each with its placeholder.
    """

    def __init__(self, loop_view: LoopView, feeding: Feeding, certain: bool) -> None:
        self.loop_view = loop_view
        self.feeding = feeding
        self._certain = certain
        self._visible = _symbols_around(loop_view, feeding)
        self._rows: dict[Value, Operand] = {}
        self.finals: dict[State, Value] = {}
        self.scan_outputs: dict[ScanOutput, Value] = {}
        self.rows: dict[Value, Value] = {}

    def operand(self, value: Value) -> Operand:
        """The batched operand of a value of the residual loop.

        Raises:
            Unbatchable: a size that may vary between iterations.
        """
        if value not in self._rows:
            fact = self.feeding.inference.fact(value).without_content()
            # Rows are stacked in one tensor, which needs one shape for all iterations.
            self._require_one_shape(value, fact)
            self.feeding.require_room(f"computes '{value.name}' iteration by iteration", fact)
            self.rows[value] = self._placeholder(value.name)
            settled = self._with_sizes(self.rows[value], fact)
            self._rows[value] = Operand(settled, True, fact)
        return self._rows[value]

    def final(self, state: State) -> Value:
        """The placeholder of a final state."""
        return self.finals.setdefault(state, self._placeholder(label_of(state)))

    def output(self, stacked: ScanOutput) -> Value:
        """The placeholder of a scan output of the original."""
        return self.scan_outputs.setdefault(stacked, self._placeholder(label_of(stacked)))

    def drop_dead_nodes(self) -> None:
        """Drop the rows without a reader."""
        self.rows = {value: row for value, row in self.rows.items() if row.graph is not None}

    def _placeholder(self, label: str) -> Value:
        return self.feeding.emit.graph.add_node(_PLACEHOLDER, [], [label]).output()

    def _require_one_shape(self, value: Value, fact: Fact) -> None:
        if fact.shape is None or not fact.elem_type:
            raise Unbatchable(
                f"computes '{value.name}', whose rank is not known, iteration by iteration"
            )
        # A symbol that arises inside of the body is another size in each iteration.
        if any(not dim.symbols <= self._visible for dim in fact.shape):
            raise Unbatchable(
                f"computes '{value.name}', whose size may change, iteration by iteration"
            )

    def _with_sizes(self, rows: Value, fact: Fact) -> Value:
        """Reshape rows to the sizes of one element, for a loop without iterations.

        Without iterations, a Loop sets undeclared sizes to 0.
        """
        shape = fact.shape or ()
        if self._certain or all(dim.value is not None for dim in shape):
            return rows
        sizes = [self.feeding.size(dim) for dim in shape]
        target = self.feeding.emit.concat([self.feeding.iterations, *sizes], 0, "rows_shape")
        return self.feeding.emit.add("Reshape", [rows, target], rows.name)


def label_of(output: State | ScanOutput) -> str:
    """The name of an output around the loop, or inside for an omitted one."""
    value = output.final if isinstance(output, State) else output.output
    return (value or output.result).name


def _symbols_around(loop_view: LoopView, feeding: Feeding) -> set[str]:
    """The symbols of loop-invariant sizes."""
    shapes = [feeding.inference.fact(v).shape or () for v in reads_of(loop_view.node)]
    return {symbol for shape in shapes for dim in shape for symbol in dim.symbols}


class ResidualPlan:
    """The nodes, states and reads of the residual loop.

    Args:
        residual: its used outputs.
        inside: its nodes and states.

    Attributes:
        reads: the values that it reads without computing them.
        boundary: the batched values among them.
        carries_nothing: true for a Loop without states that its opset requires to have one.
    """

    def __init__(
        self, residual: ResidualOutputs, inside: Iterable[object], operands: Mapping[Value, Operand]
    ) -> None:
        self.residual = residual
        self.loop_view = residual.loop_view
        self.operands = operands
        self._inside = set(inside)
        self.states = [state for state in self.loop_view.states if state in self._inside]
        is_old = residual.feeding.emit.opset < _WITHOUT_STATES
        self.carries_nothing = is_old and self.loop_view.maximum is not None and not self.states
        plain, nodes = self._plain_reads(), self.loop_view.body.nodes()
        self.nodes = [node for node in nodes if node in self._inside or node in plain]
        self.reads = self._reads()
        self.boundary = self._boundary()

    def _plain_reads(self) -> set[Node]:
        """Reads of a row by the iteration number, which stay in the loop.

        Batched, they would be the tensor that they read from.
        """
        return {
            node
            for node in self.loop_view.body.nodes()
            if node not in self._inside and self._is_plain_read(node)
            if any(user in self._inside for user in self.loop_view.body.users(node.output()))
        }

    def _is_plain_read(self, node: Node) -> bool:
        if not node.is_op("Gather") or self.loop_view.iteration is None:
            return False
        source, index = node.inputs
        outside = source is not None and source.graph is not self.loop_view.body
        return outside and index is not None and iteration_like(index, self.loop_view)

    def _reads(self) -> dict[Value, None]:
        """The values that it reads or returns without computing them."""
        read: dict[Value, None] = {}
        for node in self.nodes:
            read |= dict.fromkeys(reads_of(node))
        read |= dict.fromkeys(state.result for state in self.states)
        read |= dict.fromkeys(one.result for one in self.residual.scan_outputs)
        own = {value for node in self.nodes for value in node.outputs}
        own |= {state.argument for state in self.states}
        return {value: None for value in read if value not in own}

    def _boundary(self) -> list[Value]:
        # Rows of these reach the loop as scan inputs, or by the iteration number, and need no
        # stacking.
        scanned = {one.argument for one in self.loop_view.scan_inputs}
        return [
            value
            for value in self.reads
            if value not in scanned and not iteration_like(value, self.loop_view)
            if value in self.operands and self.operands[value].batched
        ]

    @property
    def gives(self) -> bool:
        """Test for a used output."""
        return bool(self.states or self.residual.scan_outputs or self.residual.rows)

    @property
    def operand_values(self) -> list[Value]:
        """The operands of its reads, in the scratch graph."""
        return [self.operands[value].value for value in self.reads if value in self.operands]

    def cost(self, weigh: Callable[[Node], int]) -> int:
        """The cost of an iteration: nodes, states, outputs, and reads by the iteration number."""
        states = len(self.states) + self.carries_nothing
        outputs = states + len(self.residual.scan_outputs) + len(self.residual.rows)
        iteration = self.loop_view.iteration
        reads = len(self.boundary) if iteration is not None else 0
        if reads and iteration is not None and iteration.shape:
            reads += 1  # a reshape of the iteration number to a scalar
        return sum(map(weigh, self.nodes)) + outputs + reads

    @property
    def scan_inputs(self) -> list[ScanInput]:
        """The scan inputs that stay; at least one, for the trip count."""
        reads = [one for one in self.loop_view.scan_inputs if one.argument in self.reads]
        return reads or list(self.loop_view.scan_inputs if not self.boundary else ())[:1]


def plan_residual_loop(
    residual: ResidualOutputs,
    dependences: DependenceGraph,
    distribution: Distribution,
    operands: Mapping[Value, Operand],
) -> ResidualPlan | None:
    """Plan the residual loop, and remove the nodes that neither it nor an output needs.

    Args:
        residual: its used outputs, among the outputs of the scratch graph.

    Returns:
        the plan; None if nothing reads an output.

    Raises:
        Unbatchable: no gain.
    """
    loop_view, scratch = residual.loop_view, residual.feeding.emit.graph
    plan = ResidualPlan(residual, _with_writers(distribution.inside), operands)
    # What the residual loop reads must survive, although no node reads it yet.
    set_results(scratch, [*scratch.outputs, *plan.operand_values])
    drop_dead_nodes(scratch)
    residual.drop_dead_nodes()
    if not plan.gives:
        return None
    outputs = len(loop_view.states)
    outputs += sum(is_used(loop_view.around, one.output) for one in loop_view.scan_outputs)
    # A residual loop as long as the original only adds the batched part before it.
    if plan.cost(weight) >= sum(map(weight, loop_view.body.nodes())) + outputs:
        raise Unbatchable(distribution.reasons[0])
    if len(plan.states) == len(loop_view.states) and _only_indices_leave(plan, dependences):
        raise Unbatchable(distribution.reasons[0])
    return plan


def _only_indices_leave(plan: ResidualPlan, dependences: DependenceGraph) -> bool:
    """Test for no node beside arithmetic of single integers that leaves the loop.

    The residual loop would read the results row by row, which costs as much.
    """
    inside, inference = set(plan.nodes), plan.residual.feeding.inference
    nodes = [v for v in dependences.readers if isinstance(v, Node) and v not in inside]
    nodes = [node for node in nodes if weight(node)]
    return bool(nodes) and all(_is_index(node, inference) for node in nodes)


def _is_index(node: Node, inference: ShapeInference) -> bool:
    """Test for a node that computes an integer from others."""
    facts = [inference.fact(v) for v in (*node.inputs, *node.outputs) if v is not None]
    return not node.bodies and all(
        fact.elem_type in PLAIN_INTEGERS
        and fact.shape is not None
        and all(d == 1 for d in fact.shape)
        for fact in facts
    )


def weight(node: Node) -> int:
    """The cost of a node in an iteration."""
    if node.is_op(*FREE):
        return 0
    return _PRODUCT_WEIGHT if node.is_op(*PRODUCTS) or node.bodies else 1


def _with_writers(inside: Iterable[Vertex]) -> set[object]:
    """Replace the accumulators that stay by their nodes and states."""
    vertices: set[object] = set()
    for vertex in inside:
        own = {vertex}
        if isinstance(vertex, Write):
            own = {vertex.state, vertex.chooser or vertex.node, *vertex.reads}
            if vertex.node.graph is vertex.state.argument.graph:
                own.add(vertex.node)
        vertices |= own
    return vertices


def rebuild(plan: ResidualPlan) -> Node:
    """Emit the residual loop in the scratch graph, and replace the placeholders."""
    return _LoopBuilder(plan).make()


class _LoopBuilder:
    """The builder of a residual Loop, which gathers rows, or Scan, which scans them."""

    def __init__(self, plan: ResidualPlan) -> None:
        self.plan = plan
        self.loop_view = plan.loop_view
        self.feeding = plan.residual.feeding
        self.graph = self.feeding.emit.graph
        residual = plan.residual
        self.extra_outputs = [*residual.scan_outputs.values(), *residual.rows.values()]
        self.values: dict[Value, Value] = {}

    def make(self) -> Node:
        node = self._holder()
        self.body = self.graph.add_body(node, "body", empty_header(self.loop_view.body.header.name))
        self.emit = Builder(self.body)
        self._add_inputs()
        self._copy()
        self._set_outputs()
        for old, new in zip(self._outputs(), node.outputs, strict=True):
            if old is not None and new is not None:
                self.graph.replace_uses(old, new)
        return node

    def _holder(self) -> Node:
        """The node without its body."""
        plan, node, counts = self.plan, self.loop_view.node, list[Value | None]()
        attributes: dict[str, int | list[int]] = {}
        rows: list[Value] = []
        same = self.feeding.same
        if self.loop_view.maximum is not None:
            start = self.loop_view.start
            maximum = same(self.loop_view.maximum).value
            counts = [maximum, None if start is None else same(start).value]
        else:
            scanned = [(one.axis, one.backward) for one in plan.scan_inputs]
            scanned += [(0, False)] * len(plan.boundary)
            stacked = [(one.axis, one.backward) for one in plan.residual.scan_outputs]
            attributes = scan_attributes(scanned, stacked + [(0, False)] * len(plan.residual.rows))
            # A Scan has no iteration number: what a Loop would Gather by it becomes one more scan
            # input.
            rows = [same(one.source).value for one in plan.scan_inputs]
            rows += [plan.operands[value].value for value in plan.boundary]
        states = [same(state.initial).value for state in plan.states]
        states += [self.feeding.emit.integer(0, "carried")] if plan.carries_nothing else []
        inputs = [*counts, *states, *rows]
        # Labels of unused outputs too: onnxruntime rejects some Scans that omit one.
        labels = [*map(label_of, plan.states), *["carried"] * plan.carries_nothing]
        labels += [value.name for value in self.extra_outputs]
        return add_holder(self.graph, node.op, attributes, ["body"], inputs, labels, node.name)

    def _add_inputs(self) -> None:
        """Add the inputs of the body."""
        loop_view, plan = self.loop_view, self.plan
        inputs = [v for v in (loop_view.iteration, loop_view.condition) if v is not None]
        inputs += [state.argument for state in plan.states]
        if loop_view.iteration is None:
            inputs += [one.argument for one in plan.scan_inputs]
        for value in inputs:
            self.values[value] = self.body.add_input(value.name, value.info)
        if self.plan.carries_nothing:
            self.body.add_input("carried", _CARRIED)
        for value in plan.boundary if loop_view.iteration is None else ():
            fact = self.feeding.inference.fact(value)
            info = declaration(value.name, fact.type_proto(private=False))
            self.values[value] = self.body.add_input(value.name, info)

    @lazy_property
    def _number(self) -> Value:
        """The number of the iteration, a scalar."""
        assert self.loop_view.iteration is not None
        number = self.values[self.loop_view.iteration]
        return self.emit.scalar(number, "number") if number.shape else number

    def _outputs(self) -> list[Value | None]:
        finals = self.plan.residual.finals
        bare = [None] * self.plan.carries_nothing
        return [*map(finals.get, self.plan.states), *bare, *self.extra_outputs]

    def _copy(self) -> None:
        for node in self.plan.nodes:
            for value in reads_of(node):
                self._in_body(value)
            copy = copy_node(node, self.body, self.values)
            self.body.value_infos += [v for v in copy.outputs if v is not None and v.info]

    def _in_body(self, value: Value) -> Value:
        """The value of the new body for a value of the old one."""
        if value not in self.values:
            self.values[value] = self._enter(value)
        return self.values[value]

    def _enter(self, value: Value) -> Value:
        if iteration_like(value, self.loop_view):
            assert self.loop_view.iteration is not None
            return self.values[self.loop_view.iteration]
        if value in self.loop_view.body.initializers:
            tensor = self.loop_view.body.initializers[value]
            return self.body.add_initializer(value.name, tensor)
        operand = self.plan.operands.get(value)
        if operand is None:
            return self.feeding.same(value).value
        if not operand.batched:
            return operand.value
        if operand.fact.elem_type == onnx.TensorProto.STRING and operand.fact.shape != ():
            # Not a Gather in onnxruntime (`Builder.add`), and only a Gather is read as a row again.
            raise Unbatchable(f"reads rows of strings, '{value.name}'")
        return self.emit.add("Gather", [operand.value, self._number], value.name, axis=0)

    def _set_outputs(self) -> None:
        residual, body = self.plan.residual, self.loop_view.body
        values = [
            *(state.result for state in self.plan.states),
            *(one.result for one in residual.scan_outputs),
        ]
        infos = dict(zip(body.outputs, body.output_infos, strict=True))
        types = [infos[value] for value in values]
        for value in residual.rows:
            fact = self.feeding.inference.fact(value)
            # onnxruntime requires a known rank for each output of a Scan's body.
            types.append(declaration(value.name, fact.type_proto(private=False)))
        results: list[Value] = []
        for value in (*values, *residual.rows):
            # onnxruntime may alias body outputs that are inputs, or one value twice:
            # each is its own.
            results.append(own_output(self._in_body(value), results, self.emit))
        condition = self.loop_view.condition
        first = [] if condition is None else [self.values[condition]]
        heads = [declaration(value.name, value.type) for value in first]
        if self.plan.carries_nothing:
            first.append(own_output(self.body.inputs[-1], results, self.emit))
            heads.append(_CARRIED)
        self.body.set_outputs([*first, *results], [*heads, *types])
