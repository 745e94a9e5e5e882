"""Names that nodes, attributes and training read, and the topological sort by them."""

from collections.abc import Container, Iterable, Iterator, Sequence

import onnx

from .attributes import graphs_in
from .dataflow_graph import Topology
from .errors import ModelError
from .operator import Operator


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
    # All nodes first, in the order of the file, which the sort keeps where it can.
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


_Kind = onnx.AttributeProto
_GRADIENTS = ("ai.onnx.preview.training::Gradient", "ai.onnx.training::Gradient")


def named_tensors(op: Operator) -> list[str]:
    """The tensors named by an operator's attributes: `xs`, `zs` and `y` of Gradient.

    Raises:
        ModelError: an attribute holds no names.
    """
    if op.qualname not in _GRADIENTS or op.references:
        return []
    names: list[bytes] = []
    for attribute in ("xs", "zs", "y"):
        message = op.attributes.get(attribute, onnx.AttributeProto())
        if message.type not in (_Kind.UNDEFINED, _Kind.STRING, _Kind.STRINGS):
            raise ModelError(f"attribute '{attribute}' of {op} names no tensors")
        names += [*message.strings, message.s]
    try:
        return [name.decode() for name in names if name]
    except UnicodeDecodeError as error:
        raise ModelError(f"{op} names a tensor by {error.object!r}, which is not UTF-8") from error


def trained_tensors(infos: Iterable[onnx.TrainingInfoProto]) -> Iterator[str]:
    """The initializers that training assigns to: the keys of its bindings."""
    for info in infos:
        for binding in (*info.initialization_binding, *info.update_binding):
            yield binding.key


def named_tensors_of_training(infos: Iterable[onnx.TrainingInfoProto]) -> Iterator[str]:
    """The names of main graph tensors in training information: both sides of its bindings, and the
    free names of its graphs (IR specification, "TrainingInfoProto")."""
    for info in infos:
        for binding in (*info.initialization_binding, *info.update_binding):
            yield from (binding.key, binding.value)
        for graph in (info.initialization, info.algorithm):
            yield from free_names(graph)
            for node in graph.node:
                attributes = {attribute.name: attribute for attribute in node.attribute}
                yield from named_tensors(Operator(node.op_type, attributes, node.domain))
