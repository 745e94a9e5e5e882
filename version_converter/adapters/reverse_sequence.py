"""ReverseSequence: reversal of each row up to its length.

- 10: the operator appears.
- 28: bfloat16.
"""

from collections.abc import Sequence

import numpy as np

from ...facts.polynomial import Dimension
from ...ir import Array, Value
from ..constants import is_small
from ..flat_indices import rows
from ..registry import NodeDraft, longer_form
from ..snippets import axis_length, length_of, numbers_below, range_below

_MOVES = ("Cast", "Expand", "Flatten", "Identity", "Reshape", "Squeeze", "Tile", "Unsqueeze")
"""Operators that repeat or reshape their first input, of which each element stays."""

_MOST_MOVES = 16
_HAS_RANGE = 11


@longer_form(10, "ReverseSequence")
def gather_backwards(draft: NodeDraft) -> Sequence[Value | None]:
    """Below opset 10: Gather along the time axis where all rows are reversed as a whole, else along
    the merged first two axes."""
    time, rank = draft.attribute("time_axis"), draft.required_rank("ReverseSequence")
    if rank < 2 or {time, draft.attribute("batch_axis")} != {0, 1}:
        draft.refuse("its two axes are not the first two")
    constant, sizes = draft.constant(1), (draft.shape() or [None] * rank)[:2]
    if constant is not None:
        _check(draft, constant, sizes, time)
    if _is_whole(draft, constant, time):
        backwards = _backwards(draft, sizes[time], time)
        return [draft.emit("Gather", [draft.data, backwards], axis=time)]
    if constant is not None and is_small((len(constant), sizes[time])):
        places = _places(constant, sizes[time] or 0, time)
        return [_gathered(draft, draft.const(places, "places"))]
    return [_gathered(draft, _places_at_run_time(draft, time))]


def _check(draft: NodeDraft, lengths: Array, sizes: list[int | None], time: int) -> None:
    """Check that there is a length for each row, within its own."""
    count, longest = sizes[1 - time], sizes[time]
    if (
        lengths.ndim != 1
        or count not in (None, len(lengths))
        or (lengths < 0).any()
        or (longest is not None and (lengths > longest).any())
    ):
        draft.refuse("its lengths are not one for each row, or longer than these")


def _is_whole(draft: NodeDraft, lengths: Array | None, time: int) -> bool:
    """Test whether each row is reversed as a whole."""
    dims = draft.types.dimensions(draft.data)
    size = None if dims is None else dims[time]
    if lengths is not None:
        return size is not None and size.value is not None and bool((lengths == size.value).all())
    # Run-time lengths may be the size itself, spread by nodes that keep elements.
    value, steps = draft.input(1), _MOST_MOVES
    while value is not None and steps:
        elements = draft.types.elements(value) or [None]
        if size is not None and all(isinstance(e, Dimension) and e == size for e in elements):
            return True
        maker, steps = value.producer, steps - 1
        value = maker.input(0) if maker is not None and maker.is_op(*_MOVES) else None
    return False


def _backwards(draft: NodeDraft, size: int | None, time: int) -> Value:
    """The numbers of all steps, the last one first."""
    if size is not None:
        return draft.ints(range(size)[::-1], "backwards")
    length = axis_length(draft, time, rank=1)
    last = draft.emit("Sub", [length, draft.ints([1], "one")], "last")
    return draft.emit("Sub", [last, _steps(draft, length)], "backwards")


def _steps(draft: NodeDraft, length: Value) -> Value:
    """The numbers below a length of rank 1."""
    if draft.builder.opset < _HAS_RANGE:
        return numbers_below(draft, length)
    return range_below(draft, draft.along("Squeeze", length, [0], "length"), "steps")


def _places(lengths: Array, size: int, time: int) -> Array:
    """The place of each element in the merged first two axes."""
    steps, limits = np.arange(size)[None], lengths.astype(np.int64)[:, None]
    # Steps behind the length of a row stay in place.
    backwards = np.where(steps < limits, limits - 1 - steps, steps)
    batch = np.arange(len(lengths))[:, None]
    flat: Array = batch * size + backwards if time else (backwards * len(lengths) + batch).T
    return flat


def _places_at_run_time(draft: NodeDraft, time: int) -> Value:
    """Places from run-time lengths: counted along the time axis, and backwards from there."""
    shape = draft.emit("Shape", [draft.data], "shape")
    sizes = [length_of(draft, shape, axis, rank=1) for axis in (0, 1)]
    steps, rows_of_batch = (_steps(draft, sizes[axis]) for axis in (time, 1 - time))
    limits = draft.required(1)
    if time:
        limits, rows_of_batch = (draft.unsqueeze(each, [1]) for each in (limits, rows_of_batch))
    else:
        steps = draft.unsqueeze(steps, [1])
    last = draft.emit("Sub", [limits, draft.ints([1], "one")], "last")
    turned = draft.emit("Sub", [last, steps], "turned")
    inside = draft.emit("Less", [steps, limits], "inside")
    places = draft.emit("Where", [inside, turned, steps], "places")
    first, second = (rows_of_batch, places) if time else (places, rows_of_batch)
    start = draft.emit("Mul", [first, sizes[1]], "start")
    return draft.emit("Add", [start, second], "flat")


def _gathered(draft: NodeDraft, places: Value) -> Value:
    """The rows of the merged first two axes at some places."""
    return draft.emit("Gather", [rows(draft, draft.data, 2), places], axis=0)
