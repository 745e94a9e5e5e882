"""Computing a construct whose inputs and captured values are all known, by the exact reference."""

from __future__ import annotations

from collections.abc import Mapping

import onnx

from ...ir import (
    Graph,
    Model,
    Node,
    Tensor,
    Value,
    captured_by,
    copy_graph,
    normal_domain,
    to_proto,
)
from ...reference import EvaluationError, Evaluator
from .randomness import draws_random_numbers, find_random

_CONSTRUCTS = ("If", "Loop", "Scan")

MAX_TRIPS = 10_000
"""A Loop inside a condition is run for so many trips at most."""


def may_evaluate(node: Node, model: Model) -> bool:
    """Whether a node is a construct or a call of a model function, free of random operators."""
    key = (normal_domain(node.domain), node.op_type, node.op.overload)
    if not (node.is_op(*_CONSTRUCTS) or key in model.functions) or node.op.references:
        return False
    inside = list(node.graphs()) + ([model.functions[key].graph] if key in model.functions else [])
    return not draws_random_numbers(node) and not any(
        find_random(graph, model.functions) for graph in inside
    )


class ConstructEvaluator:
    """One construct as a model of its own, made once and run as often as wanted."""

    def __init__(self, node: Node, model: Model) -> None:
        self.node = node
        self.reads = _reads(node)
        self._evaluator = Evaluator(to_proto(_alone(node, model, self.reads)))

    def evaluate(self, known: Mapping[Value, Tensor]) -> list[Tensor] | None:
        """The outputs; None where one is no tensor, it fails, or it might run for too long."""
        if self._is_long(known):
            return None
        feeds = {f"i{i}": known[value].numpy() for i, value in enumerate(self.reads)}
        try:
            results = self._evaluator.run(feeds)
        except EvaluationError:
            return None
        if any(result is None or isinstance(result, list) for result in results):
            return None
        return [Tensor(array=result) for result in results]

    def _is_long(self, known: Mapping[Value, Tensor]) -> bool:
        if not self.node.is_op("Loop"):
            return False
        most = self.node.input(0)
        return most is None or int(known[most].numpy().reshape(-1)[0]) > MAX_TRIPS


def _reads(node: Node) -> list[Value]:
    return list(dict.fromkeys(v for v in (*node.inputs, *captured_by(node)) if v is not None))


def _alone(node: Node, model: Model, reads: list[Value]) -> Model:
    assert node.graph is not None
    alone = Model(onnx.ModelProto(ir_version=model.ir_version))
    alone.opset_imports = dict(node.graph.root.opset_imports)
    alone.functions = dict(model.functions)
    graph: Graph = alone.graph
    inputs = {value: graph.add_input(f"i{i}") for i, value in enumerate(reads)}
    labels = ["" if v is None else v.name for v in node.outputs]
    copy = graph.add_node(node.op, [None if v is None else inputs[v] for v in node.inputs], labels)
    for attribute, bodies in node.bodies.items():
        for body in bodies:
            copy_graph(body, graph.add_body(copy, attribute, body.header), inputs)
    outputs = [v for v in copy.outputs if v is not None]
    graph.set_outputs(outputs, [onnx.ValueInfoProto(name=v.name) for v in outputs])
    return alone
