"""Construction of the body of a new Loop or Scan from that of the original."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from ...analysis.shapes.inference import ShapeInference
from ...ir import Graph, Node, Value
from ...ops.builder import Builder
from ..scans.layout import declaration
from ..vectorize.splice import drop_dead_nodes


def fact_declaration(value: Value, inference: ShapeInference) -> onnx.ValueInfoProto:
    """The facts of a value, as a declaration.

    onnxruntime requires the rank of every output of a Scan's body.
    """
    return declaration(value.name, inference.fact(value).type_proto(private=False))


def add_input(body: Graph, like: Value, inference: ShapeInference) -> Value:
    """Add an input like one of the original body."""
    return body.add_input(like.name, fact_declaration(like, inference))


def all_labels(node: Node, results: Sequence[Value], suffix: str = "") -> list[str]:
    """Labels for all outputs of a new Loop or Scan, from the original's.

    Also for outputs that the original omits: onnxruntime rejects some nodes that omit one.
    """
    outputs = [*node.outputs, *[None] * (len(results) - len(node.outputs))]
    return [
        result.name if output is None else output.name + suffix
        for output, result in zip(outputs, results, strict=True)
    ]


def set_own_outputs(
    body: Graph, results: Sequence[Value], infos: Sequence[onnx.ValueInfoProto], first: int = 0
) -> None:
    """Set the outputs of a body, each from position `first` on with its own producer.

    onnxruntime confuses inputs that a body returns unchanged, and one value in two outputs.
    """
    emitter, outputs, visited = Builder(body), list(results[:first]), set()
    for value in results[first:]:
        own = value.producer is not None and value.producer.graph is body
        if not own or value in visited:
            value = emitter.add("Identity", [value], value.name)
        visited.add(value)
        outputs.append(value)
    body.set_outputs(outputs, infos)
    clean(body)


def clean(graph: Graph) -> None:
    """Remove nodes and constants that nothing needs."""
    drop_dead_nodes(graph)
    for value in list(graph.initializers):
        if not graph.is_used(value) and value not in graph.inputs and not value.pinned:
            graph.remove_initializer(value)
