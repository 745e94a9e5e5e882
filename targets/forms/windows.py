"""Forms of kernels that slide: padding in numbers, and an axis more for clients of images alone."""

import math
from collections.abc import Sequence

import numpy as np

from ...ir import Node, Value
from ...version_converter.node_draft import NodeDraft
from ...version_converter.types import Types
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
    if side not in ("VALID", "SAME_UPPER", "SAME_LOWER") or "output_shape" in draft.attributes:
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


def _names_output(node: Node, _: Types) -> bool:
    side: bytes = node.attribute("auto_pad", b"NOTSET")
    return "output_shape" in node.op.attributes or side.startswith(b"SAME")


@decomposes("ConvTranspose", where=_names_output)
def pad_to_output(draft: NodeDraft) -> Sequence[Value | None]:
    """A transposed kernel with pads in the place of the sizes of its result."""
    kernel, lengths, sizes = _kernel(draft), draft.shape(), draft.attribute("output_shape")
    axes = len(kernel)
    ones, zeros = [1] * axes, [0] * axes
    steps, dilations = (draft.attribute(name) or ones for name in ("strides", "dilations"))
    count = len(sizes or steps)
    if lengths is None or None in lengths[2:] or not len(lengths[2:]) == axes == count:
        draft.refuse_unknown("the size that it slides over")
    # Of the same size means one window for each stride.
    sizes = sizes or [(n or 0) * s for n, s in zip(lengths[2:], steps, strict=True)]
    more = draft.attribute("output_padding") or zeros
    rows = zip(lengths[2:], kernel, steps, dilations, more, sizes, strict=True)
    less = [s * ((n or 0) - 1) + m + (k - 1) * d + 1 - size for n, k, s, d, m, size in rows]
    if min(less) < 0:
        draft.refuse("runtimes disagree on sizes beyond those that it reaches")
    # The specification rounds up at the beginning, unless for SAME_UPPER.
    up = int(draft.text("auto_pad") != "SAME_UPPER")
    begin = [(total + up) // 2 for total in less]
    draft.drop("auto_pad", "output_shape")
    draft.set("pads", begin + [total - first for total, first in zip(less, begin, strict=True)])
    return draft.repeat()


@decomposes("ConvTranspose", where=lambda node, _: any(node.attribute("pads") or ()))
def crop_result(draft: NodeDraft) -> Sequence[Value | None]:
    """A transposed kernel without pads, which are cut off its result."""
    pads: list[int] = draft.attribute("pads")
    axes = len(pads) // 2
    if draft.source < 10 or min(pads) < 0:
        draft.refuse("its pads are negative, or places of a Slice are attributes")
    draft.drop("pads")
    whole = draft.emit(draft.op_type, draft.inputs, "whole", attributes=draft.attributes)
    # An end of -0 would be the first element, not the last.
    ends = [-pad or np.iinfo(np.int64).max for pad in pads[axes:]]
    places = [draft.ints(row, "places") for row in (pads[:axes], ends, range(2, axes + 2))]
    return [draft.emit("Slice", [whole, *places])]


@decomposes("ConvTranspose", where=lambda node, _: node.attribute("group", 1) > 1)
def transpose_groups_apart(draft: NodeDraft) -> Sequence[Value | None]:
    """A transposed kernel for each group of channels, one after the other."""
    groups: int = draft.attribute("group")
    channels, kernel = (draft.shape() or [None] * 2)[1], draft.shape(1)
    if channels is None or kernel is None or kernel[1] is None:
        draft.refuse_unknown("the number of its channels")
    draft.drop("group")
    columns = [
        _in_parts(draft, value, axis, [length] * groups)
        for value, axis, length in zip(
            draft.inputs,
            (1, 0, 0),
            (channels // groups, channels // groups, kernel[1]),
            strict=False,
        )
    ]
    results = [
        draft.emit("ConvTranspose", inputs, "group", attributes=draft.attributes)
        for inputs in zip(*columns, strict=True)
    ]
    return [draft.emit("Concat", results, axis=1)]


def _in_parts(
    draft: NodeDraft, value: Value | None, axis: int, lengths: Sequence[int]
) -> Sequence[Value | None]:
    """A value in parts of some lengths along an axis."""
    if value is None:
        return [None] * len(lengths)
    labels = ["part"] * len(lengths)
    if draft.builder.opset < 13:
        return draft.emit_all("Split", [value], labels, axis=axis, split=list(lengths))
    return draft.emit_all("Split", [value, draft.ints(lengths, "lengths")], labels, axis=axis)


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


@decomposes("Resize", where=lambda node, types: types.rank(node.inputs[0]) == 3)
def resize_images(draft: NodeDraft) -> Sequence[Value | None]:
    """A Resize of one axis as one of two, the first of length 1."""
    has_region = draft.input(1) is not None and draft.shape(1) != [0]
    if (
        draft.source < 11
        or has_region
        or {"axes", "keep_aspect_ratio_policy"} & {*draft.attributes}
    ):
        draft.refuse("its lengths depend on a region, on a policy or on axes that it names")
    for index in (2, 3):
        if draft.input(index) is not None and draft.shape(index) != [0]:
            lengths = draft.required_constant(index, "the lengths")
            draft.set_input(index, draft.const(np.insert(lengths, 2, 1), "lengths"))
    draft.set_input(0, draft.unsqueeze(draft.data, [2]))
    images = draft.emit("Resize", draft.inputs, "images", attributes=draft.attributes)
    return [draft.along("Squeeze", images, [2])]


def _has_computed_bias(node: Node, _: Types) -> bool:
    bias = node.inputs[2] if len(node.inputs) > 2 else None
    return bias is not None and bias.constant is None


@decomposes("Conv", "ConvTranspose", where=_has_computed_bias)
def add_bias(draft: NodeDraft) -> Sequence[Value | None]:
    """A kernel without a bias, and the sum with it."""
    rank, bias = draft.required_rank("the axes of its bias"), draft.required(2)
    product = draft.emit(draft.op_type, draft.inputs[:2], "sum", attributes=draft.attributes)
    return [draft.emit("Add", [product, draft.unsqueeze(bias, range(1, rank - 1))])]


_CLAMPED = ("half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners")
"""Ways to count pixels that read none outside of an image, and change nothing at a scale of 1."""
_OTHERWISE = frozenset(("keep_aspect_ratio_policy", "axes", "antialias", "exclude_outside"))


@decomposes("Resize", where=lambda node, types: 1 in (types.shape(node.inputs[0]) or ())[2:])
def repeat_pixels(draft: NodeDraft) -> Sequence[Value | None]:
    """An Expand along axes of one pixel, before a Resize of the others."""
    old, new = draft.shape() or [], draft.inferred_shape(draft.source)
    if new is None or None in new or None in old:
        draft.refuse_unknown("the size of its result")
    if draft.source < 11 or draft.text("mode") == "cubic" or _OTHERWISE & {*draft.attributes}:
        draft.refuse("it weighs more than the nearest pixels")
    if draft.text("coordinate_transformation_mode") not in _CLAMPED:
        draft.refuse("it may read outside of its image")
    pairs = list(zip(old, new, strict=True))
    repeated = [m if at > 1 and n == 1 else n for at, (n, m) in enumerate(pairs)]
    scales, has_sizes = draft.constant(2), draft.input(3) is not None
    if not has_sizes and scales is None and repeated != new:
        draft.refuse_unknown("the scale")
    sizes = [size for size in repeated if size is not None]
    pixels = draft.emit("Expand", [draft.data, draft.ints(sizes, "sizes")], "pixels")
    if repeated == new:
        return [pixels]
    if not has_sizes and scales is not None:
        ones = [size == end for size, end in zip(repeated, new, strict=True)]
        draft.set_input(2, draft.const(np.where(ones, 1, scales).astype(np.float32), "scales"))
    draft.set_input(0, pixels)
    return draft.repeat()
