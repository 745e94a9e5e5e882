"""Sinking of hoisted products: the operator multiplies by weights itself.

An element of x W + b is an element of x, times W, plus b.
"""

import dataclasses
from collections.abc import Callable, Hashable
from typing import NamedTuple

from ....facts.fact import Fact, Shape
from ....ir import Node, Value
from ....ops.batching import Operand
from ...iteration.loop_view import move_axis
from ..weights import Matrix, Unfit
from .column_sums import Row
from .rules import RULES
from .symbolic_cell import Interpretation

_Reader = Callable[[Value, int], Operand]
"""The batched elements of a value along an axis."""

_DEEPEST = 16
"""The maximum depth of the search through producers."""


def read_hoisted(of: Interpretation, value: Value) -> Row | None:
    """The row of a value that is an element of a hoisted product.

    Returns:
        None for other values.
    """
    site = None if of.transposed else _read(of, value)
    row = () if site is None else site[0].row(site[1])
    return row if any(of.atoms.holds_product(total) for total, _ in row) else None


def _read(of: Interpretation, value: Value) -> "tuple[_Elements, Value] | None":
    """The reader of elements at the position of an element, and its source."""
    iterations, scanned = of.recurrence.iterations, of.scan_inputs.get(value)
    if scanned is not None:
        axis = scanned.axis % len(of.shape(scanned.source))

        def read(source: Value, at: int) -> Operand:
            return iterations.feeding.elements(dataclasses.replace(scanned, source=source, axis=at))

        return _Elements(of, axis, scanned.backward, read), scanned.source
    node = value.producer
    if node is None or node.graph is not iterations.loop_view.body or not node.is_op("Gather"):
        return None
    source, index = node.inputs
    if source is None or index is None or source.graph is node.graph or of.shape(index):
        return None
    axis = node.attribute("axis", 0) % len(of.shape(source))
    return _Elements(of, axis, index, lambda s, at: _gather(of, node, index, s, at)), source


def _gather(of: Interpretation, node: Node, index: Value, source: Value, axis: int) -> Operand:
    """Emit the elements of a value along an axis, as a Gather node reads them."""
    iterations, shape = of.recurrence.iterations, of.shape(source)
    operand, own = iterations.feeding.same(source), node.attribute("axis", 0) % len(shape)
    if axis != own:
        perm = move_axis(len(shape), axis, own)
        fact = Fact(operand.fact.elem_type, tuple([shape[number] for number in perm]))
        operand = Operand(iterations.emit.transpose(operand.value, perm, source.name), False, fact)
    fact = Fact(of.recurrence.fact(source).elem_type, shape[:axis] + shape[axis + 1 :])
    operands = [operand, of.recurrence.iterations.operand(index)]
    (read,) = iterations.apply_rule(node, operands, [fact])
    return read


class _Elements(NamedTuple):
    """The elements of outside values that iterations read along one axis.

    Attributes:
        of: the symbolic values of the body.
        key: the identity of this read.
        operand: the reader of elements of a value.
    """

    of: Interpretation
    axis: int
    key: Hashable
    operand: _Reader

    def row(self, source: Value, depth: int = 0) -> Row:
        node, last = source.producer, len(self.of.shape(source)) - 1
        if node is None or depth >= _DEEPEST or self.axis >= last:
            return self.opaque(source)
        try:
            row = _Operands(self, source, depth + 1).result_row(node)
        except Unfit:
            return self.opaque(source)
        if any(self.of.atoms.holds_product(total) for total, _ in row):
            self.of.remember(row, lambda: self.opaque(source))
        return row

    def opaque(self, source: Value) -> Row:
        """The row of an element of a value that is computed before the loop."""
        key, iterations = (self.axis, self.key, source), self.of.recurrence.iterations
        if key not in self.of.placeholders:
            stand = iterations.placeholder(source.name, self.operand(source, self.axis))
            self.of.placeholders[key] = stand
            self.of.finiteness.alias(stand, source)
            iterations.count_along(source, self.axis)
        return self.of.row(self.of.placeholders[key])


class _Operands(Interpretation):
    """The operands of a node before the loop, for the rules of the body.

    Args:
        source: the output of the node.
        depth: the number of nodes after it.
        flattened: a matrix operand, and the value before its Reshape, of which the elements are
            read; None without a Reshape.
    """

    def __init__(
        self,
        elements: _Elements,
        source: Value,
        depth: int,
        flattened: tuple[Value, Value] | None = None,
    ) -> None:
        vars(self).update(vars(elements.of))
        self.elements = elements
        self.of = elements.of
        self.source = source
        self.depth = depth
        self.flattened = flattened

    def result_row(self, node: Node) -> Row:
        """The row of the source.

        Raises:
            Unfit: no rule describes it.
        """
        rule = None if node.domain or node.op.references else _RULES.get(node.op_type)
        if rule is None:
            raise Unfit(f"is read of {node}")
        return rule(self, node)[node.outputs.index(self.source)]

    def row(self, value: Value) -> Row:
        """The row of an operand: of its elements, or of a value without the axis."""
        if self.flattened is not None and value is self.flattened[0]:
            return self.elements.row(self.flattened[1], self.depth)
        if self._has_axis(value):
            return self.elements.row(value, self.depth)
        missing = len(self.of.shape(self.source)) - len(self.of.shape(value))
        if missing > (self.elements.axis if self.flattened is None else 0):
            return self.of.row(value)
        raise Unfit(f"is computed from '{value.name}', which is read along another axis")

    def shape(self, value: Value) -> Shape:
        shape, axis = self.of.shape(value), self.elements.axis
        return shape[:axis] + shape[axis + 1 :] if self._has_axis(value) else shape

    def matrix(self, value: Value) -> Matrix:
        return self.of.matrix(value)

    def is_along_elements(self, value: Value, axis: int) -> bool:
        rank = len(self.of.shape(value))
        return axis % rank == rank - 1

    def _has_axis(self, value: Value) -> bool:
        """Test whether a value has the axis, with the size of the result's."""
        one, other, axis = self.of.shape(value), self.of.shape(self.source), self.elements.axis
        return self.flattened is None and len(one) == len(other) and one[axis] == other[axis]

    def reshape(self, node: Node) -> list[Row]:
        """Match a Gemm or MatMul of a value flattened to a matrix."""
        product = None if node.inputs[0] is None else node.inputs[0].producer
        if product is None or not product.is_op("Gemm", "MatMul") or self._keeps_axes(node):
            return self.reshape_units(node)
        joined = product.inputs[0]
        before = None if joined is None else joined.producer
        whole = before.inputs[0] if before is not None and before.is_op("Reshape") else None
        if joined is None or whole is None or not self._is_flattened(whole, joined):
            raise Unfit(f"is reshaped by {node}")
        site = _Operands(self.elements, product.output(), self.depth, (joined, whole))
        return [site.result_row(product)]

    def reshape_units(self, node: Node) -> list[Row]:
        """Match changes of axes of size 1 between the read axis and the elements."""
        value = node.inputs[0]
        if value is None or not self._keeps_axes(node):
            raise Unfit(f"is reshaped by {node}")
        return [self.elements.row(value, self.depth)]

    def _keeps_axes(self, node: Node) -> bool:
        one, other = (self.of.shape(value) for value in (node.inputs[0], self.source) if value)
        first = self.elements.axis + 1
        between = [[d for d in shape[first:-1] if d.value != 1] for shape in (one, other)]
        ends = [(shape[:first], shape[-1]) for shape in (one, other)]
        return len(one) > first and ends[0] == ends[1] and between[0] == between[1]

    def transpose(self, node: Node) -> list[Row]:
        """Follow the elements along another axis."""
        value, rank = node.operand(0), len(self.of.shape(self.source))
        perm = list(node.attribute("perm", range(rank - 1, -1, -1)))
        axis = perm.pop(self.elements.axis)
        if perm != sorted(perm) or axis == rank - 1:
            raise Unfit(f"is transposed by {node}")
        return [self.elements._replace(axis=axis).row(value, self.depth)]

    def _is_flattened(self, before: Value, joined: Value) -> bool:
        """Test whether two values differ in the last axis only, and one was flattened."""
        one, flat, other = (self.of.shape(value) for value in (before, joined, self.source))
        if len(flat) != 2 or len(one) != len(other):
            return False
        return one[:-1] == other[:-1] and flat[-1] == one[-1] and flat[-1].value is not None


_RULES: dict[str, Callable[[_Operands, Node], list[Row]]] = {
    **{name: RULES[name] for name in ("MatMul", "Gemm", "Add", "Split", "Slice", "Identity")},
    "Reshape": _Operands.reshape,
    "Squeeze": _Operands.reshape_units,
    "Unsqueeze": _Operands.reshape_units,
    "Transpose": _Operands.transpose,
}
