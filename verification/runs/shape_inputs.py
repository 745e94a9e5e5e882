"""Which inputs steer a model: decide sizes, trips or positions, rather than being computed with.

A sample must not draw these at large: a model may take all memory or all time for it, or refuse.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import networkx as nx
import onnx

from ...ir import Operator, downstream
from ...ops import rules_of
from ...reference.signature import all_nodes

_CONTROL_FLOW = {"Loop": (0, 1), "Scan": (0,)}
"""Inputs of control flow that give trips; of a Scan 8 its lengths, and what later ones have in that
place."""

Place = tuple[int, str]
"""A name in the main graph (0) or in the function of a number."""


def steering_inputs(model: onnx.ModelProto) -> set[str]:
    """The inputs of a model that a size, a number of trips or a position may depend on.

    A name counts in all bodies alike; where it stands for two values, they are taken for one.
    """
    reader = _Reader(model)
    steering = downstream(reader.comes_from, reader.steering)
    return {info.name for info in model.graph.input if (0, info.name) in steering}


class _Reader:
    """Reads a model once.

    Attributes:
        comes_from: an edge leads from each place to one that it may have its content from.
        steering: the places that steer an operator directly.
    """

    def __init__(self, model: onnx.ModelProto) -> None:
        self.comes_from: nx.DiGraph[Place] = nx.DiGraph()
        self.steering: set[Place] = set()
        self._functions = {(f.domain, f.name): n for n, f in enumerate(model.functions, 1)}
        self._bodies = list(model.functions)
        scopes: Iterable[Sequence[onnx.NodeProto]] = [
            model.graph.node,
            *(function.node for function in model.functions),
        ]
        for scope, nodes in enumerate(scopes):
            for node in all_nodes(nodes):
                self._read(scope, node)

    def _read(self, scope: int, node: onnx.NodeProto) -> None:
        rules = rules_of(Operator(node.op_type, domain=node.domain))
        steered = _CONTROL_FLOW.get(node.op_type, rules.steered_by)
        if steered is None:
            steered = rules.sized_by
        self._steer(scope, [name for i, name in enumerate(node.input) if i in steered])
        number = self._functions.get((node.domain, node.op_type))
        graphs = [g for a in node.attribute for g in (a.g, *a.graphs) if g.output]
        if rules.reads_sizes_only:
            return
        if number is not None:
            function = self._bodies[number - 1]
            for inner, outer in zip(function.input, node.input, strict=False):
                self._link((number, inner), scope, [outer])
            for name in node.output:
                self._link((scope, name), number, function.output)
        elif node.op_type in ("Loop", "Scan") and graphs:
            self._read_repeated(scope, node, graphs[0])
        else:
            given = [*node.input, *(output.name for graph in graphs for output in graph.output)]
            for graph in graphs:
                for inner in graph.input:
                    self._link((scope, inner.name), scope, node.input)
            for name in node.output:
                self._link((scope, name), scope, given)

    def _read_repeated(self, scope: int, node: onnx.NodeProto, body: onnx.GraphProto) -> None:
        """What a Loop or Scan carries comes from before it and from the trip before."""
        results = [output.name for output in body.output]
        given = list(node.input)
        if node.op_type == "Loop":
            self._steer(scope, results[:1])  # the condition
        constants = {tensor.name for tensor in body.initializer}
        inputs = [info for info in body.input if info.name not in constants]
        if node.op_type == "Scan" and len(inputs) < len(given):
            del given[0]  # the lengths of a Scan 8
        first = 2 if node.op_type == "Loop" else 0
        carried = results[1:] if first else results
        for index, inner in enumerate(inputs[first:]):
            outer = given[first + index : first + index + 1]
            self._link((scope, inner.name), scope, [*outer, *carried[index : index + 1]])
        for index, name in enumerate(node.output):
            outer = given[first + index : first + index + 1]
            self._link((scope, name), scope, [*outer, *carried[index : index + 1]])

    def _steer(self, scope: int, names: Iterable[str]) -> None:
        places = [(scope, name) for name in names if name]
        self.steering.update(places)
        self.comes_from.add_nodes_from(places)

    def _link(self, place: Place, scope: int, names: Iterable[str]) -> None:
        self.comes_from.add_edges_from((place, (scope, name)) for name in names if name)
