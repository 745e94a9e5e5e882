"""ArgMax and ArgMin: the index of the extreme along an axis.

https://onnx.ai/onnx/operators/onnx__ArgMax.html
https://onnx.ai/onnx/operators/onnx__ArgMin.html

- 1: the index of the first of equal elements; `axis` counts from the front.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#ArgMax-1
- 11: `axis` may be negative. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#ArgMax-11
- 12: `select_last_index` asks for the last of equal elements.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#ArgMax-12
- 13: bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#ArgMax-13
"""

from __future__ import annotations

import numpy as np

from ..negative_axes import Axis, negative_axes
from ..node_draft import Site
from ..registry import Outcome, downgrade
from ..snippets import length_of

negative_axes("ArgMax", "ArgMin", axis=Axis("axis"))


@downgrade(12, "ArgMax", "ArgMin")
def first_index(site: Site) -> Outcome:
    """Before opset 12: the first of equal elements; the last one is the first of flipped data."""
    last = site.attribute("select_last_index")
    site.drop("select_last_index")
    if not last:
        return None
    axis = site.attribute("axis")
    data = site.input(0)
    one = site.ints([axis], "axis")
    starts, ends = site.ints([-1], "last"), site.ints([np.iinfo(np.int64).min], "first")
    flipped = site.emit("Slice", [data, starts, ends, one, site.ints([-1], "step")], "flipped")
    index = site.emit(site.op_type, [flipped], "found", attributes=site.attributes)
    count = length_of(site, site.emit("Shape", [data], "shape"), axis)
    one_less = site.emit("Sub", [count, site.const(np.array(1, np.int64), "one")])
    return [site.emit("Sub", [one_less, index])]
