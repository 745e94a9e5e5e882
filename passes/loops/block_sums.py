"""States that add up values of the iterations, so that a block adds a sum.

s = Add (s, v)      ->      s = Add (s, ReduceSum (vs))
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...analysis.shapes.inference import ShapeInference
from ...facts.types import PLAIN_FLOATS, PLAIN_INTEGERS
from ...ir import Graph, Node, Value
from ..iteration.dependence_graph import Write
from ..iteration.loop_view import State

"""The element types with kernels of ReduceSum in runtimes."""


def find_sums(
    states: Iterable[State], body: Graph, inference: ShapeInference, exact: bool
) -> Iterator[Write]:
    """Yield the states that only add up a value of each iteration, or subtract one.

    Args:
        states: the states.
        body: the graph of an iteration.
        inference: the facts of the model's values.
        exact: keep the order of additions of floats.
    """
    for state in states:
        node, own, fact = state.result.producer, state.argument, inference.fact(state.initial)
        if fact.shape is None or inference.fact(state.result).shape != fact.shape:
            continue
        if fact.elem_type not in (*PLAIN_FLOATS, *PLAIN_INTEGERS) or (
            exact and fact.elem_type in PLAIN_FLOATS
        ):
            continue
        term = None if node is None else _term(node, own)
        alone = body.users(own) == [node] and body.users(state.result) == [body]
        alone = alone and body.outputs.count(state.result) == 1
        if node is not None and term is not None and alone:
            yield Write(state, node, term)


def _term(node: Node, own: Value) -> Value | None:
    """The value that a node adds to a state or subtracts from it; None for another node."""
    if not node.is_op("Add", "Sub") or own not in node.inputs:
        return None
    one, other = node.inputs
    if one is other or (node.is_op("Sub") and one is not own):
        return None
    return other if one is own else one
