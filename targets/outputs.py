"""Outputs that are all that a node gives, for targets that take nothing else for an output."""

from __future__ import annotations

from collections.abc import Iterator

from ..ir import Model, Node, Operator


def givers(model: Model) -> Iterator[Node]:
    """The nodes with several outputs of which the model gives some out as they are."""
    found = dict.fromkeys(value.producer for value in model.graph.outputs)
    yield from (node for node in found if node is not None and len(node.outputs) > 1)


def give_own_outputs(model: Model) -> list[Node]:
    """Put an Identity between such nodes and the outputs of the model; which ones these are."""
    graph, behind = model.graph, list(givers(model))
    shared = set(behind)
    slots = [
        graph.add_node(Operator("Identity"), [value], [value.name]).output()
        if value.producer in shared
        else value
        for value in graph.outputs
    ]
    if behind:
        graph.set_outputs(slots)
    return behind
