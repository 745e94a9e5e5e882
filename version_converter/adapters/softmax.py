"""Softmax, LogSoftmax and Hardmax: along one axis, or over several at once.

https://onnx.ai/onnx/operators/onnx__Softmax.html
https://onnx.ai/onnx/operators/onnx__LogSoftmax.html
https://onnx.ai/onnx/operators/onnx__Hardmax.html

- 1: over all axes from `axis` to the last, by default from 1.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Softmax-1
- 11: `axis` may be negative. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Softmax-11
- 13: along `axis` alone, by default the last; bfloat16.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Softmax-13

    y = Softmax <axis = 1> (x)
->  (opset 12 to 13)
    y = Reshape (Softmax <axis = -1> (Flatten <axis = 1> (x)), Shape (x))

Where the tensor may be empty and Reshape would not copy the size of 0 from the rows, the tensor is
padded to sizes of at least 1 before, and Expand restores the size of 0.
"""

from __future__ import annotations

import numpy as np

from ...ir import Value
from ..negative_axes import Axis, negative_axes
from ..node_draft import Site
from ..registry import Outcome, downgrade, upgrade

_OPERATORS = ("Softmax", "LogSoftmax", "Hardmax")

negative_axes(*_OPERATORS, axis=Axis("axis"))


@upgrade(13, *_OPERATORS)
def to_one_axis(site: Site) -> Outcome:
    """Normalise rows of a flattened input where the axis is not the last one."""
    axis, rank, data = site.attribute("axis"), site.rank(), site.input(0)
    if axis == -1 or (rank is not None and site.checked_axis(axis) == rank - 1):
        site.set("axis", -1)
        return None
    if 0 in (site.shape() or []):  # which Reshape would take for lengths to be copied
        return [site.emit("Identity", [data])]
    if _copies_zeros(site, axis):
        return [_over_rows(site, data, axis)]
    shape = site.emit("Shape", [data], "open_shape")
    normal = _over_rows(site, _without_zeros(site, data, shape), axis)
    return [site.emit("Expand", [normal, shape])]


def _over_rows(site: Site, data: Value | None, axis: int) -> Value:
    """Normalise the rows of a flattened tensor and restore its shape."""
    rows = site.emit("Flatten", [data], "rows", axis=axis)
    normal = site.emit(site.op_type, [rows], "normalised", axis=-1)
    return site.emit("Reshape", [normal, site.emit("Shape", [data], "shape")])


def _copies_zeros(site: Site, axis: int) -> bool:
    """Test whether each size that may be 0 is also one of the rows.

    Reshape copies a size of its input where the shape holds a 0.
    """
    shape = site.shape()
    if shape is None:
        return False
    first = site.checked_axis(axis)
    copied = {0: set[int](), 1: {0, 1}}.get(first, {0})
    return all(size is not None or at in copied for at, size in enumerate(shape))


def _without_zeros(site: Site, data: Value | None, shape: Value) -> Value:
    """Pad an empty tensor to sizes of at least 1; any other one stays as it is."""
    one = site.const(np.array(1, np.int64), "one")
    missing = site.emit("Sub", [site.emit("Max", [shape, one], "at_least_1"), shape], "missing")
    none = site.emit("Sub", [shape, shape], "none")
    return site.emit("Pad", [data, site.emit("Concat", [none, missing], "pads", axis=0)], "filled")


@downgrade(13, *_OPERATORS)
def to_rows(site: Site) -> Outcome:
    """Move the axis to the end, and back."""
    axis, data = site.attribute("axis"), site.input(0)
    if axis == -1:
        return None
    axis = site.required_axis(axis, "an axis that may not be the last")
    rank = site.required_rank("an axis that may not be the last")
    if axis == rank - 1:
        return None
    order = [a for a in range(rank) if a != axis] + [axis]
    back = [order.index(a) for a in range(rank)]
    moved = site.emit("Transpose", [data], "moved", perm=order)
    normal = site.emit(site.op_type, [moved], "normalised", axis=rank - 1)
    return [site.emit("Transpose", [normal], perm=back)]
