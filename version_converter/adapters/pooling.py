"""AveragePool, LpPool and MaxPool: windows along the axes after the channels.

- 2: floats, no dilations, sizes rounded down.
- 7: `count_include_pad`.
- 8: MaxPool returns indices too, in the order of `storage_order`.
- 10: MaxPool has dilations; MaxPool and AveragePool round sizes up with `ceil_mode`.
- 11: defaults of dilations and strides are specified.
- 12: MaxPool of 8-bit integers.
- 18: LpPool has dilations and `ceil_mode`.
- 19: AveragePool has dilations; its sizes are those of PyTorch and TensorFlow.
- 22: with `ceil_mode`, windows that start in the padding at the end are left out.
"""

from __future__ import annotations

import numpy as np
import onnx

from ...ir import Array
from ..node_draft import NodeDraft
from ..registry import Outcome, downgrade, harmless, longer_form, upgrade
from ..via_wider_type import TINY, Detour, compute_via
from ..windows import NONE_IN_PADDING, Window, gather_windows, pad_windows, sides, windows

# It orders indices, which opset 7 does not return.
harmless("MaxPool", attribute="storage_order")
compute_via(12, "MaxPool", row=Detour(TINY, onnx.TensorProto.FLOAT))


@longer_form(10, "MaxPool")
def pool_maxima(draft: NodeDraft) -> Outcome:
    """Below opset 10: windows with more padding, or gathered side by side. Padding is never the
    maximum, so that another element of the window may replace it."""
    per_axis = windows(draft)
    if all(window.step == 1 for window in per_axis):
        return pad_windows(draft, per_axis)
    if draft.is_used(1):
        draft.refuse("indices of dilated windows are not written out")
    places = [_inside(draft, window) for window in per_axis]
    return [*gather_windows(draft, draft.data, places), None][: len(draft.node.outputs)]


def _inside(draft: NodeDraft, window: Window) -> Array:
    """The positions of windows, with the first element of each in the place of padding."""
    places, outside = window.places(), window.outside()
    if outside.all(axis=1).any():
        draft.refuse("one of its windows holds nothing but padding")
    first = np.take_along_axis(places, outside.argmin(axis=1)[:, None], axis=1)
    inside: Array = np.where(outside, first, places)
    return inside


@longer_form(10, "AveragePool")
def pool_means(draft: NodeDraft) -> Outcome:
    """Below opset 10: windows with more padding, which does not count."""
    per_axis = windows(draft)
    if draft.attribute("count_include_pad") and any(window.more for window in per_axis):
        draft.refuse("what ceil_mode = 1 counts of a last window with padding is not agreed on")
    return pad_windows(draft, per_axis)


@longer_form(18, "LpPool")
@longer_form(19, "AveragePool")
def pool_dilated_windows(draft: NodeDraft) -> Outcome:
    """Below opset 19 (LpPool 18): gather dilated windows side by side from padded data. A mean
    counts the padding if `count_include_pad` is set, or there is none."""
    per_axis, data = windows(draft), draft.data
    padded = any(window.start or window.end for window in per_axis)
    mean = draft.op_type == "AveragePool"
    if not mean and all(window.step == 1 for window in per_axis):
        return pad_windows(draft, per_axis)
    if mean and any(window.more for window in per_axis):
        draft.refuse("what ceil_mode = 1 counts of a last window with padding is not agreed on")
    counted = bool(draft.attribute("count_include_pad"))
    if padded:
        pads = [0, 0, *(w.start for w in per_axis), 0, 0, *(w.end for w in per_axis)]
        data = draft.emit("Pad", [data, draft.ints(pads, "pads")], "padded")
    draft.drop("count_include_pad")
    values = gather_windows(draft, data, [window.places() + window.start for window in per_axis])
    if not mean or counted or not padded:
        return values
    # The padding adds nothing to a sum, so that only the number of elements differs.
    factors = draft.const(_shares(draft, per_axis), "shares")
    return [draft.emit("Mul", [values[0], factors], "mean")]


def _shares(draft: NodeDraft, per_axis: list[Window]) -> Array:
    """All elements of each window by those that are not padding."""
    dtype, shares = draft.required_dtype(0, "a mean"), np.ones((1, 1), np.float64)
    for window in per_axis:
        inside = window.size - window.outside().sum(axis=1)
        if not inside.all():
            draft.refuse("one of its windows holds nothing but padding")
        shares = shares[..., None] * (window.size / inside)
    return shares.astype(dtype)


_POOLS = ("AveragePool", "LpPool", "MaxPool")


@upgrade(22, *_POOLS)
@upgrade(19, "AveragePool")
@downgrade(19, "AveragePool")
@downgrade(22, *_POOLS)
def require_same_windows(draft: NodeDraft) -> Outcome:
    """Refuse a ceil_mode whose last window may start in the padding."""
    if not draft.attribute("ceil_mode") or _starts_inside(draft):
        return None
    shape = draft.types.shape(draft.node.output())
    if shape is None or None in shape:
        shape = draft.inferred_shape(draft.source)
    other = draft.inferred_shape(draft.target)
    # The first two axes are not pooled, so batches and channels need not be known.
    if shape is None or other is None or None in (*shape[2:], *other[2:]):
        draft.refuse_unknown(
            f"ceil_mode = 1 may count windows in another way in opset {draft.target}; the length of"
            " an axis that decides it"
        )
    if shape[2:] == other[2:]:
        return None
    if draft.source == NONE_IN_PADDING and not draft.is_upgrade:
        per_axis = windows(draft)
        if all(window.more == 0 for window in per_axis):
            draft.drop("ceil_mode")  # it rounds up to windows in the padding only
            return None
        return _padded_instead(draft, per_axis)
    draft.refuse(
        f"ceil_mode = 1 counts windows in another way in opset {draft.target}: the output"
        f" has the shape {shape} here and {other} there"
    )


def _padded_instead(draft: NodeDraft, per_axis: list[Window]) -> Outcome:
    """Windows with more padding in the place of those that are rounded up."""
    if draft.op_type == "AveragePool" and draft.attribute("count_include_pad"):
        draft.refuse("what ceil_mode = 1 counts of a last window with padding is not agreed on")
    ends = [w.start for w in per_axis] + [w.end for w in per_axis]
    draft.drop("ceil_mode", "auto_pad")
    draft.set("pads", ends)
    return None


def _starts_inside(draft: NodeDraft) -> bool:
    """Test whether no window starts in the end padding, for any input size.

    The last one starts before in + pad_end - reach + stride, counted from the first element; with
    pad_end + stride <= reach that is inside.
    """
    if draft.text("auto_pad") not in ("", "NOTSET", "VALID"):
        return False
    kernel, strides, dilations, pads = sides(draft)
    ends = pads[len(kernel) :]
    return all(
        end + stride <= dilation * (size - 1) + 1
        for end, stride, dilation, size in zip(ends, strides, dilations, kernel, strict=True)
    )
