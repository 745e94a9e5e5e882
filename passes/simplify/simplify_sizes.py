"""Compute sizes in fewest nodes, and none that a constant can replace.

    s = Shape (x)                      # x: float[N, S, 768]
    n = Gather (s, zero)
    m = Gather (s, one)
    t = Concat (n, m, twelve, last)                 y = Reshape (x, sizes)
    y = Reshape (x, t)                     ->       <int64[4] sizes = {0, 0, 12, 64}>

Two small tensors of integers with the same elements for all sizes are one. A vector of sizes that
is the shape of a value is its Shape. A Shape reads the first value of this shape where its own
operand is then computed for nothing: Shape (Sigmoid (x)) is Shape (x).

Kept: a Reshape with -1 where another size may be 0, one that may fail, and sizes that follow from
data.
"""

from collections import ChainMap
from collections.abc import Hashable, Iterable, MutableMapping, Sequence
from typing import ClassVar, NamedTuple

import onnx

from ...analysis.iterations.zero_iterations import ElementsOfBodies
from ...analysis.shapes.inference import ShapeInference
from ...facts.fact import Fact, Shape, decided, vector
from ...facts.reason import Message
from ...ir import Graph, Model, Node, Tensor, Value, normal_domain
from ...ops import OperatorRules, rules_of
from ...ops.builder import Builder
from ..base import Pass, PassContext
from ..utils.replace_all_uses import replace_values
from .size_operands import set_constant_sizes

_PARTS = 15
"""From this opset on, Shape may read a part of the axes."""

_SHORTER = Message("sizes", "sizes that a constant or an equal value replaces: {count}")


class SimplifySizes(Pass):
    """Compute sizes in fewest nodes, and let constants replace them where these suffice."""

    name: ClassVar[str] = "simplify-sizes"
    keeps_facts: ClassVar[bool] = True
    works_on: ClassVar[tuple[str, ...] | None] = ("Shape", "Size")

    def run(self, model: Model, context: PassContext) -> bool:
        """Visit all nodes that compute or read sizes, outer graphs before the bodies in them."""
        inference = context.inference(model)
        sizes = _Sizes(inference, ElementsOfBodies(model, inference))
        sizes.visit(model.graph, {})
        nodes = sizes.apply()
        if sizes.constants or nodes:
            what = _SHORTER(count=sizes.constants + nodes)
            context.remarks.add_on_model(self, model, "rewritten", what)
        return sizes.constants + nodes > 0


class _Sizes:
    """The sizes of one model.

    Attributes:
        constants: the number of operands that became constants.
    """

    def __init__(self, inference: ShapeInference, elements: ElementsOfBodies) -> None:
        self.constants = 0
        self._elements = elements
        self._inference = inference
        self._followed: set[Value] = set()
        self._same: dict[Graph, dict[Value, Value]] = {}

    def visit(self, graph: Graph, first: MutableMapping[Hashable, Value]) -> None:
        """Visit a graph and its bodies.

        Args:
            first: the first value of each content, in this graph and in those around it.
        """
        shapes = _Shapes(graph, self._inference)
        shapes.add(graph.inputs)
        outputs = set(graph.outputs)
        followed = self._followed
        for node in graph.nodes():
            for body in node.graphs() if node.bodies else ():
                if self._elements.stay(body):
                    # A body reads values around it; what it computes is not seen there.
                    self.visit(body, ChainMap({}, first))
            reads = not followed.isdisjoint(node.inputs)
            if reads and node.is_op("Reshape", "Expand", "Slice"):
                self.constants += set_constant_sizes(graph, node, self._inference)
                reads = not followed.isdisjoint(node.inputs)
            if (reads or node.is_op("Shape", "Size")) and _is_followed(node):
                self._merge(graph, node, first, shapes, outputs)
            shapes.add(node.outputs)

    def apply(self) -> int:
        """Replace values by equal ones, and return their number."""
        for graph, same in self._same.items():
            replace_values(graph, same)
            for value in same:
                assert value.producer is not None
                graph.remove(value.producer)
        return sum(map(len, self._same.values()))

    def _merge(
        self,
        graph: Graph,
        node: Node,
        first: MutableMapping[Hashable, Value],
        shapes: "_Shapes",
        outputs: set[Value],
    ) -> None:
        """Find an equal value of a node's output."""
        value = node.output()
        fact = self._inference.fact(value)
        if fact.content is not None:
            self._followed.add(value)
        key = _content_key(fact)
        if key is None or value.pinned or not graph.is_used(value):
            return
        array = decided(fact)
        if value in outputs:  # which would need an Identity to be another's
            if array is None:
                other = shapes.value_of(node, fact)
            else:
                other = graph.add_initializer(value.name, Tensor(array=array))
            if other is not None:
                self._same.setdefault(graph, {})[value] = other
            return
        if array is not None:
            first.setdefault(key, graph.add_initializer(value.name, Tensor(array=array)))
        other = first.get(key)
        if other is None:
            other = shapes.value_of(node, fact)
            first[key] = other or value
            if other is not None:
                self._followed.add(other)
        if other is not None:
            self._same.setdefault(graph, {})[value] = other


def _is_followed(node: Node) -> bool:
    """Test for an operator of ONNX's own with rules for the content of its output."""
    if len(node.outputs) != 1 or node.outputs[0] is None or normal_domain(node.domain):
        return False
    return not node.op.references and rules_of(node.op).defines(OperatorRules.content)


def _content_key(fact: Fact) -> Hashable | None:
    """The key of content that is the same for all sizes; None where an element is open."""
    if fact.content is None or not fact.elem_type:
        return None
    elements = tuple(fact.content.reshape(-1).tolist())
    for element in elements:
        if element is None:
            return None
    return fact.elem_type, fact.content.shape, elements


class _Part(NamedTuple):
    """Axes of a value, from `start` to before `end`."""

    value: Value
    start: int
    end: int


class _Shapes:
    """The shapes of the values of one graph."""

    def __init__(self, graph: Graph, inference: ShapeInference) -> None:
        self._graph = graph
        self._inference = inference
        self._has_parts = graph.root.opset() >= _PARTS
        self._parts: dict[Shape, _Part] = {}
        self._new: list[tuple[Value, Shape]] = []  # those whose parts nobody asked for yet
        self._seen: set[Fact] = set()

    def add(self, values: Iterable[Value | None]) -> None:
        """Add the shapes of values, which no earlier one may depend on."""
        for value in values:
            fact = None if value is None else self._inference.fact(value)
            if value is None or fact is None or fact in self._seen:
                continue
            self._seen.add(fact)
            shape = fact.shape or ()
            for dim in shape:
                if dim.value is None:
                    self._new.append((value, shape))
                    break

    def _part(self, sizes: Shape) -> _Part | None:
        """The first part of a shape with some sizes."""
        parts = self._parts
        for value, shape in self._new:
            rank = len(shape)
            for start in range(rank if self._has_parts else 1):
                for end in range(start + 1 if self._has_parts else rank, rank + 1):
                    parts.setdefault(shape[start:end], _Part(value, start, end))
        self._new.clear()
        return parts.get(sizes)

    def value_of(self, node: Node, fact: Fact) -> Value | None:
        """A new Shape with the elements of a node's output; None where it saves no node."""
        elements = vector(fact)
        if elements is None or fact.elem_type != onnx.TensorProto.INT64:
            return None
        part = self._part(tuple(elements))
        saves = self._frees_operand if node.is_op("Shape") else self._is_last_reader
        if part is None or part.value is node.input(0):
            return None
        if not (node.is_op("Concat") or saves(node)):
            return None
        start = {"start": part.start} if part.start else {}
        end = {"end": part.end} if part.end < len(self._inference.fact(part.value).dims) else {}
        emit = Builder(self._graph)
        return emit.add("Shape", [part.value], node.output().name, **start, **end)

    def _frees_operand(self, node: Node) -> bool:
        """Test for a Shape of a value of which nothing else is read."""
        value = node.input(0)
        if value is None or value.producer is None or value in self._graph.outputs:
            return False
        return all(
            isinstance(user, Node) and user.is_op("Shape", "Size")
            for user in self._graph.users(value)
        )

    def _is_last_reader(self, node: Node) -> bool:
        """Test for a node without which another one would be dead."""
        values: Sequence[Value | None] = node.inputs
        computed = [v for v in values if v is not None and v.producer and v.constant is None]
        return any(len(self._graph.users(value)) == 1 for value in computed)
