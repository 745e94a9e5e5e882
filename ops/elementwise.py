"""Operators that work on each element by itself, and the broadcasting that they share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import ml_dtypes
import numpy as np
import onnx

from ..facts.bounds import Bounds, Known, greater, lesser
from ..facts.fact import MAX_CONTENT, Content, Fact, Symbols, content_from
from ..facts.polynomial import Dimension
from ..facts.safety_context import Premises, broadcast, broadcast_to, require
from ..ir import Node, Value
from .agreement import are_finite, have_both_zeros, have_nan, is_float, is_integer
from .axes import AxisMap, broadcast_map, broadcast_shape
from .axis_map import PassesAxes
from .batching import Batch, Unbatchable
from .cost_estimates import EACH, FEW, elements
from .output_growth import broadcast_size
from .partial_axes import fitted
from .ranks import RankAnswer, rank_of_largest
from .rules import (
    KeepsShape,
    OperatorRules,
    Shapes,
    Total,
    describes,
)
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
        broadcast([operand.fact.shape for operand, value in operands if value])

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
