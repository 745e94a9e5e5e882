"""Replacement of a value by an equal one, with its declaration."""

from collections.abc import Mapping, Sequence

from ...analysis.shapes.single_node_model import reads_of
from ...ir import Graph, Node, Value


def replace_value(graph: Graph, old: Value, new: Value) -> None:
    """Replace all uses of `old` by `new`, an equal value.

    The declared type of `old` is copied where `new` has no declaration.
    """
    replace_values(graph, {old: new})


def replace_values(graph: Graph, values: Mapping[Value, Value]) -> None:
    """Replace all uses of many values at once.

    One by one, this would take quadratic time for outputs of the graph.
    """
    for old, new in values.items():
        graph.pass_declaration(old, new)
    graph.replace_all_uses(values)


def replace_outputs(graph: Graph, node: Node, results: Sequence[Value | None]) -> None:
    """Replace the outputs of a node by equal values, and remove the node.

    A result inherits a name from outside the data flow. None may stand for an output that is
    omitted or unused.
    """
    replaced: dict[Value, Value] = {}
    for old, new in zip(node.outputs, results, strict=True):
        if old is None or new is None:
            continue
        if old.pinned:
            graph.supersede(old, new)
        else:
            replaced[old] = new
    replace_values(graph, replaced)
    graph.remove(node)


def enter_constants(graph: Graph, node: Node, values: dict[Value, Value]) -> None:
    """Copy the initializers of its body that a node reads to a graph around it."""
    for value in reads_of(node):
        tensor = node.parent.initializers.get(value)
        if tensor is not None and value not in values:
            values[value] = graph.add_initializer(value.name, tensor)


def remove_hoisted(body: Graph, nodes: Sequence[Node], values: Mapping[Value, Value]) -> None:
    """Remove nodes from a body, whose readers read the hoisted ones.

    A Constant that other nodes read stays as well, since runtimes infer sizes from constants of the
    body.
    """
    for node in reversed(nodes):
        if node.is_op("Constant") and body.is_used(node.output()):
            continue
        for old in node.outputs:
            if old is not None and body.is_used(old):
                body.replace_uses(old, values[old])
        body.remove(node)
