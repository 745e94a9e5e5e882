"""Pad with negative pads, which take elements away; onnx.reference refuses them."""

from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun

from ..bodies import Array
from ..errors import EvaluationError


class Pad(OpRun):
    """Pad, versions 2 to 25: first what is taken away goes, then what is left is padded."""

    def _run(
        self, x: Array, pads: Any = None, value: Any = None, axes: Any = None, **options: Any
    ) -> tuple[Array, ...]:
        if pads is None:  # attributes before version 11
            pads, value = options["pads"], options.get("value", 0.0)
        widths = _widths(x, np.asarray(pads).reshape(-1), axes)
        inner = x[tuple(_kept(size, *width) for size, width in zip(x.shape, widths, strict=True))]
        added = np.maximum(widths, 0)
        mode: Any = options.get("mode") or "constant"
        if mode != "constant":
            return (np.pad(inner, added, mode=mode),)
        return (np.pad(inner, added, constant_values=_fill(x, value)),)


def _widths(x: Array, pads: Array, axes: Any) -> Array:
    """Pads at the beginning and end of each axis; a negative pad crops."""
    numbers = (
        range(x.ndim) if axes is None else [int(axis) for axis in np.asarray(axes).reshape(-1)]
    )
    if len(pads) != 2 * len(numbers):
        raise EvaluationError(f"pads has {len(pads)} entries, {2 * len(numbers)} are needed")
    widths = np.zeros((x.ndim, 2), np.int64)
    for number, axis in enumerate(numbers):
        widths[axis] = pads[number], pads[number + len(numbers)]
    return widths


def _kept(size: int, head: int, tail: int) -> slice:
    if size + min(head, 0) + min(tail, 0) < 0:
        raise EvaluationError(
            f"pads {head} and {tail} remove more than the {size} elements of the axis"
        )
    return slice(max(-head, 0), size - max(-tail, 0))


def _fill(x: Array, value: Any) -> Any:
    if value is None:
        return "" if x.dtype.kind in "OSU" else np.zeros((), x.dtype)
    return np.asarray(value).reshape(-1)[0] if x.dtype.kind in "OSU" else np.asarray(value, x.dtype)
