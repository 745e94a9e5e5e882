"""Reassociation of sums in a body, for more nodes that all iterations compute at once.

t = Add (MatMul (e, w), MatMul (h, v))         q = Add (MatMul (e, w), b)
u = Add (t, b)                          ->     u = Add (MatMul (h, v), q)
h_next = Tanh (u)                              h_next = Tanh (u)

Of the operands of a sum, those that no recurrence reaches are added first: the residual loop then
reads one row of their sum. The bias of a Gemm counts as an operand of the sum that reads it.

Kept: operands whose sum is larger than each of them, as it would be stored for all iterations.
"""

import functools

from ...analysis.shapes.inference import ShapeInference
from ...ir import Graph, Node, Value, normal_domain
from ...ops import rules_of
from ...ops.axes import broadcast_shape
from ...ops.builder import Builder
from ..iteration.loop_view import LoopView
from ..iteration.places import step_of
from ..utils.replace_all_uses import replace_value

_BROADCASTING = 8
"""The first opset in which all of these operators broadcast."""
_OPTIONAL_BIAS = 11
"""The first opset whose Gemm may have no bias."""


def reassociate(loop_view: LoopView, inference: ShapeInference) -> int:
    """Group the operands of sums in recurrences that are independent of these.

    Returns:
        the number of changed sums.
    """
    body = loop_view.body
    if body.root.opset() < _BROADCASTING:
        return 0
    states = [state for state in loop_view.states if step_of(state, loop_view) is None]
    if not states:
        return 0
    carried = body.dependents([body.vertex(state.argument) for state in states])
    carried &= body.requirements([body.vertex(state.result) for state in states])
    nodes = [node for node in body.nodes() if node in carried and _is_associative(node)]
    trees = (_Sum(node, body, carried) for node in reversed(nodes) if node.graph is body)
    return sum(tree.regroup(inference) for tree in trees)


def _is_associative(node: Node) -> bool:
    """Test for operands in any order; products might overflow or vanish."""
    plain = not normal_domain(node.domain) and rules_of(node.op).associative
    return plain and node.op_type != "Mul"


class _Sum:
    """The tree of one associative operator above a node.

    Args:
        carried: the nodes and values of its recurrences.

    Attributes:
        carried: the operands in a recurrence.
        fixed: the others.
    """

    def __init__(self, root: Node, body: Graph, carried: set[object]) -> None:
        self._root, self._body, self._recurrence = root, body, carried
        self._inner: list[Node] = []
        self._biased: dict[Value, Node] = {}
        self.carried: list[Value] = []
        self.fixed: list[Value] = []
        self._read(root)

    def regroup(self, inference: ShapeInference) -> bool:
        """Add the fixed operands first; False where there is no gain, or a larger tree."""
        root, emit, op_type = self._root, Builder(self._body), self._root.op_type
        users = [use.user for use in self._body.uses(root.output())]
        is_part = len(users) == 1 and isinstance(users[0], Node) and users[0].op_type == op_type
        if root.output().pinned or (is_part and users[0] in self._recurrence):
            return False
        shapes = [inference.fact(value).shape for value in self.fixed]
        sizes = [shape for shape in shapes if shape is not None]
        if len(sizes) < max(2, len(shapes)):
            return False
        if broadcast_shape(sizes, inference.symbols) not in sizes:
            return False

        def join(one: Value, other: Value) -> Value:
            return emit.add(op_type, [one, other], root.output().name)

        carried = [self._unbiased(value, emit) for value in self.carried]
        result = functools.reduce(join, [*carried, functools.reduce(join, self.fixed)])
        replace_value(self._body, root.output(), result)
        for node in (root, *self._inner, *self._biased.values()):
            self._body.remove(node)
        return True

    def _read(self, node: Node) -> None:
        for value in node.inputs:
            if value is None:
                continue
            maker = value.producer
            if self._body.vertex(value) not in self._recurrence:
                self.fixed.append(value)
            elif maker is None or not self._is_only_for(value, maker):
                self.carried.append(value)
            elif maker.op_type == self._root.op_type and not maker.domain:
                self._inner.append(maker)
                self._read(maker)
            else:
                self.carried.append(value)
                self._read_bias(value, maker)

    def _is_only_for(self, value: Value, maker: Node) -> bool:
        alone = len(self._body.uses(value)) == 1 and not value.pinned
        return alone and maker.graph is self._body and not maker.op.references

    def _read_bias(self, value: Value, maker: Node) -> None:
        """Count the bias of a Gemm among the fixed operands."""
        bias = maker.input(2) if maker.is_op("Gemm") and len(maker.inputs) > 2 else None
        plain = self._root.is_op("Add") and maker.attribute("beta", 1.0) == 1.0
        if bias is None or not plain or self._body.root.opset() < _OPTIONAL_BIAS:
            return
        if self._body.vertex(bias) not in self._recurrence:
            self._biased[value] = maker
            self.fixed.append(bias)

    def _unbiased(self, value: Value, emit: Builder) -> Value:
        """Emit a product without the bias that is added elsewhere."""
        node = self._biased.get(value)
        return value if node is None else emit.apply(node.op, node.inputs[:2], value.name)
