"""Snippets of a few nodes that several adapters emit."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx

from ..ir import Array, Tensor, Value
from .node_draft import NodeDraft
from .types import shape_text

_END = np.iinfo(np.int64).max


def is_float(draft: NodeDraft) -> bool:
    """Test whether input 0 has a float type.

    Raises:
        Refused: its type is not known.
    """
    return draft.required_dtype(0, f"{draft.op_type} before opset {draft.source}").kind == "f"


def blank(dtype: np.dtype[Any]) -> Array:
    """One element of a type: an empty string, or zero."""
    return np.array([""], object) if dtype.kind == "O" else np.zeros(1, dtype)


def pick(draft: NodeDraft, test: str, one: Value, other: Value) -> Value:
    """`one` where it passes the test against `other`, else `other`."""
    return draft.emit("Where", [draft.emit(test, [one, other]), one, other])


def scalar(draft: NodeDraft, value: float, elem_type: int) -> Value:
    """A number of an element type."""
    dtype = onnx.helper.tensor_dtype_to_np_dtype(elem_type)
    return draft.const(np.array(value, dtype), "number")


def polynomial(draft: NodeDraft, x: Value, factors: Sequence[float], elem_type: int) -> Value:
    """The sum of powers of x with their factors, that of the highest power first."""
    total = scalar(draft, factors[0], elem_type)
    for factor in factors[1:]:
        total = draft.emit("Mul", [total, x], "product")
        if factor:
            total = draft.emit("Add", [total, scalar(draft, factor, elem_type)], "sum")
    return total


def halves(draft: NodeDraft, value: Value) -> tuple[Value, Value]:
    """Split long integers into quotient and remainder by 2^32. Both have less than 33 bits, so that
    they are exact as doubles, and the sign of the whole."""
    unit = scalar(draft, 2**32, draft.types.elem_type(value) or onnx.TensorProto.INT64)
    high = draft.emit("Div", [value, unit], "high")
    low = draft.emit("Sub", [value, draft.emit("Mul", [high, unit], "whole")], "low")
    return high, low


def from_halves(draft: NodeDraft, high: Value, low: Value, elem_type: int) -> Value:
    """Join long integers from two halves, which may be doubles."""
    parts = [draft.emit("Cast", [half], "half", to=elem_type) for half in (high, low)]
    whole = draft.emit("Mul", [parts[0], scalar(draft, 2**32, elem_type)], "whole")
    return draft.emit("Add", [whole, parts[1]])


def length_of(draft: NodeDraft, shape: Value, axis: int, rank: int = 0) -> Value:
    """The length of an axis in a shape, of rank 0 or 1."""
    place = draft.const(np.full((1,) * rank, axis, np.int64), "axis")
    return draft.emit("Gather", [shape, place], "length", axis=0)


def axis_length(draft: NodeDraft, axis: int, rank: int = 0) -> Value:
    """The length of an axis of input 0, constant where it is known."""
    length = draft.length(axis)
    if length is not None:
        return draft.const(np.full((1,) * rank, length, np.int64), "length")
    return length_of(draft, draft.emit("Shape", [draft.data], "shape"), axis, rank)


def range_below(draft: NodeDraft, length: Value, label: str) -> Value:
    """The numbers 0, 1, ... below a length of rank 0, by Range."""
    zero, one = (draft.const(np.array(end), "number") for end in (0, 1))
    return draft.emit("Range", [zero, length, one], label)


def numbers_below(draft: NodeDraft, length: Value) -> Value:
    """The numbers 0, 1, ... below a length of rank 1, for opsets without Range."""
    one = Tensor(array=np.ones(1, np.int64)).message()
    # The places of n ones are the numbers below n.
    ones = draft.emit("ConstantOfShape", [length], "ones", value=one)
    return draft.emit("Reshape", [draft.emit("NonZero", [ones]), draft.ints([-1], "flat")])


def reshape_with_zeros(draft: NodeDraft, data: Value, shape: Value) -> Value:
    """Reshape to a run-time shape in which zeros mean zero. Data of the type of input 0 is padded
    and reshaped with ones in the place of zeros, then sliced."""
    sizes, length = draft.types.elements(shape), draft.types.shape(shape)
    if sizes is not None and all(size is not None and size.value for size in sizes):
        return draft.emit("Reshape", [data, draft.ints([s.value for s in sizes], "shape")])
    if length and length[0]:
        return _pad_and_slice(draft, data, shape)
    # onnxruntime slices no scalar.
    row = draft.emit("Concat", [draft.ints([1], "one"), shape], "row", axis=0)
    return draft.along("Squeeze", _pad_and_slice(draft, data, row), [0])


def _pad_and_slice(draft: NodeDraft, data: Value, shape: Value) -> Value:
    dtype = draft.required_dtype(0, "a run-time shape that may have zeros")
    zero, one = draft.ints([0], "zero"), draft.ints([1], "one")
    is_zero = draft.emit("Equal", [shape, zero], "is_zero")
    ones = draft.emit("Where", [is_zero, one, shape], "ones")
    product = draft.emit("ReduceProd", [ones], "product", axes=[0])
    all_ = draft.emit("ReduceProd", [shape], "product", axes=[0])
    is_empty = draft.emit("Equal", [all_, zero], "is_empty")
    # Only data without elements lacks those that the ones ask for.
    missing = draft.emit("Where", [is_empty, product, zero], "missing")
    nothing = draft.const(blank(dtype), "nothing")
    filling = draft.emit("Expand", [nothing, missing], "filling")
    flat = draft.emit("Reshape", [data, draft.ints([-1], "all")], "flat")
    whole = draft.emit("Concat", [flat, filling], "whole", axis=0)
    # The axis of -1 stays whole.
    is_open = draft.emit("Less", [shape, zero], "is_open")
    ends = draft.emit("Where", [is_open, draft.ints([_END], "end"), shape], "ends")
    starts = draft.emit("Sub", [shape, shape], "starts")
    filled = draft.emit("Reshape", [whole, ones], "filled")
    return draft.emit("Slice", [filled, starts, ends], "reshaped")


def round_half_even(draft: NodeDraft, data: Value, dtype: np.dtype[Any]) -> Value:
    """The nearest integers, halves to even, for opsets without Round."""
    half = draft.const(np.array(0.5, dtype), "half")
    below, above = draft.emit("Floor", [data], "below"), draft.emit("Ceil", [data], "above")
    distance = draft.emit("Sub", [data, below], "distance")
    # Twice the floor of half an even number is that number.
    halved = draft.emit("Floor", [draft.emit("Mul", [below, half])], "halved")
    rest = draft.emit("Sub", [below, draft.emit("Add", [halved, halved])], "rest")
    odd = draft.emit("Greater", [rest, half], "odd")
    more = draft.emit("Greater", [distance, half], "more")
    not_less = draft.emit("Not", [draft.emit("Less", [distance, half], "less")], "not_less")
    up = draft.emit("Or", [more, draft.emit("And", [not_less, odd])], "up")
    return draft.emit("Where", [up, above, below])


def mean_and_deviations(
    draft: NodeDraft, value: Value, axes: Sequence[int]
) -> tuple[Value, Value, Value]:
    """The mean along axes, the deviations from it, and the mean of their squares.

    The difference of mean squares and the squared mean is equal on paper, but loses all digits
    where the mean is large.
    """
    mean = draft.along("ReduceMean", value, axes, "mean")
    deviations = draft.emit("Sub", [value, mean], "deviations")
    squares = draft.emit("Mul", [deviations, deviations], "squares")
    return mean, deviations, draft.along("ReduceMean", squares, axes, "mean")


def with_epsilon(draft: NodeDraft, variance: Value) -> Value:
    """The sum of a variance and the attribute `epsilon`."""
    epsilon = scalar(draft, draft.attribute("epsilon"), draft.types.elem_type(variance) or 1)
    return draft.emit("Add", [variance, epsilon])


def tile(draft: NodeDraft, data: Value, rank: int, lengths: Value, length: int) -> Value:
    """Broadcast data to lengths by Tile, which repeats axes of length 1."""
    missing = length - rank
    if missing > 0:
        ones = draft.ints([1] * missing, "ones")
        shape = draft.emit("Concat", [ones, draft.emit("Shape", [data], "shape")], axis=0)
        data = draft.emit("Unsqueeze", [data], "data", axes=list(range(missing)))
    elif missing < 0:
        lengths = draft.emit("Concat", [draft.ints([1] * -missing, "ones"), lengths], axis=0)
    # A scalar has no axis to repeat.
    if max(rank, length) == 0:
        return draft.emit("Identity", [data])
    if missing <= 0:
        shape = draft.emit("Shape", [data], "shape")
    return draft.emit("Tile", [data, _repeats(draft, shape, lengths)])


def _repeats(draft: NodeDraft, shape: Value, lengths: Value) -> Value:
    """The repeats of each axis: the requested length where its own is 1, else 1."""
    one = draft.const(np.array(1), "one")
    single = draft.emit("Equal", [shape, one], "single")
    flag = draft.emit("Cast", [single], "flag", to=onnx.TensorProto.INT64)
    more = draft.emit("Mul", [flag, draft.emit("Sub", [lengths, one], "more")], "more")
    return draft.emit("Add", [more, one], "repeats")


def require_unidirectional(draft: NodeDraft, *factors: int) -> None:
    """Refuse inputs, such as a scale, that certainly do not broadcast to the data.

    Raises:
        Refused: one does not broadcast to the data.
    """
    sizes = draft.shape(0)
    for index in factors:
        own = None if draft.input(index) is None else draft.shape(index)
        if sizes is None or own is None:
            continue
        pairs = list(zip(reversed(own), reversed(sizes), strict=False))
        stretched = any(one not in (None, 1, size) and size is not None for one, size in pairs)
        if len(own) > len(sizes) or stretched:
            name = draft.schema.inputs[index].name
            draft.refuse(
                f"'{name}' of shape {shape_text(own)} does not broadcast to the data of shape"
                f" {shape_text(sizes)}"
            )
