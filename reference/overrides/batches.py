"""LRN, ConvTranspose, Col2Im and the global pools: what onnx.reference gets wrong where a batch is
empty or has another size than the channels, and where images have other axes than two."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun
from onnx.reference.ops.op_col2im import Col2Im as _Col2Im
from onnx.reference.ops.op_conv_transpose import ConvTranspose as _ConvTranspose

from ..bodies import Array


class _OfNoImages:
    """Of no images none are made, of the size that one would have."""

    def _run(self, x: Array, *others: Any, **options: Any) -> Any:
        run = super()._run  # type: ignore[misc]
        if len(x):
            return run(x, *others, **options)
        (result,) = run(np.zeros((1, *x.shape[1:]), x.dtype), *others, **options)
        return (result[:0],)


class ConvTranspose(_OfNoImages, _ConvTranspose):  # type: ignore[misc]
    """ConvTranspose."""


class Col2Im(_OfNoImages, _Col2Im):  # type: ignore[misc]
    """Col2Im."""


class LRN(OpRun):
    """LRN: each channel by the squares of those beside it."""

    def _run(
        self, x: Array, *, alpha: float, beta: float, bias: float, size: int
    ) -> tuple[Array, ...]:
        before, after = (size - 1) // 2, size // 2
        squares = np.zeros_like(x)
        for channel in range(x.shape[1]):
            beside = x[:, max(0, channel - before) : channel + after + 1]
            squares[:, channel] = np.sum(beside**2, axis=1)
        return ((x / (bias + (alpha / size) * squares) ** beta).astype(x.dtype),)


def _global_pool(name: str, pool: Callable[..., Any]) -> type[OpRun]:
    """The operator that makes one element of each image."""

    def run(self: OpRun, x: Array, **options: Any) -> tuple[Array, ...]:
        return (pool(x, axis=tuple(range(2, x.ndim)), **options).astype(x.dtype),)

    return type(name, (OpRun,), {"__module__": __name__, "_run": run})


def _norm(x: Array, axis: tuple[int, ...], p: int) -> Array:
    return np.asarray(np.sum(np.abs(x) ** p, axis=axis, keepdims=True) ** (1 / p))


GlobalAveragePool = _global_pool("GlobalAveragePool", functools.partial(np.mean, keepdims=True))
GlobalMaxPool = _global_pool("GlobalMaxPool", functools.partial(np.max, keepdims=True))
GlobalLpPool = _global_pool("GlobalLpPool", _norm)
