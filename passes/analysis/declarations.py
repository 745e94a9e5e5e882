"""What copies declare, compared with what is inferred for them.

Exporters write down the sizes of the first trip, or of the branch that they happened to take. Such
a declaration does no harm while a Loop or an If hides it; in a copy it may stand beside types that
contradict it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import onnx

from ...ir import Graph, Node, Value
from .facts import Fact
from .shape_inference import ShapeInference


def correct_bodies(nodes: Iterable[Node], inference: ShapeInference) -> None:
    """Make the bodies of some nodes declare what is inferred, where that is something else.

    Args:
        nodes: nodes that hold graphs; those that are gone, with what was around them, do not count.
        inference: of the model that they are in.
    """
    present = set(inference.model.graphs())
    for node in nodes:
        for graph in node.graphs() if node.graph in present else ():
            for inner in graph.walk():
                _correct_graph(inner, inference)


def _correct_graph(graph: Graph, inference: ShapeInference) -> None:
    for value in _values_of(graph):
        if value.info is not None and value.constant is None:
            right = _corrected(value.info, inference.fact(value))
            if right is not value.info:
                value.type = right.type
    infos = [
        _corrected(info, inference.fact(value))
        for value, info in zip(graph.outputs, graph.output_infos, strict=True)
    ]
    graph.set_outputs(graph.outputs, infos)


def _values_of(graph: Graph) -> Iterator[Value]:
    yield from graph.inputs
    for node in graph.unordered_nodes():
        yield from (value for value in node.outputs if value is not None)


def _corrected(info: onnx.ValueInfoProto, fact: Fact) -> onnx.ValueInfoProto:
    """A declaration with the type that is inferred; itself where they can both be true."""
    if not contradicts(info.type, fact):
        return info
    right = onnx.ValueInfoProto()
    right.CopyFrom(info)
    type_ = fact.type_proto(private=False)
    assert type_ is not None
    right.type.CopyFrom(type_)
    return right


def contradicts(type_: onnx.TypeProto, fact: Fact) -> bool:
    """Whether a declared type cannot be that of a value of which a fact is known."""
    if not type_.HasField("tensor_type") or not fact.elem_type:
        return False
    tensor = type_.tensor_type
    if tensor.elem_type and tensor.elem_type != fact.elem_type:
        return True
    if not tensor.HasField("shape") or fact.shape is None:
        return False
    if len(tensor.shape.dim) != len(fact.shape):
        return True
    return any(
        declared.HasField("dim_value") and known.value not in (None, declared.dim_value)
        for declared, known in zip(tensor.shape.dim, fact.shape, strict=True)
    )
