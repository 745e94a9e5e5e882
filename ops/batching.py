"""Arguments of a batching rule: one node of a body, for all iterations at once.

`jax.vmap` has one such rule for each primitive; here it is `OperatorRules.batch`. The iterations
come first: a value that has the shape [3, 4] on each iteration is batched as [iterations, 3, 4],
and element t of it is what iteration t computes, bit for bit.
"""

import enum
from collections.abc import Callable, Container, Sequence
from typing import Any, NamedTuple

from ..facts.fact import UNKNOWN, Fact, Shape, integers
from ..facts.obstacle import Obstacle
from ..facts.polynomial import Dimension
from ..facts.types import INTEGER_BITS
from ..ir import Node, Operator, Tensor, Value, attribute_message
from ..records import field, record, replace
from .builder import Builder

REORDERED = "would add or multiply floats in another order"
"""Why such a reduction is computed iteration by iteration where each bit counts."""

DIFFERING = "reads a number of elements that may vary between iterations"
"""Why what reads or gives such things is computed iteration by iteration."""


class Unbatchable(Obstacle):
    """A node cannot be computed for all iterations at once; the reason ends a sentence that begins
    with the node."""


@record(frozen=True)
class Operand:
    """An input or output of a node of a body.

    Attributes:
        value: for all iterations with these as its first axis, or the same on every iteration.
        batched: which of the two it is.
        fact: what is known of it on one iteration.
        outside: the tensor of a constant outside the loop, for which `value` is a placeholder.
        partial: the elements that it has in each iteration; None if it has all.
    """

    value: Value
    batched: bool
    fact: Fact
    outside: Tensor | None = None
    partial: "Partial | None" = None

    @property
    def constant(self) -> Tensor | None:
        """The tensor of all iterations, if known before run time, or None."""
        return None if self.batched else self.outside or self.value.constant


class Kind(enum.Enum):
    """Elements that the bounds of a Slice leave in each iteration."""

    PREFIX = "x[:end]"
    SUFFIX = "x[start:]"
    WINDOW = "x[start : start + size], from the first element on"
    CUT_WINDOW = "x[max(start, first) : min(start + size, last)]"


@record(frozen=True)
class Bounds:
    """The bounds of a Slice in each iteration.

    Attributes:
        start, end: vectors of positions, 0 to the size of the axis.
        kind: the elements between them.
        most: the size of the axis; None if known only at run time.
        longest: the length of a window that no limit cuts; None if known only at run time.
    """

    start: Value
    end: Value
    kind: Kind
    most: int | None
    longest: int | None = None


@record(frozen=True)
class Flat:
    """Rows of all iterations, one after the other.

    Attributes:
        counts: the number of rows in each iteration, int64 [iterations].
        starts: the number of rows before each iteration.
        owners: the iteration of each row, int64 [rows].
        total: the number of rows, int64 of shape [1].
        most: the largest number of rows in an iteration; None if known only at run time.
    """

    counts: Value
    starts: Value
    owners: Value
    total: Value
    most: int | None = None


@record(frozen=True)
class Partial:
    """Elements that an operand has in each iteration; its other elements have no meaning.

    Attributes:
        axis: their axis, counted from the end: -1 or less.
        size: the number of all elements along it; 0 if open.
        present: flags of the elements, [iterations, size], or [size] in one iteration; None with
            bounds.
        occupied: true if each iteration certainly has an element.
        count: the number of elements in an iteration, int64 of shape [1]; None if the flags tell.
        data: where the elements were read, with one more for the others; None without one.
        bounds: those of the elements in each iteration; the operand is loop-invariant then.
        varies: false for loop-invariant elements, of which iterations have different ones.
        zeros: true if the other elements are zeros.
        flat: the owners of the elements, which come first in place of the iterations: the operand
            has no others, and length 1 along the axis.
    """

    axis: int
    size: int
    present: Value | None
    occupied: bool
    count: Value | None = None
    data: Value | None = None
    bounds: Bounds | None = None
    varies: bool = True
    zeros: bool = False
    flat: Flat | None = None

    @property
    def elements(self) -> tuple[Value | Bounds | Flat | None, ...]:
        """The elements of an iteration, wherever their axis is."""
        return self.present, self.bounds, self.flat


@record(frozen=True)
class Window:
    """Consecutive elements that a value holds in each iteration.

    Attributes:
        rows: all of them, from those of the first iteration on.
        axis: their axis in one iteration.
        stride: the distance of the first ones of two iterations.
        size: the number of elements in an iteration.
        whole: true if the last elements are there in each iteration.
        occupied: true if the first ones are.
    """

    rows: Value
    axis: int
    stride: int
    size: int
    whole: bool
    occupied: bool

    @property
    def places(self) -> tuple[int, int, int, bool, bool]:
        """All but the rows."""
        return self.axis, self.stride, self.size, self.whole, self.occupied


class Quotient(NamedTuple):
    """A bound of a trip count: symbol * divisor <= dividend."""

    symbol: str
    divisor: int
    dividend: Dimension


@record(frozen=True)
class Extent:
    """Facts of the iterations that hold before run time.

    Attributes:
        number: of any one of them, a symbol.
        most: how many there are at most; None where only run time tells.
        certain: whether there is one at least.
        quotients: bounds of the most, which a division or a minimum yields.
    """

    number: Dimension
    most: Dimension | None = None
    certain: bool = False
    quotients: tuple[Quotient, ...] = ()

    def never_negative(self, dim: Dimension) -> bool:
        """Test that a number that depends on the iteration is at least 0 in each."""
        if dim.less(0) is False:
            return True
        (name,) = self.number.symbols
        # A square of the iteration number may be lowest between the ends.
        if self.most is None or any(monomial.count(name) > 1 for monomial in dim.terms):
            return False
        # Of a straight line one of the ends is the lowest.
        first, last = (dim.replaced({name: end}) for end in (Dimension.constant(0), self.most - 1))
        slope = (dim.replaced({name: self.number + 1}) - dim).value
        lasts = [last, *(_with_dividend(last, each) for each in self.quotients)]
        from_first = self._is_positive(first)
        to_last = any(map(self._is_positive, lasts))
        if slope is None:
            # The slope may have either sign.
            return from_first and to_last
        return to_last if slope < 0 else from_first

    def _is_positive(self, dim: Dimension) -> bool:
        """Test for a number of at least 0 where there are iterations."""
        return dim.replaced(self._where_there_are_iterations()).less(0) is False

    def _where_there_are_iterations(self) -> dict[str, Dimension]:
        """A replacement for the symbol of the trip count that makes it at least one."""
        symbols = set() if self.most is None else self.most.symbols
        if self.most is None or len(symbols) != 1:
            return {}
        (name,) = symbols
        size = Dimension.symbol(name)
        least = 1 - (self.most - size)
        return {} if least.value is None or least.value <= 0 else {name: size + least}


def _with_dividend(dim: Dimension, quotient: Quotient) -> Dimension:
    """A number of at most this one, without the quotient."""
    symbol, divisor, dividend = quotient
    times = max(-dim.terms.get((symbol,), 0), 0)
    # Rounded up, so that symbol * times is at most dividend * shares.
    shares = -(-times // divisor)
    return dim + Dimension.symbol(symbol) * times - dividend * shares


Running = Callable[[str, Value, Fact, int | None, Value | None], Value]
"""Emits the prefix reductions of rows, at least one, by an operator.

The fact is that of a row, the number the most rows, if known. The last argument is a vector of a
power of 2, the number of rows to join; None for all earlier ones. It raises Unbatchable for rows
too large for that.
"""


@record(frozen=True, eq=False)
class Batch:
    """One node of a body, with the operands that replace its inputs.

    Attributes:
        node: the node; its values are those of the body and serve as names only.
        operands: what stands for each input; None where it is left out.
        results: what is known of each output on one iteration.
        iterations: how many iterations there are, a vector of one int64.
        extent: what is known of the iterations before run time.
        invariant: results that a rule has marked as the same in every iteration.
        partials: the elements of results that a rule has marked as partial.
        windows: the batched values that are windows of rows.
        outside: the values from outside the loop.
        operand_of: the operand of a value of the body; None where it is not computed.
        running: the emitter of all prefix reductions of rows by an operator; None without one.
        exact: true if floats must be added and multiplied in the order of the node.
        shared: what rules emit once for all nodes of a body, by what it is.
    """

    node: Node
    operands: Sequence[Operand | None]
    results: Sequence[Fact]
    emit: Builder
    iterations: Value
    extent: Extent
    invariant: set[Value] = field(default_factory=set)
    partials: dict[Value, Partial] = field(default_factory=dict)
    windows: dict[Value, Window] = field(default_factory=dict)
    outside: Container[Value] = ()
    operand_of: Callable[[Value], Operand | None] = lambda value: None
    running: Running | None = None
    exact: bool = False
    shared: dict[object, Any] = field(default_factory=dict)

    @property
    def keeps_order(self) -> bool:
        """Test for a first input whose sums and products may not change order: of floats alone
        that may change a rounding or overflow."""
        return self.exact and self.require(0).fact.elem_type not in INTEGER_BITS

    def unvarying(self, result: Value) -> Value:
        """Mark a result as the same in every iteration; it has no batch axis."""
        self.invariant.add(result)
        return result

    def partial(self, result: Value, how: Partial) -> Value:
        """Mark a result as one with elements that have no meaning in some iterations."""
        self.partials[result] = how
        return result

    def window(self, result: Value, how: Window | None) -> Value:
        """Mark a result as windows of rows; the same without such."""
        if how is not None:
            self.windows[result] = how
        return result

    @property
    def facts(self) -> list[Fact]:
        """Facts of each input in one iteration."""
        return [UNKNOWN if operand is None else operand.fact for operand in self.operands]

    def operand(self, index: int) -> Operand | None:
        """The operand of an input; None where the input is absent."""
        return self.operands[index] if index < len(self.operands) else None

    def require(self, index: int) -> Operand:
        """The operand of an input that must be present."""
        operand = self.operand(index)
        if operand is None:
            raise Unbatchable(f"lacks its input {index}")
        return operand

    def part(self, index: int) -> Partial:
        """The elements of an input that must be partial."""
        operand = self.require(index)
        if operand.partial is None:
            raise Unbatchable(DIFFERING)
        return operand.partial

    def parts(self) -> dict[int, Partial]:
        """The elements of partial inputs, which must be the same in each iteration."""
        pairs = enumerate(None if each is None else each.partial for each in self.operands)
        parts = {index: part for index, part in pairs if part is not None}
        # An element that is present in one operand and absent in the other has no result.
        if len({part.elements for part in parts.values()}) > 1:
            raise Unbatchable("reads elements that are absent on different iterations")
        return parts

    def partials_of_inputs(self) -> list[Partial]:
        """The elements of each partial input."""
        return [each.partial for each in self.operands if each is not None and each.partial]

    def varies(self, index: int) -> bool:
        """Test for an input that differs between iterations."""
        operand = self.operand(index)
        return operand is not None and operand.batched

    def shape(self, index: int) -> Shape:
        """The shape of an input on one iteration."""
        shape = self.require(index).fact.shape
        if shape is None:
            raise Unbatchable(f"has an input {self._name(index)} of unknown rank")
        return shape

    def rank(self, index: int) -> int:
        """The rank of an input on one iteration."""
        return len(self.shape(index))

    def axis(self, axis: int, rank: int) -> int:
        """The position of an axis of one iteration in the batched value."""
        if not -rank <= axis < rank:
            raise Unbatchable(f"has no axis {axis} in rank {rank}")
        return axis % rank + 1

    def fixed(self, index: int) -> Value | None:
        """An input that must be the same in every iteration; None where it is absent."""
        operand = self.operand(index)
        if operand is None:
            return None
        if operand.batched:
            raise Unbatchable(
                f"has an input {self._name(index)} that differs from iteration to iteration"
            )
        return operand.value

    def numbers(self, index: int) -> list[int]:
        """The elements of an input that must be known before run time, such as axes."""
        self.fixed(index)
        array = integers(self.require(index).fact)
        if array is None:
            raise Unbatchable(f"has an input {self._name(index)} that is known only at run time")
        return [int(number) for number in array.reshape(-1)]

    def length(self, index: int) -> Dimension:
        """The length of an input that must be a vector."""
        shape = self.shape(index)
        if len(shape) != 1:
            raise Unbatchable(f"has an input {self._name(index)} that is not a vector")
        return shape[0]

    def listed(self, attribute: str, index: int) -> list[int] | None:
        """Numbers that are an attribute in older opsets and an input in newer ones; None if
        absent."""
        numbers = self.node.attribute(attribute)
        if numbers is not None:
            return list(numbers)
        return self.numbers(index) if self.operand(index) is not None else None

    def replaced(self, index: int, operand: Operand) -> "Batch":
        """The same node with another operand."""
        operands = list(self.operands)
        operands[index] = operand
        return replace(self, operands=operands)

    def label(self, suffix: str = "") -> str:
        """A label for values that replace an output."""
        first = next(value for value in self.node.outputs if value is not None)
        return f"{first.name}{suffix}"

    def same(self, inputs: Sequence[Value | None], **changed: Any) -> list[Value]:
        """The operator of the node on other inputs, with some of its attributes changed.

        An output that the node leaves out is there, too, and read by nothing.
        """
        labels = [
            self.label("_unread") if value is None else value.name for value in self.node.outputs
        ]
        return self.emit.add_unchecked(self._operator(changed), inputs, labels)

    def _operator(self, changed: dict[str, Any]) -> Operator:
        op = self.node.op
        if not changed:
            return op
        messages = [attribute_message(name, value) for name, value in changed.items()]
        return op.with_attributes(
            [*(m for m in op.attributes.values() if m.name not in changed), *messages]
        )

    def aligned(self, indices: Sequence[int]) -> list[Value]:
        """Inputs that broadcast, with the iterations in one place for all of them.

        Axes count from the last where shapes broadcast, so what varies gets axes of length 1
        behind the iterations until all are of one rank.
        """
        if not any(self.varies(index) for index in indices):
            return [self.require(index).value for index in indices]
        rank = max(self.rank(index) for index in indices)
        return [self.lifted(index, rank) for index in indices]

    def lifted(self, index: int, rank: int) -> Value:
        """An input with leading axes of length 1 up to a rank; itself where it is not batched."""
        operand = self.require(index)
        missing = rank - self.rank(index)
        count = missing if operand.batched else 0
        return self.emit.lift(operand.value, count, f"{operand.value.name}_lifted")

    def spread(self, index: int) -> Value:
        """An input for all iterations, repeated where it is not batched."""
        operand = self.require(index)
        if operand.batched:
            return operand.value
        return spread(operand.value, self.rank(index), self.iterations, self.emit)

    def number(self, number: float, label: str = "_number") -> Value:
        """A constant of the type of the first input."""
        return self.emit.number(number, self.require(0).fact.elem_type, self.label(label))

    def vector(self, *numbers: int) -> Value:
        """A constant vector of int64."""
        return self.emit.vector(numbers, self.label("_k"))

    def _name(self, index: int) -> str:
        value = self.node.input(index)
        return f"'{value.name}'" if value is not None else str(index)


def spread(value: Value, rank: int, iterations: Value, emit: Builder) -> Value:
    """A value that is the same in every iteration, repeated for each."""
    # Expand keeps the size of an axis for which the new shape has 1.
    ones = emit.vector((1,) * rank, "ones")
    shape = (
        emit.once("Concat", [iterations, ones], f"{value.name}_shape", axis=0)
        if rank
        else iterations
    )
    return emit.once("Expand", [value, shape], f"{value.name}_spread")
