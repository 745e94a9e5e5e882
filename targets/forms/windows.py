"""Forms of kernels that slide: padding in numbers, and an axis more for clients of images alone."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...ir import Value
from ...version_converter.node_draft import NodeDraft
from .registered import decomposes

_AXES = ("kernel_shape", "strides", "dilations", "output_padding", "output_shape")
"""Attributes with a number for each axis after the channels."""


@decomposes(
    *("Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool"),
    where=lambda node, _: node.attribute("auto_pad", b"NOTSET") != b"NOTSET",
)
def write_pads(draft: NodeDraft) -> Sequence[Value | None]:
    """The operator with pads in the place of auto_pad: zeros, or those that known sizes need."""
    side = draft.text("auto_pad")
    kernel = _kernel(draft)
    if side not in ("VALID", "SAME_UPPER", "SAME_LOWER") or draft.attributes.get("output_shape"):
        draft.refuse("its padding follows from its output")
    if "ceil_mode" in draft.schema.attributes and draft.attribute("ceil_mode"):
        draft.refuse("runtimes disagree on auto_pad with ceil_mode")
    pads = [0] * 2 * len(kernel)
    if side != "VALID":
        pads = _same(draft, kernel, is_upper=side == "SAME_UPPER")
    draft.drop("auto_pad")
    draft.set("pads", pads)
    return draft.repeat()


def _kernel(draft: NodeDraft) -> list[int]:
    """The lengths of the kernel."""
    kernel: list[int] | None = draft.attribute("kernel_shape")
    sizes: Sequence[int | None] | None = kernel or (draft.shape(1) or [])[2:]
    if not sizes or None in sizes:
        draft.refuse_unknown("the size of the kernel")
    return [size for size in sizes if size is not None]


def _same(draft: NodeDraft, kernel: Sequence[int], *, is_upper: bool) -> list[int]:
    """Pads for one window for each stride."""
    if draft.node.op_type == "ConvTranspose":
        draft.refuse("the padding of a transposed kernel depends on its output")
    axes, lengths = len(kernel), (draft.shape() or [])[2:]
    strides = draft.attribute("strides") or [1] * axes
    has_steps = "dilations" in draft.schema.attributes
    if has_steps and max(draft.attribute("dilations") or [1]) > 1:
        draft.refuse("runtimes disagree on auto_pad with dilations")
    if len(lengths) != axes or len(strides) != axes:
        draft.refuse_unknown("the size that it slides over")
    rows = zip(lengths, kernel, strides, strict=True)
    more = [_padding(draft, *row) for row in rows]
    less = [total // 2 for total in more]
    rest = [total - half for total, half in zip(more, less, strict=True)]
    return [*less, *rest] if is_upper else [*rest, *less]


def _padding(draft: NodeDraft, length: int | None, size: int, stride: int) -> int:
    """The padding along an axis for one window for each stride; that of a stride of 1 needs no
    length."""
    if length is None and stride > 1:
        draft.refuse_unknown("the size that it slides over")
    length = 1 if length is None else length
    return max((math.ceil(length / stride) - 1) * stride + size - length, 0)


@decomposes(
    *("Conv", "ConvTranspose", "MaxPool", "AveragePool"),
    where=lambda node, types: types.rank(node.inputs[0]) == 3,
)
def slide_over_images(draft: NodeDraft) -> Sequence[Value | None]:
    """A kernel of one axis as one of two, the first of length 1."""
    if draft.is_used(1):
        draft.refuse("the indices of its maxima are used")
    for name in _AXES:
        if name in draft.attributes and (numbers := draft.attribute(name)):
            # Along the new axis there is one window, and no padding at its output.
            draft.set(name, [0 if name == "output_padding" else 1, *numbers])
    if "pads" in draft.attributes and (pads := draft.attribute("pads")):
        draft.set("pads", [0, pads[0], 0, pads[1]])
    operands = 2 if draft.node.op_type.startswith("Conv") else 1
    for index in range(operands):
        draft.set_input(index, draft.unsqueeze(draft.required(index), [2]))
    images = draft.emit(draft.op_type, draft.inputs, "images", attributes=draft.attributes)
    return [draft.along("Squeeze", images, [2])]
