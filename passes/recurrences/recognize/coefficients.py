"""Coefficients of the functions that iterations apply to states, and arithmetic on them.

A coefficient is a number, a constant or the values of all iterations; numbers such as 0 and 1 emit
no nodes.
"""

from collections.abc import Callable

import numpy as np
import onnx

from ....facts.fact import Fact, Shape
from ....ir import Array, Value
from ....ops.builder import Builder
from ....records import record, replace
from ...utils.select import select
from ..weights import Unfit
from .extents import Extents
from .recurrence import Recurrence
from .semirings import combine

_BOOL = onnx.TensorProto.BOOL


@record(frozen=True)
class Coefficient:
    """A number, or a value of each iteration.

    Attributes:
        number: the number; None for a value.
        array: the elements of a constant value; None for others.
        value: the value, which broadcasts to the state, iterations first if it is batched.
        batched: true if iterations may differ.
        whole: true if it has the shape of the state.
        positive: true if it is at least 0.
        single: true if an iteration has one element of it, for all elements of the state.
        present: the condition that there is one; None for always.
        rows: the value without the axes of the state, if iterations have one element of it.
    """

    number: float | None
    value: Value | None = None
    batched: bool = False
    whole: bool = False
    array: Array | None = None
    positive: bool = False
    single: bool = False
    present: "Coefficient | None" = None
    rows: Value | None = None


ZERO, ONE = (Coefficient(number, positive=True, single=True) for number in (0.0, 1.0))


_NUMPY: dict[str, Callable[..., Array]] = {
    "Add": np.add,
    "Mul": np.multiply,
    "Div": np.divide,
    "Max": np.maximum,
    "Min": np.minimum,
    "Xor": np.logical_xor,
    "And": np.logical_and,
    "Or": np.logical_or,
    "LogSumExp": np.logaddexp,
    "BitwiseXor": np.bitwise_xor,
    "BitwiseAnd": np.bitwise_and,
    "BitwiseOr": np.bitwise_or,
}
"""The operators on constants; integers are never divided."""


def lift(recurrence: Recurrence, value: Value, shape: Shape) -> Coefficient:
    """Emit a state-independent value such that it broadcasts to a state, iterations first.

    Raises:
        Unfit: another shape.
    """
    operand = recurrence.iterations.operand(value)
    own, missing = operand.fact.shape, len(shape) - len(operand.fact.shape or ())
    # A coefficient may be smaller than the state, never larger: the state would change its shape.
    pairs = zip(own or (), shape[max(missing, 0) :], strict=False)
    if own is None or missing < 0 or any(dim not in (1, wide) for dim, wide in pairs):
        raise Unfit(f"'{value.name}' has another shape")
    count = missing if operand.batched else 0
    lifted = recurrence.emit.lift(operand.value, count, f"{value.name}_lifted")
    positive = Extents(recurrence).of(value)[0] >= 0
    single = all(dim == 1 for dim in own)
    rows = operand.value if operand.batched and not own else None
    whole = own == shape
    return Coefficient(
        None, lifted, operand.batched, whole, value.array, positive, single, rows=rows
    )


class Coefficients:
    """Arithmetic on coefficients of states."""

    def __init__(self, recurrence: Recurrence, fact: Fact) -> None:
        self._recurrence = recurrence
        self._emit: Builder = recurrence.emit
        self._shape: Shape = fact.shape or ()
        self._type = fact.elem_type
        self._dtype = onnx.helper.tensor_dtype_to_np_dtype(fact.elem_type)
        truth = fact.elem_type == _BOOL
        self._opposites: dict[Value, Value] = {}
        self.saturates = False  # an addend is cut off
        self._plus_of, self._times_of = ("Xor", "And") if truth else ("Add", "Mul")

    def _coefficient(self, value: Value) -> Coefficient:
        """The coefficient of a state-independent value."""
        coefficient = lift(self._recurrence, value, self._shape)
        array = coefficient.array
        # 0, 1 and -1 decide the form: a term that is gone, one without a factor, an alternating
        # sum.
        if array is not None and array.size == 1 and array.dtype.kind in "iufb":
            number = float(array.reshape(()))
            if number in (0.0, 1.0, -1.0):
                return Coefficient(number, positive=number >= 0)
        return coefficient

    def _unbounded(self, least: bool, scaled: bool) -> Coefficient:
        """The bound that changes nothing; a factor, which may be 0, needs a finite one."""
        if self._dtype.kind not in "fiu":
            raise Unfit("its element type has no bounds")
        limits = np.finfo(self._dtype) if self._dtype.kind == "f" else np.iinfo(self._dtype)
        number = limits.min if least else limits.max
        # 0 times an infinite bound would be NaN.
        if not scaled and self._dtype.kind == "f":
            number = -np.inf if least else np.inf
        array = np.array(number, self._dtype)
        return Coefficient(None, self._emit.constant(array, "bound"), array=array)

    def _source(self, value: Value) -> tuple[Value, object] | None:
        """The value that a scan input reads, with its axis and direction."""
        for one in self._recurrence.iterations.loop_view.scan_inputs:
            if one.argument is value:
                return one.source, (one.axis, one.backward)
        return None

    def _plus(self, one: Coefficient, other: Coefficient) -> Coefficient:
        if one.number == 0.0:
            return other
        if other.number == 0.0:
            return one
        if one.number is not None and other.number is not None:
            number = one.number + other.number
            # Truth values form the field of two elements: Xor adds, And multiplies.
            number = number % 2 if self._type == _BOOL else number
            return Coefficient(number, positive=number >= 0)
        positive = one.positive and other.positive
        return replace(self._combine(self._plus_of, one, other), positive=positive)

    def _product(self, one: Coefficient, other: Coefficient) -> Coefficient:
        for number, rest in ((one.number, other), (other.number, one)):
            if number == 0.0:
                return ZERO
            if number == 1.0:
                return rest
            if number == -1.0 and rest.number is None:
                assert rest.value is not None
                value = self._emit.add("Neg", [rest.value], "negated")
                array = None if rest.array is None else -rest.array
                positive = array is not None and bool(np.all(array >= 0))
                return replace(rest, value=value, array=array, positive=positive, rows=None)
        if one.number is not None and other.number is not None:
            number = one.number * other.number
            return Coefficient(number, positive=number >= 0)
        positive = one.positive and other.positive
        return replace(self._combine(self._times_of, one, other), positive=positive)

    def _choose(
        self, flag: Coefficient, one: Coefficient, other: Coefficient, truth: bool = False
    ) -> Coefficient:
        if flag.number is not None:
            return one if flag.number else other
        if one is other or (one.number is not None and one.number == other.number):
            return one
        if truth or self._type == _BOOL:
            if (one.number, other.number) == (1.0, 0.0):
                return flag
            if (one.number, other.number) == (0.0, 1.0):
                return self.opposite(flag)
        elem_type = _BOOL if truth else self._type
        dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
        old = self._recurrence.states[0].result
        first, second = (self.value_of(each, dtype) for each in (one, other))
        assert flag.value is not None
        if first is second:
            return one
        return Coefficient(
            None,
            select(self._emit, flag.value, first, second, elem_type, "chosen", old),
            any(each.batched for each in (flag, one, other)),
            any(each.whole for each in (flag, one, other)),
            positive=one.positive and other.positive,
            single=all(each.single for each in (flag, one, other)),
        )

    def saturated(self, offset: Coefficient, *limits: Coefficient | None) -> Coefficient:
        """An addend that reaches both constant bounds in place of an infinite one.

        The sum of both infinities would be NaN, and so would all values after it. The initial state
        may be beyond the bounds: the first iteration needs the addend itself.

        Args:
            offset: the addend.
            limits: the factor of the state, and the bounds.
        """
        arrays = [None if each is None else self.array_of(each) for each in limits]
        if self._dtype.kind != "f" or offset.number is not None or any(a is None for a in arrays):
            return offset
        most = float(np.finfo(self._dtype).max) / 2**32  # the sum of 2^31 is finite
        largest = [float(np.abs(array).max(initial=0)) for array in arrays if array is not None]
        if not (largest[0] <= 1 and max(largest[1:]) <= most / 4):
            return offset
        self.saturates = True
        ends = [np.array(end, self._dtype) for end in (-most, most)]
        least, last = (Coefficient(None, self._emit.constant(e, "end"), array=e) for e in ends)
        return self._combine("Min", self._combine("Max", offset, least), last)

    def opposite(self, flag: Coefficient) -> Coefficient:
        """The condition that holds where another one does not."""
        if flag.number is not None:
            return ZERO if flag.number else ONE
        assert flag.value is not None
        if flag.value not in self._opposites:
            value = self._emit.add("Not", [flag.value], "not")
            self._opposites |= {flag.value: value, value: flag.value}
        array = None if flag.array is None else np.logical_not(flag.array)
        return replace(flag, value=self._opposites[flag.value], array=array, rows=None)

    def _combine(self, op_type: str, *operands: Coefficient) -> Coefficient:
        """Emit an operator on coefficients of the state's type."""
        arrays = [self.array_of(operand) for operand in operands]
        array = None
        if all(each is not None for each in arrays):
            with np.errstate(all="ignore"):
                array = _NUMPY[op_type](*arrays).astype(self._dtype)
        values = [self.value_of(operand) for operand in operands]
        emit = self._emit
        constant = None if array is None else emit.constant(array, "k")
        return Coefficient(
            None,
            combine(emit, op_type, values, self._type) if constant is None else constant,
            any(operand.batched for operand in operands),
            any(operand.whole for operand in operands),
            array,
            single=all(operand.single for operand in operands),
        )

    def array_of(
        self, coefficient: Coefficient, dtype: np.dtype[np.generic] | None = None
    ) -> Array | None:
        """The elements of a coefficient that is constant; None for others."""
        if coefficient.number is None:
            return coefficient.array
        with np.errstate(over="ignore"):  # beyond float16 it is infinite, as Cast makes it
            return np.array(coefficient.number, self._dtype if dtype is None else dtype)

    def value_of(
        self, coefficient: Coefficient, dtype: np.dtype[np.generic] | None = None
    ) -> Value:
        """Emit a coefficient; a number becomes a constant."""
        if coefficient.value is not None:
            return coefficient.value
        array = self.array_of(coefficient, dtype)
        assert array is not None
        return self._emit.constant(array, "k")

    def rows_of(self, coefficient: Coefficient, dtype: np.dtype[np.generic] | None = None) -> Value:
        """Emit a coefficient in the shape of the state, iterations first."""
        if coefficient.value is None:
            value = self.value_of(coefficient, dtype)
            coefficient = replace(coefficient, value=value)
        return spread(self._recurrence, coefficient, self._shape)

    def flags_of(self, flag: Coefficient) -> Value:
        """Emit a condition of one element for each iteration, as a vector."""
        assert flag.value is not None
        if not flag.batched:
            one = self._emit.scalar(flag.value, "flag")
            return self._emit.add("Expand", [one, self._recurrence.feeding.iterations], "flags")
        if flag.rows is not None or not self._shape:
            return flag.rows or flag.value
        return self._emit.squeeze(flag.value, tuple(range(1, 1 + len(self._shape))), "flags")


def spread(recurrence: Recurrence, coefficient: Coefficient, shape: Shape) -> Value:
    """Emit a lifted value in the shape of the state, iterations first."""
    assert coefficient.value is not None
    if coefficient.batched and coefficient.whole:
        return coefficient.value
    emit, feeding = recurrence.emit, recurrence.feeding
    size = feeding.integers(1) if coefficient.batched else feeding.iterations
    if shape:
        initial = feeding.same(recurrence.states[0].initial).value
        size = emit.concat([size, emit.add("Shape", [initial], "own")], 0, "size")
    return emit.add("Expand", [coefficient.value, size], "rows")


def broadcast(recurrence: Recurrence, value: Value, shape: Shape) -> Value:
    """Emit a state-independent value in the shape of the state, iterations first."""
    return spread(recurrence, lift(recurrence, value, shape), shape)
