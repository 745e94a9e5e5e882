"""GroupNormalization: scale and bias by group or by channel.

https://onnx.ai/onnx/operators/onnx__GroupNormalization.html

- 18: one for each group; deprecated since.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#GroupNormalization-18
- 21: one for each channel; `stash_type` is the type to compute in, by default float.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#GroupNormalization-21
"""

from __future__ import annotations

import onnx

from ...ir import Value
from ..node_draft import Site
from ..registry import Outcome, downgrade, inexact_body, upgrade
from ..snippets import mean_and_deviations, with_epsilon

# It subtracts the square of the mean from the mean of the squares.
inexact_body("GroupNormalization")


@upgrade(21, "GroupNormalization")
def repeat_scale(site: Site) -> Outcome:
    """Opset 21: one scale and bias for each channel, not for each group."""
    groups, shape = _groups(site), site.shape()
    if shape is not None and shape[1] is not None:
        times = site.ints([1, shape[1] // groups], "times")
    else:
        whole = site.emit("Shape", [site.input(0)], "channels", start=1, end=2)
        each = site.emit("Div", [whole, site.ints([groups], "groups")], "each")
        times = site.emit("Concat", [site.ints([1], "one"), each], "times", axis=0)
    for index in (1, 2):
        column = site.emit("Reshape", [site.input(index), site.ints([-1, 1], "column")])
        repeated = site.emit("Expand", [column, times])
        site.set_input(index, site.emit("Reshape", [repeated, site.ints([-1], "flat")]))
    elem_type = site.elem_type()
    if elem_type is not None:
        site.set("stash_type", elem_type)  # opset 18 computes in the type of its input
    return None


@downgrade(18, "GroupNormalization")
def scale_groups(site: Site) -> Outcome:
    """Opset 17: normalize and scale groups as rows."""
    shape, rows = _normalized(site)
    return [site.emit("Reshape", [_scaled(site, rows), shape])]


@downgrade(21, "GroupNormalization")
def scale_channels(site: Site) -> Outcome:
    """Opset 20: normalize groups as rows, then scale channels."""
    shape, rows = _normalized(site)
    whole = site.emit("Reshape", [rows, shape])
    channels = site.emit("Reshape", [whole, site.ints([0, 0, -1], "channels")])
    return [site.emit("Reshape", [_scaled(site, channels), shape])]


def _normalized(site: Site) -> tuple[Value, Value]:
    """The shape of the data, and its groups as rows, normalized as floats or doubles."""
    site.required_dtype(0, "the precision")
    own, data = site.elem_type(0), site.input(0)
    assert data is not None and own is not None
    inner = own if own == onnx.TensorProto.DOUBLE else onnx.TensorProto.FLOAT
    shape = site.emit("Shape", [data], "shape")
    rows = site.ints([0, _groups(site), -1], "groups")
    groups = site.emit("Reshape", [data, rows])
    wide = groups if own == inner else site.cast(groups, inner)
    _, deviations, variance = mean_and_deviations(site, wide, [2])
    size = site.emit("Sqrt", [with_epsilon(site, variance)])
    result = site.emit("Div", [deviations, size], "normalized")
    return shape, result if own == inner else site.cast(result, own)


def _groups(site: Site) -> int:
    """The number of groups, which divides the number of channels."""
    groups: int = site.attribute("num_groups")
    channels = site.length(1)
    if groups < 1 or (channels is not None and channels % groups):
        site.refuse(f"{channels} channels are not {groups} groups")
    return groups


def _scaled(site: Site, rows: Value) -> Value:
    for index, op_type in ((1, "Mul"), (2, "Add")):
        column = site.emit("Reshape", [site.input(index), site.ints([1, -1, 1], "column")])
        rows = site.emit(op_type, [rows, column])
    return rows
