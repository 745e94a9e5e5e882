"""Pad: pads, value, mode and axes.

https://onnx.ai/onnx/operators/onnx__Pad.html

- 2: floats; `pads` and `value` are attributes.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Pad-2
- 11: `pads` and `value` are inputs; integers.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Pad-11
- 13: all types. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Pad-13
- 18: `axes` selects the axes of `pads`.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Pad-18
- 19: `mode` = "wrap". https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Pad-19
- 21: 8-bit floats, 4-bit integers. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Pad-21
- 23: float4e2m1. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Pad-23
- 24: float8e8m0. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Pad-24
- 25: 2-bit integers. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Pad-25
"""

from __future__ import annotations

import numpy as np
import onnx

from ...ir import Value
from ..attribute_to_input import Move, moved
from ..node_draft import Site
from ..registry import Outcome, added_values, downgrade, longer_form
from ..via_wider_type import WORDS, by_way_of

moved(
    11,
    "Pad",
    moves=[Move("pads", 1, "ints"), Move("value", 2, "like data", absent=0.0)],
)
by_way_of(11, "Pad", types=WORDS, via=onnx.TensorProto.DOUBLE, inputs=(0, 2))
added_values(19, "Pad", attribute="mode", values=[b"wrap"])


@downgrade(18, "Pad")
def pad_all_axes(site: Site) -> Outcome:
    """Before opset 18: pads of all axes."""
    if site.input(3) is None:
        return None
    axes = site.required_constant(3, "input 'axes'").astype(np.int64)
    rank = site.required_rank("'axes'")
    axes = np.array([site.required_axis(axis, "'axes'") for axis in axes.reshape(-1).tolist()], int)
    if len(set(axes.tolist())) < len(axes) or site.shape(1) not in (None, [None], [2 * len(axes)]):
        site.refuse("its pads are not two for each of its axes")
    places = np.concatenate([axes, axes + rank])
    pads = site.constant(1)
    if pads is not None:
        spread = np.zeros(2 * rank, np.int64)
        spread[places] = pads
        full = site.const(spread, "pads")
    else:
        zeros = site.ints([0] * (2 * rank), "zeros")
        operands = [zeros, site.const(places, "places"), site.input(1)]
        full = site.emit("ScatterElements", operands, "pads", axis=0)
    site.set_input(1, full)
    site.set_input(3, None)
    return None


@longer_form(11, "Pad")
def pad_by_joining(site: Site) -> Outcome:
    """Below opset 11: constant pads only. Run-time ones become tensors of the requested lengths,
    concatenated before and after; negative ones become a Slice."""
    mode, data, pads = site.text("mode"), site.input(0), site.input(1)
    if mode != "constant":
        site.refuse(f"mode = '{mode}' with pads from run time is not written out")
    assert data is not None and pads is not None
    if site.input(2) is None:
        site.required_dtype(0, "the value")
    rank = site.required_rank("pads from run time")
    if site.shape(1) not in (None, [None], [2 * rank]):
        site.refuse(f"its pads are not two for each of {rank} axes")
    sizes = site.types.elements(pads) or [None] * (2 * rank)
    counts = pads
    if any(count is None or count.at_least is None or count.at_least < 0 for count in sizes):
        data, counts = _cut(site, data, pads, rank)
    for axis in range(rank):
        blocks: list[Value | None] = [data]
        for side, place in ((0, axis), (1, axis + rank)):
            count = sizes[place]
            if count is None or count.value != 0:
                blocks.insert(side and len(blocks), _block(site, data, counts, axis, place, rank))
        if len(blocks) > 1:
            data = site.emit("Concat", blocks, "padded", axis=axis)
    return [data if data is not site.input(0) else site.emit("Identity", [data])]


def _cut(site: Site, data: Value, pads: Value, rank: int) -> tuple[Value, Value]:
    """The data sliced by the negative pads, and the other pads."""
    zero = site.const(np.array(0), "zero")
    less = site.emit("Less", [pads, zero], "less")
    cuts = site.emit("Where", [less, pads, zero], "cuts")
    counts = site.emit("Where", [less, zero, pads], "counts")
    ends = [site.ints([number], "place") for number in (0, rank, 2 * rank)]
    starts = site.emit("Neg", [site.emit("Slice", [cuts, *ends[:2]])], "starts")
    shape = site.emit("Shape", [data], "shape")
    stops = site.emit("Add", [shape, site.emit("Slice", [cuts, *ends[1:]])], "stops")
    return site.emit("Slice", [data, starts, stops], "cut"), counts


def _block(site: Site, data: Value, counts: Value, axis: int, place: int, rank: int) -> Value:
    """A padding block before or after the data along an axis."""
    shape = site.emit("Shape", [data], "shape")
    sizes: list[Value | None] = []
    for first, last in ((0, axis), (axis + 1, rank)):
        if first < last:
            ends = [site.ints([number], "place") for number in (first, last)]
            sizes.append(site.emit("Slice", [shape, *ends], "sizes"))
    count = site.emit("Gather", [counts, site.ints([place], "place")], "count", axis=0)
    sizes.insert(int(axis > 0), count)
    value = site.input(2)
    if value is None:
        value = site.const(np.zeros((), site.required_dtype(0, "the value")), "value")
    whole = site.emit("Concat", sizes, "block_shape", axis=0) if len(sizes) > 1 else count
    return site.emit("Expand", [value, whole], "block")
