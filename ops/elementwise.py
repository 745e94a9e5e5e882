"""Operators that work on each element by itself, and the broadcasting that they share."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import ml_dtypes
import numpy as np
import onnx

from ..facts.bounds import Bounds, Known, greater, join, lesser, negated, span
from ..facts.fact import MAX_CONTENT, Content, Fact, Symbols, content_from
from ..facts.magnitudes import most_of
from ..facts.polynomial import Dimension
from ..facts.safety_context import Premises, broadcast, broadcast_to, require
from ..ir import Node, Value
from .agreement import are_finite, have_both_zeros, have_nan, is_float, is_integer
from .axes import AxisMap, RankAnswer, broadcast_map, broadcast_shape, rank_of_largest
from .axis_map import PassesAxes
from .batching import Batch, Operand, Unbatchable
from .cost_estimates import EACH, FEW, broadcast_size, elements
from .partial_axes import fitted
from .rules import KeepsShape, OperatorRules, Shapes, Total, describes
from .sliding_windows import window_of_function

_TRUTH = Bounds(Dimension.constant(0), Dimension.constant(1))


@describes("BitwiseAnd", "BitwiseOr", "BitwiseXor", "Xor")
class Elementwise(OperatorRules):
    """Operands whose shapes broadcast in all directions.

    From opset 7 on, or 8 for Max, Mean, Min and Sum; those of bits exist from 18 on.
    """

    steps: ClassVar[int] = FEW
    elementwise: ClassVar[bool] = True

    def work(self, node: Node, arrays: Sequence[Any]) -> float:
        present = [array for array in arrays if array is not None]
        return self.steps * (elements(present) + broadcast_size(present))

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        return broadcast_size([array for array in arrays if array is not None])

    def shapes(self, node: Node, inputs: Sequence[Fact], symbols: Symbols) -> Shapes:
        shapes = [fact.shape for fact in inputs if fact.shape is not None]
        # Up to opset 6 an attribute says how operands meet.
        if len(shapes) < len(inputs) or not inputs or "broadcast" in node.op.attributes:
            return None
        return [broadcast_shape(shapes, symbols)]

    def prove_safe(self, premises: Premises) -> None:
        operands = zip(premises.inputs, premises.node.inputs, strict=True)
        shapes = [operand.fact.shape for operand, value in operands if value]
        broadcast(shapes)

    def require_older_form(self, premises: Premises) -> None:
        shapes = [premises.shape(index) for index in range(len(premises.inputs))]
        if premises.node.attribute("broadcast", 0):
            broadcast_to(shapes[1], shapes[0], premises.name(1))
            return
        is_same = all(shape == shapes[0] for shape in shapes)
        require(is_same, f"its operands need one shape before opset {self.accepts_more_from}")

    def axis_map(self, node: Node, inputs: Sequence[Fact], axis: int) -> AxisMap | None:
        return None if "broadcast" in node.op.attributes else broadcast_map(inputs, axis)

    def batch_partial(self, batch: Batch) -> Sequence[Value]:
        return super().batch_partial(fitted(batch))

    def batch(self, batch: Batch) -> Sequence[Value]:
        results = batch.same(batch.aligned(range(len(batch.operands))))
        return [batch.window(result, window_of_function(batch)) for result in results]

    def rank(self, node: Node, output: int) -> RankAnswer:
        return rank_of_largest(node)


def each(function: Callable[..., Any], inputs: Sequence[Fact]) -> Content | None:
    """The content computed element by element; the function receives None for unknown elements."""
    contents = [fact.elements for fact in inputs]
    if math.prod(np.broadcast_shapes(*(c.shape for c in contents))) > MAX_CONTENT:
        return None
    return content_from(np.frompyfunc(function, len(contents), 1)(*contents))


def each_known(function: Callable[..., Any], inputs: Sequence[Fact]) -> Content | None:
    """The same for a function whose result is unknown where an operand is unknown."""
    return each(lambda *a: None if any(x is None for x in a) else function(*a), inputs)


@describes("BitCast")
class OfEach(KeepsShape, PassesAxes):
    """A function of each element of the first input; BitCast from opset 26 on."""

    elementwise: ClassVar[bool] = True

    def batch(self, batch: Batch) -> Sequence[Value]:
        results = super().batch(batch)
        return [batch.window(result, window_of_function(batch)) for result in results]


_EXACT = ("Abs", "BitwiseNot", "Ceil", "Floor", "IsInf", "IsNaN", "Reciprocal", "Round", "Sqrt")
_OF_INTEGERS = ("Relu", "Sign")
_UNARY = (
    "Acos Acosh Asin Asinh Atan Atanh Celu Cos Cosh Elu Erf Exp Gelu HardSigmoid HardSwish"
    " LeakyRelu Log Mish Selu Shrink Sigmoid Sin Sinh Softplus Softsign Swish Tan Tanh"
    " ThresholdedRelu"
)


@describes(*_EXACT, *_OF_INTEGERS, *_UNARY.split())
class Unary(OfEach, Total):
    """A function of one number that gives a result for every number, if only NaN. Some results are
    numbers of the type, and Sqrt is rounded as IEEE 754 has it."""

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        if is_integer(arrays[0]) and node.op_type not in _EXACT:
            return node.op_type in _OF_INTEGERS
        return node.op_type in _EXACT or super().is_settled(node, arrays, results)


@describes("CastLike")
class CastLike(KeepsShape, PassesAxes):
    """CastLike, from opset 15 on: of its second input only the type matters.

    Strings are refused, as not each of them spells a number.
    """

    def batch(self, batch: Batch) -> Sequence[Value]:
        others = [batch.require(index).value for index in range(1, len(batch.operands))]
        return batch.same([batch.spread(0), *others])

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        return _same_everywhere(arrays[0], results[0])

    def prove_safe(self, premises: Premises) -> None:
        is_text = premises.elem_type(0) == onnx.TensorProto.STRING
        require(not is_text, "a string may not spell a number")


@describes("Cast")
class Cast(OfEach, CastLike):
    """Cast: numbers to truth values and back, integers to integers that hold them.

    From opset 6 on `to` is a number.
    """

    def work(self, node: Node, arrays: Sequence[Any]) -> float:
        texts = node.attribute("to") == onnx.TensorProto.STRING or arrays[0].dtype.hasobject
        return (EACH if texts else FEW) * 2 * elements(arrays)

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        content, to = inputs[0].elements, node.attribute("to")
        was_bool = inputs[0].elem_type == onnx.TensorProto.BOOL
        if to == onnx.TensorProto.BOOL:
            return content if was_bool else each_known(lambda a: negation(a.equals(0)), inputs)
        if to in (onnx.TensorProto.INT64, onnx.TensorProto.INT32):
            return each_known(Dimension.constant, inputs) if was_bool else content
        return None

    def bounds(self, node: Node, inputs: Sequence[Known]) -> Sequence[Bounds | None]:
        was_bool = inputs[0].fact.elem_type == onnx.TensorProto.BOOL
        return [_TRUTH if was_bool else inputs[0].bounds]


_IEEE = (np.float16, np.float32, np.float64)
_ROUNDED = ("bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz")


def _same_everywhere(before: Any, after: Any) -> bool:
    """Test that all runtimes agree on a cast: the type holds the numbers, no text is parsed.

    How a float is written, and which texts spell a number, each runtime decides for itself.
    """
    if before.dtype == after.dtype:
        return before.dtype.hasobject or before.tobytes() == after.tobytes()
    if before.dtype == np.bool_:
        return not after.dtype.hasobject
    if before.dtype.hasobject or after.dtype.hasobject:
        return is_integer(before) and before.dtype.kind in "iu"
    # Whether a NaN is true is open.
    if after.dtype == np.bool_:
        return is_integer(before) or (before.dtype in _IEEE and not have_nan([before]))
    if before.dtype in _IEEE and (after.dtype in _IEEE or after.dtype.name in _ROUNDED):
        return True  # the nearest one, a tie to the even
    if before.dtype in _IEEE and after.dtype.name == "float8_e8m0fnu":
        return bool((before > 0).all() and np.isfinite(after).all())
    wide = before.astype(np.float64)
    if is_float(after):
        same = (after.astype(np.float64) == wide) | (np.isnan(after) & np.isnan(wide))
        return bool(same.all()) and (after.dtype in _IEEE or bool(np.isfinite(wide).all()))
    if is_integer(before) and before.dtype.kind in "iu" and after.dtype.kind in "iu":
        return True  # what does not fit wraps
    info = ml_dtypes.iinfo(after.dtype)  # type: ignore[no-untyped-call]
    whole = np.trunc(wide) if after.dtype.kind in "iu" else wide
    # As a double the largest integer of 64 bits is 2^63, the first one that does not fit.
    return bool(((whole >= float(info.min)) & (whole < float(info.max) + 1)).all()) and bool(
        (after.astype(np.float64) == whole).all()
    )


@describes("StringConcat")
class StringConcat(Elementwise):
    """StringConcat, from opset 20 on: a text gets as many letters as the longest two have."""

    steps: ClassVar[int] = EACH

    def growth(self, node: Node, arrays: Sequence[Any]) -> float:
        letters = sum(max(map(len, array.reshape(-1)), default=0) for array in arrays)
        return broadcast_size(arrays) * max(1, letters)


def negation(truth: bool | None) -> bool | None:
    """Negate a truth value; None stays None."""
    return None if truth is None else not truth


@describes("Clip")
class Clip(OfEach):
    """Clip: the limits are inputs from opset 11 on, scalars that may be left out."""

    def bounds(self, node: Node, inputs: Sequence[Known]) -> Sequence[Bounds | None]:
        bounds = inputs[0].bounds
        for position, limit in ((1, greater), (2, lesser)):
            if node.input(position) is not None:
                bounds = limit(bounds, inputs[position].bounds)
        return [bounds]

    def prove_safe(self, premises: Premises) -> None:
        """Give a result: limits that are scalars fit every tensor."""

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        """Without a limit onnxruntime takes the last finite number for it; a NaN, or limits in the
        wrong order, mean something else to each runtime."""
        value, *limits = arrays
        if have_nan(arrays) or have_both_zeros(arrays):
            return False
        bounds = [limit for limit in limits if limit is not None]
        if not are_finite(bounds):
            return False
        if len(bounds) == 2:
            return bool((bounds[0] <= bounds[1]).all())
        return are_finite([value])


@describes("PRelu")
class PRelu(KeepsShape):
    """PRelu: the slope is stretched to the data, and never the data to the slope (from opset 7)."""

    elementwise: ClassVar[bool] = True

    def prove_safe(self, premises: Premises) -> None:
        broadcast_to(premises.shape(1), premises.shape(0), "the slope")

    def axis_map(self, node: Node, inputs: Sequence[Fact], axis: int) -> AxisMap | None:
        return broadcast_map(inputs, axis)

    def batch(self, batch: Batch) -> Sequence[Value]:
        rank = batch.rank(0)
        if batch.rank(1) > rank:
            raise Unbatchable("stretches its first input")
        if batch.varies(1):
            return batch.same([batch.spread(0), batch.lifted(1, rank)])
        return batch.same([batch.require(0).value, batch.require(1).value])


def _product(a: Bounds, b: Bounds) -> Bounds | None:
    if a.low.less(0) is False and b.low.less(0) is False:
        return Bounds(a.low * b.low, a.high * b.high)
    # With negative numbers any two ends may make the least product.
    return span([x * y for x in a for y in b])


@describes("Add", element=operator.add, ends=lambda a, b: Bounds(a.low + b.low, a.high + b.high))
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
    dividend. Floats require fmod=1."""

    def prove_safe(self, premises: Premises) -> None:
        super().prove_safe(premises)
        kind = onnx.helper.tensor_dtype_to_np_dtype(premises.elem_type(0)).kind
        is_valid = kind in "iu" or premises.node.attribute("fmod", 0) == 1
        require(is_valid, "fmod must be 1 for floats")

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
        amounts = premises.node.operand(1).array
        fewer = amounts is not None and bool((amounts < bits).all())
        fewer = fewer or premises.bounds(1).high.less(bits) is True
        require(fewer, f"{premises.name(1)} may be {bits} or more")

    def is_settled(self, node: Node, arrays: Sequence[Any], results: Sequence[Any]) -> bool:
        bits = arrays[0].dtype.itemsize * 8
        return bool((arrays[1] < bits).all())


@describes("Sum", "Mean")
class Sum(Elementwise):
    """Sum and Mean of any number of operands, which broadcast from opset 8 on."""

    accepts_more_from: ClassVar[int] = 8


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


def _equal(a: Any, b: Any) -> bool | None:
    if isinstance(a, Dimension) and isinstance(b, Dimension):
        return a.equals(b)
    return bool(a == b)


@describes("Equal", element=_equal)
@describes("Less", element=Dimension.less)
@describes("Greater", element=lambda a, b: b.less(a))
@describes("LessOrEqual", element=lambda a, b: negation(b.less(a)))
@describes("GreaterOrEqual", element=lambda a, b: negation(a.less(b)))
class Comparison(Elementwise):
    """Equal, Less, Greater, LessOrEqual and GreaterOrEqual.

    Equal compares integers and truth values from opset 7 on, Less and Greater integers from 9 on;
    LessOrEqual and GreaterOrEqual are there from 12 on.
    """

    element: Callable[[Any, Any], bool | None]

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        return each_known(self.element, inputs)


@describes("Not")
class Not(OfEach, Total):
    """Not."""

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        return each(negation, inputs)


@describes("And", decided=False)
@describes("Or", decided=True)
class Connective(Elementwise):
    """And, false as soon as one operand is known to be, and Or, true then."""

    decided: ClassVar[bool]

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        return each(self._element, inputs)

    def _element(self, a: bool | None, b: bool | None) -> bool | None:
        if self.decided in (a, b):
            return self.decided
        return None if a is None or b is None else not self.decided


@describes("Where")
class Where(Elementwise):
    """Operator Where, from opset 9 on. Facts that both choices share need no condition."""

    def content(self, node: Node, inputs: Sequence[Fact]) -> Content | None:
        return each(_chosen, inputs)

    def bounds(self, node: Node, inputs: Sequence[Known]) -> Sequence[Bounds | None]:
        return [join(inputs[1].bounds, inputs[2].bounds)]


def _chosen(condition: bool | None, a: Any, b: Any) -> Any:
    if condition is None:
        return a if a == b else None
    return a if condition else b
