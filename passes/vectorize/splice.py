"""Putting what was made beside a Loop or Scan in its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import onnx

from ...analysis.constants.folding import Folder
from ...facts.fact import Fact, is_named
from ...facts.polynomial import Dimension
from ...ir import Graph, Template, Value, captured_by
from .batched_inputs import Feeding


def is_used(graph: Graph, value: Value | None) -> bool:
    """Whether an output that may be omitted is there and read by anything."""
    return value is not None and graph.is_used(value)


def give_out(scratch: Graph, values: Sequence[Value]) -> None:
    """Let a graph give out these values."""
    scratch.set_outputs(values, [onnx.ValueInfoProto(name=value.name) for value in values])


def drop_unread(scratch: Graph) -> None:
    """Remove the nodes that were made for nothing."""
    waiting = [node for node in scratch.unordered_nodes() if not scratch.is_needed(node)]
    while waiting:
        node = waiting.pop()
        read = [v.producer for v in (*node.inputs, *captured_by(node)) if v is not None]
        scratch.remove(node)
        for made in dict.fromkeys(read):
            if made is not None and made.graph is scratch and not scratch.is_needed(made):
                waiting.append(made)


def put_in_place(
    feeding: Feeding, results: Sequence[Value | None], graph: Graph
) -> list[Value | None]:
    """Copy what was made of a feeding into the graph around the loop; the results there."""
    leave_out_unread(feeding.emit.graph, results)
    return copied(feeding, results, graph)


def leave_out_unread(scratch: Graph, results: Sequence[Value | None]) -> None:
    """Let a graph give out these values, and hold only what they are made of."""
    give_out(scratch, [value for value in results if value is not None])
    drop_unread(scratch)
    for value in list(scratch.initializers):
        if not scratch.is_used(value):
            scratch.remove_initializer(value)


def copied(feeding: Feeding, results: Sequence[Value | None], graph: Graph) -> list[Value | None]:
    """The same of a graph that gives out the results and holds nothing else."""
    scratch = feeding.emit.graph
    template = Template(scratch, graph, fold=Folder(feeding.inference.model).fold)
    made = iter(template.instantiate(list(feeding.outside)))
    return [None if value is None else next(made) for value in results]


def pass_on_facts(feeding: Feeding, placed: Sequence[Value | None]) -> dict[Value, Fact]:
    """Let what a body tells of the outputs of its Loop or Scan be known of what comes in their
    place, where nothing more can be found out.

    Args:
        feeding: what it was fed with.
        placed: what comes in the place of its outputs.

    Returns:
        the facts about these values, and about others of which more can be found out, but only
        about the number of trips.
    """
    inference, trips = feeding.inference, feeding.trip_dimension()
    found = {}
    for new, fact in zip(placed, _facts(feeding, trips), strict=False):
        if new is None or fact is None:
            continue
        found[new] = fact
        if all(is_named(dim) for dim in fact.shape or ()):
            inference.assume(new, fact)
    return found


def _facts(feeding: Feeding, trips: Dimension | None) -> Iterator[Fact | None]:
    """What the body tells of each output; None where a size other than the number of trips is not
    known by number or name."""
    repetition, inference = feeding.repetition, feeding.inference
    if repetition.node.is_op("SequenceMap"):
        return  # what it gives out are sequences
    for state in repetition.states:
        first, fact = inference.fact(state.initial), inference.fact(state.result)
        same = first.elem_type == fact.elem_type and first.shape == fact.shape
        yield Fact(fact.elem_type, fact.shape) if same and is_settled(fact) else None
    for one in repetition.stacked:
        fact = inference.fact(one.result)
        if repetition.node.is_op("Loop") and one.output is not None:  # there may be no trips
            rows = inference.fact(one.output)
            fact = Fact(rows.elem_type, None if rows.shape is None else rows.shape[1:])
        dims = list(fact.shape or ())
        axis = one.axis % (len(dims) + 1)
        dims.insert(axis, trips or inference.symbols.fresh())
        yield Fact(fact.elem_type, tuple(dims)) if is_settled(fact) else None


def is_settled(fact: Fact) -> bool:
    """Whether the type is known, and each size by number or name."""
    return bool(fact.elem_type and fact.shape is not None) and all(map(is_named, fact.shape or ()))
