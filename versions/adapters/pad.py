"""Pad: by how much, with what, along which axes.

https://onnx.ai/onnx/operators/onnx__Pad.html

- 2: floats; `pads` and `value` are attributes.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Pad-2
- 11: `pads` and `value` are inputs; integers.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Pad-11
- 13: all types. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Pad-13
- 18: `axes` says of which axes `pads` speaks.
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

from ..detours import WORDS, by_way_of
from ..moves import Move, moved
from ..registry import Outcome, added_values, downgrade
from ..site import Site

moved(
    11,
    "Pad",
    moves=[Move("pads", 1, "ints"), Move("value", 2, "like data", absent=0.0)],
)
by_way_of(11, "Pad", types=WORDS, via=onnx.TensorProto.DOUBLE, inputs=(0, 2))
added_values(19, "Pad", attribute="mode", values=[b"wrap"])


@downgrade(18, "Pad")
def pad_all_axes(site: Site) -> Outcome:
    """Before opset 18 the pads speak of every axis."""
    if site.input(3) is None:
        return None
    axes = site.required_constant(3, "input 'axes'").astype(np.int64)
    rank = site.required_rank("'axes'")
    axes = np.where(axes < 0, axes + rank, axes)
    places = np.concatenate([axes, axes + rank])
    pads = site.constant(1)
    if pads is not None:
        spread = np.zeros(2 * rank, np.int64)
        spread[places] = pads
        full = site.const(spread, "pads")
    else:
        zeros = site.ints([0] * (2 * rank), "zeros")
        given = [zeros, site.const(places, "places"), site.input(1)]
        full = site.emit("ScatterElements", given, "pads", axis=0)
    site.set_input(1, full)
    site.set_input(3, None)
    return None
