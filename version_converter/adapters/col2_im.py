"""Col2Im: an image from columns of blocks, which overlap.

- 18: the operator appears.

    y = Col2Im (x, [2, 3], [2, 2])                     (two blocks of four elements)
->  (opset 18 to 17)
    taken = Gather <axis = 2> (columns and a zero, [[0, 8, 8], [1, 2, 8], [3, 8, 8], ...])
    y = Reshape (ReduceSum (taken, [3]), [0, 0, 2, 3])
"""

import math

import numpy as np

from ...ir import Array
from ..registry import AdapterResult, NodeDraft, longer_form

_MOST_PLACES = 1 << 20


@longer_form(18, "Col2Im")
def add_elements_of_blocks(draft: NodeDraft) -> AdapterResult:
    """Below opset 18: the sum, for each pixel, of the elements of blocks that stand there."""
    image, block = (
        draft.required_constant(index, f"the {what}").tolist()
        for index, what in ((1, "shape of the image"), (2, "shape of a block"))
    )
    places = _places(draft, image, block)
    # What fills the table up is the number of elements, and above all of their places.
    count, channels = int(places.max()), draft.length(1)
    rows = -1 if channels is None else channels // math.prod(block)
    columns = draft.emit("Reshape", [draft.data, draft.ints([0, rows, count], "rows")], "columns")
    pads = draft.ints([0, 0, 0, 0, 0, 1], "pads")
    padded = draft.emit("Pad", [columns, pads], "padded")
    elements = draft.emit("Gather", [padded, draft.const(places, "places")], "taken", axis=2)
    pixels = draft.along("ReduceSum", elements, [3], "pixels", keepdims=0)
    return [draft.emit("Reshape", [pixels, draft.ints([0, 0, *image], "image")])]


def _places(draft: NodeDraft, image: list[int], block: list[int]) -> Array:
    """The elements of blocks on each pixel, filled up with the number of elements."""
    axes = len(image)
    strides, steps = (draft.attribute(name) or [1] * axes for name in ("strides", "dilations"))
    pads = draft.attribute("pads") or [0] * 2 * axes
    if not axes == len(block) == len(strides) == len(steps) == len(pads) // 2:
        draft.refuse("its strides, dilations or pads do not fit its image")
    rows = zip(image, block, strides, steps, pads[:axes], pads[axes:], strict=True)
    along = []
    for length, size, stride, step, start, end in rows:
        room = length + start + end - step * (size - 1) - 1
        if room < 0 or length < 1:
            draft.refuse(f"a block of {size} does not fit into a length of {length}")
        starts = np.arange(room // stride + 1) * stride - start
        along.append(np.arange(size)[:, None] * step + starts)
    count = math.prod(each.size for each in along)
    if count > _MOST_PLACES:
        draft.refuse(f"{count} elements are too many for a constant")
    return _by_pixel(along, image, count)


def _by_pixel(along: list[Array], image: list[int], count: int) -> Array:
    """The elements on each pixel in order, the same number for each.

    Args:
        along: for each axis the places of a block's elements, in all blocks.
        image: the lengths of the image.
        count: the number of elements, which fills up.
    """
    axes, pixel, inside = len(image), np.zeros((), np.int64), np.ones((), bool)
    for axis, (places, length) in enumerate(zip(along, image, strict=True)):
        shape = [1] * 2 * axes
        shape[axis], shape[axes + axis] = places.shape
        own = places.reshape(shape)
        pixel, inside = pixel * length + own, inside & (own >= 0) & (own < length)
    pixels, numbers = pixel[inside], np.flatnonzero(inside)
    order = np.argsort(pixels, kind="stable")
    pixels, numbers = pixels[order], numbers[order]
    # An element's column is the number of those before it on the same pixel.
    columns = np.arange(len(pixels)) - np.searchsorted(pixels, pixels)
    # One column more than the fullest pixel needs, so that the number of elements occurs.
    table = np.full((math.prod(image), int(columns.max(initial=0)) + 2), count, np.int64)
    table[pixels, columns] = numbers
    return table
