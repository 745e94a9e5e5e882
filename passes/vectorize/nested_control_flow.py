"""Batching rules of an If, Loop, Scan or call inside a body.

States, operands and outputs of the inner construct have the outer batch axis first. A Loop whose
trip count differs between outer iterations runs as often as the longest one:

t = Loop (m[i], , s) <                         t = Loop (max (m), , s) <
   body = b (j, c, a) => (c2, r) {                body = b (j, c, a) => (c2, q) {
      r = Add (a, x[j])                ->            r = Add (a, x[j])
   }                                                 q = Where (j < m, r, a)
>                                                 }>

An iteration that an outer one does not make computes from the final state, and its results are
discarded, as for the branch of an If.
"""

import dataclasses
from collections.abc import Collection, Sequence

import onnx

from ...analysis.shapes.nonzero_iterations import runs_certainly
from ...analysis.shapes.single_node_model import reads_of
from ...definitions import Unfit
from ...facts.bounds import known
from ...facts.fact import Fact
from ...facts.obstacle import Obstacle, require_none
from ...ir import Graph, Node, Value, empty_header
from ...ir.subgraph_arity import BRANCHES
from ...ops.batch_axis import joined, parted
from ...ops.batching import Batch, Operand, Unbatchable
from ...ops.builder import Builder
from ..iteration.loop_view import (
    LoopView,
    ScanInput,
    ScanOutput,
    State,
    add_holder,
    declaration,
    move_axis,
    read,
    scan_attributes,
)
from ..iteration.splice import own_output
from ..utils.select import select
from .batch_interpreter import NodeBatcher
from .if_conversion import InlineBatcher, compute_call, compute_choice, elements


class _Body(NodeBatcher):
    """A batch interpreter of an inner body.

    Args:
        graph: the new inner body.
    """

    def __init__(self, around: NodeBatcher, body: Graph, graph: Graph) -> None:
        super().__init__(
            around.feeding, Builder(graph, room=around.emit.room), around.extent, around.speculation
        )
        self._around = around
        self.body = body
        self.graph = graph

    def operand_around(self, value: Value) -> Operand:
        return self._around.operand(value)

    def compute_holder(self, node: Node) -> None:
        compute_nested(node, self)

    def run(self, values: Sequence[Value], varying: Collection[Value]) -> list[Value]:
        """Compute all nodes, and return some values, batched if they vary."""
        for node in self.body.nodes():
            self.compute_node(node)
        results: list[Value] = []
        for value in values:
            result = self.every(value) if value in varying else self.operand(value).value
            results.append(own_output(result, results, self.emit))
        return results

    def enter(self, value: Value, batched: bool) -> None:
        """Add an input to the graph for one of the body's."""
        fact = self.fact(value).without_content()
        info = _info(value, fact, batched)
        self.operands[value] = Operand(self.graph.add_input(value.name, info), batched, fact)


def compute_nested(node: Node, around: NodeBatcher) -> None:
    """Compute an inner If, Loop or Scan, or a call, for all outer iterations.

    Raises:
        Unbatchable: an unbatchable inner node, or a trip count that may vary.
    """
    if not node.bodies:
        if not compute_kept(node, around):
            compute_call(node, around)
        return
    if node.is_op("If"):
        _compute_if(node, around)
        return
    if not any(around.operand(value).batched for value in reads_of(node)):
        raise Unbatchable(f"holds {node}, which is the same on every iteration but cannot leave it")
    try:
        require_none(None if node.is_op("Loop", "Scan") else "there is no batching rule for it")
        loop_view = read(node)
    except Obstacle as obstacle:
        raise Unbatchable(f"holds {node}, but {obstacle}") from obstacle
    _compute_loop(loop_view, around)


def _info(value: Value, fact: Fact, batched: bool, verb: str = "carries") -> onnx.ValueInfoProto:
    """The declaration of a body's value; a batched one has the outer batch axis first."""
    shape = None if fact.shape is None else [dim.value for dim in fact.shape]
    has_rank = bool(fact.elem_type) and shape is not None
    if not batched and (value.type is not None or not has_rank):
        return declaration(value.name, value.type)
    if not has_rank:
        raise Unbatchable(f"{verb} '{value.name}', whose rank is not known")
    sizes = [None, *(shape or ())] if batched else shape
    return declaration(value.name, onnx.helper.make_tensor_type_proto(fact.elem_type, sizes))


def _result_infos(
    values: Sequence[Value], varying: Collection[Value], around: NodeBatcher
) -> list[onnx.ValueInfoProto]:
    """The declarations of a body's outputs.

    They have all known sizes, because a Loop without iterations reads the sizes there.
    """
    return [_info(value, around.fact(value), value in varying, "gives") for value in values]


def _compute_if(node: Node, around: NodeBatcher) -> None:
    condition = node.operand(0)
    if around.operand(condition).batched:
        compute_choice(node, around)
        return
    labels = ["unread" if value is None else value.name for value in node.outputs]
    inputs, branches = [around.operand(condition).value], BRANCHES
    choice = add_holder(around.emit.graph, node.op, {}, branches, inputs, labels, node.name)
    for name in branches:
        graph = around.emit.graph.add_body(choice, name, empty_header(node.body(name).header.name))
        branch = _Body(around, node.body(name), graph)
        outputs = branch.body.outputs
        # All outputs are batched, as both branches must return tensors of one rank.
        results = branch.run(outputs, outputs)
        graph.set_outputs(results, _result_infos(outputs, outputs, around))
    for value, result in zip(node.outputs, choice.outputs, strict=True):
        _enter_output(value, result, True, around)


def _enter_output(
    value: Value | None, result: Value | None, batched: bool, around: NodeBatcher
) -> None:
    if value is not None and result is not None:
        fact = around.fact(value).without_content()
        around.operands[value] = Operand(result, batched, fact)


def _used_outputs(loop_view: LoopView) -> list[ScanOutput]:
    return [one for one in loop_view.scan_outputs if one.output is not None]


def _compute_loop(loop_view: LoopView, around: NodeBatcher) -> None:
    """Compute an inner Loop or Scan."""
    node, graph = loop_view.node, around.emit.graph
    counts = [loop_view.maximum, loop_view.start] if node.is_op("Loop") else []
    limits = [None if value is None else around.operand(value) for value in counts]
    if any(limit is not None and limit.batched for limit in limits):
        _compute_masked(loop_view, around)
        return
    sources = [around.operand(one.source) for one in loop_view.scan_inputs]
    varying = _varying_values(loop_view, around)
    inputs = [None if limit is None else limit.value for limit in limits]
    for state in loop_view.states:
        initial, varies = state.initial, state.argument in varying
        inputs.append(around.every(initial) if varies else around.operand(initial).value)
    inputs += [source.value for source in sources]
    values = [state.result for state in loop_view.states]
    values += [one.result for one in _used_outputs(loop_view)]
    attributes: dict[str, int | list[int]] = {}
    if node.is_op("Scan"):
        scanned = zip(loop_view.scan_inputs, sources, strict=True)
        stacked = [(0, one.backward) for one in _used_outputs(loop_view)]
        attributes = scan_attributes(
            [(_axis(*pair), pair[0].backward) for pair in scanned], stacked
        )
    labels = [value.name for value in values]
    inner = add_holder(graph, node.op, attributes, ["body"], inputs, labels, node.name)
    header = empty_header(loop_view.body.header.name)
    body = _Body(around, loop_view.body, graph.add_body(inner, "body", header))
    for value in (loop_view.iteration, loop_view.condition):
        if value is not None:
            body.enter(value, False)
    for state in loop_view.states:
        body.enter(state.argument, state.argument in varying)
    for one, source in zip(loop_view.scan_inputs, sources, strict=True):
        body.enter(one.argument, source.batched)
    results, condition = body.run(values, varying), loop_view.condition
    first = [] if condition is None else [body.operands[condition].value]
    body.graph.set_outputs(
        [*first, *results],
        [*(declaration(v.name, v.type) for v in first), *_result_infos(values, varying, around)],
    )
    _enter_all(loop_view, inner, varying, around)


def _varying_values(loop_view: LoopView, around: NodeBatcher) -> set[Value]:
    """The values of an inner body that vary with the outer iteration: a fixpoint.

    As in JAX's batching rule of `scan`, a state varies if its initial value does, or its value
    after an iteration. All values vary in a body with an invariant node that needs the batch axis:
    one that holds graphs, or that must not run without outer iterations.
    """
    body, carried = loop_view.body, loop_view.states
    varying = {value for value in body.captures() if around.operand(value).batched}
    varying |= {s.argument for s in carried if around.operand(s.initial).batched}
    varying |= {s.argument for s in loop_view.scan_inputs if around.operand(s.source).batched}
    waiting = list(varying)
    while waiting:
        value = waiting.pop()
        after = [state.argument for state in carried if state.result is value]
        nodes = [user for user in body.users(value) if isinstance(user, Node)]
        more = {output for node in nodes for output in node.outputs if output is not None}
        waiting += (more := {*more, *after} - varying)
        varying |= more
    for node in body.nodes():
        if varying.isdisjoint(reads_of(node)) and (
            node.bodies or around.inference.callee(node) or not around.may_run(node)
        ):
            return {*(s.argument for s in carried), *body.outputs}
    return varying


def _enter_all(
    loop_view: LoopView, inner: Node, varying: Collection[Value], around: NodeBatcher
) -> None:
    """Enter the outputs of an inner Loop or Scan.

    Scan outputs are stacked along a new first axis, then moved after the outer batch axis:
    onnxruntime crashes in a Scan that stacks empty tensors along other axes.
    """
    count = len(loop_view.states)
    for state, final in zip(loop_view.states, inner.outputs[:count], strict=True):
        _enter_output(state.final, final, state.argument in varying, around)
    for one, output in zip(_used_outputs(loop_view), inner.outputs[count:], strict=True):
        assert output is not None and one.output is not None
        rank, batched = len(around.fact(one.result).shape or ()), one.result in varying
        perm = move_axis(rank + 1 + batched, 0, batched + one.axis % (rank + 1))
        rows = around.emit.transpose(output, perm, one.result.name)
        if batched and inner.is_op("Loop") and not runs_certainly(loop_view.node, around.known):
            rows = _with_iterations(rows, rank, around)
        _enter_output(one.output, rows, batched, around)


def _with_iterations(rows: Value, rank: int, around: NodeBatcher) -> Value:
    """Restore the outer batch axis after an inner Loop without iterations.

    Such a Loop sets all undeclared sizes to 0. In Reshape 0 stands for an unchanged size.
    """
    numbers = (0,) * (rank + 1)
    sizes = around.emit.vector(numbers, "sizes")
    shape = around.emit.new_shape(around.feeding.iterations, sizes, numbers, "rows_shape")
    return around.emit.add("Reshape", [rows, shape], rows.name)


def _axis(scanned: ScanInput, source: Operand) -> int:
    """The scanned axis, after the outer batch axis."""
    if source.fact.shape is None:
        raise Unbatchable(f"scans '{scanned.source.name}', whose rank is not known")
    return scanned.axis % len(source.fact.shape) + int(source.batched)


class _MaskedBody(InlineBatcher):
    """A batch interpreter of an inner body that only some outer iterations run."""

    def __init__(self, around: NodeBatcher, graph: Graph) -> None:
        super().__init__(around, None, Builder(graph, room=around.emit.room))
        self.graph = graph

    def enter_input(self, value: Value, batched: bool, info: onnx.ValueInfoProto) -> None:
        """Add an input to the graph for one of the body's."""
        fact = self.fact(value).without_content()
        # Iterations beyond the last one of an outer iteration count on.
        self.assume(value, known(fact))
        self.operands[value] = Operand(self.graph.add_input(value.name, info), batched, fact)


def _compute_masked(loop_view: LoopView, around: NodeBatcher) -> None:
    """Compute an inner Loop as often as the longest of the outer iterations.

    Raises:
        Unbatchable: scan outputs, or a node that may fail in an iteration that is not made.
    """
    node, states = loop_view.node, loop_view.states
    around.feeding.adds_loops = True
    iteration, condition = loop_view.iteration, loop_view.condition
    if _used_outputs(loop_view):
        raise Unbatchable(f"holds {node}, whose number of elements varies")
    assert iteration is not None and condition is not None
    limits = _limits(loop_view, around)
    inputs = [_longest(limits, around), None, *(around.every(state.initial) for state in states)]
    labels = [state.result.name for state in states]
    inner = add_holder(around.emit.graph, node.op, {}, ["body"], inputs, labels, node.name)
    header = empty_header(loop_view.body.header.name)
    body = _MaskedBody(around, around.emit.graph.add_body(inner, "body", header))
    facts = [_fact_of_state(state, around) for state in states]
    for value in (iteration, condition):
        body.enter_input(value, False, declaration(value.name, value.type))
    for state, fact in zip(states, facts, strict=True):
        body.enter_input(state.argument, True, _info(state.argument, fact, True))
    number, axes = body.operands[iteration].value, tuple(range(len(iteration.shape or ())))
    number = body.emit.squeeze(number, axes, "number")
    body.mask = body.emit.add("Less", [number, limits], "live")
    for each in loop_view.body.nodes():
        body.compute_node(each)
    results: list[Value] = []
    for state in states:
        results.append(own_output(_kept(state, body), results, body.emit))
    infos = [_info(s.result, fact, True) for s, fact in zip(states, facts, strict=True)]
    body.graph.set_outputs(
        [body.operands[condition].value, *results],
        [declaration(condition.name, condition.type), *infos],
    )
    for state, final in zip(states, inner.outputs, strict=True):
        _enter_output(state.final, final, True, around)


def _fact_of_state(state: State, around: NodeBatcher) -> Fact:
    """The fact of a state, of which all iterations have one shape.

    Raises:
        Unbatchable: a shape that may change.
    """
    fact, after = around.fact(state.initial), around.fact(state.result)
    if fact.shape is None or fact.shape != after.shape:
        raise Unbatchable(f"carries '{state.argument.name}', whose shape may change")
    return fact.without_content()


def _kept(state: State, body: _MaskedBody) -> Value:
    """Emit the next value of a state, or the old one where none runs."""
    assert body.mask is not None
    old, new = body.operand(state.argument), body.operand(state.result)
    rank = len(old.fact.shape or ())
    mask = body.lift(body.mask, rank)
    label, both = state.result.name, (body.every(state.result), old.value)
    return select(body.emit, mask, *both, new.fact.elem_type, label, state.result)


def _limits(loop_view: LoopView, around: NodeBatcher) -> Value:
    """Emit the trip count of each outer iteration, a vector."""
    why = f"{loop_view.node}, whose trip count may not be one number"
    ends = [value for value in (loop_view.maximum, loop_view.start) if value is not None]
    first, *start = [elements(value, around, why) for value in ends]
    if not start:
        return first
    return around.emit.add("Where", [*start, first, around.emit.integer(0, "zero")], "limits")


def _longest(limits: Value, around: NodeBatcher) -> Value:
    """Emit the largest trip count; 0 without outer iterations."""
    emit = around.emit
    # ReduceMax of nothing is the least integer; a 0 beside them makes it 0.
    some = emit.concat([limits, emit.vector((0,), "none")], 0, "limits")
    return emit.reduce("ReduceMax", some, (0,), "longest")


_LEADING = "*"


def compute_kept(node: Node, around: NodeBatcher) -> bool:
    """Compute an operator for all iterations by itself; false where its definition must stand in.

    Args:
        around: the interpreter, in which all iterations run the node.
    """
    inputs = [Fact() if value is None else around.fact(value) for value in node.inputs]
    try:
        expansion = around.inference.definition(node, inputs)
    except Unfit:
        return False
    feeding = around.feeding
    if expansion is None or not expansion.rows or any(map(around.is_partial, node.inputs)):
        return False
    operands = around.operands_of(node)
    facts = [Fact() if value is None else around.fact(value) for value in node.outputs]
    batch = Batch(node, operands, facts, around.emit, feeding.iterations, around.extent)
    for rows in expansion.rows.split(";"):
        mark, *names = rows.split()
        names = names if mark == _LEADING else [mark, *names]
        places = [expansion.definition.places[name] for name in names]
        present = [place for place in places if batch.operand(place) is not None]
        if not _fits(batch, present):
            continue
        try:
            results = (_with_leading_axis if mark == _LEADING else _merged)(batch, present)
        except Unbatchable:
            continue
        for value, result, fact in zip(node.outputs, results, facts, strict=True):
            if value is not None and result is not None:
                around.require_room(node, fact)
                around.operands[value] = Operand(result, True, fact)
        if not expansion.definition.exact:
            feeding.of_rows[node.op.qualname] = None
        return True
    return False


def _fits(batch: Batch, rows: Sequence[int]) -> bool:
    """Test that these operands alone vary."""
    others = [i for i, each in enumerate(batch.operands) if each is not None and i not in rows]
    if any(map(batch.varies, others)) or not any(map(batch.varies, rows)):
        return False
    results = zip(batch.node.outputs, batch.results, strict=True)
    return all(value is None or fact.shape is not None for value, fact in results)


def _with_leading_axis(batch: Batch, rows: Sequence[int]) -> list[Value | None]:
    """The outputs, with the iterations as one more axis in front."""
    if len({batch.rank(index) for index in rows}) > 1:
        raise Unbatchable("has operands of other ranks")
    return _emitted(batch, {index: batch.spread(index) for index in rows})


def _merged(batch: Batch, rows: Sequence[int]) -> list[Value | None]:
    """The outputs, with the iterations merged into the first axis."""
    sizes = [batch.shape(index)[:1] for index in rows]
    if not all(size and size == sizes[0] for size in sizes):
        raise Unbatchable("has operands of other batches")
    first = batch if 0 in rows else dataclasses.replace(batch, operands=[batch.operands[rows[0]]])
    outputs = _emitted(batch, {index: joined(batch, index) for index in rows})
    return [
        None if value is None else parted(dataclasses.replace(first, results=[fact]), value)
        for value, fact in zip(outputs, batch.results, strict=True)
    ]


def _emitted(batch: Batch, rows: dict[int, Value]) -> list[Value | None]:
    """The outputs of the operator on some other operands."""
    inputs = [rows.get(i) or batch.fixed(i) for i in range(len(batch.operands))]
    labels = ["" if value is None else value.name for value in batch.node.outputs]
    if batch.emit.room is not None:
        batch.emit.room.take()
    return list(batch.emit.graph.add_node(batch.node.op, inputs, labels).outputs)
