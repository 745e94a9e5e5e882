"""Concatenate tensors instead of stacking them along an axis that goes again.

    a = Unsqueeze (x, one)   b = Unsqueeze (z, one)
    s = Concat <axis = 1> (a, b)                       ->      y = Concat <axis = 1> (x, z)
    y = Reshape (s, [2, 6])                                    u = Neg (z)
    t = Gather <axis = 1> (s, 1)   u = Neg (t)

The Reshape must merge the new axis with the one after it, of a known size, and the Gather take one
tensor.

Kept: stacks along the last axis or before an open size, and run-time indices.
"""

from collections.abc import Sequence
from typing import ClassVar

from ...analysis.shapes.inference import ShapeInference
from ...facts.fact import Shape, integers
from ...facts.reason import Message
from ...ir import Graph, Model, Node, Value
from ...ops.builder import Builder
from ...records import record
from ..base import Pass, PassContext
from ..utils.replace_all_uses import replace_value

_FLAT = Message("flat-stack", "readers of stacked tensors that read the tensors: {readers}")


class FlattenStacks(Pass):
    """Concatenate or read tensors that are stacked along an axis that goes again."""

    name: ClassVar[str] = "flatten-stacks"
    keeps_facts: ClassVar[bool] = True
    works_on: ClassVar[tuple[str, ...] | None] = ("Concat",)

    def run(self, model: Model, context: PassContext) -> bool:
        """Visit the Concat nodes of every graph."""
        readers = 0
        for graph in model.graphs():
            for node in graph.nodes_of("Concat"):
                stack = _stack_of(graph, node, context.inference(model))
                readers += 0 if stack is None else stack.flatten()
        if readers:
            context.remarks.add_on_model(self, model, "rewritten", _FLAT(readers=readers))
        return readers > 0


@record(frozen=True)
class _Stack:
    """A Concat of tensors along an axis of size 1.

    Attributes:
        result: what the Concat makes.
        tensors: the tensors without the axis.
    """

    graph: Graph
    result: Value
    tensors: Sequence[Value]
    axis: int
    inference: ShapeInference

    def flatten(self) -> int:
        """Let readers read the tensors, and return their number."""
        users = [user for user in self.graph.users(self.result) if isinstance(user, Node)]
        return sum(self._take(user) or self._join(user, len(users)) for user in users)

    def _take(self, node: Node) -> bool:
        """Replace a Gather of one tensor by the tensor."""
        place = node.input(1)
        if not node.is_op("Gather") or place is None or node.op.references:
            return False
        index, rank = integers(self.inference.fact(place)), len(self._shape)
        if index is None or index.ndim or node.attribute("axis", 0) % rank != self.axis:
            return False
        count, value = len(self.tensors), node.output()
        if not -count <= index.item() < count or value.pinned or value in self.graph.outputs:
            return False
        replace_value(self.graph, value, self.tensors[index.item()])
        self.graph.remove(node)
        return True

    def _join(self, node: Node, users: int) -> bool:
        """Replace a Reshape that merges the axis with the next one by a Concat."""
        if not node.is_op("Reshape") or node.input(0) is not self.result or node.output().pinned:
            return False
        shape, axis, value = self._shape, self.axis, node.output()
        merged = (*shape[:axis], *[a * b for a, b in [shape[axis : axis + 2]]], *shape[axis + 2 :])
        # A stack with other readers stays, and a second Concat would copy the tensors again.
        if users > 1 or self.result in self.graph.outputs or shape[axis + 1].value is None:
            return False
        if self.inference.fact(value).shape != merged:
            return False
        new = Builder(self.graph).concat(self.tensors, axis, value.name)
        replace_value(self.graph, value, new)
        self.graph.remove(node)
        return True

    @property
    def _shape(self) -> Shape:
        return self.inference.fact(self.result).dims


def _stack_of(graph: Graph, node: Node, inference: ShapeInference) -> _Stack | None:
    """The stack that a Concat makes; None for another one."""
    result = node.output()
    shape = inference.fact(result).shape
    if not shape or node.op.references or result.pinned:
        return None
    axis = node.attribute("axis", 1)
    if not -len(shape) <= axis < len(shape) - 1 or axis == -1:
        return None
    tensors = [_without(value, axis % len(shape), inference) for value in node.inputs]
    if len(tensors) < 2 or None in tensors:
        return None
    operands = [tensor for tensor in tensors if tensor is not None]
    return _Stack(graph, result, operands, axis % len(shape), inference)


def _without(value: Value | None, axis: int, inference: ShapeInference) -> Value | None:
    """The tensor that has an axis of size 1 more in a value."""
    node = None if value is None else value.producer
    if value is None or node is None or not node.is_op("Unsqueeze", "Reshape"):
        return None
    source, shape = node.input(0), inference.fact(value).shape
    if source is None or shape is None or node.op.references or shape[axis] != 1:
        return None
    return source if inference.fact(source).shape == shape[:axis] + shape[axis + 1 :] else None
