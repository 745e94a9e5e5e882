"""Apply an operator once, before a Split, instead of to each part.

    a, b = Split <axis = 2> (x, four_four)        r = Reshape (x, [0, 0, 4, 2])
    c = Reshape (a, [0, 0, 2, 2])                 t = Transpose <perm = [0, 2, 1, 3]> (r)
    d = Reshape (b, [0, 0, 2, 2])          ->     e, f = Split <axis = 1> (t, two_two)
    e = Transpose <perm = [0, 2, 1, 3]> (c)
    f = Transpose <perm = [0, 2, 1, 3]> (d)

Queries, keys and values of attention, of one product, become heads in this way.

Every part must have one reader, and all readers the same operator: a Reshape that divides the axis,
a Transpose, or an operator of one operand on each element.

Kept: heads of fewer than 16 elements that only products read. OpenVINO 2026.4 fuses the Transposes
of each operand into an attention; one of all heads takes 1.04 to 1.18 of the time for heads of 8.
"""

import math
from collections import Counter
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from ...analysis.shapes.inference import ShapeInference
from ...facts.fact import Shape
from ...facts.polynomial import Dimension
from ...facts.reason import Message
from ...ir import Graph, Model, Node, Value, normal_domain
from ...ops import rules_of
from ...ops.builder import Builder
from ...ops.schema_queries import formal_inputs
from ..base import Pass, PassContext
from ..utils.replace_all_uses import replace_values

_SHORTEST_ROW = 16
"""The fewest elements that a Transpose moves together before products: OpenVINO 2026.4 fuses the
Transposes of each operand into an attention, so that one of all heads takes 1.04 to 1.18 of the
time where a head has 8 elements; where it has 16 or 64, 0.95 to 1.0."""

_HOISTED = Message("hoisted-before-split", "operators of all parts that run once, before: {times}")


class HoistBeforeSplits(Pass):
    """Reshape, transpose or map a tensor once before a Split, instead of each part."""

    name: ClassVar[str] = "hoist-before-splits"
    keeps_facts: ClassVar[bool] = True
    works_on: ClassVar[tuple[str, ...] | None] = ("Split",)

    def run(self, model: Model, context: PassContext) -> bool:
        """Visit every Split, and the one that replaces it."""
        times = 0
        for graph in model.graphs():
            hoisting = _Hoisting(graph, context.inference(model))
            for node in graph.nodes_of("Split"):
                split: Node | None = node
                while split is not None:
                    split = hoisting.visit(split)
                    times += split is not None
        if times:
            context.remarks.add_on_model(self, model, "rewritten", _HOISTED(times=times))
        return times > 0


class _Parts(NamedTuple):
    """The parts of a Split, each with one reader.

    Attributes:
        axis: the axis, counted from the front.
    """

    source: Value
    shape: Shape
    axis: int
    sizes: list[int]
    readers: list[Node]


class _Hoisting:
    """Hoisting in one graph."""

    def __init__(self, graph: Graph, inference: ShapeInference) -> None:
        self._graph = graph
        self._inference = inference
        self._emit = Builder(graph)
        self._new: Node | None = None

    def visit(self, split: Node) -> Node | None:
        """Hoist the readers of a Split; return the new Split, or None without a change."""
        parts = self._parts(split)
        if parts is None:
            return None
        first = parts.readers[0]
        if first.is_op("Transpose"):
            results = self._transpose(parts)
        elif first.is_op("Reshape"):
            results = self._reshape(parts)
        else:
            results = self._map(parts)
        if results is None:
            return None
        old = [node.output() for node in parts.readers]
        replace_values(self._graph, dict(zip(old, results, strict=True)))
        for node in (*parts.readers, split):
            self._graph.remove(node)
        return self._new

    def _parts(self, split: Node) -> _Parts | None:
        source = split.inputs[0]
        shape = None if source is None else self._inference.fact(source).shape
        if source is None or not shape or split.op.references or len(split.outputs) < 2:
            return None
        axis = range(len(shape))[split.attribute("axis", 0)]
        sizes: list[int] = []
        readers: list[Node] = []
        for part in split.outputs:
            reader = None if part is None else self._reader(part)
            dims = None if part is None else self._inference.fact(part).shape
            size = dims[axis].value if dims else None
            if reader is None or size is None or reader.op_type != (readers or [reader])[0].op_type:
                return None
            readers.append(reader)
            sizes.append(size)
        if shape[axis] != sum(sizes):
            return None  # it may fail, and must do so
        return _Parts(source, shape, axis, sizes, readers)

    def _reader(self, part: Value) -> Node | None:
        """The only reader of a part, if it may go."""
        uses = self._graph.uses(part)
        node = uses[0].user if len(uses) == 1 and not part.pinned else None
        if not isinstance(node, Node) or node.graph is not self._graph or uses[0].position:
            return None
        if len(node.outputs) != 1 or normal_domain(node.domain) or node.bodies:
            return None
        result = node.output()
        may_go = not node.op.references and not result.pinned and self._graph.is_used(result)
        return node if may_go else None

    def _split(self, parts: _Parts, whole: Value, axis: int, sizes: Sequence[int]) -> list[Value]:
        labels = [reader.output().name for reader in parts.readers]
        values = self._emit.split(whole, sizes, axis, labels)
        self._new = values[0].producer
        return values

    def _map(self, parts: _Parts) -> list[Value] | None:
        """Map each element before the Split."""
        first = parts.readers[0]
        rules = rules_of(first.op)
        contents = [
            {name: message.SerializeToString() for name, message in node.op.attributes.items()}
            for node in parts.readers
        ]
        if not rules.elementwise or any(len(node.inputs) > 1 for node in parts.readers):
            return None
        # One draw for the whole has other numbers than one for each part.
        if rules.draws_random_numbers(first) or any(each != contents[0] for each in contents):
            return None
        whole = self._emit.add_unchecked(first.op, [parts.source], [first.output().name])[0]
        return self._split(parts, whole, parts.axis, parts.sizes)

    def _transpose(self, parts: _Parts) -> list[Value] | None:
        """Transpose in the commonest way before the Split, and the other parts after it."""
        reverse = tuple(range(len(parts.shape)))[::-1]
        orders = [tuple(node.attribute("perm", reverse)) for node in parts.readers]
        ((order, count),) = Counter(orders).most_common(1)
        if count < 2 or self._is_fused(parts.readers, parts.shape[order[-1]]):
            return None
        whole = self._emit.transpose(parts.source, order, parts.source.name)
        results = self._split(parts, whole, order.index(parts.axis), parts.sizes)
        return [
            self._emit.transpose(value, [order.index(axis) for axis in other], value.name)
            for value, other in zip(results, orders, strict=True)
        ]

    def _is_fused(self, readers: Sequence[Node], row: Dimension) -> bool:
        """Test for Transposes of short rows, which runtimes fuse into the products they feed."""
        if row.value is None or row.value >= _SHORTEST_ROW:
            return False
        users: list[Node | Graph] = [*readers]
        for user in users:  # extended while it is read
            if isinstance(user, Node) and user.is_op("Reshape", "Transpose"):
                users += self._graph.users(user.output())
            elif not isinstance(user, Node) or not user.is_op("MatMul"):
                return False
        return True

    def _reshape(self, parts: _Parts) -> list[Value] | None:
        """Divide the axis of the Split before it, if its parts are divided alike."""
        if formal_inputs("Reshape", self._emit.opset) != 2:
            return None
        shape, axis = parts.shape, parts.axis
        ends = {self._inner(parts, *each) for each in zip(parts.readers, parts.sizes, strict=True)}
        (inner,) = ends if len(ends) == 1 else (None,)
        if inner is None:
            return None
        row = (Dimension.constant(inner[-1]), *shape[axis + 1 :])[-1]
        if self._is_fused(parts.readers, row):
            return None
        sizes = [size // math.prod(inner) for size in parts.sizes]
        divided = [Dimension.constant(size) for size in (sum(sizes), *inner)]
        target = (*shape[:axis], *divided, *shape[axis + 1 :])
        numbers: list[int] = []
        for position, dim in enumerate(target):
            if dim.value is None and shape[position : position + 1] != (dim,):
                return None
            numbers.append(dim.value or 0)
        if any(dim == 0 for dim in target):
            return None  # as a constant, 0 copies a size
        operand = self._emit.vector(tuple(numbers), "shape")
        whole = self._emit.add("Reshape", [parts.source, operand], parts.source.name)
        return self._split(parts, whole, axis, sizes)

    def _inner(self, parts: _Parts, reader: Node, size: int) -> tuple[int, ...] | None:
        """The axes into which a Reshape divides that of the Split, but for the first."""
        target = self._inference.fact(reader.output()).shape
        before, after = parts.shape[: parts.axis], parts.shape[parts.axis + 1 :]
        if target is None or len(target) <= len(parts.shape):
            return None
        end = len(target) - len(after)
        if target[: parts.axis] != before or target[end:] != after:
            return None
        divided = [dim.value or 0 for dim in target[parts.axis : end]]
        return tuple(divided[1:]) if math.prod(divided) == size > 0 else None
