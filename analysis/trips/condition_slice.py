"""The condition of a Loop's body, computed from constants trip by trip."""

from __future__ import annotations

from collections.abc import Iterator

import networkx as nx
import numpy as np

from ...ir import Node, Tensor, Value
from ..constants.evaluation import ConstructEvaluator, construct_evaluator
from ..constants.folding import Folder
from ..constants.origins import origins
from .given import given_condition, iteration_number


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
        needed: set[Node] = set()
        for vertex in self._behind():
            self.obstacle = self._take(vertex, loop, needed)
            if self.obstacle is not None:
                return
        self._nodes = [node for node in self.body.nodes() if node in needed] if needed else []

    def _behind(self) -> Iterator[Node | Value]:
        """What the condition depends on, nearest first; a carried value on its update too."""
        view = self.body.view()
        updates = dict(zip(self.body.inputs[2:], self.body.outputs[1:], strict=False))

        def before(vertex: Node | Value) -> Iterator[Node | Value]:
            if vertex in updates:
                return iter([self.body.vertex(updates[vertex])])
            return view.predecessors(vertex)

        start = self.body.vertex(self.wanted)
        yield start
        yield from (vertex for _, vertex in nx.generic_bfs_edges(view, start, before))

    def _take(self, vertex: Node | Value, loop: Node, needed: set[Node]) -> str | None:
        """Take a vertex into the slice; why that cannot be computed, None if it can."""
        value = next(filter(None, vertex.outputs)) if isinstance(vertex, Node) else vertex
        if value.constant is not None:
            return None if value.constant.is_readable else origins(value)
        if isinstance(vertex, Node):
            construct = construct_evaluator(vertex, self.folder.model)
            if construct is not None:
                self._constructs[vertex] = construct
            elif not self.folder.may_fold(vertex):
                return f"{vertex}, which is not computed beforehand"
            needed.add(vertex)
            return None
        if vertex.owner is not self.body:
            return origins(self.wanted)
        return self._enter(loop, vertex, self._inputs[vertex])

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
            for value, tensor in zip(node.outputs, results, strict=False):
                if value is not None:
                    known[value] = tensor
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
