"""Operators of which onnx.reference has other results than the specification."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from onnx.reference.op_run import OpRun
from onnx.reference.ops.op_div import Div as _Div
from onnx.reference.ops.op_mod import Mod as _Mod
from onnx.reference.ops.op_pow import Pow as _Pow
from onnx.reference.ops.op_random_uniform_like import RandomUniformLike as _RandomUniformLike

from ..bodies import Array
from ..errors import EvaluationError


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


class RandomUniformLike(_RandomUniformLike):
    """RandomUniformLike, which onnx.reference lacks for scalars."""

    def _run(
        self, x: Array, dtype: Any = None, high: Any = None, low: Any = None, seed: Any = None
    ) -> Any:
        run: Any = super()._run
        (result,) = run(np.atleast_1d(x), dtype, high, low, seed)
        return (result.reshape(x.shape),)


class Clip(OpRun):
    """Clip, any version: an absent bound is the last finite number, as the specification says."""

    def _run(
        self, data: Array, low: Any = None, high: Any = None, **attributes: float
    ) -> tuple[Array, ...]:
        kind: Any = np.iinfo if data.dtype.kind in "iu" else ml_dtypes.finfo
        limits = kind(data.dtype)
        low, high = attributes.get("min", low), attributes.get("max", high)
        with np.errstate(over="ignore"):
            least = np.array(limits.min if low is None else low).astype(data.dtype)
            most = np.array(limits.max if high is None else high).astype(data.dtype)
        return (np.clip(data, least, most),)


class Expand(OpRun):
    """Expand: the bits of a NaN stay, as nothing is multiplied by one."""

    def _run(self, data: Array, shape: Array) -> tuple[Array, ...]:
        target = np.broadcast_shapes(data.shape, tuple(int(size) for size in shape))
        return (np.broadcast_to(data, target).copy(),)


class Unsqueeze(OpRun):
    """Unsqueeze, any version: the order of the axes means nothing, and a scalar is one axis."""

    def _run(self, data: Array, axes: Any = None) -> tuple[Array, ...]:
        listed = np.asarray(axes if axes is not None else [], np.int64)
        if listed.ndim > 1:
            raise EvaluationError(f"axes of shape {list(listed.shape)} are no list")
        return (np.expand_dims(data, tuple(listed.reshape(-1).tolist())),)


class Squeeze(OpRun):
    """Squeeze, any version: the order of the axes means nothing."""

    def _run(self, data: Array, axes: Any = None) -> tuple[Array, ...]:
        if axes is None or (self.onnx_node.attribute and not len(axes)):
            return (np.squeeze(data),)
        if np.ndim(axes) != 1:
            raise EvaluationError(f"axes of shape {list(np.shape(axes))} are no list")
        return (np.squeeze(data, tuple(axes)),)


class OneHot(OpRun):
    """OneHot: values are copied, where onnx.reference computes with them (of an infinity a NaN)."""

    def _run(self, indices: Array, depth: Array, values: Array, *, axis: int) -> tuple[Array, ...]:
        count = int(np.asarray(depth).reshape(-1)[0])
        place = axis % (np.ndim(indices) + 1)
        whole = np.expand_dims(np.asarray(indices), place)
        whole = np.where(whole < 0, whole + count, whole)
        classes = np.arange(count).reshape([-1 if a == place else 1 for a in range(whole.ndim)])
        return (np.where(whole == classes, values[1], values[0]).astype(values.dtype),)


class LpNormalization(OpRun):
    """LpNormalization: the norm of order 1 is one of magnitudes."""

    def _run(self, x: Array, *, axis: int, p: int) -> tuple[Array, ...]:
        wide = np.abs(x.astype(np.result_type(x.dtype, np.float32)))
        total = np.sum(wide if p == 1 else wide * wide, axis=axis, keepdims=True)
        norm = total if p == 1 else np.sqrt(total)
        return (np.where(norm == 0, 0, x / np.where(norm == 0, 1, norm)).astype(x.dtype),)


class LayerNormalization(OpRun):
    """LayerNormalization: normalized in the type that stash_type names, or a more precise one,
    where onnx.reference computes in the type of X and gives Mean and InvStdDev in that."""

    def _run(
        self,
        x: Array,
        scale: Array,
        bias: Array | None = None,
        *,
        axis: int = -1,
        epsilon: float = 1e-5,
        stash_type: int = onnx.TensorProto.FLOAT,
    ) -> tuple[Array, ...]:
        for name, factor in (("Scale", scale), ("B", bias)):
            if factor is not None and not _broadcasts_to(factor.shape, x.shape):
                shapes = f"{list(factor.shape)} does not broadcast to X of {list(x.shape)}"
                raise EvaluationError(f"{name} of shape {shapes}")
        wide = x.astype(np.result_type(x.dtype, np.float32))
        axes = tuple(range(axis % x.ndim, x.ndim))
        count = wide.dtype.type(np.prod([x.shape[place] for place in axes]))
        mean = np.sum(wide, axis=axes, keepdims=True) / count
        deviation = wide - mean
        variance = np.sum(deviation * deviation, axis=axes, keepdims=True) / count
        inverse = np.reciprocal(np.sqrt(variance + wide.dtype.type(epsilon)))
        result = (deviation * inverse).astype(x.dtype) * scale
        result = result if bias is None else result + bias
        stash = onnx.helper.tensor_dtype_to_np_dtype(stash_type)
        return result, mean.astype(stash), inverse.astype(stash)


def _broadcasts_to(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Test for a shape that broadcasts to another one without changing it."""
    try:
        return np.broadcast_shapes(shape, target) == target
    except ValueError:
        return False


class ReduceLogSumExp(OpRun):
    """ReduceLogSumExp, any version: of -inf alone it is -inf, and with inf it is inf."""

    def _run(
        self, data: Array, axes: Any = None, *, keepdims: int = 1, noop_with_empty_axes: int = 0
    ) -> tuple[Array, ...]:
        if data.dtype.kind in "iu":
            raise EvaluationError("a logarithm of integers is none")
        listed = None if axes is None else np.asarray(axes).reshape(-1).tolist()
        if not listed and noop_with_empty_axes:
            return (data,)
        over, keep = tuple(listed) if listed else None, bool(keepdims)
        wide = data.astype(np.result_type(data.dtype, np.float32))
        with np.errstate(all="ignore"):
            most = np.max(wide, axis=over, keepdims=True, initial=-np.inf)
            shift = np.where(np.isfinite(most), most, 0)
            total = np.log(np.sum(np.exp(wide - shift), axis=over, keepdims=True)) + shift
        result = total if keep else np.squeeze(total, axis=over)
        return (np.asarray(result, data.dtype),)


class ReduceMean(OpRun):
    """ReduceMean, any version: of nothing, which the specification leaves open, it is 0."""

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


CORRECTED_OPERATORS: tuple[type[OpRun], ...] = (
    Div,
    Mod,
    Pow,
    RandomUniformLike,
    Clip,
    Expand,
    Unsqueeze,
    Squeeze,
    OneHot,
    LpNormalization,
    LayerNormalization,
    ReduceLogSumExp,
    ReduceMean,
    StringNormalizer,
    Flatten,
    GatherND,
    GatherElements,
)
