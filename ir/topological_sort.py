"""Topological sort of node messages, and the names that they read."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence

import onnx

from .attributes import graphs_in
from .dataflow_graph import Topology
from .errors import ModelError


def free_names(graph: onnx.GraphProto) -> set[str]:
    """The free names of a graph: it reads them without a definition."""
    read = {name for node in graph.node for name in _read_names(node)}
    read.update(output.name for output in graph.output)
    read.difference_update(*(node.output for node in graph.node))
    read.difference_update(value.name for value in (*graph.input, *graph.initializer))
    return read.difference(tensor.values.name for tensor in graph.sparse_initializer)


def _read_names(proto: onnx.NodeProto) -> Iterable[str]:
    """The names that a node and its bodies read outside the bodies."""
    yield from proto.input
    yield from names_in_bodies(proto)


def names_in_bodies(proto: onnx.NodeProto) -> Iterator[str]:
    """The free names of a node's bodies."""
    for attribute in proto.attribute:
        for graph in graphs_in(attribute):
            yield from filter(None, free_names(graph))


def nesting(nodes: Iterable[onnx.NodeProto]) -> int:
    """The depth of nested graphs in nodes."""
    graphs = [g for node in nodes for attribute in node.attribute for g in graphs_in(attribute)]
    return max([1 + nesting(graph.node) for graph in graphs], default=0)


def in_order(protos: Sequence[onnx.NodeProto]) -> bool:
    """Test whether each node stands after the nodes whose outputs it reads."""
    read: set[str] = set()
    for proto in protos:
        # Slices: protobuf makes a list faster than it iterates.
        read.update(proto.input[:])
        read.update(names_in_bodies(proto))
        outputs = proto.output[:]
        if not read.isdisjoint(outputs) and any(name in read for name in outputs if name):
            return False
    return True


def put_in_order(
    protos: Sequence[onnx.NodeProto], where: object, sources: Container[str] = ()
) -> list[onnx.NodeProto]:
    """Sort nodes topologically and stably.

    Args:
        protos: the nodes of one graph.
        where: the graph, as errors name it.
        sources: the names of its inputs and initializers.

    Raises:
        ModelError: the nodes form a cycle, or a name is defined twice.
    """
    producer: dict[str, int] = {}
    for index, proto in enumerate(protos):
        for name in filter(None, proto.output):
            if name in sources or producer.setdefault(name, index) != index:
                raise ModelError(f"'{name}' is defined twice in {where}; names must be unique")
    order = Topology()
    for index in range(len(protos)):
        order.insert(index)
    for index, proto in enumerate(protos):
        for name in _read_names(proto):
            source = producer.get(name)
            if source == index:
                raise ModelError(f"the nodes of {where} form a cycle through '{name}'")
            if source is not None:
                order.connect(source, index)
    try:
        return [protos[index] for index in order.ordered()]
    except ModelError as error:
        raise ModelError(f"the nodes of {where} form a cycle; no order can run them") from error
