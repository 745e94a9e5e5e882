"""GatherElements and GatherND: elements and slices by index.

- 11: the operators appear.
- 12: `batch_dims` of GatherND.
- 13: bfloat16.
"""

from __future__ import annotations

import numpy as np

from ...ir import Value
from ..flat_indices import as_int64, depth_of, flat_index, from_the_front, numbers_along, rows
from ..node_draft import NodeDraft
from ..registry import Outcome, longer_form
from ..snippets import length_of


@longer_form(11, "GatherND")
def gather_rows(draft: NodeDraft) -> Outcome:
    """Below opset 11: Gather from the merged first axes."""
    data, depth, indices = draft.data, depth_of(draft), as_int64(draft, 1)
    shape, constant = draft.shape(), draft.constant(1)
    lengths = [None] * depth if shape is None else shape[:depth]
    tuples = np.zeros((0, depth)) if constant is None else constant.reshape(-1, depth)
    for length, column in zip(lengths, tuples.T, strict=False):
        if length is not None and not (abs(column + 0.5) < length).all():
            draft.refuse("an index of it is out of range")
    flat = flat_index(draft, data, indices, depth)
    return [draft.emit("Gather", [rows(draft, data, depth), flat], axis=0)]


@longer_form(12, "GatherND")
def prepend_batch_indices(draft: NodeDraft) -> Outcome:
    """Below opset 12: index tuples that begin with the batch indices."""
    data, shape, index_shape = draft.input(0), draft.shape(), draft.shape(1)
    count = draft.attribute("batch_dims")
    ranks = [len(each) for each in (shape, index_shape) if each is not None]
    if not 0 < count < min([count + 1, *ranks]):
        draft.refuse(f"batch_dims = {count} does not fit the ranks of its inputs")
    batch = None if shape is None else shape[:count]
    if batch is None or None in batch or index_shape is None:
        draft.refuse_unknown(
            "places in the batch need its lengths and the indices' rank, one of which"
        )
    lengths = [length or 0 for length in batch]
    places = np.moveaxis(np.indices(lengths, np.int64), 0, -1)
    tuples = places.reshape(*lengths, *[1] * (len(index_shape) - count - 1), count)
    indices = as_int64(draft, 1)
    around = draft.emit("Shape", [indices], "shape")
    ends = [draft.ints([number], "place") for number in (0, -1)]
    leading = draft.emit("Slice", [around, *ends], "kept")
    full = draft.emit("Concat", [leading, draft.ints([count], "count")], "full", axis=0)
    spread = draft.emit("Expand", [draft.const(tuples, "batch"), full], "batch")
    longer = draft.emit("Concat", [spread, indices], "tuples", axis=len(index_shape) - 1)
    return [draft.emit("GatherND", [data, longer])]


@longer_form(11, "GatherElements")
def gather_flat(draft: NodeDraft) -> Outcome:
    """Below opset 11: Gather from all axes merged. Positions are constant but for one axis, or
    computed at run time."""
    shape, index_shape = draft.shape(), draft.shape(1)
    if None not in (shape, index_shape) and len(shape or ()) != len(index_shape or ()):
        draft.refuse("its indices have another rank than its data")
    if shape is None or index_shape is None or None in index_shape or None in shape:
        places = _places_at_run_time(draft, draft.required_rank("a GatherElements"))
        return [draft.emit("Gather", [_elements(draft), places], axis=0)]
    lengths = [length or 0 for length in shape]
    steps = [int(np.prod(lengths[axis + 1 :])) for axis in range(len(lengths))]
    axis = draft.required_axis(draft.attribute("axis"), "a GatherElements")
    grid = np.indices([length or 0 for length in index_shape], np.int64)
    places = sum(
        step * rows for a, (step, rows) in enumerate(zip(steps, grid, strict=True)) if a != axis
    )
    length = draft.const(np.array(lengths[axis]), "length")
    along = from_the_front(draft, as_int64(draft, 1), length)
    scaled = draft.emit("Mul", [along, draft.const(np.array(steps[axis]), "step")], "scaled")
    start = draft.const(np.zeros_like(grid[0]) + places, "start")
    flat = draft.emit("Add", [scaled, start], "flat")
    return [draft.emit("Gather", [_elements(draft), flat], axis=0)]


def _elements(draft: NodeDraft) -> Value:
    return draft.emit("Reshape", [draft.input(0), draft.ints([-1], "all")], "elements")


def _places_at_run_time(draft: NodeDraft, rank: int) -> Value:
    """The positions of the gathered elements, summed over axes, the last one first. Along all axes
    but one, an index has the position of its element."""
    shape, index_shape = (draft.emit("Shape", [draft.input(index)], "shape") for index in (0, 1))
    flat: Value | None = None
    step: Value | None = None
    along = draft.required_axis(draft.attribute("axis"), "a GatherElements")
    for axis in reversed(range(rank)):
        length = length_of(draft, shape, axis)
        if axis == along:
            part = from_the_front(draft, as_int64(draft, 1), length)
        else:
            part = numbers_along(draft, index_shape, axis, rank)
        part = part if step is None else draft.emit("Mul", [part, step], "part")
        flat = part if flat is None else draft.emit("Add", [flat, part], "flat")
        step = length if step is None else draft.emit("Mul", [step, length], "step")
    assert flat is not None
    return flat
