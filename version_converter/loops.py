"""Loops of a fixed trip count, for operators that older opsets express by iteration only."""

import contextlib
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import onnx

from ..analysis.iterations.constructs import WRITTEN
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
        types: the types of the states.
        iterate: builds the body; returns the states, then the elements of the scan outputs.
        collected: the types of the elements of the scan outputs.
    """
    yes = draft.const(np.array(True), "go_on")
    labels = [*[draft.label("carried") for _ in starts], *[draft.label("all") for _ in collected]]
    loop = draft.graph.add_node(Operator("Loop"), [trip_count, yes, *starts], labels)
    body = draft.graph.add_body(loop, "body", empty_header(WRITTEN))
    scalar = onnx.helper.make_tensor_type_proto
    bool_, int64 = scalar(onnx.TensorProto.BOOL, []), scalar(onnx.TensorProto.INT64, [])
    info = onnx.helper.make_value_info
    number = body.add_input("number", info("number", int64))
    condition = body.add_input("condition", info("condition", bool_))
    states = [body.add_input("given", info("given", type_)) for type_ in types]
    with _inside(draft, body):
        going = draft.emit("Identity", [condition], "going")
        changed = iterate(body, number, states)
    news = [info("new", type_) for type_ in (*types, *collected)]
    body.set_outputs([going, *changed], [info("going", bool_), *news])
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
