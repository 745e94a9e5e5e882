"""Nodes that are written otherwise where they stand: defaults, initializers, operands apart."""

from collections.abc import Iterator
from typing import NamedTuple

from ..analysis.constants.folding import Folder
from ..ir import Node, Operator, Tensor, Value
from .legality import Legality

_COMMUTE = ("Add", "Mul")


class NodeReplacement(NamedTuple):
    """A node that others replaced.

    Attributes:
        path: the place of the node.
        what: a summary of the nodes that replaced it.
    """

    op_type: str
    path: str
    what: str


def write_out(legality: Legality) -> Iterator[NodeReplacement]:
    """Write out defaults that the target needs, and constants as initializers; yield what became
    of nodes."""
    for node, defaults in list(legality.unwritten_defaults()):
        attributes = [*node.op.attributes.values(), *defaults.values()]
        node.parent.set_operator(node, node.op.with_attributes(attributes))
        yield NodeReplacement(node.op_type, node.path, f"{', '.join(defaults)} written out")
    for node, names in list(legality.written_defaults()):
        others = [m for name, m in node.op.attributes.items() if name not in names]
        node.parent.set_operator(node, node.op.with_attributes(others))
        yield NodeReplacement(node.op_type, node.path, f"{', '.join(names)} dropped, a default")
    for node, names in list(legality.absent_outputs()):
        outputs = [*node.outputs, *[None] * (len(names) - len(node.outputs))]
        labels = [v or f"{name}_unused" for v, name in zip(outputs, names, strict=True)]
        node.parent.set_node_outputs(node, labels)
        yield NodeReplacement(node.op_type, node.path, "all outputs named")
    folder = Folder(legality.model, keeps=False)
    for value in dict.fromkeys(legality.constants_to_hoist()):
        holder, graph = value.producer, value.graph
        assert holder is not None and graph is not None
        tensor = _decided(value, folder)
        if tensor is not None and len(holder.outputs) == 1:
            yield NodeReplacement(holder.op_type, holder.path, "made an initializer")
            graph.supersede(value, graph.add_initializer(value.name, tensor))
            graph.remove(holder)
    for node, index in list(legality.numbers_with_axes()):
        graph, operand = node.parent, node.input(index)
        assert operand is not None and operand.constant is not None
        number = Tensor(array=operand.constant.numpy().reshape(()))
        graph.set_input(node, index, graph.add_initializer(operand.name, number))
        yield NodeReplacement(node.op_type, node.path, "a number without axes")
    for node in list(legality.late_constants()):
        ordered = sorted(node.inputs, key=lambda value: value is None or value.constant is None)
        for index, operand in enumerate(ordered):
            node.parent.set_input(node, index, operand)
        yield NodeReplacement(node.op_type, node.path, "its constants stand first")
    for node, index in list(legality.fused_operands()):
        yield NodeReplacement(node.op_type, node.path, _set_apart(node, index, legality))


def _decided(value: Value, folder: Folder, depth: int = 4) -> Tensor | None:
    """The tensor of a constant, or of few nodes on constants, such as a DequantizeLinear."""
    node = value.producer
    if value.constant is not None or node is None or not depth or node.bodies:
        return value.constant
    tensors = [None if v is None else _decided(v, folder, depth - 1) for v in node.inputs]
    absent = [v is None for v in node.inputs]
    if [tensor is None for tensor in tensors] != absent or len(node.outputs) != 1:
        return None
    results = folder.fold(node, tensors)
    return results[0] if results else None


def _set_apart(node: Node, index: int, legality: Legality) -> str:
    """Keep a client from fusing a node with the one before it.

    Returns:
        a summary.
    """
    graph, value, other = node.parent, node.operand(index), node.input(1 - index)
    if node.is_op(*_COMMUTE):
        graph.set_input(node, index, other)
        graph.set_input(node, 1 - index, value)
        if not any(legality.is_fused(node, place) for place in (0, 1)):
            return "operands swapped"
        # The client fuses either order: back, with a node between.
        graph.set_input(node, index, value)
        graph.set_input(node, 1 - index, other)
    apart = graph.add_node(Operator("Identity"), [value], [f"{value.name}_apart"])
    graph.set_input(node, index, apart.output())
    return "an Identity before it"
