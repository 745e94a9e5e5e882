"""GatherElements and GatherND: elements and slices by index.

- 11: the operators appear.
- 12: `batch_dims` of GatherND.
- 13: bfloat16.
"""

import numpy as np

from ..flat_indices import as_int64, depth_of, flat_index, places_of_elements, rows
from ..registry import AdapterResult, NodeDraft, longer_form


@longer_form(11, "GatherND")
def gather_rows(draft: NodeDraft) -> AdapterResult:
    """Below opset 11: Gather from the merged first axes."""
    data, depth, indices = draft.data, depth_of(draft), as_int64(draft, 1)
    shape, constant = draft.shape(), draft.constant(1)
    lengths = [None] * depth if shape is None else shape[:depth]
    tuples = np.zeros((0, depth)) if constant is None else constant.reshape(-1, depth)
    for length, column in zip(lengths, tuples.T, strict=False):
        # Indices reach from -length to length - 1, and the middle of these is -0.5.
        if length is not None and not (abs(column + 0.5) < length).all():
            draft.refuse("an index of it is out of range")
    flat = flat_index(draft, data, indices, depth)
    return [draft.emit("Gather", [rows(draft, data, depth), flat], axis=0)]


@longer_form(12, "GatherND")
def prepend_batch_indices(draft: NodeDraft) -> AdapterResult:
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
def gather_flat(draft: NodeDraft) -> AdapterResult:
    """Below opset 11: Gather from all axes merged."""
    places = places_of_elements(draft)
    elements = draft.emit("Reshape", [draft.input(0), draft.ints([-1], "all")], "elements")
    return [draft.emit("Gather", [elements, places], axis=0)]
