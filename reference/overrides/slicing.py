"""Slice: onnx.reference, as numpy does, takes nothing where one goes backward from before the first
element; ONNX begins at the first, and so does onnxruntime."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun

from ..bodies import Array


class Slice(OpRun):
    """Slice, all versions: before 10, starts, ends and axes are attributes."""

    def _run(
        self, data: Array, starts: Any = None, ends: Any = None, axes: Any = None, steps: Any = None
    ) -> tuple[Array, ...]:
        axes = range(len(starts)) if axes is None else axes
        steps = [1] * len(starts) if steps is None else steps
        for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
            numbers = taken(data.shape[axis], int(start), int(end), int(step))
            data = np.take(data, numbers, axis)
        return (data,)


def taken(size: int, start: int, end: int, step: int) -> range:
    """The numbers of the elements of an axis that a slice takes (specification, Slice 13)."""
    first, last = (bound + size if bound < 0 else bound for bound in (start, end))
    if step > 0:
        return range(min(max(first, 0), size), min(max(last, 0), size), step)
    return range(min(max(first, 0), size - 1), min(max(last, -1), size - 1), step)
