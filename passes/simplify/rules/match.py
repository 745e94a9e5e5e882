"""A match of a rule in a graph, which the conditions of rules ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ....facts.fact import Fact, Shape
from ....facts.polynomial import Dimension
from ....ir import Array, Graph, Node, Value
from ....records import field, record

if TYPE_CHECKING:
    from ....analysis.shapes.inference import ShapeInference

Bound = Value | tuple[Value | None, ...] | None


@record(eq=False)  # frozen ones take three times as long to make
class Match:
    """Values, nodes and attributes that a pattern's variables stand for.

    Attributes:
        graph: the graph of the root.
        inference: the facts of values.
        values: the value of each name of the pattern; several for `xs...`, None for an absent one.
        attributes: the value of each variable for an attribute.
        nodes: the nodes, the root first.
        sizes: the size of each name in a shape.
        stars: the sizes of each `*S`.
        opset: the version of the operators.

    Examples:
        >>> import straightline as sl
        >>> class Twice(sl.Rule):
        ...     before = "(x[*S]) => (y) { a = Neg (x) y = Neg (a) }"
        ...     after = "(x[*S]) => (y) { y = Identity (x) }"
        ...     def where(self, match: sl.Match) -> bool:
        ...         return match.opset > 12
    """

    graph: Graph
    inference: ShapeInference
    values: dict[str, Bound]
    attributes: dict[str, Any]
    nodes: tuple[Node, ...]
    opset: int
    sizes: dict[str, Dimension] = field(default_factory=dict)
    stars: dict[str, Shape] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Any:
        """The value of an attribute's variable."""
        return self.attributes[name]

    def bind(self, name: str, value: Any) -> bool:
        """Set an attribute's variable of the text after; return true."""
        self.attributes[name] = value
        return True

    def value(self, name: str) -> Value:
        """The value of a variable, which must be one."""
        value = self.values[name]
        assert isinstance(value, Value), name
        return value

    def several(self, name: str) -> tuple[Value | None, ...]:
        """The values of a variable for any number of operands."""
        values = self.values[name]
        assert isinstance(values, tuple), name
        return values

    def fact(self, name: str) -> Fact:
        """The facts of a variable."""
        return self.inference.fact(self.value(name))

    def shape(self, name: str) -> Shape | None:
        """The shape of a variable; None for an unknown rank."""
        return self.fact(name).shape

    def rank(self, name: str) -> int | None:
        """The rank of a variable; None if it is unknown."""
        shape = self.shape(name)
        return None if shape is None else len(shape)

    def elem_type(self, name: str) -> int:
        """The element type of a variable as `onnx.TensorProto.DataType`; 0 if it is unknown."""
        return self.fact(name).elem_type

    def array(self, name: str) -> Array | None:
        """The elements of a constant; None for another value."""
        value = self.values[name]
        tensor = value.constant if isinstance(value, Value) else None
        if tensor is None or tensor.is_sparse or not tensor.is_readable:
            return None
        return tensor.numpy()

    def axes(self, name: str, rank: int | None) -> tuple[int, ...] | None:
        """The axes of an attribute's variable, from the front; None where the rank is unknown."""
        axes = self.attributes[name]
        if rank is None or not isinstance(axes, tuple):
            return None
        return tuple([axis + rank if axis < 0 else axis for axis in axes])
