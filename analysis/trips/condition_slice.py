"""The condition of a Loop's body, computed from constants trip by trip."""

from __future__ import annotations

import numpy as np

from ...ir import Node, Tensor, Value, captured_by
from ..constants.evaluation import ConstructEvaluator, construct_evaluator
from ..constants.folding import Folder
from ..constants.origins import origins
from .given import given_condition, iteration_number


class ConditionSlice:
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
            if value.constant is not None and not value.constant.is_readable:
                self.obstacle = origins(value)
            if value in seen or value.constant is not None:
                continue
            seen.add(value)
            node = value.producer
            if value in inputs:
                stack += self._enter(loop, value, inputs[value])
            elif node is None or node.graph is not self.body:
                self.obstacle = origins(self.body.outputs[0])
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
        if initial is None or initial.constant is None or not initial.constant.is_readable:
            self.obstacle = origins(self.body.outputs[0])
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
