"""GroupNormalization: a scale and a bias for what?

https://onnx.ai/onnx/operators/onnx__GroupNormalization.html

- 18: one for each group; deprecated since.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#GroupNormalization-18
- 21: one for each channel; `stash_type` is the type to compute in, by default float.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#GroupNormalization-21
"""

from __future__ import annotations

from ..registry import Outcome, upgrade
from ..site import Site


@upgrade(21, "GroupNormalization")
def repeat_scale(site: Site) -> Outcome:
    """From opset 21 on there is one scale and bias for each channel, not for each group."""
    groups, shape = site.attribute("num_groups"), site.shape()
    if shape is not None and len(shape) > 1 and shape[1] is not None:
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
