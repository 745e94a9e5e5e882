"""States as linear functions of previous values: s = factor * s + offset.

Of states that depend on each other, each has a factor for each of them.

t = Mul (s, a)                           factor = a
u = Add (t, b)                     ->    offset = b
r = Where (p, u, s)                      factor = Where (p, a, 1), offset = Where (p, b, 0)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import onnx

from ....facts.fact import Fact, Shape
from ....facts.polynomial import Dimension
from ....ir import Array, Node, Value
from ....ops.builder import Builder
from ..weights import Unfit
from .recurrence import Recurrence


@dataclasses.dataclass(frozen=True)
class Coefficient:
    """A number, or a value of each iteration.

    Attributes:
        number: the number; None for a value.
        array: the elements of a constant value; None for others.
        value: the value, which broadcasts to the state, iterations first if it is batched.
        batched: true if iterations may differ.
        whole: true if it has the shape of the state.
        resets: true if a condition chooses it to be 0, so that the state is not read at all.
    """

    number: float | None
    value: Value | None = None
    batched: bool = False
    whole: bool = False
    resets: bool = False
    array: Array | None = None


@dataclasses.dataclass(frozen=True)
class Linear:
    """The function offset + factors[0] * s[0] + factors[1] * s[1] + ... of states s."""

    factors: tuple[Coefficient, ...]
    offset: Coefficient

    @property
    def factor(self) -> Coefficient:
        """The factor of the only state."""
        (factor,) = self.factors
        return factor

    @property
    def is_independent(self) -> bool:
        """Test for a function that no state changes."""
        return all(factor.number == 0.0 for factor in self.factors)


_ZERO, _ONE = Coefficient(0.0), Coefficient(1.0)

_NUMPY: dict[str, Callable[..., Array]] = {
    "Add": np.add,
    "Mul": np.multiply,
    "Div": np.divide,
}
"""The operators on constants of floats or integers; integers are never divided."""


def lift(recurrence: Recurrence, value: Value, shape: Shape) -> Coefficient:
    """Emit a state-independent value such that it broadcasts to a state, iterations first.

    Raises:
        Unfit: another shape.
    """
    operand = recurrence.trips.operand(value)
    own, missing = operand.fact.shape, len(shape) - len(operand.fact.shape or ())
    if own is None or missing < 0 or not _fits(own, shape[missing:]):
        raise Unfit(f"'{value.name}' has another shape")
    lifted = operand.value
    if operand.batched and missing:
        axes = tuple(range(1, 1 + missing))
        lifted = recurrence.trips.emit.unsqueeze(lifted, axes, f"{value.name}_lifted")
    tensor = value.constant
    array = tensor.numpy() if tensor is not None and tensor.is_readable else None
    return Coefficient(None, lifted, operand.batched, own == shape, array=array)


def _fits(own: Shape, other: Shape) -> bool:
    one = Dimension.constant(1)
    return all(dim in (one, wide) for dim, wide in zip(own, other, strict=True))


class LinearReader:
    """The linear functions that the values of a cycle are of its states.

    Args:
        recurrence: the states, and the nodes between them and their next values.
        fact: the fact of each state.
    """

    def __init__(self, recurrence: Recurrence, fact: Fact) -> None:
        self._recurrence = recurrence
        self._emit: Builder = recurrence.trips.emit
        self._shape: Shape = fact.shape or ()
        self._type = fact.elem_type
        self._dtype = onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type)
        self._values: dict[Value, Linear] = {}
        self._rules: dict[str, Callable[[Node], Linear]] = {
            "Identity": lambda node: self._of(node.inputs[0]),
            "Cast": self._cast,
            "Add": lambda node: self._add(*self._operands(node)),
            "Sum": self._sum,
            "Sub": lambda node: self._subtract(*self._operands(node)),
            "Neg": lambda node: self._times(self._of(node.inputs[0]), Coefficient(-1.0)),
            "Mul": self._mul,
            "Div": self._div,
            "Where": self._where,
        }

    def read(self) -> list[Linear]:
        """The function that an iteration applies, for each state.

        Raises:
            Unfit: no linear function.
        """
        states = self._recurrence.states
        for state in states:
            factors = tuple([_ONE if other is state else _ZERO for other in states])
            self._values[state.argument] = Linear(factors, _ZERO)
        for node in self._recurrence.nodes:
            rule = None if node.domain or node.op.references else self._rules.get(node.op_type)
            if rule is None or self._recurrence.fact(node.output()).shape != self._shape:
                raise Unfit(f"{node} makes the next value")
            self._values[node.output()] = rule(node)
        return [self._of(state.result) for state in states]

    def _of(self, value: Value | None) -> Linear:
        if value is None:
            raise Unfit("an operand is absent")
        if value not in self._values:
            none = (_ZERO,) * len(self._recurrence.states)
            self._values[value] = Linear(none, self._coefficient(value))
        return self._values[value]

    def _operands(self, node: Node) -> tuple[Linear, Linear]:
        return self._of(node.inputs[0]), self._of(node.inputs[1])

    def _coefficient(self, value: Value) -> Coefficient:
        """The coefficient of a state-independent value."""
        coefficient = lift(self._recurrence, value, self._shape)
        array = coefficient.array
        if array is not None and array.size == 1 and array.dtype.kind in "iuf":
            number = float(array.reshape(()))
            if number in (0.0, 1.0, -1.0):
                return Coefficient(number)
        return coefficient

    # Operators -----------------------------------------------------------------------------------

    def _cast(self, node: Node) -> Linear:
        if node.attribute("to") != self._type:
            raise Unfit(f"{node} makes the next value")
        return self._of(node.inputs[0])

    def _sum(self, node: Node) -> Linear:
        total, *others = (self._of(value) for value in node.inputs)
        for other in others:
            total = self._add(total, other)
        return total

    def _add(self, one: Linear, other: Linear) -> Linear:
        pairs = zip(one.factors, other.factors, strict=True)
        factors = tuple([self._plus(*pair) for pair in pairs])
        return Linear(factors, self._plus(one.offset, other.offset))

    def _subtract(self, one: Linear, other: Linear) -> Linear:
        return self._add(one, self._times(other, Coefficient(-1.0)))

    def _times(self, one: Linear, by: Coefficient) -> Linear:
        factors = tuple([self._product(factor, by) for factor in one.factors])
        return Linear(factors, self._product(one.offset, by))

    def _mul(self, node: Node) -> Linear:
        one, other = self._operands(node)
        if one.is_independent:
            one, other = other, one
        if not other.is_independent:
            raise Unfit(f"{node} multiplies it by itself")
        return self._times(one, other.offset)

    def _div(self, node: Node) -> Linear:
        one, other = self._operands(node)
        if not other.is_independent or self._dtype.kind != "f":
            raise Unfit(f"{node} divides by it, or rounds")
        if other.offset.number is not None:
            return self._times(one, other.offset) if other.offset.number else self._refuse(node)
        inverse = self._combine("Div", _ONE, other.offset)
        offset = one.offset
        if offset.number != 0.0:
            offset = self._combine("Div", offset, other.offset)
        return Linear(tuple([self._product(each, inverse) for each in one.factors]), offset)

    def _refuse(self, node: Node) -> Linear:
        raise Unfit(f"{node} divides by 0")

    def _where(self, node: Node) -> Linear:
        condition, *branches = node.inputs
        assert condition is not None
        if condition in self._values or condition.producer in self._recurrence.nodes:
            raise Unfit(f"{node} chooses by it")
        flag, (one, other) = self._coefficient(condition), (self._of(v) for v in branches)
        pairs = zip(one.factors, other.factors, strict=True)
        factors = tuple([self._choose(flag, *pair) for pair in pairs])
        return Linear(factors, self._choose(flag, one.offset, other.offset))

    # Coefficients --------------------------------------------------------------------------------

    def _plus(self, one: Coefficient, other: Coefficient) -> Coefficient:
        if one.number == 0.0:
            return other
        if other.number == 0.0:
            return one
        if one.number is not None and other.number is not None:
            return Coefficient(one.number + other.number)
        return self._combine("Add", one, other)

    def _product(self, one: Coefficient, other: Coefficient) -> Coefficient:
        for number, rest in ((one.number, other), (other.number, one)):
            if number == 0.0:
                return _ZERO
            if number == 1.0:
                return rest
            if number == -1.0 and rest.number is None:
                assert rest.value is not None
                value = self._emit.add("Neg", [rest.value], "negated")
                array = None if rest.array is None else -rest.array
                return dataclasses.replace(rest, value=value, array=array)
        if one.number is not None and other.number is not None:
            return Coefficient(one.number * other.number)
        return self._combine("Mul", one, other)

    def _choose(self, flag: Coefficient, one: Coefficient, other: Coefficient) -> Coefficient:
        if one.number is not None and one.number == other.number:
            return one
        resets = 0.0 in (one.number, other.number)
        return self._combine("Where", flag, one, other, resets=resets)

    def _combine(self, op_type: str, *operands: Coefficient, resets: bool = False) -> Coefficient:
        arrays = [self.array_of(operand) for operand in operands]
        array = None
        if op_type in _NUMPY and all(each is not None for each in arrays):
            with np.errstate(all="ignore"):
                array = _NUMPY[op_type](*arrays).astype(self._dtype)
        values = [self.value_of(operand) for operand in operands]
        emit = self._emit
        constant = None if array is None else emit.constant(array, "k")
        return Coefficient(
            None,
            emit.add(op_type, values, "combined") if constant is None else constant,
            any(operand.batched for operand in operands),
            any(operand.whole for operand in operands),
            resets or any(operand.resets for operand in operands),
            array,
        )

    def array_of(self, coefficient: Coefficient) -> Array | None:
        """The elements of a coefficient that is constant; None for others."""
        if coefficient.number is None:
            return coefficient.array
        return np.array(coefficient.number, self._dtype)

    def value_of(self, coefficient: Coefficient) -> Value:
        """Emit a coefficient; a number becomes a constant."""
        if coefficient.value is not None:
            return coefficient.value
        assert coefficient.number is not None
        return self._emit.constant(np.array(coefficient.number, self._dtype), "k")

    def rows_of(self, coefficient: Coefficient) -> Value:
        """Emit a coefficient in the shape of the state, iterations first."""
        if coefficient.value is None:
            value = self.value_of(coefficient)
            coefficient = dataclasses.replace(coefficient, value=value)
        return spread(self._recurrence, coefficient, self._shape)


def spread(recurrence: Recurrence, coefficient: Coefficient, shape: Shape) -> Value:
    """Emit a lifted value in the shape of the state, iterations first."""
    assert coefficient.value is not None
    if coefficient.batched and coefficient.whole:
        return coefficient.value
    emit, feeding = recurrence.trips.emit, recurrence.trips.feeding
    size = feeding.trips
    if shape:
        initial = feeding.same(recurrence.states[0].initial).value
        size = emit.concat([size, emit.add("Shape", [initial], "own")], 0, "size")
    return emit.add("Expand", [coefficient.value, size], "rows")
