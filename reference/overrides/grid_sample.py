"""GridSample: mode names before version 20, and cubic interpolation near the border."""

import itertools
from typing import Any, NamedTuple

import numpy as np
from onnx.reference.op_run import OpRun

from ..bodies import Array
from ..errors import EvaluationError
from .resizing import keys

_CUBIC_COEFFICIENT = -0.75


class _Taps(NamedTuple):
    """The elements along one axis that each result is made of; the taps come first.

    Attributes:
        indices: which elements.
        weights: how much each contributes.
        inside: whether it is there; zero stands for one that is not.
    """

    indices: Array
    weights: Array
    inside: Array


class GridSample(OpRun):
    """GridSample, versions 16 to 22, in any number of axes."""

    def _run(self, x: Array, grid: Array, **options: Any) -> tuple[Array, ...]:
        mode = options["mode"].removeprefix("bi")
        if mode not in ("linear", "nearest", "cubic"):
            raise EvaluationError(f"mode {options['mode']!r} does not exist")
        rank = x.ndim - 2
        if grid.ndim != x.ndim or grid.shape[-1] != rank or len(grid) != len(x):
            raise EvaluationError(f"a grid of shape {list(grid.shape)} does not fit the input")
        corners, padding = bool(options["align_corners"]), options["padding_mode"]
        taps = [
            # The last coordinate of the grid is for the first axis.
            _taps(
                _denormalized(grid[..., rank - 1 - a], size, corners), size, mode, corners, padding
            )
            for a, size in enumerate(x.shape[2:])
        ]
        rows = np.arange(len(x)).reshape(-1, *[1] * rank)
        total: Array | None = None
        for chosen in itertools.product(range(len(taps[0].indices)), repeat=rank):
            places = [t.indices[i] for t, i in zip(taps, chosen, strict=True)]
            inside = np.logical_and.reduce([t.inside[i] for t, i in zip(taps, chosen, strict=True)])
            at_taps = (rows, *places)
            values = np.moveaxis(x, 1, -1)[at_taps]
            values = np.where(inside[..., None], values, np.zeros((), x.dtype))
            if mode == "nearest":
                total = values
                continue
            weight = np.prod([t.weights[i] for t, i in zip(taps, chosen, strict=True)], axis=0)
            part = values * weight[..., None]
            total = part if total is None else total + part
        assert total is not None
        return (np.moveaxis(total, -1, 1).astype(x.dtype),)


def _denormalized(place: Array, size: int, corners: bool) -> Array:
    """From -1 to 1 to an index, in single precision at least."""
    if corners:
        return (place + 1) / 2 * (size - 1)
    return ((place + 1) * size - 1) / 2


def _taps(where: Array, size: int, mode: str, corners: bool, padding: str) -> _Taps:
    if mode == "nearest":
        indices, weights = np.rint(where)[None], np.ones((1, *where.shape))
    else:
        floor = np.floor(where)
        offsets = np.array([0, 1]) if mode == "linear" else np.array([-1, 0, 1, 2])
        offsets = offsets.reshape(-1, *[1] * where.ndim)
        indices = floor[None] + offsets
        distances = np.abs(offsets - (where - floor)[None].astype(np.float64))
        weights = 1 - distances if mode == "linear" else keys(distances, _CUBIC_COEFFICIENT)
    if padding == "reflection":
        indices = _reflected(indices, size, corners)
    inside = (indices >= 0) & (indices < size) if padding == "zeros" else np.ones(1, bool)
    # A NaN has no integer to be cast to.
    clamped = np.nan_to_num(indices).clip(0, size - 1).astype(np.int64)
    return _Taps(clamped, weights, np.broadcast_to(inside, indices.shape))


def _reflected(indices: Array, size: int, corners: bool) -> Array:
    """Indices mirrored at the first and last element, or at the edges beyond these."""
    # The period is 0 here, and by it nothing can be divided.
    if corners and size == 1:
        return np.zeros_like(indices)
    period = 2 * (size - 1) if corners else 2 * size
    folded = np.mod(indices, period)
    mirrored = period - folded if corners else period - 1 - folded
    return np.asarray(np.minimum(folded, mirrored))
