"""Normalization: in the type that stash_type names, or a more precise one."""

import numpy as np
import onnx
from onnx.reference.op_run import OpRun

from ..bodies import Array
from ..errors import EvaluationError

_SCALES_CHANNELS = 21
"""Opset from which GroupNormalization has a scale for each channel."""


class LpNormalization(OpRun):
    """LpNormalization: the norm of order 1 is one of magnitudes."""

    def _run(self, x: Array, *, axis: int, p: int) -> tuple[Array, ...]:
        wide = np.abs(x.astype(np.result_type(x.dtype, np.float32)))
        total = np.sum(wide if p == 1 else wide * wide, axis=axis, keepdims=True)
        norm = total if p == 1 else np.sqrt(total)
        # Zeros stay zeros, in the place of 0 / 0.
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
            if factor is not None and not broadcasts_to(factor.shape, x.shape):
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


def broadcasts_to(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Test for a shape that broadcasts to another one without changing it."""
    try:
        return np.broadcast_shapes(shape, target) == target
    except ValueError:
        return False


class GroupNormalization(OpRun):
    """GroupNormalization: onnx's function subtracts the square of the mean from the mean of the
    squares, which loses all digits where the mean is large. Opset 18 scales groups."""

    def _run(
        self,
        x: Array,
        scale: Array,
        bias: Array,
        *,
        num_groups: int,
        epsilon: float = 1e-5,
        **_: int,
    ) -> tuple[Array, ...]:
        if num_groups < 1 or x.shape[1] % num_groups:
            raise EvaluationError(f"{x.shape[1]} channels are not {num_groups} groups")
        wide = x.astype(np.result_type(x.dtype, np.float32))
        rows = wide.reshape((x.shape[0], num_groups, -1))
        deviation = rows - np.mean(rows, axis=2, keepdims=True)
        variance = np.mean(deviation * deviation, axis=2, keepdims=True)
        normal = (deviation / np.sqrt(variance + wide.dtype.type(epsilon))).astype(x.dtype)
        by_group = self.run_params["opsets"][""] < _SCALES_CHANNELS
        scaled = num_groups if by_group else x.shape[1]
        columns = normal.reshape((x.shape[0], scaled, -1))
        factors = (factor.reshape((1, scaled, 1)) for factor in (scale, bias))
        result = columns * next(factors) + next(factors)
        return (result.reshape(x.shape).astype(x.dtype),)
