"""States that grow by rows, and the tensor of all rows around the loop."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Collection, Iterator, Sequence

from ...analysis.safety.speculation import Speculation
from ...analysis.shapes.inference import ShapeInference
from ...analysis.shapes.nonzero_iterations import runs_certainly
from ...facts.polynomial import Dimension
from ...ir import Graph, Node, Value, captured_by
from ...ops.batching import Operand, Unbatchable
from ..iteration.batched_inputs import Feeding
from ..iteration.dependence_graph import DependenceGraph, Vertex
from ..iteration.induction_variables import is_invariant
from ..iteration.loop_view import LoopView, State
from ..iteration.splice import set_results, splice
from ..utils.stacked_rows import concat_rows
from ..vectorize.residual_loop import PRODUCTS, ResidualOutputs, ResidualPlan, rebuild


@dataclasses.dataclass(frozen=True)
class GrowingState:
    """A state to which each iteration appends rows.

    Attributes:
        state: the state.
        node: the Concat.
        row: the appended rows.
        axis: their axis, not negative.
        start: the number of rows before the loop.
        step: the number of rows that an iteration appends.
    """

    state: State
    node: Node
    row: Value
    axis: int
    start: Dimension
    step: int


@dataclasses.dataclass(frozen=True)
class AllRows:
    """Values around the loop for a state that grows.

    Attributes:
        rows: all rows, those before the loop first.
        start: the number of rows before the loop, int64 of shape [1].
        places: the positions of all rows.
        total: their number, int64 of shape [1].
    """

    rows: Value
    start: Value
    places: Value
    total: Value


def growing_states(loop_view: LoopView, inference: ShapeInference) -> list[GrowingState]:
    """The states whose rows no state decides that grows, and that the body reads."""
    growing = list(_growing(loop_view, inference))
    needed = {each: _needed(loop_view, [each]) for each in growing}
    states = {each.state for each in growing}
    # Layers go one after the other: rows that need another growing state wait for it.
    return [each for each in growing if needed[each].isdisjoint(states)]


def _growing(loop_view: LoopView, inference: ShapeInference) -> Iterator[GrowingState]:
    body = loop_view.body
    for state in loop_view.states if loop_view.iteration is not None else ():
        node, shape = state.result.producer, inference.fact(state.initial).shape
        if node is None or node.graph is not body or not node.is_op("Concat") or not shape:
            continue
        if len(node.inputs) != 2 or node.input(0) is not state.argument:
            continue
        if state.argument.pinned or state.result.pinned or node.op.references:
            continue
        reads = len(body.uses(state.argument)) + len(body.uses(state.result))
        row, axis = node.inputs[1], node.attribute("axis") % len(shape)
        own = None if row is None else inference.fact(row).shape
        step = own[axis].value if own and len(own) == len(shape) else None
        if row is not None and step and reads > 2:
            yield GrowingState(state, node, row, axis, shape[axis], step)


def _needed(loop_view: LoopView, growing: Sequence[GrowingState]) -> set[Vertex]:
    """The nodes and states that compute rows."""
    free = [state for state in loop_view.states if is_invariant(state)]
    dependences = DependenceGraph(loop_view, (), free)
    needed = set[Vertex]()
    waiting = [dependences.maker(each.row) for each in growing]
    while waiting:
        vertex = waiting.pop()
        if vertex is not None and vertex not in needed:
            needed.add(vertex)
            waiting += [dependences.maker(value) for value in dependences.reads(vertex)]
    return needed


def emit_all_rows(
    graph: Graph, loop_view: LoopView, growing: Sequence[GrowingState], inference: ShapeInference
) -> tuple[list[AllRows], dict[Value, Value]]:
    """Emit a Loop of the appended rows, and all rows of each state.

    Returns:
        the rows of each state, and those of further values of the body that take a while.

    Raises:
        Unbatchable: rows whose size varies, or is not known.
    """
    feeding = Feeding(loop_view, inference)
    speculation = Speculation(inference, inference.model.functions)
    certain = runs_certainly(loop_view.node, speculation.outside)
    residual = ResidualOutputs(loop_view, feeding, certain)
    stacked = [residual.operand(each.row) for each in growing]
    needed = _needed(loop_view, growing)
    shared = dict(_shared(loop_view, needed, residual))
    emit, results = feeding.emit, list[Value]()
    for each, rows in zip(growing, stacked, strict=True):
        results += _emit_whole(each, rows, feeding)
    set_results(emit.graph, [*results, *shared.values()])
    rebuild(ResidualPlan(residual, needed, {}))
    copies = [value for value in splice(feeding, emit.graph.outputs, graph) if value is not None]
    last = len(copies) - len(shared)
    rows_of = [AllRows(*copies[at : at + 4]) for at in range(0, last, 4)]
    return rows_of, dict(zip(shared, copies[last:], strict=True))


def _emit_whole(each: GrowingState, rows: Operand, feeding: Feeding) -> list[Value]:
    """Emit the fields of AllRows."""
    emit, initial = feeding.emit, feeding.same(each.state.initial).value
    joined = concat_rows(rows.value, each.axis, rows.fact.shape or (), emit)
    whole = emit.concat([initial, joined], each.axis, each.state.argument.name)
    start, total = (
        emit.size(value, each.axis, label)
        for value, label in ((initial, "start"), (whole, "total"))
    )
    return [whole, start, feeding.numbers(total), total]


def _shared(
    loop_view: LoopView, needed: Collection[Vertex], residual: ResidualOutputs
) -> Iterator[tuple[Value, Value]]:
    """The values with products that the rows need, and that the body needs besides."""
    body, heavy = loop_view.body, set[Node | Value]()
    for node in body.nodes():
        if node not in needed:
            continue
        if node.bodies or node.is_op(*PRODUCTS, "Softmax") or any(v in heavy for v in reads(node)):
            heavy.update(value for value in node.outputs if value is not None)
        for value in node.outputs:
            others = [use for use in body.uses(value) if use.user not in needed] if value else ()
            if value is None or value not in heavy or not others:
                continue
            with contextlib.suppress(Unbatchable):  # its size varies
                yield value, residual.operand(value).value


def reads(node: Node) -> list[Value]:
    """The values that a node reads, also in its bodies."""
    return [value for value in (*node.inputs, *captured_by(node)) if value is not None]
