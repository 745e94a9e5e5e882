"""The condition of a Loop's body, computed from constants trip by trip."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from ...ir import Node, Tensor, Value
from ...ir.lazy import lazy_property
from ..constants.call_results import CallResults
from ..constants.dependence import Asked, CallReads
from ..constants.evaluation import ConstructEvaluator, construct_evaluator, is_call
from ..constants.folding import Folder
from ..constants.provenance import origins
from ..shapes.alone import reads_of
from ..shapes.inference import ShapeInference
from .body_inputs import given_condition, iteration_number


class ConditionSlice:
    """The nodes of a body that its condition depends on, and their values from trip to trip.

    Args:
        loop: the node.
        folder: computes the nodes.
        wanted: follow this truth value of the body instead of its condition.

    Attributes:
        obstacle: what keeps the condition from being computed; None if nothing does.
        failure: why the condition could not be computed.
        settled: the latest trip changed nothing that the condition depends on.
    """

    def __init__(self, loop: Node, folder: Folder, wanted: Value | None = None) -> None:
        self.body = loop.body("body")
        self.wanted = wanted or self.body.outputs[0]
        self.folder = folder
        self.obstacle: str | None = None
        self.failure = ""
        self.settled = False
        self._carried: dict[Value, Tensor] = {}
        self._updates: dict[Value, Value] = {}
        self._nodes: list[Node] = []
        self._inputs = {value: index for index, value in enumerate(self.body.inputs)}
        self._counts = False  # whether the condition depends on the iteration number
        self._constructs: dict[Node, ConstructEvaluator] = {}
        self._calls = CallResults(folder, lambda: self._around)
        self._wanted_of: dict[Node, set[Value]] = {}  # of calls that are given more than is known
        needed: set[Node] = set()
        for value, before in self._behind().items():
            self.obstacle = self._take(value, before, loop, needed)
            if self.obstacle is not None:
                return
        self._nodes = [node for node in self.body.nodes() if node in needed] if needed else []

    @lazy_property
    def _around(self) -> ShapeInference:
        return ShapeInference(self.folder.model)

    def _behind(self) -> dict[Value, list[Value]]:
        """What the condition depends on, nearest first, each with what it is made of; a carried
        value of its update too."""
        reads = CallReads(self.folder.model.functions)
        updates = dict(zip(self.body.inputs[2:], self.body.outputs[1:], strict=False))
        found: dict[Value, list[Value]] = {}
        waiting = deque([self.wanted])
        while waiting:
            value = waiting.popleft()
            if value in found:
                continue
            node = value.producer if value.graph is self.body else None
            if value in updates:
                found[value] = [updates[value]]
            elif node is None or value.constant is not None:
                found[value] = []
            elif reads.calls(node):
                asked = reads.of(Asked(value, False))
                found[value] = [v for v, sizes in asked if not sizes]
            else:
                found[value] = reads_of(node)
            waiting += found[value]
        return found

    def _take(
        self, value: Value, before: Sequence[Value], loop: Node, needed: set[Node]
    ) -> str | None:
        """Take a value into the slice; why that cannot be computed, None if it can."""
        if value.constant is not None:
            return None if value.constant.is_readable else origins(value)
        if value in self._inputs:
            return self._enter(loop, value, self._inputs[value])
        node = value.producer if value.graph is self.body else None
        if node is None:
            return origins(self.wanted)
        needed.add(node)
        if is_call(node, self.folder.model) and set(before) != set(reads_of(node)):
            self._wanted_of.setdefault(node, set()).add(value)
        elif node not in self._constructs:
            construct = construct_evaluator(node, self.folder.model)
            if construct is not None:
                self._constructs[node] = construct
            elif not self.folder.may_fold(node):
                return f"{node}, which is not computed beforehand"
        return None

    def _enter(self, loop: Node, value: Value, index: int) -> str | None:
        """Take in an input of the body, a carried one with what it starts from."""
        if index < 2:
            self._counts |= index == 0
            return None
        initial = loop.input(index)
        if initial is None or initial.constant is None or not initial.constant.is_readable:
            return origins(self.wanted)
        self._carried[value] = initial.constant
        self._updates[value] = self.body.outputs[index - 1]
        return None

    def step(self, trip: int) -> bool | None:
        """Run one trip; the condition after it, None where a node could not be computed."""
        known: dict[Value, Tensor] = dict(self._carried)
        known[self.body.inputs[0]] = iteration_number(self.body, trip)
        known[self.body.inputs[1]] = given_condition(self.body, True)
        for node in self._nodes:
            results = self._compute(node, known)
            if results is None:
                self.failure = f"{node} fails, or takes more trips than are counted beforehand"
                return None
            known.update(results)
        carried = {v: new.constant or known[new] for v, new in self._updates.items()}
        self.settled = not self._counts and all(
            _is_same(tensor, self._carried[v]) for v, tensor in carried.items()
        )
        self._carried = carried
        condition = self.wanted
        tensor = condition.constant or known[condition]
        if tensor.size != 1:
            self.failure = f"'{condition.name}' has {tensor.size} elements"
            return None
        return bool(tensor.numpy().reshape(()))

    def _compute(self, node: Node, known: dict[Value, Tensor]) -> dict[Value, Tensor] | None:
        construct = self._constructs.get(node)
        results: Sequence[Tensor] | None
        if construct is not None:
            results = construct.evaluate({v: v.constant or known[v] for v in construct.reads})
        elif node in self._wanted_of:
            return self._call(node, known)
        else:
            tensors = [None if v is None else v.constant or known[v] for v in node.inputs]
            results = self.folder.fold(node, tensors)
        if results is None:
            return None
        pairs = zip(node.outputs, results, strict=False)
        return {value: tensor for value, tensor in pairs if value is not None}

    def _call(self, node: Node, known: dict[Value, Tensor]) -> dict[Value, Tensor] | None:
        """What is wanted of a call that is given more than is known."""
        wanted = self._wanted_of[node]
        elements = {v: v.constant or known.get(v) for v in node.inputs if v is not None}
        reads = self.folder.reads
        given = {
            v: tensor for v, tensor in elements.items() if tensor is not None and reads(tensor)
        }
        found = self._calls.inside(node, wanted, given, lambda: self._around, 1)
        self._calls.forget()
        return found if found.keys() == wanted else None


def _is_same(one: Tensor, other: Tensor) -> bool:
    if one is other:
        return True
    a, b = one.numpy(), other.numpy()
    return a.dtype == b.dtype and a.shape == b.shape and bool(np.array_equal(a, b))
