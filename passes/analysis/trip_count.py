"""How often a Loop runs, where constants decide it.

The trip count follows from three things together (operator specification, Loop): the maximum M, the
initial condition, and the condition that the body computes. The last is found by running only those
nodes of the body that it depends on.
"""

from __future__ import annotations

import dataclasses
from typing import Literal

import numpy as np

from ...ir import Graph, Node, Tensor, Value, captured_by
from .evaluation import ConstructEvaluator, construct_evaluator
from .folding import Folder
from .origins import origins

AbsentCond = Literal["keep", "ignore", "honour"]
"""What to make of a Loop without an initial condition whose body computes one that may be false:
the specification says to ignore it, onnxruntime stops there."""


@dataclasses.dataclass(frozen=True)
class TripCount:
    """A decided number of trips, or the reason why it is not decided."""

    count: int | None
    reason: str = ""


def trip_count(
    loop: Node, folder: Folder, limit: int, absent_cond: AbsentCond = "keep"
) -> TripCount:
    """The number of trips of a Loop.

    Args:
        loop: the node.
        folder: computes nodes of the condition.
        limit: give up when a computed condition still holds after so many trips.
        absent_cond: how to read a Loop without an initial condition.
    """
    maximum, start = loop.input(0), loop.input(1)
    most = _scalar(maximum)
    first = _scalar(start)
    if (most is not None and most <= 0) or (first is not None and not first):
        return TripCount(0)
    if start is not None and first is None:
        return TripCount(None, f"its initial condition depends on {origins(start)}")
    if most == 1:
        # What the body computes is about further trips.
        return TripCount(1)
    body = loop.body("body")
    if always_holds(body) or (start is None and absent_cond == "ignore"):
        if maximum is None:
            return TripCount(None, "it never ends: it has no maximum and its condition stays true")
        if most is None:
            return TripCount(None, f"trip count depends on {origins(maximum)}")
        return TripCount(int(most))
    if start is None and maximum is not None and absent_cond == "keep":
        if most is not None and most <= limit:
            computed = _count_by_condition(loop, folder, most, limit)
            if computed.count == most:
                return computed
        return TripCount(
            None,
            "it has no initial condition but its body computes one: the specification ignores it,"
            " onnxruntime stops when it is false; choose with absent_cond=ignore or"
            " absent_cond=honour",
        )
    return _count_by_condition(loop, folder, most, limit)


def always_holds(body: Graph) -> bool:
    """Whether the body's condition is certainly true: a true constant, or the one it was given."""
    condition = behind_identities(body.outputs[0])
    if condition is body.inputs[1]:
        return True
    return bool(_scalar(condition))


def behind_identities(value: Value) -> Value:
    """What a chain of Identity nodes copies."""
    while value.producer is not None and value.producer.is_op("Identity"):
        source = value.producer.inputs[0]
        if source is None:
            break
        value = source
    return value


def _scalar(value: Value | None) -> int | None:
    if value is None or value.constant is None or value.constant.size != 1:
        return None
    return int(value.constant.numpy().reshape(()))


def _count_by_condition(loop: Node, folder: Folder, most: int | None, limit: int) -> TripCount:
    plan = _ConditionSlice(loop, folder)
    if plan.obstacle is not None:
        return TripCount(None, f"its condition depends on {plan.obstacle}")
    trips = 0
    while most is None or trips < most:
        if trips >= limit:
            return TripCount(None, f"its condition still holds after {limit} trips")
        holds = plan.step(trips)
        if holds is None:
            return TripCount(None, f"its condition cannot be computed: {plan.failure}")
        trips += 1
        if not holds:
            break
        if plan.settled:
            if most is None:
                return TripCount(None, "its condition never becomes false")
            return TripCount(most)
    maximum = loop.input(0)
    if maximum is not None and most is None:
        # Where the condition would stop is known, but the maximum may stop it before.
        return TripCount(None, f"trip count depends on {origins(maximum)}")
    return TripCount(trips)


class _ConditionSlice:
    """The nodes of a body that its condition depends on, and their values from trip to trip.

    Attributes:
        obstacle: what keeps the condition from being computed; None if nothing does.
        failure: why the condition could not be computed.
        settled: the latest trip changed nothing that the condition depends on.
    """

    def __init__(self, loop: Node, folder: Folder) -> None:
        self.body = loop.body("body")
        self.folder = folder
        self.obstacle: str | None = None
        self.failure = ""
        self.settled = False
        self._carried: dict[Value, Tensor] = {}
        self._updates: dict[Value, Value] = {}
        self._counts = False  # whether the condition depends on the iteration number
        self._constructs: dict[Node, ConstructEvaluator] = {}
        self._nodes = self._collect(loop)

    def _collect(self, loop: Node) -> list[Node]:
        inputs = {value: index for index, value in enumerate(self.body.inputs)}
        needed: set[Node] = set()
        stack = [self.body.outputs[0]]
        seen: set[Value] = set()
        while stack and self.obstacle is None:
            value = stack.pop()
            if value in seen or value.constant is not None:
                continue
            seen.add(value)
            node = value.producer
            if value in inputs:
                stack += self._enter(loop, value, inputs[value])
            elif node is None or node.graph is not self.body:
                self.obstacle = origins(value)
            elif node not in needed:
                construct = construct_evaluator(node, self.folder.model)
                if construct is not None:
                    self._constructs[node] = construct
                elif not self.folder.may_fold(node):
                    self.obstacle = f"{node}, which is not computed beforehand"
                needed.add(node)
                stack += [v for v in (*node.inputs, *captured_by(node)) if v is not None]
        return [node for node in self.body.nodes() if node in needed] if needed else []

    def _enter(self, loop: Node, value: Value, index: int) -> list[Value]:
        """Take in an input of the body; a carried value brings its update along."""
        if index < 2:
            self._counts |= index == 0
            return []
        initial = loop.input(index)
        if initial is None or initial.constant is None:
            self.obstacle = origins(initial) if initial is not None else f"'{value.name}'"
            return []
        self._carried[value] = initial.constant
        self._updates[value] = self.body.outputs[index - 1]
        return [self._updates[value]]

    def step(self, trip: int) -> bool | None:
        """Run one trip; the condition after it, None where a node could not be computed."""
        known: dict[Value, Tensor] = dict(self._carried)
        known[self.body.inputs[0]] = iteration_number(self.body, trip)
        known[self.body.inputs[1]] = given_condition(self.body, True)
        for node in self._nodes:
            results = self._compute(node, known)
            if results is None:
                self.failure = f"{node} fails"
                return None
            for value, tensor in zip(node.outputs, results, strict=False):
                if value is not None:
                    known[value] = tensor
        carried = {v: new.constant or known[new] for v, new in self._updates.items()}
        self.settled = not self._counts and all(
            _is_same(tensor, self._carried[v]) for v, tensor in carried.items()
        )
        self._carried = carried
        condition = self.body.outputs[0]
        tensor = condition.constant or known[condition]
        if tensor.size != 1:
            self.failure = f"'{condition.name}' has {tensor.size} elements"
            return None
        return bool(tensor.numpy().reshape(()))

    def _compute(self, node: Node, known: dict[Value, Tensor]) -> list[Tensor] | None:
        construct = self._constructs.get(node)
        if construct is not None:
            given = {v: v.constant or known[v] for v in construct.reads}
            return construct.evaluate(given)
        tensors = [None if v is None else v.constant or known[v] for v in node.inputs]
        return self.folder.fold(node, tensors)


def _is_same(one: Tensor, other: Tensor) -> bool:
    if one is other:
        return True
    a, b = one.numpy(), other.numpy()
    return a.dtype == b.dtype and a.shape == b.shape and bool(np.array_equal(a, b))


def iteration_number(body: Graph, trip: int) -> Tensor:
    """The iteration number as a body sees it: of the rank that it declares, else a scalar."""
    return Tensor(array=np.full(_declared_shape(body.inputs[0]), trip, np.int64))


def given_condition(body: Graph, holds: bool) -> Tensor:
    """The condition as a body sees it: of the rank that it declares, else a scalar."""
    return Tensor(array=np.full(_declared_shape(body.inputs[1]), holds, np.bool_))


def _declared_shape(value: Value) -> tuple[int, ...]:
    return (1,) * len(value.shape or ())
