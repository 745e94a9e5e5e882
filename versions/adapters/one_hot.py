"""OneHot: what a negative index means, and a negative axis.

https://onnx.ai/onnx/operators/onnx__OneHot.html

- 9: negative indices are out of range; `axis` counts from the front, or is -1.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#OneHot-9
- 11: indices count from the back where they are negative, and so does `axis`.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#OneHot-11
- 28: bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#OneHot-28
"""

from __future__ import annotations

import numpy as np

from ..negative_axes import Axis, negative_axes
from ..registry import Outcome, downgrade
from ..site import Site

negative_axes("OneHot", axis=Axis("axis", added=1, at_rest=-1))


@downgrade(11, "OneHot")
def wrap_indices(site: Site) -> Outcome:
    """From opset 11 on a negative index counts from the back; before, it is out of range."""
    indices = site.input(0)
    known = site.constant(0)
    dtype = site.required_dtype(0, "an index that may be negative")
    if dtype.kind == "u" or (known is not None and (known >= 0).all()):
        return None
    if dtype not in (np.int32, np.int64, np.float32, np.float64):
        site.refuse(f"an index of type {dtype} that may be negative cannot be wrapped in opset 10")
    zero = site.const(np.zeros((), dtype), "zero")
    scalar = site.emit("Reshape", [site.input(1), site.ints([], "rank_0")], "depth")
    depth = site.emit("Cast", [scalar], "depth", to=site.elem_type(0))
    wrapped = site.emit("Add", [indices, depth], "wrapped")
    # What is still negative was out of range, and becomes so above, since runtimes wrap once more.
    beyond = site.emit("Less", [wrapped, zero], "beyond")
    wrapped = site.emit("Where", [beyond, depth, wrapped], "wrapped")
    negative = site.emit("Less", [indices, zero], "negative")
    site.set_input(0, site.emit("Where", [negative, wrapped, indices], "indices"))
    return None
