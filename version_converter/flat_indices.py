"""Flat indices for opsets that gather along one axis only."""

import numpy as np
import onnx

from ..ir import Value
from .constants import is_small
from .node_draft import NodeDraft
from .snippets import axis_length, length_of, numbers_below, reshape_with_zeros

_END = np.iinfo(np.int64).max


def flat_index(draft: NodeDraft, data: Value, indices: Value, depth: int) -> Value:
    """Flatten index tuples along the last axis, for `data` with merged first axes. Negative indices
    count from the back."""
    rank = len(draft.shape(1) or ())
    shape = draft.emit("Shape", [data], "shape")
    flat: Value | None = None
    for axis in range(depth):
        length = length_of(draft, shape, axis)
        # A scalar index drops the axis of the tuples.
        column = draft.const(np.array(axis), "column")
        part = draft.emit("Gather", [indices, column], "part", axis=rank - 1)
        part = from_the_front(draft, part, length)
        # Horner's scheme: the next length multiplies what the axes before have summed up.
        if flat is not None:
            part = draft.emit("Add", [draft.emit("Mul", [flat, length]), part], "flat")
        flat = part
    assert flat is not None
    return flat


def tuples_of_elements(draft: NodeDraft, axis: int, rank: int) -> Value:
    """Index tuples, along a last axis, for indices (input 1) along one axis. Along the other axes,
    an index has the position of its element."""
    indices, shape = as_int64(draft, 1), draft.shape(1)
    grid = None
    if shape is not None and is_small(shape):
        grid = np.indices([length or 0 for length in shape], np.int64)
    if shape is not None and len(shape) != rank:
        draft.refuse("its indices have another rank than its data")
    columns = []
    for place in range(rank):
        if place == axis:
            part = from_the_front(draft, indices, axis_length(draft, axis))
        elif grid is not None:
            part = draft.const(grid[place], "numbers")
        else:
            around = draft.emit("Shape", [indices], "around")
            part = numbers_along(draft, around, place, rank)
            part = draft.emit("Expand", [part, around], "numbers")
        columns.append(draft.unsqueeze(part, [rank]))
    return draft.emit("Concat", columns, "tuples", axis=rank)


def places_of_elements(draft: NodeDraft) -> Value:
    """The positions of elements in all axes merged, for indices (input 1) along one axis.

    Positions along the other axes are constant, or computed at run time.
    """
    name = f"a {draft.op_type}"
    shape, index_shape = draft.shape(), draft.shape(1)
    if None not in (shape, index_shape) and len(shape or ()) != len(index_shape or ()):
        draft.refuse("its indices have another rank than its data")
    if shape is None or index_shape is None or None in shape or not is_small(index_shape):
        return _places_at_run_time(draft, draft.required_rank(name), name)
    lengths = [length or 0 for length in shape]
    steps = [int(np.prod(lengths[axis + 1 :])) for axis in range(len(lengths))]
    axis = draft.required_axis(draft.attribute("axis"), name)
    grid = np.indices([length or 0 for length in index_shape], np.int64)
    places = sum(
        step * part for a, (step, part) in enumerate(zip(steps, grid, strict=True)) if a != axis
    )
    length = draft.const(np.array(lengths[axis]), "length")
    along = from_the_front(draft, as_int64(draft, 1), length)
    scaled = draft.emit("Mul", [along, draft.const(np.array(steps[axis]), "step")], "scaled")
    # With a single axis, the sum of the others is a bare 0.
    start = draft.const(np.zeros_like(grid[0]) + places, "start")
    return draft.emit("Add", [scaled, start], "flat")


def _places_at_run_time(draft: NodeDraft, rank: int, name: str) -> Value:
    """The positions of elements, summed over axes, the last one first. Along all axes but one, an
    index has the position of its element."""
    shape, index_shape = (draft.emit("Shape", [draft.input(index)], "shape") for index in (0, 1))
    flat: Value | None = None
    step: Value | None = None
    along = draft.required_axis(draft.attribute("axis"), name)
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


def numbers_along(draft: NodeDraft, shape: Value, axis: int, rank: int) -> Value:
    """The numbers 0, 1, ... of one axis of a shape, which broadcast to that."""
    numbers = numbers_below(draft, length_of(draft, shape, axis, rank=1))
    return numbers if axis == rank - 1 else draft.unsqueeze(numbers, range(1, rank - axis))


def numbers_of_shape(draft: NodeDraft, shape: Value, rank: int) -> Value:
    """The numbers 0, 1, ... of all elements of a tensor, in its shape."""
    numbers = draft.const(np.array(0), "number")
    for axis in range(rank):
        length = length_of(draft, shape, axis, rank=1)
        column = numbers_below(draft, length)
        # Number n of the axes so far becomes n * length, n * length + 1, and so on.
        rows = draft.emit("Mul", [draft.unsqueeze(numbers, [axis]), length], "rows")
        numbers = draft.emit("Add", [rows, column], "numbers")
    return numbers


def from_the_front(draft: NodeDraft, indices: Value, length: Value) -> Value:
    """Indices with negative ones counted from the front."""
    negative = draft.emit("Less", [indices, draft.const(np.array(0), "zero")], "negative")
    wrapped = draft.emit("Add", [indices, length], "wrapped")
    return draft.emit("Where", [negative, wrapped, indices], "indices")


def depth_of(draft: NodeDraft) -> int:
    """The length of the index tuples in input 1.

    Raises:
        Refused: it is not known.
    """
    shape = draft.shape(1)
    if not shape or shape[-1] is None:
        draft.refuse_unknown("flat indices need the length of the last axis of input 1, which")
    if shape[-1] == 0:
        draft.refuse("tuples of length 0 have no flat indices")
    return shape[-1]


def rows(draft: NodeDraft, data: Value, depth: int) -> Value:
    """`data` with its first axes merged."""
    if depth == 1:
        return data
    shape = draft.types.shape(data)
    rest = None if shape is None else shape[depth:]
    # A 0 would copy a size.
    if rest is not None and all(rest):
        row_shape = draft.ints([-1, *[length or 0 for length in rest]], "rows")
        return draft.emit("Reshape", [data, row_shape], "rows")
    first = lengths(draft, data, 0, depth)
    count = draft.emit("ReduceProd", [first], "count", axes=[0], keepdims=1)
    around = draft.emit("Concat", [count, lengths(draft, data, depth)], "around", axis=0)
    return reshape_with_zeros(draft, data, around)


def lengths(draft: NodeDraft, data: Value, first: int, end: int = _END) -> Value:
    """The lengths of a range of axes."""
    whole = draft.emit("Shape", [data], "shape")
    ends = [draft.ints([number], "place") for number in (first, end)]
    return draft.emit("Slice", [whole, *ends], "lengths")


def as_int64(draft: NodeDraft, index: int) -> Value:
    """An input of indices as 64-bit integers."""
    is_int64 = draft.elem_type(index) == onnx.TensorProto.INT64
    value = draft.required(index)
    return value if is_int64 else draft.emit("Cast", [value], to=onnx.TensorProto.INT64)
