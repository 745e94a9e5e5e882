"""Expand: as large as another shape broadcasts it to.

https://onnx.ai/onnx/operators/onnx__Expand.html

- 8: the operator appears. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Expand-8
- 13: bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Expand-13
"""

from __future__ import annotations

import numpy as np
import onnx

from ...ir import Value
from ..registry import Outcome, longer_form
from ..site import Site


@longer_form(8, "Expand")
def tile_what_has_length_1(site: Site) -> Outcome:
    """Below opset 8: Tile repeats axes of length 1 as often as is wanted, and others once."""
    data, wanted, rank, lengths = site.input(0), site.input(1), site.rank(), site.shape(1)
    assert data is not None and wanted is not None
    if rank is None or lengths is None or lengths[0] is None:
        site.refuse("Tile needs the rank of input 0 and how many lengths are wanted")
    missing = lengths[0] - rank
    if missing > 0:
        ones = site.ints([1] * missing, "ones")
        shape = site.emit("Concat", [ones, site.emit("Shape", [data], "shape")], axis=0)
        data = site.emit("Unsqueeze", [data], "data", axes=list(range(missing)))
    elif missing < 0:
        wanted = site.emit("Concat", [site.ints([1] * -missing, "ones"), wanted], axis=0)
    if max(rank, lengths[0]) == 0:
        return [site.emit("Identity", [data])]
    if missing <= 0:
        shape = site.emit("Shape", [data], "shape")
    return [site.emit("Tile", [data, _repeats(site, shape, wanted)])]


def _repeats(site: Site, shape: Value, wanted: Value) -> Value:
    """What is wanted where the length is 1, else 1."""
    one = site.const(np.array(1), "one")
    single = site.emit("Equal", [shape, one], "single")
    flag = site.emit("Cast", [single], "flag", to=onnx.TensorProto.INT64)
    more = site.emit("Mul", [flag, site.emit("Sub", [wanted, one], "more")], "more")
    return site.emit("Add", [more, one], "repeats")
