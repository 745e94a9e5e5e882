"""Forms of operators for clients that lack some numbers, shapes or layouts of operands."""

import operator
from collections.abc import Sequence

import numpy as np

from ...ir import Node, Value
from ...version_converter.node_draft import NodeDraft
from ...version_converter.types import Types
from .registered import decomposes

_ZEROS = 14
"""The first opset whose Reshape can make an empty axis."""


@decomposes("Max", "Min", "Sum", where=lambda node, _: len(node.inputs) != 2)
def take_two_at_a_time(draft: NodeDraft) -> Sequence[Value | None]:
    """Operators of two operands, one after the other."""
    result = draft.data
    for index in range(1, len(draft.inputs)):
        result = draft.emit(draft.op_type, [result, draft.required(index)], "pair")
    return [draft.emit("Identity", [result]) if len(draft.inputs) == 1 else result]


@decomposes("Gemm", where=lambda node, _: node.attribute("transA", 0) == 1)
def transpose_rows(draft: NodeDraft) -> Sequence[Value | None]:
    """A Gemm of a matrix that is transposed before it."""
    draft.set_input(0, draft.emit("Transpose", [draft.data], "rows", perm=[1, 0]))
    draft.set("transA", 0)
    return draft.repeat()


@decomposes("Tile", where=lambda node, types: types.shape(node.inputs[0]) is not None)
def expand_copies(draft: NodeDraft) -> Sequence[Value | None]:
    """Copies along axes of their own, joined to those of the data."""
    rank, repeats = draft.required_rank("the axes of copies"), draft.required(1)
    if draft.source < _ZEROS or not rank or draft.constant(1) is not None:
        draft.refuse("its repeats are known, or the opset has no Reshape to an empty axis")
    ones = draft.const(np.ones((rank, 1), np.int64), "ones")
    column = draft.emit("Reshape", [repeats, draft.ints([rank, 1], "column")], "counts")
    pairs = draft.emit("Concat", [column, ones], "pairs", axis=1)
    wide = draft.emit("Reshape", [pairs, draft.ints([2 * rank], "flat")], "wide")
    apart = draft.unsqueeze(draft.data, range(0, 2 * rank, 2))
    copies = draft.emit("Expand", [apart, wide], "copies")
    sizes = draft.emit("Mul", [draft.emit("Shape", [draft.data], "shape"), repeats], "sizes")
    return [draft.emit("Reshape", [copies, sizes], allowzero=1)]


@decomposes("OneHot", where=lambda node, _: node.attribute("axis", -1) < 0)
def count_axis_from_front(draft: NodeDraft) -> Sequence[Value | None]:
    """A OneHot with its axis counted from the front."""
    rank = draft.required_rank("the axis of classes") + 1
    axis: int = draft.attribute("axis")
    if axis < -rank:
        draft.refuse(f"its result has no axis {axis}")
    draft.set("axis", axis + rank)
    return draft.repeat()


def is_whole(value: Value | None, result: Value | None, types: Types) -> bool:
    """Test for an operand with the shape of a result, or with one number."""
    sizes, whole = types.dimensions(value), types.dimensions(result)
    if sizes is None or whole is None:
        return False
    if all(size.value == 1 for size in sizes):
        return True
    return len(sizes) == len(whole) and all(map(operator.eq, sizes, whole))


def _whole_choices(node: Node, types: Types) -> list[bool]:
    return [is_whole(value, node.outputs[0], types) for value in node.inputs[1:3]]


@decomposes("Where", where=lambda node, types: _whole_choices(node, types) == [True, False])
def swap_choices(draft: NodeDraft) -> Sequence[Value | None]:
    """A Where of the opposite condition, with the other choice last."""
    condition = draft.emit("Not", [draft.data], "opposite")
    return [draft.emit("Where", [condition, draft.input(2), draft.input(1)])]


@decomposes("Where", where=lambda node, types: _whole_choices(node, types) == [False, False])
def expand_last_choice(draft: NodeDraft) -> Sequence[Value | None]:
    """A Where whose last choice has the shape of the result."""
    shape = draft.inferred_shape(draft.source)
    if shape is None or None in shape:
        draft.refuse_unknown("the shape of its result")
    sizes = draft.ints([size for size in shape if size is not None], "shape")
    whole = draft.emit("Expand", [draft.input(2), sizes], "whole")
    return [draft.emit("Where", [draft.data, draft.input(1), whole])]


@decomposes("Resize", where=lambda node, _: len(node.inputs) > 3 and node.inputs[3] is not None)
def scale_to_sizes(draft: NodeDraft) -> Sequence[Value | None]:
    """A Resize by scales that give the same sizes."""
    if draft.attributes.get("keep_aspect_ratio_policy") or draft.attributes.get("axes"):
        draft.refuse("its scales depend on its policy or axes")
    sizes = draft.required_constant(3, "the sizes")
    lengths = draft.shape()
    if lengths is None or None in lengths or 0 in lengths:
        draft.refuse_unknown("the size that it scales")
    # Runtimes compute the scale of a size as a float, and the size of a scale, too.
    old = np.array(lengths, np.float32)
    scales = sizes.astype(np.float32) / old
    if (np.floor(scales * old) != sizes).any():
        draft.refuse("the floats nearest to its scales give other sizes")
    # Only tf_crop_and_resize reads a region, which opset 13 made optional.
    is_read = draft.text("coordinate_transformation_mode") == "tf_crop_and_resize"
    roi = draft.input(1) if is_read or draft.source < 13 else None
    draft.inputs = [draft.data, roi, draft.const(scales, "scales")]
    return draft.repeat()
