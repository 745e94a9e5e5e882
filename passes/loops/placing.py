"""Putting what was made beside a Loop or Scan in its place."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import onnx

from ...analysis.constants.folding import Folder
from ...ir import Graph, Node, Template, Value
from .feeding import Feeding


@dataclasses.dataclass(frozen=True)
class Placed:
    """What was made, where the loop was.

    Attributes:
        results: what stands for each of the results; None where there was none.
        holders: the nodes among it that hold graphs.
    """

    results: list[Value | None]
    holders: list[Node]


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


def put_in_place(feeding: Feeding, results: Sequence[Value | None], graph: Graph) -> Placed:
    """Copy what was made of a feeding into the graph around the loop."""
    scratch = feeding.emit.graph
    give_out(scratch, [value for value in results if value is not None])
    drop_unread(scratch)
    for value in list(scratch.initializers):
        if not scratch.is_used(value):
            scratch.remove_initializer(value)
    template = Template(scratch, graph, fold=Folder(feeding.inference.model).fold)
    made = iter(template.instantiate(list(feeding.outside)))
    placed = [None if value is None else next(made) for value in results]
    return Placed(placed, list(template.holders))
