"""The body of a new Loop or Scan, made of that of the one in whose place it comes."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from ...analysis.shapes.inference import ShapeInference
from ...ir import Graph, Node, Value
from ...ops.builder import Builder
from ..scans.layout import declaration
from ..vectorize.splice import drop_unread


def declared(value: Value, inference: ShapeInference) -> onnx.ValueInfoProto:
    """What is known about a value, as a declaration. onnxruntime wants the rank of all that the
    body of a Scan gives out."""
    return declaration(value.name, inference.fact(value).type_proto(private=False))


def add_input(body: Graph, like: Value, inference: ShapeInference) -> Value:
    """An input for what an input of the original is given."""
    return body.add_input(like.name, declared(like, inference))


def all_labels(node: Node, results: Sequence[Value], suffix: str = "") -> list[str]:
    """Labels for the outputs of a new Loop or Scan, also for those that the original omits:
    onnxruntime does not load every one that omits an output.

    Args:
        node: the original.
        results: what its body gives for them.
        suffix: appended to the labels of its outputs.
    """
    outputs = [*node.outputs, *[None] * (len(results) - len(node.outputs))]
    return [
        result.name if output is None else output.name + suffix
        for output, result in zip(outputs, results, strict=True)
    ]


def give_out_own(
    body: Graph, results: Sequence[Value], infos: Sequence[onnx.ValueInfoProto], first: int = 0
) -> None:
    """Let a body give out values, from the slot `first` on each by a node of its own: onnxruntime
    mixes up what a body was given and gives out as it is, and one value in two slots."""
    emitter, given, seen = Builder(body), list(results[:first]), set()
    for value in results[first:]:
        own = value.producer is not None and value.producer.graph is body
        if not own or value in seen:
            value = emitter.add("Identity", [value], value.name)
        seen.add(value)
        given.append(value)
    body.set_outputs(given, infos)
    clean(body)


def clean(graph: Graph) -> None:
    """Remove nodes and constants that nothing needs."""
    drop_unread(graph)
    for value in list(graph.initializers):
        if not graph.is_used(value) and value not in graph.inputs and not value.pinned:
            graph.remove_initializer(value)
