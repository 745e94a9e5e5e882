"""Slice and Split, which onnx.reference lets begin and end as slices of numpy do."""

from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun

from ..bodies import Array
from ..errors import EvaluationError
from ..slice_ranges import slice_range


class Slice(OpRun):
    """Slice, all versions: before 10, starts, ends and axes are attributes.

    One that goes backward from before the first element begins at the first, as in onnxruntime;
    onnx.reference takes nothing.
    """

    def _run(
        self, data: Array, starts: Any = None, ends: Any = None, axes: Any = None, steps: Any = None
    ) -> tuple[Array, ...]:
        axes = range(len(starts)) if axes is None else axes
        steps = [1] * len(starts) if steps is None else steps
        for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
            numbers = slice_range(data.shape[axis], int(start), int(end), int(step))
            data = np.take(data, numbers, axis)
        return (data,)


class Split(OpRun):
    """Split, all versions: the parts are as long as the axis; onnx.reference cuts short or drops
    the rest, where runtimes fail."""

    def _run(
        self, data: Array, split: Any = None, *, axis: int = 0, num_outputs: int | None = None
    ) -> tuple[Array, ...]:
        size, count = data.shape[axis], num_outputs or len(self.onnx_node.output)
        if split is not None:
            sizes = [int(number) for number in split]
        elif num_outputs is None:
            sizes = [size // count] * count
        else:
            each = -(-size // count)
            sizes = [*[each] * (count - 1), size - each * (count - 1)]
        if min(sizes, default=0) < 0 or sum(sizes) != size:
            raise EvaluationError(f"Split of {size} elements into parts of {sizes}")
        return tuple(np.split(data, np.cumsum(sizes)[:-1], axis))
