"""Arithmetic of numbers, element by element; integers that overflow wrap around."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx

from ..facts.bounds import Bounds, Known, greater, lesser, negated, span
from ..facts.fact import Content, Fact
from ..facts.magnitudes import most_of
from ..facts.polynomial import Dimension
from ..facts.safety_context import Premises, require
from ..ir import Node, Value
from .agreement import have_both_zeros, have_nan, is_integer
from .batching import Batch, Operand
from .elementwise import Elementwise, OfEach, each_known
from .output_growth import broadcast_size
from .rules import Total, describes


def _product(a: Bounds, b: Bounds) -> Bounds | None:
    if a.low.less(0) is False and b.low.less(0) is False:
        return Bounds(a.low * b.low, a.high * b.high)
    # With negative numbers any two ends may make the least product.
    return span([x * y for x in a for y in b])


def _sum(a: Bounds, b: Bounds) -> Bounds:
    return Bounds(a.low + b.low, a.high + b.high)


@describes("Add", element=operator.add, ends=_sum)
@describes("Sub", element=operator.sub, ends=lambda a, b: Bounds(a.low - b.high, a.high - b.low))
@describes("Mul", element=operator.mul, ends=_product)
class Arithmetic(Elementwise):
    """Add, Sub and Mul."""

    element: Callable[[Any, Any], Any]
    ends: Callable[[Bounds, Bounds], Bounds | None]

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        return each_known(self.element, inputs)

    def bounds(self, node: Node, inputs: Sequence[Known]) -> Sequence[Bounds | None]:
        one, other = inputs[0].bounds, inputs[1].bounds
        return [None if one is None or other is None else self.ends(one, other)]


@describes("Neg")
class Neg(OfEach, Total):
    """Neg."""

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        return each_known(operator.neg, inputs)

    def bounds(self, node: Node, inputs: Sequence[Known]) -> Sequence[Bounds | None]:
        return [negated(inputs[0].bounds)]


class Division(Elementwise):
    """Operator that fails on a division of integers by zero; numpy returns 0."""

    def prove_safe(self, premises: Premises) -> None:
        super().prove_safe(premises)
        if not premises.is_integer(1):
            return
        require(_never(premises, 0), f"{premises.name(1)} may be zero")
        if not _never(premises, -1):
            # The smallest integer by -1 overflows, which stops the program on some processors.
            smallest = np.iinfo(onnx.helper.tensor_dtype_to_np_dtype(premises.elem_type(1))).min
            above = premises.bounds(0).low.less(smallest + 1) is False
            what = f"{premises.name(1)} may be -1 where {premises.name(0)} is the smallest integer"
            require(above, what)

    def batch(self, batch: Batch) -> Sequence[Value]:
        divisor = batch.require(1)
        elements = () if divisor.fact.content is None else divisor.fact.content.reshape(-1)
        never = len(elements) and all(e is not None and e.equals(0) is False for e in elements)
        # 7 is int64: an unknown type may be one of integers.
        kind = onnx.helper.tensor_dtype_to_np_dtype(divisor.fact.elem_type or 7).kind
        if batch.extent.certain or divisor.batched or never or kind not in "iu":
            return super().batch(batch)
        # onnxruntime refuses a scalar of 0 even where there is nothing to divide.
        return super().batch(batch.replaced(1, Operand(batch.spread(1), True, divisor.fact)))

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        """Floats divide as IEEE 754 has it; an integer by zero fails, and so may the smallest one
        by -1."""
        dividend, divisor = arrays
        if not is_integer(divisor):
            return True
        if not divisor.astype(np.int64).all():
            return False
        smallest = dividend.dtype.kind == "i" and bool(
            (dividend == np.iinfo(dividend.dtype).min).any()
        )
        return not (smallest and bool((divisor == -1).any()))


def _never(premises: Premises, number: int) -> bool:
    """Test that no element of the divisor can be this number."""
    low, high = premises.bounds(1)
    if low.less(number + 1) is False or high.less(number) is True:
        return True
    content = premises.inputs[1].fact.content
    elements = [None] if content is None else content.reshape(-1)
    return all(e is not None and e.equals(number) is False for e in elements)


@describes("Div")
class Div(Division):
    """Div: integers are divided towards zero (the specification says so from opset 14 on, and all
    runtimes did before)."""

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        return each_known(_divide, inputs)

    def bounds(self, node: Node, inputs: Sequence[Known]) -> Sequence[Bounds | None]:
        value, divisor = inputs[0].bounds, inputs[1].bounds
        if value is None or divisor is None:
            return [None]
        if value.low.less(0) is not False or divisor.low.less(1) is not False:
            return [None]
        # A divisor of at least 1 makes no quotient larger.
        return [Bounds(Dimension.constant(0), value.high)]


def _divide(a: Dimension, b: Dimension) -> Dimension | None:
    if a.value is None or b.value is None:
        return a.divided_by(b)
    return Dimension.constant(_quotient(a.value, b.value)) if b.value else None


def _quotient(a: int, b: int) -> int:
    """ONNX divides integers towards zero."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


@describes("Mod")
class Mod(Division):
    """Mod, from opset 10 on: the remainder has the sign of the divisor, or with fmod=1 that of the
    dividend."""

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        return each_known(_c_remainder if node.attribute("fmod", 0) else _remainder, inputs)

    def bounds(self, node: Node, inputs: Sequence[Known]) -> Sequence[Bounds | None]:
        value, divisor = inputs[0].bounds, inputs[1].bounds
        if value is None or divisor is None or divisor.low.less(1) is not False:
            return [None]
        if node.attribute("fmod", 0) and value.low.less(0) is not False:
            # C's remainder takes the sign of the dividend.
            return [None]
        return [Bounds(Dimension.constant(0), divisor.high - 1)]


def _remainder(a: Dimension, b: Dimension) -> Dimension | None:
    """The remainder with the sign of the divisor."""
    if a.value is not None and b.value:
        return Dimension.constant(a.value % b.value)
    return Dimension.constant(0) if b.value and a.divided_by(b) is not None else None


def _c_remainder(a: Dimension, b: Dimension) -> Dimension | None:
    """The remainder with the sign of the dividend, as C's fmod."""
    if a.value is None or not b.value:
        return None
    return Dimension.constant(a.value - b.value * _quotient(a.value, b.value))


@describes("Pow")
class Pow(Elementwise):
    """Pow: integers from opset 12 on, of which no negative power is an integer."""

    def prove_safe(self, premises: Premises) -> None:
        super().prove_safe(premises)
        if premises.is_integer(0) and premises.is_integer(1):
            require(premises.bounds(1).low.less(0) is False, f"{premises.name(1)} may be negative")

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        """Test for floats, or for integers where the power is one."""
        base, exponent = arrays
        if not is_integer(base):
            return super().is_settled(node, arrays, results)
        return is_integer(exponent) and not (exponent.astype(np.float64) < 0).any()


@describes("BitShift")
class BitShift(Elementwise):
    """BitShift, from opset 11 on: a shift by as many bits as there are is undefined."""

    def prove_safe(self, premises: Premises) -> None:
        super().prove_safe(premises)
        bits = onnx.helper.tensor_dtype_to_np_dtype(premises.elem_type(0)).itemsize * 8
        fewer = premises.bounds(1).high.less(bits) is True
        require(fewer, f"{premises.name(1)} may be {bits} or more")

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        bits = arrays[0].dtype.itemsize * 8
        return bool((arrays[1] < bits).all())


@describes("Sum", "Mean")
class Sum(Elementwise):
    """Sum and Mean of any number of operands, which broadcast from opset 8 on."""

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        return broadcast_size(arrays)


def _least(a: Dimension, b: Dimension) -> Dimension | None:
    for size, number in ((a, b.value), (b, a.value)):
        if number is not None and number >= most_of(size):
            return size
    less = a.less(b)
    if less is None:
        greater = b.less(a)
        return None if greater is None and a != b else (a if not greater else b)
    return a if less else b


def _greatest(a: Dimension, b: Dimension) -> Dimension | None:
    least = _least(a, b)
    return None if least is None else (b if least is a else a)


@describes("Min", element=_least, limit=lesser)
@describes("Max", element=_greatest, limit=greater)
class Extreme(Sum):
    """Min and Max of any number of operands: of integers from opset 12 on.

    Which one of 0 and -0, and of a NaN and a number, no specification tells.
    """

    element: Callable[[Any, Any], Any]
    limit: Callable[[Bounds | None, Bounds | None], Bounds | None]

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        def chosen(*operands: Any) -> Any:
            return functools.reduce(
                lambda a, b: None if a is None else self.element(a, b), operands
            )

        return each_known(chosen, inputs)

    def bounds(self, node: Node, inputs: Sequence[Known]) -> Sequence[Bounds | None]:
        return [functools.reduce(self.limit, [operand.bounds for operand in inputs])]

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        return len(arrays) == 1 or not (have_nan(arrays) or have_both_zeros(arrays))
