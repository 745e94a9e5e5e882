"""Putting what was made beside a Loop or Scan in its place."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from ...analysis.constants.folding import Folder
from ...ir import Graph, Template, Value
from .feeding import Feeding


def is_used(graph: Graph, value: Value | None) -> bool:
    """Whether an output that may be omitted is there and read by anything."""
    return value is not None and graph.is_used(value)


def give_out(scratch: Graph, values: Sequence[Value]) -> None:
    """Let a graph give out these values."""
    scratch.set_outputs(values, [onnx.ValueInfoProto(name=value.name) for value in values])


def drop_unread(scratch: Graph) -> None:
    """Remove the nodes that were made for nothing."""
    for node in reversed(scratch.nodes()):
        if not scratch.is_needed(node):
            scratch.remove(node)


def put_in_place(
    feeding: Feeding, results: Sequence[Value | None], graph: Graph
) -> list[Value | None]:
    """Copy what was made of a feeding into the graph around the loop; the results there."""
    scratch = feeding.emit.graph
    give_out(scratch, [value for value in results if value is not None])
    drop_unread(scratch)
    for value in list(scratch.initializers):
        if not scratch.is_used(value):
            scratch.remove_initializer(value)
    template = Template(scratch, graph, fold=Folder(feeding.inference.model).fold)
    made = iter(template.instantiate(list(feeding.outside)))
    return [None if value is None else next(made) for value in results]
