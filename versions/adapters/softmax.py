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
"""

from __future__ import annotations

from ..negative_axes import Axis, negative_axes
from ..registry import Outcome, downgrade, upgrade
from ..site import Site

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
    rows = site.emit("Flatten", [data], "rows", axis=axis)
    normal = site.emit(site.op_type, [rows], "normalised", axis=-1)
    return [site.emit("Reshape", [normal, site.emit("Shape", [data], "shape")])]


@downgrade(13, *_OPERATORS)
def to_rows(site: Site) -> Outcome:
    """Move the axis to the end where it is not there, and back."""
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
