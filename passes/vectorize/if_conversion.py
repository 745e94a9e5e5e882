"""An If whose condition differs from trip to trip, or a call of a model's own function, computed
for all trips of the loop around it: its nodes are computed as if they stood in the body.

r = If (p) <                                    a = MatMul (x, w)
   then_branch = t () => (a) {...},       ->    b = Neg (x)
   else_branch = e () => (b) {...}>             r = Where (p, a, b)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...analysis.safety.select_legality import unselectable
from ...analysis.safety.speculation import Hazard
from ...facts.bounds import Known
from ...facts.bounds import known as known_from
from ...facts.fact import UNKNOWN, Fact
from ...ir import Function, Graph, Node, Value
from ...limits import allowed, current, limit
from ...ops.batching import Operand, Unbatchable
from ..functions.binding import bind, semantic_difference
from ..utils.select import select
from .batch_interpreter import NodeBatcher

_BRANCHES = ("then_branch", "else_branch")

_DEEPEST = limit("call_depth")
"""Calls that stand deeper in each other are not entered."""

_ENTERED = 300_000
"""Steps that it takes to compute a node of a function for all trips."""


class _Entered(NodeBatcher):
    """Computes the nodes of a branch or of a function's body in the graph around it.

    What a branch declares counts for nothing, since it speaks of the trips that take it; and what a
    function declares was said of all of its calls.

    Args:
        around: computes the body around it.
        mask: on which trips the nodes run, a vector of booleans; None where on all.
    """

    def __init__(self, around: NodeBatcher, mask: Value | None) -> None:
        super().__init__(around.feeding, around.emit, around.extent, around.speculation)
        self._around = around
        self.mask = mask
        self._known: dict[Value, Known] = {}
        self._clamped: Node | None = None

    def operand_around(self, value: Value) -> Operand:
        return self._around.operand(value)

    def known(self, value: Value) -> Known:
        found = self._known.get(value)
        return self._around.known(value) if found is None else found

    def fact(self, value: Value) -> Fact:
        found = self._known.get(value)
        return self._around.fact(value) if found is None else found.fact

    def read_rows(self, node: Node) -> Value | None:
        return self._around.read_rows(node) if self._clamped is None else None

    def enter(self, value: Value, outside: Value) -> None:
        """Let an input of a function be what a call gives."""
        self.operands[value] = self._around.operand(outside)
        self._known[value] = self._around.known(outside)

    def run(self, graph: Graph) -> list[Operand]:
        """Compute all nodes; what stands for the outputs."""
        for node in graph.nodes():
            self.compute_node(node)
        return [self.operand(value) for value in graph.outputs]

    def compute_node(self, node: Node) -> None:
        if not self._enters(node):
            self._foresee(node)
        super().compute_node(node)
        self._clamped = None

    def compute_holder(self, node: Node) -> None:
        facts: Sequence[Fact]
        if node.is_op("If"):
            facts = compute_choice(node, self)
        elif not node.bodies:
            facts = compute_call(node, self)
        else:
            raise Unbatchable(f"holds {node} in a branch or function; there it stays a loop")
        for value, fact in zip(node.outputs, facts, strict=False):
            if value is not None:
                self._known[value] = known_from(fact)

    def _enters(self, node: Node) -> bool:
        return bool(node.bodies) or node.op.function_key in self.inference.model.functions

    def _foresee(self, node: Node) -> None:
        """Check that a node may run on all trips, and keep in mind what is known of its results."""
        inputs = [Known(UNKNOWN) if value is None else self.known(value) for value in node.inputs]
        try:
            results = self.speculation.run_node(node, inputs, certain=self.mask is None)
        except Hazard as hazard:
            if not self._can_clamp(node):
                raise Unbatchable(
                    f"holds an If whose condition differs from trip to trip, and {hazard}"
                ) from hazard
            self._clamped = node
            results = self.speculation.run_node(node, inputs, certain=True)
        self._known.update(
            (value, result)
            for value, result in zip(node.outputs, results, strict=False)
            if value is not None
        )

    def may_run(self, node: Node) -> bool:
        if self.mask is not None or self.extent.certain or node.is_op("Constant", "Identity"):
            return True
        inputs = [Known(UNKNOWN) if value is None else self.known(value) for value in node.inputs]
        try:
            self.speculation.run_node(node, inputs, certain=False)
        except Hazard:
            return False
        return True

    # Indices that may be wrong where a branch is not taken ---------------------------------------

    def _can_clamp(self, node: Node) -> bool:
        """Whether a node cannot fail where its indices are 0: a Gather along an axis that is not
        empty where there are trips."""
        if not node.is_op("Gather"):
            return False
        data, indices = (self.known(_input(node, index)).fact for index in (0, 1))
        axis = normal_axis(node, data)
        if data.shape is None or axis is None or indices.shape is None:
            return False
        some = self.extent.never_negative(data.shape[axis] - 1)
        return some or self._is_read_anyway(_input(node, 0), axis)

    def _is_read_anyway(self, data: Value, axis: int) -> bool:
        """Whether every trip reads an element along an axis, so that there is one."""
        return any(
            node.is_op("Gather")
            and node.input(0) is data
            and normal_axis(node, self.fact(data)) == axis
            and self.inference.fact(_input(node, 1)).shape == ()
            for node in self.feeding.repetition.body.unordered_nodes()
        )

    def operands_of(self, node: Node) -> list[Operand | None]:
        operands = super().operands_of(node)
        if node is self._clamped:
            operands[1] = self._where_taken(_input(node, 1))
        return operands

    def _where_taken(self, indices: Value) -> Operand:
        """Indices on the trips that take the branch, 0 on the others."""
        assert self.mask is not None
        given, fact = self.operand(indices), self.fact(indices).without_content()
        rank = len(fact.shape or ())
        dtype = np.int64 if fact.elem_type == 7 else np.int32
        zero = self.emit.constant(np.zeros((), dtype), "first")
        mask = self.lifted(self.mask, rank)
        value = self.emit.add("Where", [mask, given.value, zero], indices.name)
        return Operand(value, True, fact)


def normal_axis(node: Node, data: Fact) -> int | None:
    """The axis of a Gather, counted from the front; None where there is none."""
    axis, rank = node.attribute("axis", 0), len(data.shape or ())
    return axis % rank if -rank <= axis < rank else None


def _input(node: Node, index: int) -> Value:
    value = node.inputs[index]
    assert value is not None
    return value


# Ifs ---------------------------------------------------------------------------------------------


def compute_choice(node: Node, around: NodeBatcher) -> list[Fact]:
    """Compute both branches of an If for all trips, and choose on each; what is known of the
    outputs.

    Raises:
        Unbatchable: a branch may fail where it is not taken, or there is nothing to choose by.
    """
    taken = _condition(node, around)
    branches, results = [node.body(name) for name in _BRANCHES], []
    for branch, mask in zip(branches, _masks(taken, around), strict=True):
        entered = _Entered(around, mask)
        results.append(
            [
                (operand, entered.fact(value))
                for operand, value in zip(entered.run(branch), branch.outputs, strict=True)
            ]
        )
    facts = []
    for value, (one, fact), (other, fact_2) in zip(node.outputs, *results, strict=False):
        facts.append(fact.without_content())
        if value is not None:
            why = unselectable(fact, fact_2, around.emit.opset)
            if why is not None:
                raise Unbatchable(
                    f"holds {node}, whose condition differs from trip to trip and whose output"
                    f" '{value.name}' {why}"
                )
            around.require_room(node, fact)
            around.operands[value] = _chosen(value, taken, one, other, facts[-1], around)
    return facts


def _condition(node: Node, around: NodeBatcher) -> Value:
    """The condition of an If on all trips, a vector."""
    value = _input(node, 0)
    operand, shape = around.operand(value), around.fact(value).shape
    if shape is None or any(dim != 1 for dim in shape):
        raise Unbatchable(f"holds {node}, whose condition may not be of one element")
    axes = tuple(range(1, 1 + len(shape)))
    every = around.every(value) if not operand.batched else operand.value
    return around.emit.squeeze(every, axes, value.name) if axes else every


def _masks(taken: Value, around: NodeBatcher) -> list[Value]:
    """On which trips each branch runs, where the graph around it does."""
    emit, outer = around.emit, around.mask
    masks = [taken, emit.add("Not", [taken], f"{taken.name}_not")]
    if outer is None:
        return masks
    return [emit.add("And", [outer, mask], f"{taken.name}_too") for mask in masks]


def _chosen(
    value: Value, taken: Value, one: Operand, other: Operand, fact: Fact, around: NodeBatcher
) -> Operand:
    """What an If gives on each trip."""
    if one.value is other.value:
        return Operand(one.value, one.batched, fact)
    condition = around.lifted(taken, len(fact.shape or ()))
    result = select(around.emit, condition, one.value, other.value, fact.elem_type, value.name)
    return Operand(result, True, fact)


# Calls -------------------------------------------------------------------------------------------


def compute_call(node: Node, around: NodeBatcher) -> Sequence[Fact]:
    """Compute the body of the function that a node calls; what is known of the outputs.

    Raises:
        Unbatchable: the body cannot be, or means something else there.
    """
    functions, feeding = around.inference.model.functions, around.feeding
    function: Function = functions[node.op.function_key]
    reason = semantic_difference(function, node, functions) or _too_much(
        function, node, feeding.depth
    )
    if reason is not None:
        raise Unbatchable(f"holds {node}, which cannot be entered: {reason}")
    bound, entered = bind(function, node), _Entered(around, around.mask)
    if around.emit.room is not None:
        around.emit.room.admit(sum(len(graph) for graph in bound.graph.walk()))
    for value, given in zip(bound.graph.inputs, node.inputs, strict=False):
        if given is not None:
            entered.enter(value, given)
    feeding.depth += 1
    try:
        results = entered.run(bound.graph)
    finally:
        feeding.depth -= 1
    around.operands.update(
        (value, result)
        for value, result in zip(node.outputs, results, strict=False)
        if value is not None
    )
    return [entered.fact(value) for value in bound.graph.outputs]


def _too_much(function: Function, call: Node, depth: int) -> str | None:
    """Why a call is not entered although it could be: functions that call others twice stand for
    more nodes than there is time for."""
    if depth >= _DEEPEST:
        return f"it stands deeper in other calls than {allowed('call_depth')}"
    if not current().may_work(_ENTERED * len(function.graph), call):
        return "computing it for all trips takes more steps than max_work allows"
    return None
