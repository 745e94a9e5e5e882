"""Elementwise operators between movements, the last of which undoes the others.

r = Reshape (x, a)
t = Tanh (r)                          t = Tanh (x)
u = Mul (r, t)                 ->     u = Mul (x, t)
y = Reshape (u, shape of x)           and u in the place of y

A Transpose is a movement, too: constants among the operands are then transposed in place of the
values. Where movements keep the last axis, operators on rows count as well, as MatMul by a matrix.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ...analysis.shapes.inference import ShapeInference
from ...facts.fact import Shape
from ...facts.polynomial import product
from ...ir import Graph, Node, Operator, Value
from ...ir.operator import attribute_message
from ...ops import rules_of
from ...ops.builder import Builder

_MOST_NODES = 32
"""Limit of the nodes between two movements."""

_MOST_TRANSPOSED = 1 << 12
"""Limit of the elements of a transposed constant, which other nodes may read as it was."""


_ALONG_ROWS = ("Softmax", "LayerNormalization")
"""The operators on rows with an axis."""
_SOFTMAX_OF_ROWS = 13
"""The first opset whose Softmax is along one axis."""


class Region(NamedTuple):
    """Operators that read only moved values, and values that broadcast.

    Attributes:
        nodes: the nodes in order, each with the number of its moved operands; only the last one has
            a reader outside.
        sources: what was moved, by the moved values.
        perm: the axes of a Transpose at the end, for constants of the region; None for a reshape.
    """

    nodes: dict[Node, int]
    sources: dict[Value, Value]
    perm: Sequence[int] | None
    rank: int

    def move(self, emit: Builder) -> Value:
        """Compute the last value as it was before the movement."""
        values = dict(self.sources)
        for node, count in self.nodes.items():
            moved = [v and self._transposed(emit, values.get(v, v)) for v in node.inputs[:count]]
            operands = [*moved, *node.inputs[count:]]
            value, op = node.output(), node.op
            if node.is_op(*_ALONG_ROWS):
                op = _along_last(op)
            values[value] = emit.apply(op, operands, value.name, node.name)
        return values[node.output()]

    def _transposed(self, emit: Builder, value: Value) -> Value:
        """A constant as the movement at the end would leave it; other values as they are."""
        constant, perm = value.constant, self.perm
        if perm is None or constant is None or constant.size == 1:
            return value
        if len(constant.dims) <= _fixed(perm):
            return value
        missing = tuple(range(self.rank - len(constant.dims)))
        full = emit.unsqueeze(value, missing, value.name) if missing else value
        return emit.transpose(full, perm, value.name)


class _Ends(NamedTuple):
    """Shapes at the end of a region: before the last movement, and after it.

    Attributes:
        perm: the axes of a Transpose; None for a reshape.
        rows: true if the region may hold operators on rows.
    """

    shape: Shape
    target: Shape
    perm: Sequence[int] | None
    rows: bool

    def holds(self, own: Shape | None) -> bool:
        """Test for the shape of a value in the region.

        Transposes of values of one rank broadcast as the values do. An operator on rows changes
        their length.
        """
        if own is None or len(own) != len(self.shape):
            return False
        return (
            self.perm is not None
            or own == self.shape
            or (self.rows and own[:-1] == self.shape[:-1])
        )

    def comes_from(self, source: Shape | None, own: Shape | None) -> bool:
        """Test for a value that the last movement would move back to its source."""
        if self.perm is not None or source == self.target:
            return True
        if source is None or own is None or not self.rows:
            return False
        return source[:-1] == self.target[:-1] and source[-1:] == own[-1:]

    def broadcasts(self, value: Value, own: Shape | None) -> bool:
        """Test for a value that broadcasts after the movement as it does before."""
        if self.perm is None:
            return _broadcasts_alike(own, self.shape, self.target)
        if own is None or len(own) > len(self.perm):
            return False
        if len(own) <= _fixed(self.perm):
            return True
        constant = value.constant
        small = constant is not None and constant.is_readable and constant.size <= _MOST_TRANSPOSED
        return small or all(dim == 1 for dim in own)


class Regions:
    """Search for operators between movements of one graph.

    Args:
        source_of: function of a value that returns what it moves; None for no moved value.
        rounds: true if products of rows may round differently elsewhere.
        perm: the axes of the last movement, a Transpose; None for a reshape.
    """

    def __init__(
        self,
        graph: Graph,
        inference: ShapeInference,
        source_of: Callable[[Value], Value | None],
        rounds: bool,
        perm: Sequence[int] | None = None,
    ) -> None:
        self._graph = graph
        self._inference = inference
        self._source_of = source_of
        self._perm = perm
        self._rounds = rounds
        self._begun = 0

    def before(self, last: Node) -> Region | None:
        """The operators between a movement and earlier ones that it undoes; None without any."""
        root = last.inputs[0]
        if root is None or root.producer is None:
            return None
        shape = self._inference.fact(root).shape
        target = self._inference.fact(last.output()).shape
        if shape is None or target is None:
            return None
        rows = self._rounds and self._keeps_rows(shape, target)
        if not self._moved_operands(root.producer, rows):
            return None
        if self._perm is None and shape == target:
            return None
        if product(shape) != product(target):  # a reshape may fail, and must do so
            return None
        nodes: dict[Node, int] = {}
        moved: dict[Value, Value] = {}
        self._begun = 0
        ends = _Ends(shape, target, self._perm, rows)
        if not self._visit(root, ends, nodes, moved) or not nodes or not moved:
            return None
        fact = self._inference.fact
        if not all(ends.comes_from(fact(old).shape, fact(v).shape) for v, old in moved.items()):
            return None
        # Another reader needs the value in its present shape.
        if any(self._readers(node) - nodes.keys() for node in nodes if node is not root.producer):
            return None
        # onnxruntime fuses a Transpose with the MatMul that reads it, but not with one of a vector.
        if len(target) < 2 and any(map(_by_transposed, nodes)):
            return None
        is_last = root.producer in nodes and self._readers(root.producer) == {last}
        # The other operands stay where they are, and must not go with the region.
        if any(v and v.producer in nodes for node, own in nodes.items() for v in node.inputs[own:]):
            return None
        return Region(nodes, moved, self._perm, len(shape)) if is_last else None

    def _visit(
        self, value: Value, ends: _Ends, nodes: dict[Node, int], moved: dict[Value, Value]
    ) -> bool:
        """Collect what computes a value, operands first; false where it reads what does not fit."""
        producer, own = value.producer, self._inference.fact(value).shape
        if value in moved or producer in nodes:
            return True
        source = self._source_of(value)
        if source is not None and ends.holds(own):
            moved[value] = source
            return True
        count = 0 if producer is None else self._moved_operands(producer, ends.rows)
        if producer is None or not ends.holds(own) or not count:
            return ends.broadcasts(value, own)
        self._begun += 1
        if self._begun > _MOST_NODES:
            return False
        operands = [each for each in producer.inputs[:count] if each is not None]
        if not all(self._visit(each, ends, nodes, moved) for each in operands):
            return False
        nodes[producer] = count
        return True

    def _keeps_rows(self, shape: Shape, target: Shape) -> bool:
        """Test for a movement of whole rows."""
        if not shape or not target:
            return False
        return shape[-1] == target[-1] if self._perm is None else self._perm[-1] == len(shape) - 1

    def _moved_operands(self, node: Node, rows: bool) -> int:
        """The number of operands by whose elements, or rows, a node computes its own; else 0."""
        if node.graph is not self._graph or node.domain or node.bodies or node.op.references:
            return 0
        if len(node.outputs) != 1 or node.output().pinned:
            return 0
        if "broadcast" not in node.op.attributes and rules_of(node.op).elementwise:
            return len(node.inputs)
        return int(rows and self._is_row_wise(node))

    def _is_row_wise(self, node: Node) -> bool:
        """Test for an operator on each row of its first operand; the other ones are no rows."""
        if not node.is_op("MatMul", *_ALONG_ROWS):
            return False
        first, *others = (self._inference.fact(v).shape if v else None for v in node.inputs)
        if node.is_op("MatMul"):
            return len(others[0] or ()) == 2 and len(first or ()) > 1
        is_last = bool(first) and node.attribute("axis", -1) in (-1, len(first or ()) - 1)
        if node.is_op("Softmax"):
            return is_last and self._graph.root.opset() >= _SOFTMAX_OF_ROWS
        return is_last and all(shape is not None and len(shape) < 2 for shape in others)

    def _readers(self, node: Node | None) -> set[Node | Graph]:
        return set() if node is None else {*self._graph.users(node.output())}


def _by_transposed(node: Node) -> bool:
    """Test for a product with a matrix that a Transpose makes."""
    matrix = node.input(1) if node.is_op("MatMul") else None
    return matrix is not None and matrix.producer is not None and matrix.producer.is_op("Transpose")


def _fixed(perm: Sequence[int]) -> int:
    """The number of last axes that stay where they are."""
    last = len(perm) - 1
    return next((last - axis for axis in range(last, -1, -1) if perm[axis] != axis), len(perm))


def _along_last(op: Operator) -> Operator:
    """The operator along the last axis, whatever the rank."""
    others = [each for name, each in op.attributes.items() if name != "axis"]
    return op.with_attributes([*others, attribute_message("axis", -1)])


def _broadcasts_alike(own: Shape | None, *shapes: Shape) -> bool:
    """Test for a value that broadcasts along the last axes, which both shapes share."""
    if own is None or any(len(shape) < len(own) for shape in shapes):
        return False
    one, other = (shape[len(shape) - len(own) :] for shape in shapes)
    return one == other or all(dim == 1 for dim in own)
