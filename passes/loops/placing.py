"""Putting what was made beside a Loop or Scan in its place."""

from __future__ import annotations

from collections.abc import Sequence

import onnx

from ...analysis.constants.folding import Folder
from ...facts.fact import Fact, is_named
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


def pass_on_facts(feeding: Feeding, placed: Sequence[Value | None]) -> None:
    """Let what is known of the outputs of a Loop or Scan be known of what comes in their place,
    where nothing more can be found out.

    Args:
        feeding: what it was fed with.
        placed: what comes in the place of its outputs.
    """
    repetition, inference = feeding.repetition, feeding.inference
    axes: list[int | None] = [None] * len(repetition.states)
    axes += [one.axis for one in repetition.stacked]
    for old, new, axis in zip(repetition.node.outputs, placed, axes, strict=False):
        if old is None or new is None:
            continue
        fact = inference.fact(old)
        dims = None if fact.shape is None or not fact.elem_type else list(fact.shape)
        if dims and axis is not None:
            dims[axis] = feeding.trip_dimension() or dims[axis]
        if dims and all(is_named(dim) for dim in dims):
            inference.assume(new, Fact(fact.elem_type, tuple(dims)))
