"""Sinking of hoisted products: the operator multiplies by weights itself.

An element of x W + b is an element of x, times W, plus b.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable

from ....facts.fact import Fact, Shape, integers
from ....ir import Node, Value
from ....ops.batching import Operand
from ...vectorize.loop_view import ScanInput
from .column_sums import Row, map_parts
from .symbolic_cell import Interpretation

_MATRIX = 2
"""The rank of a matrix."""

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
    if site is None:
        return None
    source, elements = site
    row = elements.row(source, 0)
    return row if any(of.atoms.holds_product(total) for total, _ in row) else None


def _read(of: Interpretation, value: Value) -> tuple[Value, _Elements] | None:
    """The source of an element, and the reader of elements at the same position."""
    loop_view = of.recurrence.loop_view
    scanned = of.scan_inputs.get(value)
    if scanned is not None:
        axis = scanned.axis % len(of.shape(scanned.source))
        return scanned.source, _Elements(of, axis, scanned.backward, _element_of(of, scanned))
    node = value.producer
    if node is None or node.graph is not loop_view.body or not node.is_op("Gather"):
        return None
    source, index = node.inputs
    if source is None or index is None or source.graph is loop_view.body or of.shape(index):
        return None
    axis = node.attribute("axis", 0) % len(of.shape(source))
    return source, _Elements(of, axis, index, lambda s, at: _gather(of, node, index, s, at))


def _element_of(of: Interpretation, scanned: ScanInput) -> _Reader:
    elements = of.recurrence.trips.feeding.elements
    return lambda source, axis: elements(dataclasses.replace(scanned, source=source, axis=axis))


def _gather(of: Interpretation, node: Node, index: Value, source: Value, axis: int) -> Operand:
    """Emit the elements of a value along an axis, as a Gather node reads them."""
    trips, shape = of.recurrence.trips, of.shape(source)
    operand, own = trips.feeding.same(source), node.attribute("axis", 0) % len(shape)
    if axis != own:
        perm = [other for other in range(len(shape)) if other != axis]
        perm.insert(own, axis)
        fact = Fact(operand.fact.elem_type, tuple([shape[number] for number in perm]))
        operand = Operand(trips.emit.transpose(operand.value, perm, source.name), False, fact)
    fact = Fact(of.recurrence.fact(source).elem_type, shape[:axis] + shape[axis + 1 :])
    operands = [operand, of.recurrence.free(index)]
    ((read, _),) = trips.apply_rule(node, operands, [fact])
    return read


class _Elements:
    """The elements of outside values that iterations read along one axis.

    Args:
        of: the symbolic values of the body.
        axis: the axis.
        key: the identity of this read.
        operand: the reader of elements of a value.
    """

    def __init__(self, of: Interpretation, axis: int, key: Hashable, operand: _Reader) -> None:
        self.of = of
        self.axis = axis
        self.key = key
        self.operand = operand
        self._rules = {
            "MatMul": self._matmul,
            "Gemm": self._gemm,
            "Add": self._add,
            "Split": self._split,
            "Identity": self._identity,
            "Reshape": self._reshape,
            "Slice": self._slice,
            "Squeeze": self._reshape_units,
            "Unsqueeze": self._reshape_units,
            "Transpose": self._transpose,
        }

    def row(self, source: Value, depth: int) -> Row:
        """The row of an element."""
        node = source.producer
        if node is not None and depth < _DEEPEST and not node.domain and not node.op.references:
            rule = self._rules.get(node.op_type)
            if rule is not None and all(value is not None for value in node.inputs):
                inputs = [value for value in node.inputs if value is not None]
                row = rule(node, inputs, source, depth + 1)
                if row is not None:
                    return row
        return self._opaque(source)

    def _opaque(self, source: Value) -> Row:
        key = self.axis, self.key, source
        if key not in self.of.placeholders:
            stand = self.of.recurrence.trips.placeholder(
                source.name, self.operand(source, self.axis)
            )
            self.of.placeholders[key] = stand
            self.of.finiteness.alias(stand, source)
            self.of.recurrence.trips.count_along(source, self.axis)
        return self.of.row(self.of.placeholders[key])

    def _factor(self, value: Value, depth: int) -> Row:
        """The row of a factor; opaque if it is a product itself."""
        row = self.row(value, depth)
        twice = any(self.of.atoms.holds_product(total) for total, _ in row)
        return self._opaque(value) if twice else row

    def _is_read(self, value: Value, source: Value) -> bool:
        """Test whether an operand has the axis, with the size of the result's."""
        one, other = self._shapes(value, source)
        return len(one) == len(other) and one[self.axis] == other[self.axis]

    def _shapes(self, value: Value, source: Value) -> tuple[Shape, Shape]:
        return self.of.shape(value), self.of.shape(source)

    def _addend(self, value: Value, source: Value, depth: int) -> Row | None:
        """The row of an addend; None if it is read along another axis."""
        if self._is_read(value, source):
            return self.row(value, depth)
        one, other = self._shapes(value, source)
        behind = len(other) - len(one) > self.axis
        return self.of.row(value) if behind else None

    def _matmul(self, node: Node, inputs: list[Value], source: Value, depth: int) -> Row | None:
        one, other = inputs
        last = len(self.of.shape(source)) - 1
        if self.axis == last or len(self.of.shape(other)) != 2 or not self._is_read(one, source):
            return None
        return self.of.multiply(self._factor(one, depth), self.of.matrix(other))

    def _gemm(self, node: Node, inputs: list[Value], source: Value, depth: int) -> Row | None:
        rows = None if self.axis else self._product(node, inputs[0], inputs[1], depth)
        if rows is None or len(inputs) == 2:
            return rows
        return self._with_addend(node, rows, self._addend(inputs[2], source, depth))

    def _product(self, node: Node, factor: Value, weight: Value, depth: int) -> Row | None:
        """The product of a Gemm or MatMul, without addends."""
        if node.attribute("transA", 0):
            return None
        matrix = self.of.matrix(weight)
        matrix = matrix.transpose() if node.attribute("transB", 0) else matrix
        product = self.of.multiply(self._factor(factor, depth), matrix)
        alpha = float(node.attribute("alpha", 1.0))
        return map_parts(product, lambda total: total.times(alpha))

    def _with_addend(self, node: Node, product: Row, addend: Row | None) -> Row | None:
        if addend is None:
            return None
        beta = float(node.attribute("beta", 1.0))
        pairs = self.of.align(product, addend)
        return tuple([(one + other.times(beta), width) for one, other, width in pairs])

    def _add(self, node: Node, inputs: list[Value], source: Value, depth: int) -> Row | None:
        rows = [self._addend(value, source, depth) for value in inputs]
        if rows[0] is None or rows[1] is None:
            return None
        pairs = self.of.align(rows[0], rows[1])
        return tuple([(one + other, width) for one, other, width in pairs])

    def _split(self, node: Node, inputs: list[Value], source: Value, depth: int) -> Row | None:
        shape = self.of.shape(inputs[0])
        last = len(shape) - 1
        if node.attribute("axis", 0) % len(shape) != last or self.axis == last:
            return None
        widths = [0 if value is None else self.of.width(value) for value in node.outputs]
        index = node.outputs.index(source)
        start = sum(widths[:index])
        return self.of.cut(self.row(inputs[0], depth), start, start + widths[index])

    def _slice(self, node: Node, inputs: list[Value], source: Value, depth: int) -> Row | None:
        """Cut some columns."""
        last = len(self.of.shape(source)) - 1
        bounds = [integers(self.of.recurrence.fact(value)) for value in inputs[1:]]
        numbers = [int(bound[0]) for bound in bounds if bound is not None and bound.size == 1]
        if self.axis == last or len(numbers) < len(bounds) or len(numbers) not in (3, 4):
            return None
        start, stop, axis, *steps = numbers
        if axis % (last + 1) != last or steps not in ([], [1]):
            return None
        start, stop, _ = slice(start, stop).indices(self.of.width(inputs[0]))
        return self.of.cut(self.row(inputs[0], depth), start, stop) if start < stop else None

    def _identity(self, node: Node, inputs: list[Value], source: Value, depth: int) -> Row | None:
        return self.row(inputs[0], depth)

    def _reshape(self, node: Node, inputs: list[Value], source: Value, depth: int) -> Row | None:
        """Match a Gemm or MatMul of a value flattened to a matrix."""
        narrower = self._reshape_units(node, inputs, source, depth)
        product = inputs[0].producer
        if narrower is not None or product is None or not product.is_op("Gemm", "MatMul"):
            return narrower
        joined, weight, *addends = product.inputs
        before = self._reshape_source(joined)
        if before is None or weight is None or len(addends) > 1:
            return None
        if joined is None or not self._is_flattened(before, joined, source):
            return None
        result = self._product(product, before, weight, depth)
        if result is None or not addends or addends[0] is None:
            return result
        same = len(self.of.shape(addends[0])) < _MATRIX
        return self._with_addend(product, result, self.of.row(addends[0]) if same else None)

    def _reshape_units(
        self, node: Node, inputs: list[Value], source: Value, depth: int
    ) -> Row | None:
        """Match changes of axes of size 1 between the read axis and the elements."""
        one, other = self._shapes(inputs[0], source)
        first = self.axis + 1
        if min(len(one), len(other)) <= first or one[:first] != other[:first]:
            return None
        between = [[d for d in shape[first:-1] if d.value != 1] for shape in (one, other)]
        same = one[-1] == other[-1] and between[0] == between[1]
        return self.row(inputs[0], depth) if same else None

    def _transpose(self, node: Node, inputs: list[Value], source: Value, depth: int) -> Row | None:
        """Follow the elements along another axis."""
        rank = len(self.of.shape(source))
        perm = list(node.attribute("perm", range(rank - 1, -1, -1)))
        axis = perm.pop(self.axis)
        if perm != sorted(perm) or rank - 1 in (axis, self.axis):
            return None
        return _Elements(self.of, axis, self.key, self.operand).row(inputs[0], depth)

    def _reshape_source(self, value: Value | None) -> Value | None:
        node = None if value is None else value.producer
        return node.inputs[0] if node is not None and node.is_op("Reshape") else None

    def _is_flattened(self, before: Value, joined: Value, source: Value) -> bool:
        """Test whether two values differ in the last axis only, and one was flattened."""
        one, flat, other = (self.of.shape(value) for value in (before, joined, source))
        if len(flat) != _MATRIX or len(one) != len(other) or self.axis >= len(one) - 1:
            return False
        return one[:-1] == other[:-1] and flat[-1] == one[-1] and flat[-1].value is not None
