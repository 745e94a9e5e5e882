"""Loops of a fixed trip count, for operators that older opsets express by iteration only."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import onnx

from ..ir import Graph, Operator, Value, empty_header
from .node_draft import NodeDraft

Iteration = Callable[[Graph, Value, Sequence[Value]], Sequence[Value]]
"""Builds the body: from the graph, the iteration number and the states to new states and
elements."""


def counted_loop(
    draft: NodeDraft,
    trip_count: Value,
    starts: Sequence[Value],
    types: Sequence[onnx.TypeProto],
    iterate: Iteration,
    collected: Sequence[onnx.TypeProto] = (),
) -> list[Value]:
    """The outputs of a Loop with a trip count.

    Args:
        draft: the place of the Loop.
        trip_count: the trip count.
        starts: the initial states.
        types: the types of the states.
        iterate: builds the body; returns the states, then the elements of the scan outputs.
        collected: the types of the elements of the scan outputs.
    """
    yes = draft.const(np.array(True), "go_on")
    labels = [*[draft.label("carried") for _ in starts], *[draft.label("all") for _ in collected]]
    loop = draft.graph.add_node(Operator("Loop"), [trip_count, yes, *starts], labels)
    body = draft.graph.add_body(loop, "body", empty_header("trip"))
    scalars = [
        onnx.helper.make_tensor_value_info(name, elem_type, [])
        for name, elem_type in (
            ("number", onnx.TensorProto.INT64),
            ("condition", onnx.TensorProto.BOOL),
            ("going", onnx.TensorProto.BOOL),
        )
    ]
    carried = [
        [onnx.helper.make_value_info("given", t) for t in types],
        [onnx.helper.make_value_info("new", t) for t in (*types, *collected)],
    ]
    number, condition = (body.add_input(info.name, info) for info in scalars[:2])
    states = [body.add_input(info.name, info) for info in carried[0]]
    with _inside(draft, body):
        going = draft.emit("Identity", [condition], "going")
        changed = iterate(body, number, states)
    body.set_outputs([going, *changed], [scalars[2], *carried[1]])
    draft.note(loop)
    return [loop.output(index) for index in range(len(labels))]


@contextlib.contextmanager
def _inside(draft: NodeDraft, body: Graph) -> Iterator[None]:
    """Emit into a body, whose nodes belong to the node that holds it."""
    graph, added = draft.graph, draft.added
    draft.builder.graph, draft.added = body, []
    try:
        yield
    finally:
        draft.builder.graph, draft.added = graph, added
