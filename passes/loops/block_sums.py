"""States that add up values of the iterations, so that a block adds a sum.

s = Add (s, v)      ->      s = Add (s, ReduceSum (vs))
"""

from __future__ import annotations

from typing import NamedTuple

import onnx

from ...analysis.shapes.inference import ShapeInference
from ...facts.fact import Fact
from ...ir import Node, Value
from ...ops.batching import Unbatchable
from ..vectorize.loop_view import LoopView, State

_FLOATS = (onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE)
_TYPES = (*_FLOATS, onnx.TensorProto.INT32, onnx.TensorProto.INT64)
"""The element types with kernels of ReduceSum in runtimes."""


class BlockSum(NamedTuple):
    """A state that adds up, or subtracts, a value of each iteration.

    Attributes:
        state: the state.
        node: the Add or Sub.
        term: the value of the iteration.
        fact: the fact of the state.
    """

    state: State
    node: Node
    term: Value
    fact: Fact


def read_sums(loop_view: LoopView, inference: ShapeInference, exact: bool) -> list[BlockSum]:
    """The sums that the states of a loop are.

    Args:
        loop_view: the Loop or Scan.
        inference: the facts of the model's values.
        exact: keep the order of additions of floats.

    Raises:
        Unbatchable: a state that is something else.
    """
    return [_read_sum(state, loop_view, inference, exact) for state in loop_view.states]


def _read_sum(
    state: State, loop_view: LoopView, inference: ShapeInference, exact: bool
) -> BlockSum:
    node, body, own = state.result.producer, loop_view.body, state.argument
    fact = inference.fact(state.initial).without_content()
    term = None if node is None else _term(node, own)
    alone = term is not None and body.users(own) == [node] and body.users(state.result) == [body]
    if node is None or term is None or not alone or body.outputs.count(state.result) > 1:
        raise Unbatchable(f"carries '{own.name}' from block to block")
    if fact.shape is None or inference.fact(state.result).shape != fact.shape:
        raise Unbatchable(f"carries '{own.name}', whose shape may change")
    if fact.elem_type not in _TYPES or (exact and fact.elem_type in _FLOATS):
        raise Unbatchable(f"carries '{own.name}', a sum of numbers that may round in another order")
    return BlockSum(state, node, term, fact)


def _term(node: Node, own: Value) -> Value | None:
    """The value that a node adds to a state or subtracts from it; None for another node."""
    if not node.is_op("Add", "Sub") or own not in node.inputs:
        return None
    one, other = node.inputs
    if one is other or (node.is_op("Sub") and one is not own):
        return None
    return other if one is own else one
