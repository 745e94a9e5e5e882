"""Pooling windows of known sizes, for opsets without `ceil_mode` or `dilations`.

    y = MaxPool <kernel_shape = [2], strides = [2], ceil_mode = 1> (x)     (x has length 5)
->  y = MaxPool <kernel_shape = [2], strides = [2], pads = [0, 1]> (x)

    y = MaxPool <kernel_shape = [2], dilations = [2]> (x)                  (x has length 4)
->  taken = Gather <axis = 2> (x, [0, 2, 1, 3])
    y = MaxPool <kernel_shape = [2], strides = [2]> (taken)
"""

from typing import NamedTuple

import numpy as np

from ..ir import Array, Value
from .node_draft import NodeDraft

NONE_IN_PADDING = 22
"""The opset from which on no window starts in the padding at the end."""


class Window(NamedTuple):
    """The windows along an axis.

    Attributes:
        length: the length of the axis, without padding.
        size: the number of elements in a window.
        stride: the distance from one window to the next.
        step: the distance from one element of a window to the next.
        start: the padding at the start.
        end: the padding at the end, so that all windows end inside.
        more: the part of that padding that is due to `ceil_mode`.
    """

    length: int
    size: int
    stride: int
    step: int
    start: int
    end: int
    more: int
    windows: int

    def places(self) -> Array:
        """The positions of each window's elements: negative or beyond the end in the padding."""
        starts = np.arange(self.windows) * self.stride - self.start
        positions: Array = starts[:, None] + np.arange(self.size) * self.step
        return positions

    def outside(self, *, counted: bool = False) -> Array:
        """The mask of positions in the padding.

        Args:
            counted: count the padding of the node as inside, but for that due to `ceil_mode`.
        """
        first, end = 0, self.length
        if counted:
            first, end = -self.start, end + self.end - self.more
        places = self.places()
        mask: Array = (places < first) | (places >= end)
        return mask


def sides(draft: NodeDraft) -> tuple[list[int], list[int], list[int], list[int]]:
    """The kernel with its strides, dilations and pads.

    Raises:
        Refused: they do not fit each other.
    """
    kernel: list[int] = draft.attribute("kernel_shape")
    axes = len(kernel)
    strides, steps = (draft.attribute(name) or [1] * axes for name in ("strides", "dilations"))
    pads = draft.attribute("pads") or [0] * 2 * axes
    # Halving alone would let an odd number of pads pass.
    fits = axes == len(strides) == len(steps) == len(pads) // 2 and len(pads) % 2 == 0
    if not fits or min([1, *kernel, *strides, *steps]) < 1 or min([0, *pads]) < 0:
        draft.refuse("its strides, dilations or pads do not fit its kernel")
    return kernel, strides, steps, pads


def windows(draft: NodeDraft) -> list[Window]:
    """The windows along each axis after the channels.

    With `auto_pad = SAME_...` there is one for each stride, whatever `ceil_mode`, and the dilated
    window decides the padding (ONNX specification, MaxPool; onnxruntime leaves dilations out).

    Raises:
        Refused: a length is not known, or versions do not agree on how many windows there are.
    """
    shape = draft.shape()
    kernel, strides, steps, pads = sides(draft)
    axes, side = len(kernel), draft.text("auto_pad")
    if side not in ("", "NOTSET", "VALID", "SAME_UPPER", "SAME_LOWER"):
        draft.refuse(f"there is no auto_pad '{side}'")
    if shape is None or len(shape) != axes + 2 or None in shape[2:]:
        draft.refuse_unknown("counting windows needs the lengths after the channels, one of which")
    lengths = [length or 0 for length in shape[2:]]
    if side.startswith("SAME"):
        more = [
            max((-(-length // stride) - 1) * stride + step * (size - 1) + 1 - length, 0)
            for length, size, stride, step in zip(lengths, kernel, strides, steps, strict=True)
        ]
        less = [padding // 2 for padding in more]
        rest = [padding - padding // 2 for padding in more]
        pads = [*less, *rest] if side == "SAME_UPPER" else [*rest, *less]
    elif side == "VALID":
        pads = [0] * 2 * axes
    ceil_mode = bool(draft.attribute("ceil_mode")) and not side.startswith("SAME")
    rows = zip(lengths, kernel, strides, steps, pads[:axes], pads[axes:], strict=True)
    return [_window(draft, ceil_mode, *row) for row in rows]


def _window(
    draft: NodeDraft,
    ceil_mode: bool,
    length: int,
    size: int,
    stride: int,
    step: int,
    start: int,
    end: int,
) -> Window:
    reach = step * (size - 1) + 1
    room = start + length + end - reach
    if room < 0:
        draft.refuse(f"a window of {reach} does not fit into a length of {length}")
    count = (-(-room // stride) if ceil_mode else room // stride) + 1
    # Rounding up may add a window that holds padding only, of which versions disagree.
    if (count - 1) * stride >= start + length:
        if draft.source < NONE_IN_PADDING:
            draft.refuse("with ceil_mode = 1, its last window starts in the padding")
        count -= 1
    # A window that rounding up added may reach beyond the padding of the node.
    more = max((count - 1) * stride - room, 0)
    return Window(length, size, stride, step, start, end + more, more, count)


def pad_windows(draft: NodeDraft, per_axis: list[Window]) -> list[Value]:
    """The node with all padding written out, without `ceil_mode`."""
    draft.drop("ceil_mode", "dilations", "auto_pad")
    draft.set("pads", [w.start for w in per_axis] + [w.end for w in per_axis])
    labels = ["values", "indices"][: len(draft.node.outputs)]
    return draft.emit_all(draft.op_type, draft.inputs, labels, attributes=draft.attributes)


def gather_windows(
    draft: NodeDraft, data: Value, places: list[Array], with_indices: bool = False
) -> list[Value]:
    """The node over adjacent windows, each gathered from its elements.

    Args:
        data: the data to pool.
        places: for each axis after the channels, one row for each window.
        with_indices: add the indices of maxima.
    """
    for axis, rows in enumerate(places, 2):
        indices = draft.ints(rows.ravel().tolist(), "places")
        data = draft.emit("Gather", [data, indices], "taken", axis=axis)
    draft.drop("ceil_mode", "dilations", "auto_pad", "pads")
    # Gathered windows lie side by side, so each begins a kernel after the one before.
    draft.set("strides", draft.attribute("kernel_shape"))
    labels = ["values", "indices"] if with_indices else ["values"]
    return draft.emit_all(draft.op_type, [data], labels, attributes=draft.attributes)
