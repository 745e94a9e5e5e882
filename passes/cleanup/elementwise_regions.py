"""Elementwise operators between movements, the last of which undoes the others.

r = Reshape (x, a)
t = Tanh (r)                          t = Tanh (x)
u = Mul (r, t)                 ->     u = Mul (x, t)
y = Reshape (u, shape of x)           and u in the place of y

A Transpose is a movement, too: constants among the operands are then transposed in place of the
values.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...analysis.shapes.inference import ShapeInference
from ...facts.fact import Shape
from ...facts.polynomial import product
from ...ir import Graph, Node, Value
from ...ops import rules_of
from ...ops.builder import Builder

_MOST_NODES = 32
"""Limit of the nodes between two movements."""

_MOST_TRANSPOSED = 1 << 12
"""Limit of the elements of a transposed constant, which other nodes may read as it was."""


class Region(NamedTuple):
    """Operators that read only moved values, and values that broadcast.

    Attributes:
        nodes: the nodes in order; only the last one has a reader outside.
        sources: what was moved, by the moved values.
        perm: the axes of a Transpose at the end, for constants of the region; None for a reshape.
        rank: the rank of the values.
    """

    nodes: list[Node]
    sources: dict[Value, Value]
    perm: Sequence[int] | None
    rank: int

    def move(self, emit: Builder) -> Value:
        """Compute the last value as it was before the movement."""
        values = dict(self.sources)
        for node in self.nodes:
            operands = [None if v is None else values.get(v, v) for v in node.inputs]
            if self.perm is not None:
                operands = [v and self._transposed(emit, v, self.perm) for v in operands]
            value = node.output()
            values[value] = emit.apply(node.op, operands, value.name, node.name)
        return values[self.nodes[-1].output()]

    def _transposed(self, emit: Builder, value: Value, perm: Sequence[int]) -> Value:
        if value.constant is None or value.constant.size == 1:
            return value
        missing = tuple(range(self.rank - len(value.constant.dims)))
        full = emit.unsqueeze(value, missing, value.name) if missing else value
        return emit.transpose(full, perm, value.name)


class _Ends(NamedTuple):
    """Shapes at the end of a region: before the last movement, and after it."""

    shape: Shape
    target: Shape
    perm: Sequence[int] | None

    def holds(self, own: Shape | None) -> bool:
        """Test for the shape of a value in the region.

        Transposes of values of one rank broadcast as the values do.
        """
        if self.perm is None:
            return own == self.shape
        return own is not None and len(own) == len(self.perm)

    def broadcasts(self, value: Value, own: Shape | None) -> bool:
        """Test for a value that broadcasts after the movement as it does before."""
        if self.perm is None:
            return _broadcasts_alike(own, self.shape, self.target)
        if own is None or len(own) > len(self.perm):
            return False
        constant = value.constant
        small = constant is not None and constant.is_readable and constant.size <= _MOST_TRANSPOSED
        return small or all(dim == 1 for dim in own)


class Regions:
    """Search for operators between movements of one graph.

    Args:
        inference: the facts.
        source_of: function of a value that returns what it moves; None for no moved value.
        perm: the axes of the last movement, a Transpose; None for a reshape.
    """

    def __init__(
        self,
        graph: Graph,
        inference: ShapeInference,
        source_of: Callable[[Value], Value | None],
        perm: Sequence[int] | None = None,
    ) -> None:
        self._graph = graph
        self._inference = inference
        self._source_of = source_of
        self._perm = perm
        self._begun = 0

    def before(self, last: Node) -> Region | None:
        """The operators between a movement and earlier ones that it undoes; None without any."""
        root = last.inputs[0]
        if root is None or root.producer is None or not self._is_elementwise(root.producer):
            return None
        shape = self._inference.fact(root).shape
        target = self._inference.fact(last.output()).shape
        if shape is None or target is None:
            return None
        if self._perm is None and shape == target:
            return None
        if product(shape) != product(target):  # a reshape may fail, and must do so
            return None
        nodes: dict[Node, None] = {}
        moved: dict[Value, Value] = {}
        self._begun = 0
        ends = _Ends(shape, target, self._perm)
        if not self._visit(root, ends, nodes, moved) or not nodes or not moved:
            return None
        if self._perm is None and any(
            self._inference.fact(source).shape != target for source in moved.values()
        ):
            return None
        # Another reader needs the value in its present shape.
        if any(self._readers(node) - nodes.keys() for node in nodes if node is not root.producer):
            return None
        is_last = root.producer in nodes and self._readers(root.producer) == {last}
        return Region([*nodes], moved, self._perm, len(shape)) if is_last else None

    def _visit(
        self, value: Value, ends: _Ends, nodes: dict[Node, None], moved: dict[Value, Value]
    ) -> bool:
        """Collect what computes a value, operands first; false where it reads what does not fit."""
        producer, own = value.producer, self._inference.fact(value).shape
        if value in moved or producer in nodes:
            return True
        source = self._source_of(value)
        if source is not None and ends.holds(own):
            moved[value] = source
            return True
        if producer is None or not ends.holds(own) or not self._is_elementwise(producer):
            return ends.broadcasts(value, own)
        self._begun += 1
        if self._begun > _MOST_NODES:
            return False
        operands = [each for each in producer.inputs if each is not None]
        if not all(self._visit(each, ends, nodes, moved) for each in operands):
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
