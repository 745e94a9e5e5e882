"""AveragePool, LpPool, GlobalLpPool and MaxPool: windows along the axes after the channels.

- 1: floats, no dilations, sizes rounded down; the `p` of norms is a float.
- 2: `p` is an integer, and LpPool requires `kernel_shape`.
- 7: `count_include_pad`.
- 8: MaxPool returns indices too, in the order of `storage_order`.
- 10: MaxPool has dilations; MaxPool and AveragePool round sizes up with `ceil_mode`.
- 11: defaults of dilations and strides are specified.
- 12: MaxPool of 8-bit integers.
- 18: LpPool has dilations and `ceil_mode`.
- 19: AveragePool has dilations; its sizes are those of PyTorch and TensorFlow.
- 22: with `ceil_mode`, windows that start in the padding at the end are left out.
"""

import numpy as np
import onnx

from ...ir import Array, Value
from ..form import writes
from ..registry import AdapterResult, NodeDraft, downgrade, harmless, longer_form, upgrade
from ..types import shape_text
from ..via_wider_type import TINY, Detour, compute_via
from ..windows import NONE_IN_PADDING, Window, gather_windows, pad_windows, sides, windows

# It orders indices, which opset 7 does not return.
harmless("MaxPool", attribute="storage_order")
compute_via(12, "MaxPool", row=Detour(TINY, onnx.TensorProto.FLOAT))


@upgrade(2, "LpPool", "GlobalLpPool", where=writes("p"))
def write_integer_power(draft: NodeDraft) -> None:
    """Opset 2: norms of whole powers only."""
    power = draft.attribute("p")
    if power != round(power):
        draft.refuse(f"p = {power} is not a whole number, which opset 2 requires")
    draft.set("p", round(power))


@longer_form(10, "MaxPool")
def pool_maxima(draft: NodeDraft) -> AdapterResult:
    """Below opset 10: windows with more padding, or gathered side by side. Padding is never the
    maximum, so that another element of the window may replace it."""
    per_axis = windows(draft)
    if all(window.step == 1 for window in per_axis):
        return pad_windows(draft, per_axis)
    places = [_inside(draft, window) for window in per_axis]
    order = "F" if draft.attribute("storage_order") else "C"
    draft.drop("storage_order")
    values = gather_windows(draft, draft.data, places, draft.is_used(1))
    if len(values) > 1:
        values[1] = _indices(draft, values[1], per_axis, places, order)
    return [*values, None][: len(draft.node.outputs)]


def _indices(
    draft: NodeDraft, indices: Value, per_axis: list[Window], places: list[Array], order: str
) -> Value:
    """Indices into the data from indices into the gathered windows."""
    lengths = [window.length for window in per_axis]
    positions = np.ix_(*(rows.ravel() for rows in places))
    flat = np.arange(np.prod(lengths)).reshape(lengths, order=order)[positions]  # type: ignore[call-overload]
    count, size = (draft.const(np.array(n), "size") for n in (flat.size, np.prod(lengths)))
    image = draft.emit("Div", [indices, count], "image")
    place = draft.emit("Sub", [indices, draft.emit("Mul", [image, count], "start")], "place")
    inside = draft.emit("Gather", [draft.ints(flat.ravel().tolist(), "places"), place], "inside")
    return draft.emit("Add", [draft.emit("Mul", [image, size], "start"), inside], "indices")


def _inside(draft: NodeDraft, window: Window) -> Array:
    """The positions of windows, with the first element of each in the place of padding."""
    places, outside = window.places(), window.outside()
    if outside.all(axis=1).any():
        draft.refuse("one of its windows holds nothing but padding")
    first = np.take_along_axis(places, outside.argmin(axis=1)[:, None], axis=1)
    inside: Array = np.where(outside, first, places)
    return inside


@longer_form(10, "AveragePool")
def pool_means(draft: NodeDraft) -> AdapterResult:
    """Below opset 10: windows with more padding, which does not count."""
    per_axis = windows(draft)
    (mean,) = pad_windows(draft, per_axis)
    return [_without_more(draft, mean, per_axis)]


@longer_form(18, "LpPool")
@longer_form(19, "AveragePool")
def pool_dilated_windows(draft: NodeDraft) -> AdapterResult:
    """Below opset 19 (LpPool 18): gather dilated windows side by side from padded data. A mean
    counts the padding if `count_include_pad` is set, or there is none."""
    per_axis, data = windows(draft), draft.data
    padded = any(window.start or window.end for window in per_axis)
    mean = draft.op_type == "AveragePool"
    if not mean and all(window.step == 1 for window in per_axis):
        return pad_windows(draft, per_axis)
    counted = bool(draft.attribute("count_include_pad"))
    if padded:
        pads = [0, 0, *(w.start for w in per_axis), 0, 0, *(w.end for w in per_axis)]
        data = draft.emit("Pad", [data, draft.ints(pads, "pads")], "padded")
    shares = _shares(draft, per_axis, counted=counted) if mean else None
    draft.drop("count_include_pad")
    values = gather_windows(draft, data, [window.places() + window.start for window in per_axis])
    return values if shares is None else [_scaled(draft, values[0], shares)]


def _without_more(draft: NodeDraft, mean: Value, per_axis: list[Window]) -> Value:
    """A mean that does not count the padding due to `ceil_mode`."""
    if not draft.attribute("count_include_pad"):
        return mean
    return _scaled(draft, mean, _shares(draft, per_axis, counted=True))


def _scaled(draft: NodeDraft, mean: Value, shares: Array) -> Value:
    # The padding adds nothing to a sum, so that only the number of elements differs.
    return mean if (shares == 1).all() else draft.emit("Mul", [mean, draft.const(shares, "shares")])


def _shares(draft: NodeDraft, per_axis: list[Window], *, counted: bool) -> Array:
    """All elements of each window by those that count."""
    dtype, shares = draft.required_dtype(0, "a mean"), np.ones((1, 1), np.float64)
    for window in per_axis:
        inside = window.size - window.outside(counted=counted).sum(axis=1)
        if not inside.all():
            draft.refuse("one of its windows holds nothing but padding")
        shares = shares[..., None] * (window.size / inside)
    return shares.astype(dtype)


_POOLS = ("AveragePool", "LpPool", "MaxPool")


@upgrade(22, *_POOLS)
@upgrade(19, "AveragePool")
@downgrade(19, "AveragePool")
@downgrade(22, *_POOLS)
def require_same_windows(draft: NodeDraft) -> AdapterResult:
    """Refuse a ceil_mode whose last window may start in the padding."""
    if not draft.attribute("ceil_mode") or _starts_inside(draft):
        return None
    if draft.text("auto_pad").startswith("SAME"):
        # It changes no window there, but those that onnxruntime counts without their dilations.
        if all(step == 1 for step in draft.attribute("dilations") or ()):
            draft.drop("ceil_mode")
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
        f"ceil_mode = 1 counts windows in another way in opset {draft.target}: its output has"
        f" the shape {shape_text(other)} there and {shape_text(shape)} in opset {draft.source}"
    )


def _padded_instead(draft: NodeDraft, per_axis: list[Window]) -> AdapterResult:
    """Windows with more padding in the place of those that are rounded up."""
    ends = [w.start for w in per_axis] + [w.end for w in per_axis]
    draft.drop("ceil_mode", "auto_pad")
    draft.set("pads", ends)
    if draft.op_type != "AveragePool" or not draft.attribute("count_include_pad"):
        return None
    (mean,) = draft.emit_all("AveragePool", draft.inputs, ["values"], attributes=draft.attributes)
    return [_without_more(draft, mean, per_axis)]


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
