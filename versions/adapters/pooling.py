"""AveragePool, LpPool and MaxPool: windows along the axes behind the channels.

https://onnx.ai/onnx/operators/onnx__AveragePool.html
https://onnx.ai/onnx/operators/onnx__LpPool.html
https://onnx.ai/onnx/operators/onnx__MaxPool.html

- 2: floats, no dilations, sizes rounded down.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#LpPool-2
- 7: `count_include_pad`. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#AveragePool-7
- 8: MaxPool gives indices too, in the order that `storage_order` says.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#MaxPool-8
- 10: MaxPool has dilations; MaxPool and AveragePool round sizes up with `ceil_mode`.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#MaxPool-10
- 11: what they do not say of dilations and strides is written down.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#AveragePool-11
- 12: MaxPool of 8-bit integers. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#MaxPool-12
- 18: LpPool has dilations and `ceil_mode`.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#LpPool-18
- 19: AveragePool has dilations; its sizes are those of PyTorch and TensorFlow.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#AveragePool-19
- 22: with `ceil_mode`, windows that start in the padding at the end are left out.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#MaxPool-22
"""

from __future__ import annotations

import onnx

from ..detours import TINY, by_way_of
from ..registry import Outcome, downgrade, upgrade
from ..site import Site


@downgrade(8, "MaxPool")
def row_major(site: Site) -> Outcome:
    """The storage order speaks of the indices only, which opset 7 does not give."""
    if not site.is_used(1):
        site.drop("storage_order")
    return None


by_way_of(12, "MaxPool", types=TINY, via=onnx.TensorProto.FLOAT)

_POOLS = ("AveragePool", "LpPool", "MaxPool")


@upgrade(22, *_POOLS)
@upgrade(19, "AveragePool")
@downgrade(19, "AveragePool")
@downgrade(22, *_POOLS)
def same_windows(site: Site) -> Outcome:
    """With ceil_mode the versions do not agree on a last window that starts in the padding."""
    if not site.attribute("ceil_mode") or _starts_inside(site):
        return None
    known = site.types.shape(site.node.output())
    if known is None or None in known:
        known = site.inferred_shape(site.source)
    other = site.inferred_shape(site.target)
    # The first two axes are not pooled, so batches and channels need not be known.
    if known is None or other is None or None in known[2:] or known[2:] != other[2:]:
        site.refuse(
            f"ceil_mode = 1 may count windows in another way in opset {site.target}: the output has"
            f" the shape {known} here and {other} there"
        )
    return None


def _starts_inside(site: Site) -> bool:
    """Whether no window starts in the padding at the end, whatever the size of the input.

    The last one starts before in + pad_end - reach + stride, counted from the first element; with
    pad_end + stride <= reach that is inside.
    """
    if site.text("auto_pad") not in ("", "NOTSET", "VALID"):
        return False
    kernel = site.attribute("kernel_shape")
    axes = len(kernel)
    strides = site.attribute("strides") or [1] * axes
    dilations = site.attribute("dilations") or [1] * axes
    ends = (site.attribute("pads") or [0] * 2 * axes)[axes:]
    return all(
        end + stride <= dilation * (size - 1) + 1
        for end, stride, dilation, size in zip(ends, strides, dilations, kernel, strict=True)
    )
