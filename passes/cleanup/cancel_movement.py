"""Remove changes of shape that other ones undo, and let constants tell shapes that are known.

s = Unsqueeze (x, k)
t = Tanh (s)                          y = Tanh (x)
y = Squeeze (t, k)             ->     n = Shape (y)  ...
z = Reshape (y, sizes_of_y)           and y in the place of z

Reshape, Flatten, Squeeze and Unsqueeze keep the order of the elements, so that one of them does
what several do. What a runtime is told by constants it need not compute.
"""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from ...analysis.constants.folding import Folder
from ...analysis.shapes.inference import ShapeInference
from ...facts.fact import Shape
from ...facts.polynomial import product
from ...ir import Graph, Model, Node, Value
from ...ops.builder import Builder
from ...ops.schema_queries import formal_inputs
from ..base import Pass
from ..context import PassContext
from ..utils.replace_all_uses import replace_value
from .eliminate_identities import can_give_out

_SHAPING = ("Reshape", "Flatten", "Squeeze", "Unsqueeze")
_HALF = ("Abs", "Cast", "Ceil", "Cos", "Elu", "Erf", "Exp", "Floor", "Identity", "LeakyRelu", "Log")
_UNARY = (*_HALF, "Neg", "Not", "Reciprocal", "Relu", "Sigmoid", "Sin", "Softplus", "Sqrt", "Tanh")


@dataclasses.dataclass(frozen=True)
class CancelMovement(Pass):
    """Remove changes of shape that others undo, and reshape by constants where shapes are known."""

    name: ClassVar[str] = "cancel-movement"

    def run(self, model: Model, context: PassContext) -> bool:
        """Look at every node that changes a shape, in every graph."""
        cancelling = _Cancelling(model, context.inference(model))
        changed = False
        for graph in model.graphs():
            for node in graph.nodes_of(*_SHAPING):
                if node.graph is graph:
                    changed |= cancelling.visit(graph, node)
        return changed


class _Cancelling:
    def __init__(self, model: Model, inference: ShapeInference) -> None:
        self.inference = inference
        self.fold = Folder(model).fold

    def visit(self, graph: Graph, node: Node) -> bool:
        """Do with a node what can be done; whether anything was."""
        value = node.outputs[0]
        if value is None or value.pinned or node.op.references:
            return False
        before = self._lift(graph, node)
        source = _source(graph, node)
        if source is None:
            return before
        shape, wanted = self.inference.fact(source).shape, self.inference.fact(value).shape
        if shape is None or wanted is None:
            return before
        return self._replace(graph, node, source, shape, wanted) or before

    def _replace(
        self, graph: Graph, node: Node, source: Value, shape: Shape, wanted: Shape
    ) -> bool:
        """Give the same from the source at once."""
        value, new = node.output(), None
        if product(shape) != product(wanted):  # it may fail, and must do so
            return False
        if shape == wanted:
            new = source if _may_stand_for(graph, source, value) else None
        elif _is_roundabout(node, source):
            new = _reshaped(Builder(graph, self.fold), source, shape, wanted, value.name)
        if new is None:
            return False
        replace_value(graph, value, new)
        graph.remove(node)
        return True

    def _lift(self, graph: Graph, node: Node) -> bool:
        """Let elementwise operators before a change of shape run before an earlier one, so that
        the two meet."""
        chain, value = [], node.inputs[0]
        while value is not None and (made := value.producer) is not None and made.graph is graph:
            if made.is_op(*_SHAPING):
                break
            if not made.is_op(*_UNARY) or not _only_read_by_one(graph, value):
                return False
            chain.append(made)
            value = made.inputs[0]
        else:
            return False
        if not chain or not _only_read_by_one(graph, value) or made.inputs[0] is None:
            return False
        source: Value = made.inputs[0]
        emit = Builder(graph)
        for one in reversed(chain):
            source = emit.apply(one.op, [source], one.output().name, one.name)
        last = emit.apply(made.op, [source, *made.inputs[1:]], value.name, made.name)
        graph.replace_uses(chain[0].output(), last)
        for one in (*chain, made):
            graph.remove(one)
        return True


def _may_stand_for(graph: Graph, source: Value, value: Value) -> bool:
    """Whether a graph can give one value out in the place of the other, if it has to."""
    outputs = graph.outputs
    return value not in outputs or (source not in outputs and can_give_out(graph, source))


def _is_roundabout(node: Node, source: Value) -> bool:
    """Whether other nodes lie between, or compute the shape."""
    sizes = node.input(1)
    computed = node.is_op("Reshape") and sizes is not None and sizes.constant is None
    return computed or node.inputs[0] is not source


def _reshaped(
    emit: Builder, source: Value, shape: Shape, wanted: Shape, label: str
) -> Value | None:
    """A value in another shape, by one node that constants tell what to do."""
    fewer, more = _inserted(wanted, shape), _inserted(shape, wanted)
    if fewer:
        return emit.squeeze(source, fewer, label)
    if more:
        return emit.unsqueeze(source, more, label)
    target = _told(shape, wanted)
    if target is None or formal_inputs("Reshape", emit.opset) != 2:
        return None
    return emit.add("Reshape", [source, emit.vector(target, "sizes")], label)


def _only_read_by_one(graph: Graph, value: Value) -> bool:
    return not value.pinned and len(graph.uses(value)) == 1 and value not in graph.outputs


def _source(graph: Graph, node: Node) -> Value | None:
    """What a chain of changes of shape begins with."""
    value = node.inputs[0]
    while value is not None and value.producer is not None and value.producer.graph is graph:
        if not value.producer.is_op(*_SHAPING) or value.producer.op.references:
            break
        value = value.producer.inputs[0]
    return value


def _inserted(shorter: Shape, longer: Shape) -> tuple[int, ...] | None:
    """The axes of size 1 by which one shape is longer than another; None if there is more to it."""
    found, position = [], 0
    for axis, dim in enumerate(longer):
        rest = len(longer) - axis > len(shorter) - position
        if position < len(shorter) and dim == shorter[position] and not (dim == 1 and rest):
            position += 1
        elif dim == 1 and rest:
            found.append(axis)
        else:
            return None
    return tuple(found) if position == len(shorter) else None


def _told(shape: Shape, wanted: Shape) -> tuple[int, ...] | None:
    """A shape for Reshape in constants: sizes that are known, 0 for those that stay, and -1 for one
    that follows of all others, none of which may be 0."""
    told: list[int] = []
    for axis, dim in enumerate(wanted):
        if dim.value is not None and dim.value > 0:
            told.append(dim.value)
        elif axis < len(shape) and dim == shape[axis]:
            told.append(0)
        else:
            told.append(-1)
    if told.count(-1) > 1 or (-1 in told and 0 in told):
        return None
    return tuple(told)
