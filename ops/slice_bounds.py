"""Slices by their bounds in each iteration: prefixes, suffixes, and windows of one length.

    x[i : i + k]      x[max(i - k, 0) : min(i + k + 1, n)]

Bounds are read as sums of the iteration number and loop-invariant numbers. The difference of both
is the length of a window. It is a window of another length only where a limit cuts it.
"""

from __future__ import annotations

import dataclasses

import onnx

from ..facts.fact import element, integers
from ..facts.magnitudes import LAST_OF_32_BITS
from ..facts.polynomial import Dimension
from ..facts.types import PLAIN_INTEGERS
from ..ir import Node, Value
from .batching import Batch, Kind
from .element_types import ElementTypes

_ONE_ELEMENT = ("Identity", "Reshape", "Squeeze", "Unsqueeze")
_MOST_DEPTH = 8
"""Limit of sums in sums."""


def bounds_kind(batch: Batch, start: Dimension | None, end: Dimension | None) -> Kind | None:
    """The kind of a Slice by its bounds in an iteration; None for any other Slice."""
    if start is not None and start.value == 0:
        return Kind.PREFIX
    # So far an end is cut to the size of the axis.
    if end is not None and (end.value or 0) >= LAST_OF_32_BITS:
        return Kind.SUFFIX
    reader = _Reader(batch)
    if reader.is_shifted():
        return Kind.WINDOW
    first, last = (reader.read(value) for value in batch.node.inputs[1:3])
    if first is None or last is None or reader.varies(last.sum - first.sum):
        return None
    if first.most is not None and first.most is not last.most:
        return None
    if first.least in (None, 0) and reader.never_negative(first.sum):
        return Kind.WINDOW
    if first.least is None:
        return None
    # A negative end counts from the last element, and would not cut the window at the first one.
    bounds = (first.sum, last.sum, first.sum + last.sum + 1)
    ahead = last.least is not None or any(map(reader.never_negative, bounds))
    return Kind.CUT_WINDOW if first.least >= 0 and last.least in (None, 0) and ahead else None


def distance(batch: Batch) -> int | None:
    """The number of elements between bounds that move alike; None for other bounds."""
    reader = _Reader(batch)
    first, last = (reader.read(value) for value in batch.node.inputs[1:3])
    if first is None or last is None or {first.least, first.most, last.least, last.most} != {None}:
        return None
    return (last.sum - first.sum).value


@dataclasses.dataclass(frozen=True)
class _Bound:
    """A bound of a Slice.

    Attributes:
        sum: the number without limits.
        least: the lower limit, if any.
        most: the loop-invariant upper limit, if any.
    """

    sum: Dimension
    least: int | None = None
    most: Value | None = None


class _Reader:
    """Bounds of one Slice, with a symbol for each loop-invariant number.

    Args:
        batch: the Slice.
    """

    def __init__(self, batch: Batch) -> None:
        self._batch = batch
        self._types = ElementTypes()
        self._symbols: dict[Value, Dimension] = {}
        self._varying: set[str] = set()

    def read(self, value: Value | None) -> _Bound | None:
        """A bound; None for one with other limits."""
        least, most = None, None
        while (limit := self._limit(value)) is not None:
            node, value, other = limit
            number = integers_of(other, self._batch)
            if node.is_op("Max") and least is None and number is not None:
                least = number
            elif node.is_op("Min") and most is None:
                most = self._element(other)
            else:
                return None
        return _Bound(self._sum(value), least, most)

    def is_shifted(self) -> bool:
        """Test for a start of at least 0, and a loop-invariant distance to the end."""
        start, end = self._batch.node.inputs[1:3]
        first, last, limit = self._sum(start), self.read(end), self._limit(start)
        if last is None or last.least not in (None, 0):
            return False
        least = None if limit is None else integers_of(limit[2], self._batch)
        ahead = limit is not None and limit[0].is_op("Max") and least is not None and least >= 0
        return (ahead or self.never_negative(first)) and not self.varies(last.sum - first)

    def varies(self, total: Dimension) -> bool:
        """Test for a number that may differ between iterations."""
        return not total.symbols.isdisjoint(self._batch.extent.number.symbols | self._varying)

    def never_negative(self, total: Dimension) -> bool:
        """Test for a number of at least 0 in each iteration."""
        # Nothing is known of the sign of a loop-invariant number.
        own = {name for dim in self._symbols.values() for name in dim.symbols}
        return own.isdisjoint(total.symbols) and self._batch.extent.never_negative(total)

    def _limit(self, value: Value | None) -> tuple[Node, Value, Value] | None:
        """A Max or Min with a loop-invariant number: the node, the other operand, the number."""
        value = self._element(value)
        node = None if value is None or self._is_invariant(value) else value.producer
        if node is None or not node.is_op("Max", "Min") or len(node.inputs) != 2:
            return None
        one, other = node.inputs
        assert one is not None and other is not None
        fixed = [v for v in (one, other) if self._is_invariant(self._element(v))]
        if len(fixed) != 1:
            return None
        return node, other if fixed[0] is one else one, fixed[0]

    def _sum(self, value: Value | None, depth: int = 0, fixed: bool = False) -> Dimension:
        """A number as a sum over the iteration number, with symbols for all others.

        Sums of int64 outside the loop are opened, too: they wrap as those in the body do, and
        `i + (k + 1)` is `(i + k) + 1`.
        """
        value = self._element(value)
        assert value is not None
        operand = self._batch.operand_of(value)
        number = None if operand is None else element(operand.fact)
        if isinstance(number, Dimension):
            return number
        is_invariant = fixed or self._is_invariant(value)
        constant = integers_of(value, self._batch) if is_invariant else None
        if constant is not None:
            return Dimension.constant(constant)
        node = value.producer if depth < _MOST_DEPTH else None
        if is_invariant and self._types.of(value) != onnx.TensorProto.INT64:
            node = None
        if node is not None and node.is_op("Add", "Sub"):
            first, second = (self._sum(v, depth + 1, is_invariant) for v in node.inputs)
            return first + second if node.is_op("Add") else first - second
        if node is not None and node.is_op("Neg"):
            return -self._sum(node.input(0), depth + 1, is_invariant)
        symbol = self._symbols.setdefault(value, Dimension.symbol(f"bound {len(self._symbols)}"))
        self._varying |= set() if is_invariant else symbol.symbols
        return symbol

    def _is_invariant(self, value: Value | None) -> bool:
        if value is None:
            return False
        operand = self._batch.operand_of(value)
        if operand is not None:
            return not operand.batched
        return value in self._batch.outside or value.constant is not None

    def _element(self, value: Value | None) -> Value | None:
        """The first value, or the one outside the loop, with the same element."""
        while value is not None and value not in self._batch.outside:
            node = value.producer
            if node is None or not (node.is_op(*_ONE_ELEMENT) or self._widens(node)):
                break
            value = node.inputs[0]
        return value

    def _widens(self, node: Node) -> bool:
        """Test for a Cast of an integer to int64."""
        if not node.is_op("Cast") or node.attribute("to") != onnx.TensorProto.INT64:
            return False
        source = node.inputs[0]
        operand = None if source is None else self._batch.operand_of(source)
        return operand is not None and operand.fact.elem_type in PLAIN_INTEGERS


def integers_of(value: Value, batch: Batch) -> int | None:
    """The one integer that a value holds before run time; None for another value."""
    operand, constant = batch.operand_of(value), value.constant
    numbers = None
    if operand is not None:
        numbers = integers(operand.fact)
    elif constant is not None and constant.size == 1 and constant.is_readable:
        numbers = constant.numpy()
    return int(numbers.reshape(-1)[0]) if numbers is not None and numbers.size == 1 else None
