"""Operators of which onnx.reference has other results than the specification."""

import functools
import math
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
from onnx.helper import tensor_dtype_to_np_dtype
from onnx.reference.op_run import OpRun
from onnx.reference.ops._quant_utils import reshape_input
from onnx.reference.ops.op_cum_sum import CumSum as _CumSum
from onnx.reference.ops.op_div import Div as _Div
from onnx.reference.ops.op_gemm import Gemm_7 as _Gemm
from onnx.reference.ops.op_mod import Mod as _Mod
from onnx.reference.ops.op_pow import Pow as _Pow
from onnx.reference.ops.op_quantize_linear import QuantizeLinear_25 as _QuantizeLinear
from onnx.reference.ops.op_random_uniform_like import RandomUniformLike as _RandomUniformLike
from onnx.reference.ops.op_range import Range as _Range

from ..bodies import Array
from ..errors import EvaluationError
from .normalizing import broadcasts_to

_UINT8 = 2
_COUNTS_FROM_THE_BACK = 11
"""Opset from which OneHot takes negative indices."""


class _Dividing:
    """An integer has no quotient or remainder by zero, where onnx.reference has one; runtimes
    fail."""

    def _run(self, a: Array, b: Array, **options: Any) -> Any:
        if b.dtype.kind in "iu" and a.size and not b.all():
            raise EvaluationError(f"{type(self).__name__} divides an integer by zero")
        return super()._run(a, b, **options)  # type: ignore[misc]


class Div(_Dividing, _Div):
    """Div."""


class Mod(_Dividing, _Mod):  # type: ignore[misc]
    """Mod."""


class Pow(_Pow):
    """Pow: numpy takes roots for one exponent of 0.5, where minus infinity has infinity."""

    def _run(self, a: Array, b: Array) -> Any:
        exponents = np.broadcast_to(b, np.broadcast_shapes(a.shape, b.shape)).copy()
        return super()._run(a, exponents)  # type: ignore[no-untyped-call]


class Range(_Range):
    """Range: numpy counts the elements of integers as doubles, which has none up to 2^63 - 1."""

    def _run(self, starts: Array, ends: Array, steps: Array, stash_type: Any = None) -> Any:
        if starts.dtype.kind != "i" or not steps.any():
            run: Any = super()._run  # of onnx 1.20 without a type
            return run(starts, ends, steps, *([] if stash_type is None else [stash_type]))
        first, end, step = (each.item() for each in (starts, ends, steps))
        count = max(-((first - end) // step), 0)
        if count > np.iinfo(np.intp).max // starts.itemsize:
            raise EvaluationError(f"Range of {count} elements")
        return (starts + steps * np.arange(count).astype(starts.dtype),)


class Gemm(_Gemm):
    """Gemm from opset 7 on: integers wrap, where onnx.reference multiplies them as doubles."""

    def _run(
        self,
        a: Any,
        b: Any,
        c: Any = None,
        alpha: Any = None,
        beta: Any = None,
        *factors: Any,
        **options: Any,
    ) -> Any:
        if a.dtype.kind in "iu" and alpha.is_integer() and beta.is_integer():
            alpha, beta = (np.array(int(factor)).astype(a.dtype) for factor in (alpha, beta))
        run: Any = super()._run
        return run(a, b, c, alpha, beta, *factors, **options)


class RandomUniformLike(_RandomUniformLike):
    """RandomUniformLike, which onnx.reference lacks for scalars."""

    def _run(
        self, x: Array, dtype: Any = None, high: Any = None, low: Any = None, seed: Any = None
    ) -> Any:
        run: Any = super()._run
        (result,) = run(np.atleast_1d(x), dtype, high, low, seed)
        return (result.reshape(x.shape),)


class Clip(OpRun):
    """Clip, any version: an absent bound is the last finite number, as the specification says, and
    nothing lies beyond a NaN."""

    def _run(
        self, data: Array, low: Any = None, high: Any = None, **attributes: float
    ) -> tuple[Array, ...]:
        kind: Any = np.iinfo if data.dtype.kind in "iu" else ml_dtypes.finfo
        limits = kind(data.dtype)
        low, high = attributes.get("min", low), attributes.get("max", high)
        least = np.array(limits.min if low is None else low).astype(data.dtype)
        most = np.array(limits.max if high is None else high).astype(data.dtype)
        # Comparisons with NaN are false, so a NaN passes both bounds.
        raised = np.where(data < least, least, data)
        return (np.where(raised > most, most, raised),)


class Expand(OpRun):
    """Expand: the bits of a NaN stay, as nothing is multiplied by one."""

    def _run(self, data: Array, shape: Array) -> tuple[Array, ...]:
        target = np.broadcast_shapes(data.shape, tuple(int(size) for size in shape))
        return (np.broadcast_to(data, target).copy(),)


class Shape(OpRun):
    """Shape: an end before the first axis is counted from the back once."""

    def _run(self, data: Array, start: int = 0, end: int | None = None) -> tuple[Array, ...]:
        return (np.array(data.shape[start:end], np.int64),)


class Unsqueeze(OpRun):
    """Unsqueeze, any version: the order of the axes means nothing, and a scalar is one axis."""

    def _run(self, data: Array, axes: Any = None) -> tuple[Array, ...]:
        listed = np.asarray(axes if axes is not None else [], np.int64)
        if listed.ndim > 1:
            raise EvaluationError(f"axes of shape {list(listed.shape)} are not a list")
        return (np.expand_dims(data, tuple(listed.reshape(-1).tolist())),)


class Squeeze(OpRun):
    """Squeeze, any version: the order of the axes means nothing."""

    def _run(self, data: Array, axes: Any = None) -> tuple[Array, ...]:
        if axes is None or (self.onnx_node.attribute and not len(axes)):
            return (np.squeeze(data),)
        if np.ndim(axes) != 1:
            raise EvaluationError(f"axes of shape {list(np.shape(axes))} are not a list")
        return (np.squeeze(data, tuple(axes)),)


class OneHot(OpRun):
    """OneHot: values are copied, where onnx.reference computes with them (of an infinity a NaN).
    Before opset 11 a negative index is out of range."""

    def _run(self, indices: Array, depth: Array, values: Array, *, axis: int) -> tuple[Array, ...]:
        count = int(np.asarray(depth).reshape(-1)[0])
        if count < 0:
            raise EvaluationError(f"there are no {count} classes")
        place = axis % (np.ndim(indices) + 1)
        whole = np.expand_dims(np.asarray(indices), place)
        if self.run_params["opsets"][""] >= _COUNTS_FROM_THE_BACK:
            whole = np.where(whole < 0, whole + count, whole)
        classes = np.arange(count).reshape([-1 if a == place else 1 for a in range(whole.ndim)])
        return (np.where(whole == classes, values[1], values[0]).astype(values.dtype),)


class PRelu(OpRun):
    """PRelu from opset 7 on: a slope that broadcasts, where onnx.reference tries channels, too."""

    def _run(self, x: Array, slope: Array) -> tuple[Array, ...]:
        if not broadcasts_to(slope.shape, x.shape):
            shapes = f"{list(slope.shape)} does not broadcast to {list(x.shape)}"
            raise EvaluationError(f"a slope of shape {shapes}")
        return (np.where(x < 0, x * slope, x),)


class ReduceLogSumExp(OpRun):
    """ReduceLogSumExp, any version: of -inf alone it is -inf, and with inf it is inf."""

    def _run(
        self, data: Array, axes: Any = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0
    ) -> tuple[Array, ...]:
        if data.dtype.kind in "iu":
            raise EvaluationError("integers have no logarithm")
        listed = None if axes is None else np.asarray(axes).reshape(-1).tolist()
        if not listed and noop_with_empty_axes:
            return (data,)
        over, keep = tuple(listed) if listed else None, bool(keepdims)
        wide = data.astype(np.result_type(data.dtype, np.float32))
        most = np.max(wide, axis=over, keepdims=True, initial=-np.inf)
        # -inf - -inf would be NaN.
        shift = np.where(np.isfinite(most), most, 0)
        total = np.log(np.sum(np.exp(wide - shift), axis=over, keepdims=True)) + shift
        result = total if keep else np.squeeze(total, axis=over)
        return (np.asarray(result, data.dtype),)


class Mean(OpRun):
    """Mean: onnx.reference fails where a later operand is larger than the first one."""

    def _run(self, *operands: Array) -> Any:
        total = functools.reduce(np.add, operands)
        return ((total / len(operands)).astype(total.dtype),)


class ReduceMean(OpRun):
    """ReduceMean, any version: of nothing, which the specification leaves open, it is 0. Sums of
    integers wrap, and their quotients are cut."""

    def _run(
        self, data: Array, axes: Any = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0
    ) -> tuple[Array, ...]:
        listed = None if axes is None else np.asarray(axes).reshape(-1).tolist()
        if not listed and noop_with_empty_axes:
            return (data,)
        over, keep = tuple(listed) if listed else None, bool(keepdims)
        total = np.sum(data, axis=over, keepdims=keep, dtype=data.dtype)
        if not data.size:
            return (np.asarray(total),)
        if data.dtype.kind in "iu":
            count = np.array(data.size // max(np.size(total), 1)).astype(data.dtype)
            if not count:  # of more elements than the type counts to
                raise EvaluationError(f"{data.dtype} does not count the elements of a mean")
            # numpy divides downward, ONNX towards zero.
            return (np.asarray((total - np.fmod(total, count)) // count),)
        return (np.asarray(np.mean(data, axis=over, keepdims=keep, dtype=data.dtype)),)


class StringNormalizer(OpRun):
    """StringNormalizer: only stop words are removed, and letters keep their accents."""

    def _run(
        self,
        x: Array,
        *,
        case_change_action: str = "NONE",
        is_case_sensitive: int = 0,
        stopwords: Sequence[str] | None = None,
        **_: Any,
    ) -> tuple[Array, ...]:
        if x.ndim not in (1, 2) or (x.ndim == 2 and len(x) != 1):
            raise EvaluationError(f"an input of shape {list(x.shape)} is neither [C] nor [1, C]")
        same = str if is_case_sensitive else str.lower
        stops = {same(word) for word in stopwords or ()}
        change = {"LOWER": str.lower, "UPPER": str.upper}.get(case_change_action, str)
        words = [change(str(word)) for word in x.reshape(-1) if same(str(word)) not in stops]
        # Without any word the specification returns one empty text.
        result = np.array(words or [""], object)
        return (result.reshape(1, -1) if x.ndim == 2 else result,)


class Flatten(OpRun):
    """Flatten, all versions: a matrix of the axes before one and those behind it, of what is empty,
    too."""

    def _run(self, x: Array, axis: int = 1) -> tuple[Array, ...]:
        before, behind = x.shape[:axis], x.shape[axis:]
        return (x.reshape(math.prod(before), math.prod(behind)),)


class GatherND(OpRun):
    """GatherND: tuples of indices into the axes behind the batch, which may be empty."""

    def _run(self, data: Array, indices: Array, batch_dims: int = 0) -> tuple[Array, ...]:
        batch, count = indices.shape[:batch_dims], indices.shape[-1]
        rows, places = math.prod(batch), indices.shape[batch_dims:-1]
        flat = data.reshape((rows, *data.shape[batch_dims:]))
        tuples = indices.reshape((rows, math.prod(places), count))
        row = np.arange(rows)[:, np.newaxis]
        places_of_rows = (row, *np.moveaxis(tuples, -1, 0))
        slices = flat[places_of_rows]
        return (slices.reshape((*batch, *places, *data.shape[batch_dims + count :])),)


class GatherElements(OpRun):
    """GatherElements: along the other axes an element is taken from where its index stands.

    The indices may reach along a part of an axis only.
    """

    def _run(self, data: Array, indices: Array, axis: int) -> tuple[Array, ...]:
        places: list[Array] = list(np.indices(indices.shape, sparse=True))
        places[axis] = indices
        return (data[tuple(places)],)


class CumSum(_CumSum):
    """CumSum: one that leaves its own element out begins with 0, so that no sum is -0.

    A vector of one axis is one, as onnxruntime has it.
    """

    def _run(self, x: Array, axis: Array, exclusive: int = 0, reverse: int = 0) -> Any:
        axis = axis.reshape(()) if axis.shape == (1,) else axis
        (sums,) = super()._run(x, axis, exclusive, reverse)  # type: ignore[no-untyped-call]
        return (np.add(sums, np.zeros((), sums.dtype)) if exclusive else sums,)


class DynamicQuantizeLinear(OpRun):
    """DynamicQuantizeLinear as its function: the scale of zeros is 0, and what NaN becomes, too."""

    def _run(self, x: Array) -> tuple[Array, ...]:
        low, high = np.min(x, initial=0), np.max(x, initial=0)
        scale = (high - low) / x.dtype.type(255)
        zero_point = np.nan_to_num(np.rint(np.clip(-low / scale, 0, 255)))
        rows = np.nan_to_num(np.rint(x / scale) + zero_point)
        scales = np.asarray(scale), np.asarray(zero_point.astype(np.uint8))
        return (np.clip(rows, 0, 255).astype(np.uint8), *scales)


class QuantizeLinear(_QuantizeLinear):
    """QuantizeLinear, any version: numbers beyond 32 bits saturate like others, where
    onnx.reference wraps; of NaN it is the least number."""

    def _run(  # type: ignore[override]
        self, x: Array, scale: Array, zero_point: Any = None, **options: Any
    ) -> Any:
        elem_type, precision = options.get("output_dtype"), options.get("precision")
        own = tensor_dtype_to_np_dtype(elem_type or _UINT8)
        own = own if zero_point is None else zero_point.dtype
        if "int" not in own.name:
            return super()._run(x, scale, *(() if zero_point is None else [zero_point]), **options)
        if precision:
            x, scale = (one.astype(tensor_dtype_to_np_dtype(precision)) for one in (x, scale))
        place = x.shape, options.get("axis", 1), options.get("block_size", 0)
        total = np.rint(x / reshape_input(scale, *place)).astype(np.float64)
        if zero_point is not None:
            total += reshape_input(zero_point, *place).astype(np.float64)
        limits: Any = ml_dtypes.iinfo(own)  # type: ignore[no-untyped-call]
        return (np.clip(np.nan_to_num(total, nan=-np.inf), limits.min, limits.max).astype(own),)
