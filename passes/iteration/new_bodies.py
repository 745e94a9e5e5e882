"""Construction of the body of a new Loop or Scan from that of the original."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from ...analysis.shapes.inference import ShapeInference
from ...ir import Graph, Node, Value
from ...ops.builder import Builder
from .scan_layout import declaration
from .splice import clean


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


def own_output(value: Value, others: Sequence[Value], emit: Builder) -> Value:
    """An output of a body for a value: produced in the body, distinct from others.

    onnxruntime returns zeros for one of two outputs that are one value.
    """
    if value.producer is not None and value.graph is emit.graph and value not in others:
        return value
    return emit.add("Identity", [value], value.name)


def set_own_outputs(
    body: Graph, results: Sequence[Value], infos: Sequence[onnx.ValueInfoProto], first: int = 0
) -> None:
    """Set the outputs of a body, each from position `first` on its `own_output`."""
    emit, own = Builder(body), list[Value]()
    for value in results[first:]:
        own.append(own_output(value, own, emit))
    body.set_outputs([*results[:first], *own], infos)
    clean(body)
