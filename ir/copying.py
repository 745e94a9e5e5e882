"""Copies of graphs, functions and nodes with all their contents."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import onnx

from .errors import ModelError
from .graph import Graph
from .graph_queries import Annotation
from .kinds import takes
from .model import Function, Model
from .node import Node, Value


class Loosened(dict[int, tuple[onnx.ValueInfoProto, onnx.ValueInfoProto]]):
    """Cache of declarations without symbolic sizes, which may differ from copy to copy. Numbers
    stay: a Loop of zero iterations takes the sizes of a scan output from the declaration in its
    body.
    """

    def of(self, info: onnx.ValueInfoProto) -> onnx.ValueInfoProto:
        """The loosened form of a declaration; itself where it has no symbols."""
        if id(info) not in self:
            # The original stays alive, so that its id stays unique.
            self[id(info)] = (info, without_symbols(info))
        return self[id(info)][1]


def without_symbols(info: onnx.ValueInfoProto) -> onnx.ValueInfoProto:
    """A declaration without symbolic sizes; itself where it has none."""
    if not any(dim.dim_param for dim in dims_of(info.type)):
        return info
    loose = onnx.ValueInfoProto()
    loose.CopyFrom(info)
    for dim in dims_of(loose.type):
        if dim.dim_param:
            dim.ClearField("dim_param")
    return loose


def dims_of(type_: onnx.TypeProto) -> Sequence[onnx.TensorShapeProto.Dimension]:
    """The dimensions of the tensor inside a type; none for another kind of type."""
    tensor = _tensor_inside(type_)
    return () if tensor is None else tensor.shape.dim


def forget_shape(type_: onnx.TypeProto) -> None:
    """Drop the shape of the tensor inside a type, in place."""
    tensor = _tensor_inside(type_)
    if tensor is not None:
        tensor.ClearField("shape")


def _tensor_inside(type_: onnx.TypeProto) -> Any:
    kind = type_.WhichOneof("value")
    while kind in ("sequence_type", "optional_type"):
        type_ = getattr(type_, kind).elem_type
        kind = type_.WhichOneof("value")
    return getattr(type_, kind) if kind in ("tensor_type", "sparse_tensor_type") else None


@takes(source=Graph, target=Graph)
def copy_graph(
    source: Graph, target: Graph, mapping: Mapping[Value, Value], loosened: Loosened | None = None
) -> None:
    """Copy a graph into an empty one.

    Args:
        source: the graph to copy.
        target: an empty graph.
        mapping: the replacements of captured values.
        loosened: removes symbolic sizes from declarations of the copy; None keeps them.
    """
    values = dict(mapping)
    _copy_sources(source, target, values, loosened)
    for node in source.nodes():
        copy_node(node, target, values, loosened)
    infos = [_loose(info, loosened) for info in source.output_infos]
    target.set_outputs([values.get(v, v) for v in source.outputs], infos)
    target.value_infos = [
        values[entry] if isinstance(entry, Value) else _loose(entry, loosened)
        for entry in source.value_infos
        if not isinstance(entry, Value) or entry in values
    ]
    target.reserved |= source.reserved
    target.listed = {values[v]: place for v, place in source.listed.items() if v in values}
    copy_annotations(source.annotations, target, values)


@takes(model=Model)
def copy_model(model: Model) -> Model:
    """A copy of a model; tensors are shared.

    Raises:
        ModelError: the model has training information, which refers to its own values.
    """
    if model.training_info:
        raise ModelError("a model with training information cannot be copied by its graphs")
    header = onnx.ModelProto()
    header.CopyFrom(model.header)
    copy = Model(header, model.base_dir)
    copy.opset_imports = dict(model.opset_imports)
    copy.file, copy.data_files, copy.minima = model.file, model.data_files, model.minima
    copy.was_unsorted, copy.settled = model.was_unsorted, model.settled
    copy.functions = {key: copy_function(own) for key, own in model.functions.items()}
    copy.graph.header = model.graph.header
    copy_graph(model.graph, copy.graph, {})
    return copy  # not as a file has it: labels of a changed model may be equal


def copy_function(function: Function) -> Function:
    """A copy of a function, which belongs to no model yet."""
    copy = Function(function.stated, function.base_dir)
    copy.opset_imports = dict(function.opset_imports)
    copy_graph(function.graph, copy.graph, {})
    return copy


def _copy_sources(
    source: Graph, target: Graph, values: dict[Value, Value], loosened: Loosened | None
) -> None:
    """Copy inputs and initializers."""
    for value in source.inputs:
        info = value.info
        values[value] = target.add_input(value.name, _loose(info, loosened) if info else None)
    for value, tensor in source.initializers.items():
        if value in values:
            # An input with a default: a caller may feed another value, so it is no constant.
            target.initializers[values[value]] = tensor
        else:
            values[value] = target.add_initializer(value.name, tensor)
            _keep(value, values[value], loosened)


@takes(node=Node, target=Graph)
def copy_node(
    node: Node, target: Graph, values: dict[Value, Value], loosened: Loosened | None = None
) -> Node:
    """Copy a node with the graphs that it holds.

    Args:
        node: the node to copy.
        target: the graph that the copy goes to.
        values: the replacements of its inputs there; its outputs are added. Any other value stays
            as it is.
        loosened: removes symbolic sizes from declarations of the copy; None keeps them.
    """
    inputs = [None if v is None else values.get(v, v) for v in node.inputs]
    labels = ["" if v is None else v.name for v in node.outputs]
    copy = target.add_node(node.op, inputs, labels, node.name)
    for attribute, graphs in node.bodies.items():
        for graph in graphs:
            copy_graph(graph, target.add_body(copy, attribute, graph.header), values, loosened)
    for old, new in zip(node.outputs, copy.outputs, strict=True):
        if old is not None and new is not None:
            values[old] = new
            _keep(old, new, loosened)
    return copy


def _keep(old: Value, new: Value, loosened: Loosened | None) -> None:
    if old.info is not None:
        new.info = _loose(old.info, loosened)
    new.pinned = old.pinned


def _loose(info: onnx.ValueInfoProto, loosened: Loosened | None) -> onnx.ValueInfoProto:
    return info if loosened is None else loosened.of(info)


def copy_annotations(
    annotations: Iterable[Annotation], target: Graph, mapping: Mapping[Value, Value | None]
) -> None:
    """Copy quantization annotations to the copies of the values that they annotate."""

    def mapped(value: Value | str) -> Value | str:
        if isinstance(value, str):
            return value
        copy = mapping.get(value) or value
        copy.pinned = True
        return copy

    for value, parameters in annotations:
        target.annotations.append(
            Annotation(mapped(value), tuple((key, mapped(v)) for key, v in parameters))
        )


@takes(node=Node)
def captured_by(node: Node) -> list[Value]:
    """The values of enclosing graphs that a node's bodies use."""
    if not node.bodies:
        return []
    return [value for graph in node.graphs() for value in graph.captures()]


@takes(node=Node)
def count_nodes(node: Node) -> int:
    """A node and all nodes inside its bodies."""
    if not node.bodies:
        return 1
    return 1 + sum(count_nodes(n) for g in node.graphs() for n in g.unordered_nodes())


@takes(name=str)
def empty_header(name: str) -> onnx.GraphProto:
    """A header for a new graph."""
    return onnx.GraphProto(name=name)
