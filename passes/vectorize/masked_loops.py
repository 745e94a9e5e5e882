"""Batching of an inner Loop whose trip count differs between outer iterations.

t = Loop (m[i], , s) <                         t = Loop (max (m), , s) <
   body = b (j, c, a) => (c2, r) {                body = b (j, c, a) => (c2, q) {
      r = Add (a, x[j])                ->            r = Add (a, x[j])
   }                                                 q = Where (j < m, r, a)
>                                                 }>

The loop runs as often as the longest one. An iteration that an outer one does not make computes
from the final state, and its results are discarded, as for the branch of an If.
"""

from __future__ import annotations

from collections.abc import Callable

import onnx

from ...facts.bounds import known
from ...facts.fact import Fact
from ...ir import Graph, Node, Value, empty_header
from ...ops.batching import Operand, Unbatchable
from ...ops.builder import Builder
from ..iteration.loop_view import LoopView, State
from ..iteration.new_bodies import own_output
from ..iteration.scan_layout import add_holder, declaration
from ..utils.select import select
from .batch_interpreter import NodeBatcher
from .if_conversion import InlineBatcher

Info = Callable[[Value, Fact, bool], onnx.ValueInfoProto]
"""The declaration of a value with the outer batch axis first, if it is batched."""


class _MaskedBody(InlineBatcher):
    """A batch interpreter of an inner body that only some outer iterations run.

    Args:
        around: the interpreter of the body around it.
        graph: the new inner body.
    """

    def __init__(self, around: NodeBatcher, graph: Graph) -> None:
        super().__init__(around, None, Builder(graph, room=around.emit.room))
        self.graph = graph

    def enter_input(self, value: Value, batched: bool, info: onnx.ValueInfoProto) -> None:
        """Add an input to the graph for one of the body's."""
        fact = self.fact(value).without_content()
        # Iterations beyond the last one of an outer iteration count on.
        self.assume(value, known(fact))
        self.operands[value] = Operand(self.graph.add_input(value.name, info), batched, fact)


def compute_masked(loop_view: LoopView, around: NodeBatcher, info: Info) -> Node:
    """Emit an inner Loop that runs as often as the longest one.

    Args:
        loop_view: the Loop, without scan outputs that are read.
        around: the interpreter of the body around it.
        info: the declaration of a batched value.

    Returns:
        the new Loop, with the final states of all outer iterations.

    Raises:
        Unbatchable: scan outputs, or a node that may fail in an iteration that is not made.
    """
    node, emit = loop_view.node, around.emit
    around.feeding.adds_loops = True
    iteration, condition = loop_view.iteration, loop_view.condition
    if any(one.output is not None for one in loop_view.scan_outputs):
        raise Unbatchable(f"holds {node}, whose number of elements varies")
    assert iteration is not None and condition is not None
    limits = _limits(loop_view, around)
    inputs = [_longest(limits, around), None]
    inputs += [around.every(state.initial) for state in loop_view.states]
    labels = [state.result.name for state in loop_view.states]
    inner = add_holder(emit.graph, node.op, {}, ["body"], inputs, labels, node.name)
    header = empty_header(loop_view.body.header.name)
    body = _MaskedBody(around, emit.graph.add_body(inner, "body", header))
    for value in (iteration, condition):
        body.enter_input(value, False, declaration(value.name, value.type))
    for state in loop_view.states:
        body.enter_input(state.argument, True, info(state.argument, _fact(state, around), True))
    number = body.operands[iteration].value
    if iteration.shape:
        number = body.emit.squeeze(number, tuple(range(len(iteration.shape))), "number")
    body.mask = body.emit.add("Less", [number, limits], "live")
    for each in loop_view.body.nodes():
        body.compute_node(each)
    results: list[Value] = []
    for state in loop_view.states:
        results.append(own_output(_kept(state, body), results, body.emit))
    body.graph.set_outputs(
        [body.operands[condition].value, *results],
        [
            declaration(condition.name, condition.type),
            *(info(state.result, _fact(state, around), True) for state in loop_view.states),
        ],
    )
    return inner


def _fact(state: State, around: NodeBatcher) -> Fact:
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
    emit, vectors = around.emit, []
    for value in (loop_view.maximum, loop_view.start):
        if value is None:
            continue
        shape = around.fact(value).shape
        if shape is None or any(dim != 1 for dim in shape):
            raise Unbatchable(f"holds {loop_view.node}, whose trip count may not be one number")
        every, axes = around.every(value), tuple(range(1, 1 + len(shape)))
        vectors.append(emit.squeeze(every, axes, value.name) if axes else every)
    if len(vectors) == 1:
        return vectors[0]
    zero = emit.integer(0, "zero")
    return emit.add("Where", [vectors[1], vectors[0], zero], "limits")


def _longest(limits: Value, around: NodeBatcher) -> Value:
    """Emit the largest trip count; 0 without outer iterations."""
    emit = around.emit
    # ReduceMax of nothing is the least integer; a 0 beside them makes it 0.
    some = emit.concat([limits, emit.vector((0,), "none")], 0, "limits")
    return emit.reduce("ReduceMax", some, (0,), "longest")
