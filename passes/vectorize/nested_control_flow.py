"""An If, Loop, Scan or call inside a body, computed for all trips of the loop around it at once.

What it carries, reads and gives out has the trips of the loop around it first; how often it runs
its own body must be the same on every one of these.
"""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from ...analysis.shapes.nonzero_trips import runs_certainly
from ...facts.fact import Fact
from ...ir import Graph, Node, Value, captured_by, empty_header
from ...ops.batching import Operand, Unbatchable
from ...ops.builder import Builder
from ..scans.layout import add_holder, declaration
from .batch_interpreter import NodeBatcher
from .if_conversion import compute_call, compute_choice
from .loop_view import Repetition, Scanned, Stacked, read
from .residual_loop import given_out


class _Body(NodeBatcher):
    """Computes the nodes of an inner body.

    Args:
        around: computes the body around it.
        body: the inner body.
        graph: what stands for it.
    """

    def __init__(self, around: NodeBatcher, body: Graph, graph: Graph) -> None:
        super().__init__(
            around.feeding,
            Builder(graph, room=around.emit.room),
            around.extent,
            around.speculation,
        )
        self._around = around
        self.body = body
        self.graph = graph

    def operand_around(self, value: Value) -> Operand:
        return self._around.operand(value)

    def compute_holder(self, node: Node) -> None:
        compute_nested(node, self)

    def run(self, wanted: Sequence[Value]) -> list[Value]:
        """Compute all nodes; what stands for some values, for all trips."""
        for node in self.body.nodes():
            self.compute_node(node)
        results: list[Value] = []
        for value in wanted:
            results.append(given_out(self.every(value), results, self.emit))
        return results

    def enter(self, value: Value, batched: bool) -> None:
        """Give the graph an input for one of the body's."""
        fact = self.fact(value).without_content()
        info = _declared(value, fact, batched)
        self.operands[value] = Operand(self.graph.add_input(value.name, info), batched, fact)


def compute_nested(node: Node, around: NodeBatcher) -> None:
    """Compute an inner If, Loop or Scan, or a call, for all trips of the loop around it.

    Raises:
        Unbatchable: a node of its bodies cannot be, or how often they run may differ.
    """
    if not node.bodies:
        compute_call(node, around)
        return
    if node.is_op("If"):
        _compute_if(node, around)
        return
    read_values = [value for value in (*node.inputs, *captured_by(node)) if value is not None]
    if not any(around.operand(value).batched for value in read_values):
        raise Unbatchable(f"holds {node}, which is the same on every trip but cannot leave it")
    repetition = read(node) if node.is_op("Loop", "Scan") else "there is no batching rule for it"
    if isinstance(repetition, str):
        raise Unbatchable(f"holds {node}, but {repetition}")
    (_compute_loop if node.is_op("Loop") else _compute_scan)(repetition, around)


def _declared(value: Value, fact: Fact, batched: bool) -> onnx.ValueInfoProto:
    """The declaration of a value of a body with the trips around it first."""
    if not batched:
        return declaration(value.name, value.type)
    shape = None if fact.shape is None else [None, *(dim.value for dim in fact.shape)]
    if not fact.elem_type or shape is None:
        raise Unbatchable(f"carries '{value.name}', whose rank is not known")
    return declaration(value.name, onnx.helper.make_tensor_type_proto(fact.elem_type, shape))


def _declared_results(values: Sequence[Value], around: NodeBatcher) -> list[onnx.ValueInfoProto]:
    """Declarations of what a body gives out for all trips. Sizes that are known are said, because a
    Loop without trips takes them from there."""
    declared = []
    for value in values:
        fact = around.fact(value)
        if not fact.elem_type or fact.shape is None:
            raise Unbatchable(f"gives '{value.name}', whose rank is not known")
        declared.append(_declared(value, fact, True))
    return declared


def _compute_if(node: Node, around: NodeBatcher) -> None:
    condition = node.inputs[0]
    assert condition is not None
    if around.operand(condition).batched:
        compute_choice(node, around)
        return
    labels = ["unread" if value is None else value.name for value in node.outputs]
    inputs, branches = [around.operand(condition).value], ("then_branch", "else_branch")
    made = add_holder(around.emit.graph, node.op, {}, branches, inputs, labels, node.name)
    for name in branches:
        graph = around.emit.graph.add_body(made, name, empty_header(node.body(name).header.name))
        branch = _Body(around, node.body(name), graph)
        results = branch.run(branch.body.outputs)
        graph.set_outputs(results, _declared_results(branch.body.outputs, around))
    _give(node.outputs, made.outputs, around)


def _give(
    values: Sequence[Value | None], results: Sequence[Value | None], around: NodeBatcher
) -> None:
    for value, result in zip(values, results, strict=True):
        if value is not None and result is not None:
            fact = around.fact(value).without_content()
            around.operands[value] = Operand(result, True, fact)


def _states(repetition: Repetition, around: NodeBatcher) -> list[Value]:
    return [around.every(state.initial) for state in repetition.states]


def _wanted(repetition: Repetition) -> list[Value]:
    """What the body gives out: the states, then what is stacked of them that is asked for."""
    return [
        *(state.result for state in repetition.states),
        *(one.result for one in _asked(repetition)),
    ]


def _asked(repetition: Repetition) -> list[Stacked]:
    return [one for one in repetition.stacked if one.output is not None]


def _labels(repetition: Repetition) -> list[str]:
    states = [state.result.name for state in repetition.states]
    return [*states, *(one.result.name for one in _asked(repetition))]


def _compute_loop(repetition: Repetition, around: NodeBatcher) -> None:
    node, graph = repetition.node, around.emit.graph
    assert repetition.maximum is not None
    counts = [repetition.maximum, repetition.start]
    limits = [None if value is None else around.operand(value) for value in counts]
    if any(limit is not None and limit.batched for limit in limits):
        raise Unbatchable(f"holds {node}, which makes more trips at one time than at another")
    inputs = [None if limit is None else limit.value for limit in limits]
    inputs += _states(repetition, around)
    made = add_holder(graph, node.op, {}, ["body"], inputs, _labels(repetition), node.name)
    body = _Body(around, repetition.body, _added(made, repetition, graph))
    assert repetition.iteration is not None and repetition.condition is not None
    body.enter(repetition.iteration, False)
    body.enter(repetition.condition, False)
    for state in repetition.states:
        body.enter(state.given, True)
    results, wanted = body.run(_wanted(repetition)), _wanted(repetition)
    condition = body.operands[repetition.condition].value
    body.graph.set_outputs(
        [condition, *results],
        [declaration(condition.name, condition.type), *_declared_results(wanted, around)],
    )
    _give_all(repetition, made, around)


def _added(made: Node, repetition: Repetition, graph: Graph) -> Graph:
    return graph.add_body(made, "body", empty_header(repetition.body.header.name))


def _give_all(repetition: Repetition, made: Node, around: NodeBatcher) -> None:
    """What an inner Loop or Scan gives: it stacks along a new first axis, which comes after that of
    the trips around it. (onnxruntime crashes in a Scan that stacks what is empty along others.)"""
    count = len(repetition.states)
    _give([state.final for state in repetition.states], made.outputs[:count], around)
    for one, output in zip(_asked(repetition), made.outputs[count:], strict=True):
        assert output is not None and one.output is not None
        rank = len(around.fact(one.result).shape or ())
        axis = one.axis % (rank + 1)
        perm = [1, *range(2, 2 + axis), 0, *range(2 + axis, rank + 2)]
        rows = around.emit.transpose(output, perm, one.result.name)
        if made.is_op("Loop") and not runs_certainly(repetition.node, around.known):
            rows = _with_trips(rows, rank, around)
        _give([one.output], [rows], around)


def _with_trips(rows: Value, rank: int, around: NodeBatcher) -> Value:
    """Rows that keep the axis of the trips even where the inner Loop makes none, which takes all
    sizes that its body does not tell for 0. In Reshape 0 stands for the size that is there."""
    kept = around.emit.vector((0,) * (rank + 1), "kept")
    shape = around.emit.concat([around.feeding.trips, kept], 0, "rows_shape")
    return around.emit.add("Reshape", [rows, shape], rows.name)


def _compute_scan(repetition: Repetition, around: NodeBatcher) -> None:
    node, graph = repetition.node, around.emit.graph
    sources = [around.operand(one.source) for one in repetition.scanned]
    stacked = _asked(repetition)
    attributes: dict[str, int | list[int]] = {
        "num_scan_inputs": len(sources),
        "scan_input_axes": [
            _axis(one, source) for one, source in zip(repetition.scanned, sources, strict=True)
        ],
        "scan_input_directions": [int(one.backward) for one in repetition.scanned],
        "scan_output_directions": [int(one.backward) for one in stacked],
    }
    if not stacked:
        del attributes["scan_output_directions"]
    inputs = [*_states(repetition, around), *(source.value for source in sources)]
    labels = _labels(repetition)
    made = add_holder(graph, node.op, attributes, ["body"], inputs, labels, node.name)
    body = _Body(around, repetition.body, _added(made, repetition, graph))
    for state in repetition.states:
        body.enter(state.given, True)
    for one, source in zip(repetition.scanned, sources, strict=True):
        body.enter(one.given, source.batched)
    results, wanted = body.run(_wanted(repetition)), _wanted(repetition)
    body.graph.set_outputs(results, _declared_results(wanted, around))
    _give_all(repetition, made, around)


def _axis(scanned: Scanned, source: Operand) -> int:
    """Where the scanned axis is with the trips first."""
    if source.fact.shape is None:
        raise Unbatchable(f"scans '{scanned.source.name}', whose rank is not known")
    return scanned.axis % len(source.fact.shape) + int(source.batched)
