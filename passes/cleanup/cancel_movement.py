"""Cancel movements that undo each other, and make known target shapes constant.

s = Unsqueeze (x, k)
t = Tanh (s)                          y = Tanh (x)
y = Squeeze (t, k)             ->     n = Shape (y)  ...
z = Reshape (y, sizes_of_y)           and y in the place of z

Reshape, Flatten, Squeeze and Unsqueeze keep the order of the elements, so one of them replaces
several. So does a Transpose that moves only axes of size 1 past others. Transposes around
elementwise operators cancel, too.

Kept: a reshape that may fail because its sizes are not known to fit, a value with another reader,
a reshape by constants of such a value, and shapes with two run-time sizes that do not keep their
axes.
"""

from __future__ import annotations

from typing import ClassVar

from ...analysis.constants.folding import Folder
from ...analysis.shapes.inference import ShapeInference
from ...facts.fact import Shape
from ...facts.notions import Equality
from ...facts.polynomial import product
from ...ir import Graph, Model, Node, Value
from ...ops.builder import Builder
from ...ops.schema_queries import formal_inputs
from ...records import record
from ..base import Pass, PassContext
from ..utils.legality import can_be_output
from ..utils.replace_all_uses import replace_value
from .elementwise_regions import Regions

_SHAPING = ("Reshape", "Flatten", "Squeeze", "Unsqueeze")
_MOVING = (*_SHAPING, "Transpose")
_HALF = ("Abs", "Cast", "Ceil", "Cos", "Elu", "Erf", "Exp", "Floor", "Identity", "LeakyRelu", "Log")
_UNARY = (*_HALF, "Neg", "Not", "Reciprocal", "Relu", "Sigmoid", "Sin", "Softplus", "Sqrt", "Tanh")


@record(frozen=True)
class CancelMovement(Pass):
    """Cancel reshapes that undo each other, and reshape by constants where shapes are known.

    Options:
        exactness: the notion of equality that outputs must keep; over the reals, movements also
            cancel around operators on rows: MatMul by one matrix, Softmax, LayerNormalization.
    """

    name: ClassVar[str] = "cancel-movement"
    keeps_facts: ClassVar[bool] = True
    exactness: Equality = "bits"

    def run(self, model: Model, context: PassContext) -> bool:
        """Visit every node that changes a shape, in every graph."""
        cancelling = _Cancelling(model, context.inference(model), self.exactness == "reals")
        changed = False
        for graph in model.graphs():
            for node in graph.nodes_of(*_MOVING):
                if node.graph is graph:
                    changed |= cancelling.visit(graph, node)
        return changed


class _Cancelling:
    def __init__(self, model: Model, inference: ShapeInference, rounds: bool) -> None:
        self.inference = inference
        self.rounds = rounds
        self.fold = Folder(model).fold

    def visit(self, graph: Graph, node: Node) -> bool:
        """Simplify one node, and return whether it changed."""
        value = node.outputs[0]
        if value is None or value.pinned:
            return False
        if not self._keeps_order(node):
            return self._turn_back(graph, node)

        def source_of(value: Value) -> Value | None:
            first = value.producer
            own = first is not None and first.graph is graph and self._keeps_order(first)
            return self._source(graph, first) if first is not None and own else None

        if self._bypass(graph, node, Regions(graph, self.inference, source_of, self.rounds)):
            return True
        before = self._lift(graph, node)
        source = self._source(graph, node)
        if source is None:
            return before
        shape, target = self.inference.fact(source).shape, self.inference.fact(value).shape
        if shape is None or target is None:
            return before
        return self._replace(graph, node, source, shape, target) or before

    def _replace(
        self, graph: Graph, node: Node, source: Value, shape: Shape, target: Shape
    ) -> bool:
        """Compute the same directly from the source."""
        value, new = node.output(), None
        if shape == target:
            new = source if _may_stand_for(graph, source, value) else None
        elif _is_roundabout(node, source) and not self._stays(graph, node):
            if product(shape) != product(target):  # it may fail, and must do so
                return False
            new = _reshape(Builder(graph, self.fold), source, shape, target, value.name)
        if new is None:
            return False
        replace_value(graph, value, new)
        graph.remove(node)
        return True

    def _stays(self, graph: Graph, node: Node) -> bool:
        """Test for a reshape by constants of one that has other readers.

        OpenVINO 2026.4 takes 1.03 of the time where both read one tensor in GPT-2 with a past, and
        1.00 where one reads the other; onnxruntime 1.32 takes 0.60 either way.
        """
        before, sizes = node.inputs[0], node.input(1)
        by_constants = not node.is_op("Reshape") or sizes is None or sizes.constant is not None
        users = [] if before is None or not by_constants else graph.users(before)
        return any(
            not isinstance(user, Node) or user.graph is not graph or not self._keeps_order(user)
            for user in users
        )

    def _keeps_order(self, node: Node) -> bool:
        """Test for a node that changes no order of elements."""
        operator = node.op.qualname
        if operator not in _MOVING or node.op.references:
            return False
        if operator != "Transpose" or node.inputs[0] is None:
            return True
        shape = self.inference.fact(node.inputs[0]).shape
        if shape is None:
            return False
        axes = range(len(shape))
        perm = node.attribute("perm", axes[::-1])
        moved = [axis for axis in perm if axis in axes and shape[axis].value != 1]
        return moved == [axis for axis in axes if shape[axis].value != 1]

    def _source(self, graph: Graph, node: Node) -> Value | None:
        """The source of a chain of reshapes."""
        value = node.inputs[0]
        while value is not None and value.producer is not None and value.producer.graph is graph:
            if not self._keeps_order(value.producer):
                break
            value = value.producer.inputs[0]
        return value

    def _turn_back(self, graph: Graph, node: Node) -> bool:
        """Compute operators before Transposes that this Transpose undoes."""
        perm = node.attribute("perm", None)
        if not node.is_op("Transpose") or node.op.references or perm is None:
            return False
        if sorted(perm) != [*range(len(perm))]:
            return False
        inverse = [perm.index(axis) for axis in range(len(perm))]

        def turns(one: Node | Graph | None, axes: list[int]) -> bool:
            if not isinstance(one, Node) or one is node or one.graph is not graph:
                return False
            plain = one.is_op("Transpose") and not one.op.references
            return plain and bool(one.attribute("perm", None) == axes)

        def source_of(value: Value) -> Value | None:
            first = value.producer
            if first is not None and turns(first, inverse):
                return first.inputs[0]
            # A shortcut around a convolution is there in the other order, too.
            others = (user for user in graph.users(value) if turns(user, perm))
            return next((user.output() for user in others if isinstance(user, Node)), None)

        return self._bypass(
            graph, node, Regions(graph, self.inference, source_of, self.rounds, perm)
        )

    def _bypass(self, graph: Graph, node: Node, regions: Regions) -> bool:
        """Compute operators as their operands were before a movement that this node undoes."""
        region = regions.before(node)
        if region is None:
            return False
        replace_value(graph, node.output(), region.move(Builder(graph, self.fold)))
        for one in (node, *reversed(region.nodes)):
            graph.remove(one)
        return True

    def _lift(self, graph: Graph, node: Node) -> bool:
        """Move elementwise operators before an earlier reshape, so that the two reshapes meet."""
        chain, value = [], node.inputs[0]
        while value is not None and (first := value.producer) is not None and first.graph is graph:
            if self._keeps_order(first):
                break
            # For another reader the operator would run a second time, in the other shape.
            if not first.is_op(*_UNARY) or not _only_read_by_one(graph, value):
                return False
            chain.append(first)
            value = first.inputs[0]
        else:
            return False
        if not chain or not _only_read_by_one(graph, value) or first.inputs[0] is None:
            return False
        source: Value = first.inputs[0]
        emit = Builder(graph)
        for one in reversed(chain):
            source = emit.apply(one.op, [source], one.output().name, one.name)
        last = emit.apply(first.op, [source, *first.inputs[1:]], value.name, first.name)
        graph.replace_uses(chain[0].output(), last)
        for one in (*chain, first):
            graph.remove(one)
        return True


def _may_stand_for(graph: Graph, source: Value, value: Value) -> bool:
    """Test whether the source may replace the value, as an output of the graph too."""
    outputs = graph.outputs
    return value not in outputs or (source not in outputs and can_be_output(graph, source))


def _is_roundabout(node: Node, source: Value) -> bool:
    """Test for nodes in between, or nodes that compute the shape."""
    sizes = node.input(1)
    computed = node.is_op("Reshape") and sizes is not None and sizes.constant is None
    return computed or node.inputs[0] is not source


def _reshape(emit: Builder, source: Value, shape: Shape, target: Shape, label: str) -> Value | None:
    """Emit one reshape by constants; None where no operator can."""
    fewer, more = _unit_axes(target, shape), _unit_axes(shape, target)
    if fewer:
        return emit.squeeze(source, fewer, label)
    if more:
        return emit.unsqueeze(source, more, label)
    sizes = _reshape_sizes(shape, target)
    if sizes is None or formal_inputs("Reshape", emit.opset) != 2:
        return None
    return emit.add("Reshape", [source, emit.vector(sizes, "sizes")], label)


def _only_read_by_one(graph: Graph, value: Value) -> bool:
    return not value.pinned and len(graph.uses(value)) == 1 and value not in graph.outputs


def _unit_axes(shorter: Shape, longer: Shape) -> tuple[int, ...] | None:
    """The axes of size 1 by which one shape is longer than another; None if they differ
    otherwise."""
    axes, position = [], 0
    for axis, dim in enumerate(longer):
        rest = len(longer) - axis > len(shorter) - position
        if position < len(shorter) and dim == shorter[position] and not (dim == 1 and rest):
            position += 1
        elif dim == 1 and rest:
            axes.append(axis)
        else:
            return None
    return tuple(axes) if position == len(shorter) else None


def _reshape_sizes(shape: Shape, target: Shape) -> tuple[int, ...] | None:
    """The constant operand of a Reshape: 0 for an unchanged size, -1 for an inferred one.

    None of the other sizes may be 0 where one is -1.
    """
    sizes: list[int] = []
    for axis, dim in enumerate(target):
        if dim.value is not None and dim.value > 0:
            sizes.append(dim.value)
        elif axis < len(shape) and dim == shape[axis]:
            sizes.append(0)
        else:
            sizes.append(-1)
    if sizes.count(-1) > 1 or (-1 in sizes and 0 in sizes):
        return None
    return tuple(sizes)
