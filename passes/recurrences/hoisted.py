"""Products that were moved out of the loop: the operator multiplies by weights itself.

What a trip reads of x W + b is what it reads of x, times W, plus b.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable

from ...facts.fact import Fact, Shape
from ...ir import Node, Value
from ...operators.batching import Operand
from ..loops.repetition import Scanned
from .interpretation import Interpretation
from .rows import Row, mapped

_DEEPEST = 16
"""So far what is read is followed back."""


def hoisted(of: Interpretation, value: Value) -> Row | None:
    """What a value of the body is made of that is an element of a product made outside.

    Returns:
        None where it is none.
    """
    found = None if of.turned else _read(of, value)
    if found is None:
        return None
    source, elements = found
    row = elements.row(source, 0)
    return row if any(of.atoms.holds_product(total) for total, _ in row) else None


def _read(of: Interpretation, value: Value) -> tuple[Value, _Elements] | None:
    """What a value is an element of, and how others are read like it."""
    repetition = of.recurrence.repetition
    scanned = of.scanned.get(value)
    if scanned is not None:
        axis = scanned.axis % len(of.shape(scanned.source))
        return scanned.source, _Elements(of, axis, scanned.backward, _element_of(of, scanned))
    node = value.producer
    if node is None or node.graph is not repetition.body or not node.is_op("Gather"):
        return None
    source, index = node.inputs
    if source is None or index is None or source.graph is repetition.body or of.shape(index):
        return None
    axis = node.attribute("axis", 0) % len(of.shape(source))
    return source, _Elements(of, axis, index, lambda s: _gathered(of, node, index, s, axis))


def _element_of(of: Interpretation, scanned: Scanned) -> Callable[[Value], Operand]:
    elements = of.recurrence.trips.feeding.elements
    return lambda source: elements(dataclasses.replace(scanned, source=source))


def _gathered(of: Interpretation, node: Node, index: Value, source: Value, axis: int) -> Operand:
    trips, shape = of.recurrence.trips, of.shape(source)
    fact = Fact(of.recurrence.fact(source).elem_type, shape[:axis] + shape[axis + 1 :])
    given = [trips.feeding.same(source), of.recurrence.free(index)]
    ((operand, _),) = trips.apply_rule(node, given, [fact])
    return operand


class _Elements:
    """What the trips read of values outside, along one axis.

    Args:
        of: what values are made of.
        axis: the axis.
        how: what tells this reading from others.
        operand: the elements of a value for all trips.
    """

    def __init__(
        self, of: Interpretation, axis: int, how: Hashable, operand: Callable[[Value], Operand]
    ) -> None:
        self.of = of
        self.axis = axis
        self.how = axis, how
        self.operand = operand
        self._rules = {
            "MatMul": self._matmul,
            "Gemm": self._gemm,
            "Add": self._add,
            "Split": self._split,
            "Identity": self._identity,
        }

    def row(self, source: Value, depth: int) -> Row:
        """What an element is made of."""
        node = source.producer
        if node is not None and depth < _DEEPEST and not node.domain and not node.op.references:
            rule = self._rules.get(node.op_type)
            if rule is not None and all(value is not None for value in node.inputs):
                inputs = [value for value in node.inputs if value is not None]
                row = rule(node, inputs, source, depth + 1)
                if row is not None:
                    return row
        return self._as_it_is(source)

    def _as_it_is(self, source: Value) -> Row:
        key = self.how, source
        if key not in self.of.stand_ins:
            made = self.of.recurrence.trips.stand_in(source.name, self.operand(source))
            self.of.stand_ins[key] = made
            self.of.recurrence.trips.count_along(source, self.axis)
        return self.of.row(self.of.stand_ins[key])

    def _factor(self, value: Value, depth: int) -> Row:
        """What an element is made of that is to be multiplied; a product is taken as it is."""
        row = self.row(value, depth)
        twice = any(self.of.atoms.holds_product(total) for total, _ in row)
        return self._as_it_is(value) if twice else row

    def _is_read(self, value: Value, source: Value) -> bool:
        """Whether a value has the axis, as long as the value has that is made of it."""
        one, other = self._shapes(value, source)
        return len(one) == len(other) and one[self.axis] == other[self.axis]

    def _shapes(self, value: Value, source: Value) -> tuple[Shape, Shape]:
        return self.of.shape(value), self.of.shape(source)

    def _addend(self, value: Value, source: Value, depth: int) -> Row | None:
        """What an element of something added is made of; None where it is read in another way."""
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
        return self.of.multiplied(self._factor(one, depth), self.of.matrix(other))

    def _gemm(self, node: Node, inputs: list[Value], source: Value, depth: int) -> Row | None:
        if self.axis or node.attribute("transA", 0):
            return None
        matrix = self.of.matrix(inputs[1])
        matrix = matrix.turned() if node.attribute("transB", 0) else matrix
        product = self.of.multiplied(self._factor(inputs[0], depth), matrix)
        alpha, beta = (float(node.attribute(name, 1.0)) for name in ("alpha", "beta"))
        product = mapped(product, lambda total: total.times(alpha))
        if len(inputs) == 2:
            return product
        addend = self._addend(inputs[2], source, depth)
        if addend is None:
            return None
        pairs = self.of.aligned(product, addend)
        return tuple([(one + other.times(beta), width) for one, other, width in pairs])

    def _add(self, node: Node, inputs: list[Value], source: Value, depth: int) -> Row | None:
        rows = [self._addend(value, source, depth) for value in inputs]
        if rows[0] is None or rows[1] is None:
            return None
        pairs = self.of.aligned(rows[0], rows[1])
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

    def _identity(self, node: Node, inputs: list[Value], source: Value, depth: int) -> Row | None:
        return self.row(inputs[0], depth)
