"""Slice: bounds that were attributes and are inputs.

- 1: `starts`, `ends` and `axes` are attributes.
- 10: they are inputs, beside steps.
- 11: axes may be negative; negative steps are specified to go backward.
- 13: bfloat16.

    y = Slice (x, starts, ends, axes)
->  (opset 10 to 9, where the bounds are computed at run time)
    first = Clip (starts, 0, length)        (written with Where, since Clip takes floats only)
    count = Clip (ends, 0, length) - first
    y = Gather <axis = 0> (x, NonZero (ConstantOfShape <value = {1}> (count)) + first)
"""

from typing import NamedTuple

import numpy as np
import onnx

from ...facts.magnitudes import FAR_ENDS
from ...ir import Array, Value
from ...reference.slice_ranges import slice_range
from ..attribute_to_input import Move, move_attributes
from ..flat_indices import as_int64, from_the_front
from ..registry import AdapterResult, NodeDraft, downgrade
from ..snippets import length_of, numbers_below, pick

move_attributes(
    10, "Slice", moves=[Move("starts", 1, "ints"), Move("ends", 2, "ints"), Move("axes", 3, "ints")]
)

_INT64 = onnx.TensorProto.INT64

_FAR = 2**62
"""Beyond every length, and still far from the largest number."""


@downgrade(10, "Slice")
def slice_by_gathering(draft: NodeDraft) -> AdapterResult:
    """Keep a Slice with constant bounds and steps of 1; else gather positions."""
    steps = None if draft.input(4) is None else draft.constant(4)
    _check_bounds(draft)
    _name_ends(draft, steps)
    # Slice 1 has its bounds as attributes and no steps: it takes constants in steps of 1 alone.
    plain = draft.input(4) is None or (steps is not None and bool((steps == 1).all()))
    if plain and draft.constant(1) is not None and draft.constant(2) is not None:
        draft.set_input(4, None)
        return None
    # Gather has its axis as an attribute; for run-time axes every axis gets bounds.
    if draft.input(3) is not None and draft.constant(3) is None:
        _spread_bounds(draft)
    axes = _axes(draft)
    value = draft.input(0)
    for place, axis in enumerate(axes):
        numbers = _known_numbers(draft, place, axis)
        if numbers is None:
            numbers = _numbers(draft, place, axis)
        value = draft.emit("Gather", [value, numbers], axis=axis)
    return [value]


def _check_bounds(draft: NodeDraft) -> None:
    """Refuse steps of 0, and bounds that are not vectors of one length."""
    shapes = [draft.shape(index) for index in range(1, 5) if draft.input(index) is not None]
    if any(shape is not None and len(shape) != 1 for shape in shapes):
        draft.refuse("its bounds are not vectors")
    counts = {shape[0] for shape in shapes if shape is not None} - {None}
    if len(counts) > 1:
        draft.refuse("its bounds are not as many as its axes or steps")
    steps = draft.constant(4)
    if steps is not None and not steps.all():
        draft.refuse("one of its steps is 0")


def _name_ends(draft: NodeDraft, steps: Array | None) -> None:
    """Write far ends of backward slices as onnxruntime takes them: before the first element.

    By the specification such a slice is empty, which nobody writes.
    """
    ends = draft.constant(2)
    if steps is None or ends is None or steps.shape != ends.shape:
        return
    far = np.isin(ends, FAR_ENDS) & (steps < 0)
    if far.any():
        draft.set_input(2, draft.const(np.where(far, -_FAR, ends).astype(np.int64), "ends"))


def _spread_bounds(draft: NodeDraft) -> None:
    """Set bounds of all axes, in order, for run-time axes. A matrix maps bounds to axes, and an
    axis without bounds stays whole."""
    rank = draft.required_rank("a Slice along run-time axes")
    axes = from_the_front(draft, as_int64(draft, 3), draft.const(np.array(rank), "rank"))
    column = draft.const(np.arange(rank)[:, None], "column")
    # same[i, j] is 1 where bound j is of axis i, so that a sum along j picks the bound.
    same = draft.emit("Cast", [draft.emit("Equal", [column, axes], "same")], to=_INT64)
    present = draft.emit("ReduceSum", [same], "known", axes=[1], keepdims=0)
    other = draft.emit("Sub", [draft.ints([1] * rank, "ones"), present], "other")
    # An axis that is not named stays whole: from 0 to beyond its end in steps of 1.
    for index, default in ((1, 0), (2, _FAR), (4, 1)):
        if draft.input(index) is not None:
            terms = draft.emit("Mul", [same, as_int64(draft, index)], "terms")
            bounds = draft.emit("ReduceSum", [terms], "found", axes=[1], keepdims=0)
            rest = draft.emit("Mul", [other, draft.ints([default] * rank, "default")], "rest")
            draft.set_input(index, draft.emit("Add", [bounds, rest], "bounds"))
    draft.set_input(3, draft.ints(range(rank), "axes"))


def _axes(draft: NodeDraft) -> list[int]:
    if draft.input(3) is not None:
        axes = draft.required_constant(3, "input 'axes'").tolist()
        return [draft.checked_axis(axis) for axis in axes]
    shape = draft.shape(1)
    if shape is None or shape[0] is None:
        draft.refuse("opset 9 requires constant bounds, and how many there are is not known")
    return [draft.checked_axis(axis) for axis in range(shape[0])]


def _known_numbers(draft: NodeDraft, place: int, axis: int) -> Value | None:
    """The positions along an axis that a slice picks, where constants decide them."""
    size, arrays = draft.length(axis), [draft.constant(index) for index in (1, 2)]
    arrays.append(np.ones(place + 1, np.int64) if draft.input(4) is None else draft.constant(4))
    bounds = [int(array[place]) for array in arrays if array is not None]
    # A bound that only run time tells is missing among `bounds`.
    if size is None or len(bounds) < len(arrays):
        return None
    numbers = slice_range(size, *bounds)
    return draft.ints(numbers, "picked")


class _Step(NamedTuple):
    """Step of a slice along an axis.

    Attributes:
        step: the distance from one position to the next.
        stride: its absolute value.
        backward: true if it is negative: a bool, or a tensor.
        is_one: true if the stride is known to be 1.
    """

    step: Value
    stride: Value
    backward: bool | Value
    is_one: bool = False


def _step(draft: NodeDraft, place: int) -> _Step:
    """The step of one axis, clipped so that additions do not overflow."""
    constant = np.ones(place + 1, np.int64) if draft.input(4) is None else draft.constant(4)
    if constant is not None:
        number = max(-_FAR, min(int(constant[place]), _FAR))
        numbers = (draft.ints([number], "step"), draft.ints([abs(number)], "stride"))
        return _Step(*numbers, number < 0, abs(number) == 1)
    step = _number(draft, 4, place, "step")
    for test, bound in (("Greater", -_FAR), ("Less", _FAR)):
        step = pick(draft, test, step, draft.ints([bound], "far"))
    backward = draft.emit("Less", [step, draft.ints([0], "zero")], "backward")
    stride = draft.emit("Where", [backward, draft.emit("Neg", [step]), step], "stride")
    return _Step(step, stride, backward)


def _numbers(draft: NodeDraft, place: int, axis: int) -> Value:
    """The positions along an axis that a slice picks (operator specification, Slice 13)."""
    shape = draft.emit("Shape", [draft.input(0)], "shape")
    whole = length_of(draft, shape, axis, rank=1)
    step, zero, before = _step(draft, place), draft.ints([0], "zero"), draft.ints([-1], "before")
    # A slice that goes backward begins at the last element at most and ends before the first.
    low, high = zero, whole
    if step.backward is not False:
        last = draft.emit("Add", [whole, before], "last")
        low, high = _either(draft, step, before, zero), _either(draft, step, last, whole)
    first = _bound(draft, 1, place, whole, (zero, high))
    end = _bound(draft, 2, place, whole, (low, high))
    distance = _distance(draft, step, first, end)
    # An end before the start means no elements, and not a negative number of them.
    none = draft.emit("Less", [distance, zero], "none")
    count = draft.emit("Where", [none, zero, distance], "count")
    offsets = numbers_below(draft, count)
    if step.backward is not False or not step.is_one:
        offsets = draft.emit("Mul", [offsets, step.step], "offsets")
    return draft.emit("Add", [offsets, first], "picked")


def _either(draft: NodeDraft, step: _Step, backward: Value, forward: Value) -> Value:
    """`backward` where a slice goes backward, else `forward`."""
    if isinstance(step.backward, Value):
        return draft.emit("Where", [step.backward, backward, forward])
    return backward if step.backward else forward


def _distance(draft: NodeDraft, step: _Step, first: Value, end: Value) -> Value:
    """The number of steps between two positions, at most 0 where there is none."""
    pair = (_either(draft, step, first, end), _either(draft, step, end, first))
    distance = draft.emit("Sub", pair, "distance")
    if step.is_one:
        return distance
    # Rounded up, as a last step may be cut short.
    less = draft.emit("Sub", [step.stride, draft.ints([1], "one")], "less")
    return draft.emit("Div", [draft.emit("Add", [distance, less]), step.stride], "steps")


def _number(draft: NodeDraft, index: int, place: int, label: str) -> Value:
    """One number of an input."""
    numbers, number = as_int64(draft, index), draft.ints([place], "place")
    return draft.emit("Gather", [numbers, number], label, axis=0)


def _bound(
    draft: NodeDraft, index: int, place: int, whole: Value, limits: tuple[Value, Value]
) -> Value:
    """A start or end, counted from the front and clipped."""
    bound, (low, high) = _number(draft, index, place, "bound"), limits
    # This may overflow for a far bound, which is not negative then, so that it is not used.
    back = draft.emit("Add", [bound, whole], "back")
    negative = draft.emit("Less", [bound, draft.ints([0], "zero")], "negative")
    bound = draft.emit("Where", [negative, back, bound], "bound")
    bound = draft.emit("Where", [draft.emit("Less", [bound, low]), low, bound], "bound")
    return draft.emit("Where", [draft.emit("Greater", [bound, high]), high, bound], "bound")


@downgrade(11, "Slice")
def count_slice_axes(draft: NodeDraft) -> None:
    """Convert negative axes to positive ones in the input."""
    if draft.input(3) is None:
        return
    axes = draft.constant(3)
    if axes is None:
        rank = draft.required_rank("a Slice along run-time axes")
        number = draft.const(np.array(rank), "rank")
        draft.set_input(3, from_the_front(draft, as_int64(draft, 3), number))
        for index in (1, 2, 4):  # all are of one type
            if draft.input(index) is not None:
                draft.set_input(index, as_int64(draft, index))
    elif (axes < 0).any():
        counted = [
            draft.required_axis(axis, "a negative axis") for axis in axes.reshape(-1).tolist()
        ]
        draft.set_input(3, draft.const(np.array(counted, axes.dtype), "axes"))
