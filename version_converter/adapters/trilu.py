"""Trilu: one triangle of each matrix, zeros in the other.

- 14: the operator appears.
"""

import numpy as np

from ...ir import Value
from ..constants import is_small
from ..registry import AdapterResult, NodeDraft, downgrade
from ..snippets import length_of, range_below


@downgrade(14, "Trilu")
def mask_triangle(draft: NodeDraft) -> AdapterResult:
    """Opset 13: comparison of row and column numbers."""
    dtype = draft.required_dtype(0, "a matrix of zeros")
    data = draft.input(0)
    if dtype.kind == "O":
        draft.refuse("Trilu exists from opset 14 on, and strings have no zero")
    mask = _known_mask(draft)
    if mask is None:
        mask = _mask(draft)
    return [draft.emit("Where", [mask, data, draft.const(np.zeros((), dtype), "zero")])]


def _known_mask(draft: NodeDraft) -> Value | None:
    """The constant mask of the triangle; None where it is not constant."""
    shape = draft.shape()
    shift = draft.constant(1) if draft.input(1) is not None else np.zeros((), np.int64)
    if shape is None or len(shape) < 2 or shift is None:
        return None
    height, width = shape[-2:]
    if height is None or width is None or not is_small((height, width)):
        return None
    by = draft.one_number(shift, "input 'k'")
    rows = np.arange(height)[:, None] + max(-height, min(by, width))
    columns = np.arange(width)
    return draft.const(columns >= rows if draft.attribute("upper") else columns <= rows, "mask")


def _mask(draft: NodeDraft) -> Value:
    shape = draft.emit("Shape", [draft.input(0)], "shape")
    numbers = range_below(draft, length_of(draft, shape, -2), "numbers")
    rows = draft.unsqueeze(numbers, [1])
    columns = range_below(draft, length_of(draft, shape, -1), "numbers")
    if draft.input(1) is not None:
        # The difference, since a sum with any number may be beyond the largest one.
        columns = draft.emit("Sub", [columns, rows], "distance")
        rows = draft.emit("Reshape", [draft.input(1), draft.ints([], "rank_0")], "k")
    test = "GreaterOrEqual" if draft.attribute("upper") else "LessOrEqual"
    return draft.emit(test, [columns, rows], "mask")
