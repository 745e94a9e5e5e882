"""The one primitive behind unrolling and inlining: copy a body into a graph, folding on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import onnx

from .errors import GraphError
from .graph import Annotation, Graph
from .node import Node
from .operator import Operator
from .tensor import Tensor
from .value import Value

Fold = Callable[[Node, Sequence[Tensor | None]], list[Tensor] | None]
"""Computes a node whose inputs are all known; None where it cannot or should not be."""


class _Step(NamedTuple):
    """One node of a body, with its values as positions in the environment of a copy."""

    node: Node
    op: Operator
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    labels: tuple[str, ...]
    keeps_values: bool


class Template:
    """A body prepared to be copied many times.

    What does not depend on the body's inputs is copied once, before the first trip, unless
    `once` is off: constants, captured values, and nodes that compute from these alone.

    Args:
        body: the graph to copy; it is not changed.
        into: where the copies go. The values that the body captures must be visible there.
        fold: called for each node whose inputs are all constants.
        stateful: nodes for which this is true are copied on each trip and never folded.
        keep_infos: whether declared types hold for the copies (not when shapes vary by trip).

    Attributes:
        added: how many nodes the copies have added, without those in their bodies.
        holders: those of them that hold graphs.
    """

    def __init__(
        self,
        body: Graph,
        into: Graph,
        *,
        fold: Fold | None = None,
        stateful: Callable[[Node], bool] = lambda node: False,
        keep_infos: bool = True,
    ) -> None:
        self.body = body
        self.into = into
        self.fold = fold
        self.keep_infos = keep_infos
        self._positions: dict[Value | None, int] = {None: 0}
        self._environment: list[Value | None] = [None]
        self._inputs = [self._position(value) for value in body.inputs]
        self._invariant: list[_Step] = []
        self._steps: list[_Step] = []
        self._plan(stateful)
        self._outputs = [self._position(value) for value in body.outputs]
        self._prepared = False
        self.added = 0
        self.holders: list[Node] = []

    def cost(self, copies: int) -> int:
        """How many nodes some copies make at most, those inside their bodies included."""
        once = sum(count_nodes(step.node) for step in self._invariant)
        each = sum(count_nodes(step.node) for step in self._steps)
        return once + copies * each if copies else 0

    def _plan(self, stateful: Callable[[Node], bool]) -> None:
        varying = set(self.body.inputs)
        for node in self.body.nodes():
            reads = {v for v in (*node.inputs, *captured_by(node)) if v is not None}
            if stateful(node) or not varying.isdisjoint(reads):
                varying.update(v for v in node.outputs if v is not None)
                self._steps.append(self._step(node))
            else:
                self._invariant.append(self._step(node))

    def _prepare(self) -> None:
        """Copy what all copies share."""
        self._prepared = True
        for value, tensor in self.body.initializers.items():
            if value.constant is not None:
                copy = self.into.add_initializer(value.name, tensor)
                copy.pinned = value.pinned
                self._environment[self._position(value)] = copy
        self._run(self._invariant, self._environment, "")

    def instantiate(self, arguments: Sequence[Value | None], suffix: str = "") -> list[Value]:
        """Copy the body once.

        Args:
            arguments: the value of each of its inputs, visible in `into`.
            suffix: appended to the labels of the copies.

        Returns:
            the values that the body gives out.

        Raises:
            GraphError: the number of arguments does not fit, or one is not visible.
        """
        if len(arguments) != len(self._inputs):
            raise GraphError(
                f"{self.body} takes {len(self._inputs)} inputs; {len(arguments)} are given"
            )
        if not self._prepared:
            self._prepare()
        environment = self._environment.copy()
        for position, value in zip(self._inputs, arguments, strict=True):
            environment[position] = value
        self._run(self._steps, environment, suffix)
        if self.body.annotations:
            copies = {v: environment[p] for v, p in self._positions.items() if v is not None}
            copy_annotations(self.body, self.into, copies)
        return [environment[position] for position in self._outputs]  # type: ignore[misc]

    def _position(self, value: Value | None) -> int:
        position = self._positions.get(value)
        if position is None:
            position = self._positions[value] = len(self._environment)
            # Until something else is bound, a value stands for itself: it is captured.
            self._environment.append(value)
        return position

    def _step(self, node: Node) -> _Step:
        labels = tuple(["" if v is None else v.name for v in node.outputs])
        for value in captured_by(node):
            self._position(value)
        return _Step(
            node,
            node.op,
            tuple([self._position(v) for v in node.inputs]),
            tuple([self._position(v) for v in node.outputs]),
            labels,
            any(v is not None and (v.pinned or _is_declared(v)) for v in node.outputs),
        )

    def _run(self, steps: list[_Step], environment: list[Value | None], suffix: str) -> None:
        add_node, fold = self.into.add_node, self.fold
        for step in steps:
            inputs = [environment[position] for position in step.inputs]
            if fold is not None:
                for value in inputs:
                    if value is not None and value.constant is None:
                        break
                else:
                    if self._fold(step, inputs, environment, suffix):
                        continue
            labels = [label + suffix if label else "" for label in step.labels]
            name = step.node.name
            self.added += 1
            node = add_node(step.op, inputs, labels, name + suffix if name else "")
            if step.node.bodies:
                self.holders.append(node)
                self._copy_bodies(step.node, node, environment)
            for position, value in zip(step.outputs, node.outputs, strict=True):
                if position:
                    environment[position] = value
            if step.keeps_values:
                self._keep_values(step.node, node)

    def _fold(
        self,
        step: _Step,
        inputs: Sequence[Value | None],
        environment: list[Value | None],
        suffix: str,
    ) -> bool:
        assert self.fold is not None
        if step.node.bodies or any(v is not None and v.pinned for v in step.node.outputs):
            return False
        tensors = self.fold(step.node, [None if v is None else v.constant for v in inputs])
        if tensors is None:
            return False
        for position, label, tensor in zip(step.outputs, step.labels, tensors, strict=False):
            if position:
                environment[position] = self.into.add_initializer(label + suffix, tensor)
        return True

    def _keep_values(self, node: Node, copy: Node) -> None:
        for old, new in zip(node.outputs, copy.outputs, strict=True):
            if old is not None and new is not None:
                new.pinned = old.pinned
                if self.keep_infos and _is_declared(old):
                    new.info = old.info
                    self.into.value_infos.append(new)

    def _copy_bodies(self, node: Node, copy: Node, environment: Sequence[Value | None]) -> None:
        mapping = {}
        for value in captured_by(node):
            new = environment[self._positions[value]]
            assert new is not None
            mapping[value] = new
        for attribute, graphs in node.bodies.items():
            for graph in graphs:
                into = copy.graph
                assert into is not None
                copy_graph(graph, into.add_body(copy, attribute, graph.header), mapping)


def _is_declared(value: Value) -> bool:
    return value.info is not None and value.info.HasField("type")


def copy_graph(source: Graph, target: Graph, mapping: dict[Value, Value]) -> None:
    """Copy a graph into an empty one; `mapping` says what captured values become."""
    mapping = dict(mapping)
    for value in source.inputs:
        mapping[value] = target.add_input(value.name, value.info)
    for value, tensor in source.initializers.items():
        if value in mapping:
            target.initializers[mapping[value]] = tensor
        else:
            mapping[value] = target.add_initializer(value.name, tensor)
            _keep(value, mapping[value])
    for node in source.nodes():
        inputs = [None if v is None else mapping.get(v, v) for v in node.inputs]
        labels = ["" if v is None else v.name for v in node.outputs]
        copy = target.add_node(node.op, inputs, labels, node.name)
        for attribute, graphs in node.bodies.items():
            for graph in graphs:
                copy_graph(graph, target.add_body(copy, attribute, graph.header), mapping)
        for old, new in zip(node.outputs, copy.outputs, strict=True):
            if old is not None and new is not None:
                mapping[old] = new
                _keep(old, new)
    target.set_outputs([mapping.get(v, v) for v in source.outputs], source.output_infos)
    target.value_infos = [
        mapping[entry] if isinstance(entry, Value) and entry in mapping else entry
        for entry in source.value_infos
        if not isinstance(entry, Value) or entry in mapping
    ]
    copy_annotations(source, target, mapping)


def _keep(old: Value, new: Value) -> None:
    new.info = old.info
    new.pinned = old.pinned


def copy_annotations(source: Graph, target: Graph, mapping: Mapping[Value, Value | None]) -> None:
    """Carry quantization annotations over to the copies of what they speak of."""

    def mapped(value: Value | str) -> Value | str:
        return value if isinstance(value, str) else (mapping.get(value) or value)

    for value, parameters in source.annotations:
        target.annotations.append(
            Annotation(mapped(value), tuple((key, mapped(v)) for key, v in parameters))
        )


def captured_by(node: Node) -> list[Value]:
    """The values from around that a node's bodies use."""
    if not node.bodies:
        return []
    return [value for graph in node.graphs() for value in graph.captures()]


def count_nodes(node: Node) -> int:
    """A node and all nodes inside its bodies."""
    if not node.bodies:
        return 1
    return 1 + sum(count_nodes(n) for g in node.graphs() for n in g.unordered_nodes())


def instantiate(
    body: Graph, into: Graph, arguments: Sequence[Value], *, fold: Fold | None = None
) -> list[Value]:
    """Copy a body into a graph once, with `arguments` for its inputs; see `Template`."""
    return Template(body, into, fold=fold).instantiate(arguments)


def empty_header(name: str) -> onnx.GraphProto:
    """A header for a graph that is made anew."""
    return onnx.GraphProto(name=name)
