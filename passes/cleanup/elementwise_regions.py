"""Elementwise operators between two reshapes, the second of which undoes the first.

r = Reshape (x, a)
t = Tanh (r)                          t = Tanh (x)
u = Mul (r, t)                 ->     u = Mul (x, t)
y = Reshape (u, shape of x)           and u in the place of y
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ...analysis.shapes.inference import ShapeInference
from ...facts.fact import Shape
from ...facts.polynomial import product
from ...ir import Graph, Node, Value
from ...ops import rules_of
from ...ops.builder import Builder

_MOST_NODES = 32
"""Limit of the nodes between two reshapes."""


class Region(NamedTuple):
    """Operators of one shape that read only one reshaped value, and values that broadcast.

    Attributes:
        nodes: the nodes in order; only the last one has a reader outside.
        reshaped: the values that the reshapes before give.
        source: the value that these reshape.
    """

    nodes: list[Node]
    reshaped: set[Value]
    source: Value

    def move(self, graph: Graph) -> Value:
        """Compute the last value in the shape of the source."""
        emit = Builder(graph)
        values = dict.fromkeys(self.reshaped, self.source)
        for node in self.nodes:
            operands = [None if v is None else values.get(v, v) for v in node.inputs]
            value = node.output()
            values[value] = emit.apply(node.op, operands, value.name, node.name)
        return values[self.nodes[-1].output()]


class Regions:
    """Search for operators between reshapes of one graph.

    Args:
        graph: the graph.
        inference: the facts.
        source_of: function of a value that returns what it reshapes; None for no reshaped value.
    """

    def __init__(
        self,
        graph: Graph,
        inference: ShapeInference,
        source_of: Callable[[Value], Value | None],
    ) -> None:
        self._graph = graph
        self._inference = inference
        self._source_of = source_of
        self._begun = 0

    def before(self, last: Node) -> Region | None:
        """The operators between a reshape and earlier ones that it undoes; None without any."""
        root = last.inputs[0]
        if root is None or root.producer is None or not self._is_elementwise(root.producer):
            return None
        shape = self._inference.fact(root).shape
        target = self._inference.fact(last.output()).shape
        if shape is None or target is None or shape == target:
            return None
        if product(shape) != product(target):  # a reshape may fail, and must do so
            return None
        nodes: dict[Node, None] = {}
        reshaped: dict[Value, Value] = {}
        self._begun = 0
        if not self._visit(root, (shape, target), nodes, reshaped) or not nodes or not reshaped:
            return None
        sources = set(reshaped.values())
        (source,) = sources if len(sources) == 1 else (None,)
        if source is None or self._inference.fact(source).shape != target:
            return None
        # Another reader needs the value in its present shape.
        if any(self._readers(node) - nodes.keys() for node in nodes if node is not root.producer):
            return None
        is_last = root.producer in nodes and self._readers(root.producer) == {last}
        return Region([*nodes], set(reshaped), source) if is_last else None

    def _visit(
        self,
        value: Value,
        shapes: tuple[Shape, Shape],
        nodes: dict[Node, None],
        reshaped: dict[Value, Value],
    ) -> bool:
        """Collect what computes a value, operands first; false where it reads what does not fit."""
        producer, own = value.producer, self._inference.fact(value).shape
        if value in reshaped or producer in nodes:
            return True
        source = self._source_of(value)
        if source is not None and own == shapes[0]:
            reshaped[value] = source
            return True
        if producer is None or own != shapes[0] or not self._is_elementwise(producer):
            return _broadcasts_alike(own, *shapes)
        self._begun += 1
        if self._begun > _MOST_NODES:
            return False
        operands = [each for each in producer.inputs if each is not None]
        if not all(self._visit(each, shapes, nodes, reshaped) for each in operands):
            return False
        nodes[producer] = None
        return True

    def _is_elementwise(self, node: Node) -> bool:
        if node.graph is not self._graph or node.domain or node.bodies or node.op.references:
            return False
        plain = "broadcast" not in node.op.attributes and len(node.outputs) == 1
        return plain and rules_of(node.op).elementwise and not node.output().pinned

    def _readers(self, node: Node | None) -> set[Node | Graph]:
        return set() if node is None else {*self._graph.users(node.output())}


def _broadcasts_alike(own: Shape | None, *shapes: Shape) -> bool:
    """Test for a value that broadcasts along the last axes, which both shapes share."""
    if own is None or any(len(shape) < len(own) for shape in shapes):
        return False
    one, other = (shape[len(shape) - len(own) :] for shape in shapes)
    return one == other or all(dim == 1 for dim in own)
