"""Slice: bounds that were attributes and are inputs.

https://onnx.ai/onnx/operators/onnx__Slice.html

- 1: `starts`, `ends` and `axes` are attributes.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Slice-1
- 10: they are inputs, beside steps.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Slice-10
- 11: axes may be negative; negative steps are specified to go backward.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Slice-11
- 13: bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Slice-13

    y = Slice (x, starts, ends, axes)
->  (opset 10 to 9, where the bounds are computed at run time)
    first = Clip (starts, 0, length)        (written with Where, since Clip takes floats only)
    count = Clip (ends, 0, length) - first
    y = Gather <axis = 0> (x, NonZero (ConstantOfShape <value = {1}> (count)) + first)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import onnx

from ...ir import Tensor, Value
from ...reference.overrides.slicing import taken
from ..attribute_to_input import Move, moved
from ..flat_indices import as_int64, from_the_front
from ..node_draft import Site
from ..registry import Outcome, downgrade
from ..snippets import length_of, pick

moved(
    10,
    "Slice",
    moves=[Move("starts", 1, "ints"), Move("ends", 2, "ints"), Move("axes", 3, "ints")],
)

_INT64 = onnx.TensorProto.INT64

_FAR = 2**62
"""Beyond every length, and still far from the largest number."""


@downgrade(10, "Slice")
def slice_by_gathering(site: Site) -> Outcome:
    """Keep a Slice with constant bounds and steps of 1; else gather positions."""
    steps = None if site.input(4) is None else site.constant(4)
    _check_bounds(site)
    plain = site.input(4) is None or (steps is not None and bool((steps == 1).all()))
    if plain and site.constant(1) is not None and site.constant(2) is not None:
        site.set_input(4, None)
        return None
    if site.input(3) is not None and site.constant(3) is None:
        _spread_bounds(site)
    axes = _axes(site)
    value = site.input(0)
    for place, axis in enumerate(axes):
        numbers = _known_numbers(site, place, axis)
        if numbers is None:
            numbers = _numbers(site, place, axis)
        value = site.emit("Gather", [value, numbers], axis=axis)
    return [value]


def _check_bounds(site: Site) -> None:
    """Refuse steps of 0, and bounds that are not vectors of one length."""
    shapes = [site.shape(index) for index in range(1, 5) if site.input(index) is not None]
    if any(shape is not None and len(shape) != 1 for shape in shapes):
        site.refuse("its bounds are no vectors")
    counts = {shape[0] for shape in shapes if shape is not None} - {None}
    if len(counts) > 1:
        site.refuse("its bounds are not as many as its axes or steps")
    steps = site.constant(4)
    if steps is not None and not steps.all():
        site.refuse("one of its steps is 0")


def _spread_bounds(site: Site) -> None:
    """Set bounds of all axes, in order, for run-time axes. A matrix maps bounds to axes, and an
    axis without bounds stays whole."""
    rank = site.required_rank("a Slice along axes from run time")
    axes = from_the_front(site, as_int64(site, 3), site.const(np.array(rank), "rank"))
    column = site.const(np.arange(rank)[:, None], "column")
    same = site.emit("Cast", [site.emit("Equal", [column, axes], "same")], to=_INT64)
    present = site.emit("ReduceSum", [same], "known", axes=[1], keepdims=0)
    other = site.emit("Sub", [site.ints([1] * rank, "ones"), present], "other")
    for index, default in ((1, 0), (2, _FAR), (4, 1)):
        if site.input(index) is not None:
            terms = site.emit("Mul", [same, as_int64(site, index)], "terms")
            bounds = site.emit("ReduceSum", [terms], "found", axes=[1], keepdims=0)
            rest = site.emit("Mul", [other, site.ints([default] * rank, "default")], "rest")
            site.set_input(index, site.emit("Add", [bounds, rest], "bounds"))
    site.set_input(3, site.ints(range(rank), "axes"))


def _axes(site: Site) -> list[int]:
    if site.input(3) is not None:
        axes = site.required_constant(3, "input 'axes'").tolist()
        return [site.checked_axis(axis) for axis in axes]
    shape = site.shape(1)
    if shape is None or shape[0] is None:
        site.refuse("opset 9 wants constant bounds, and how many there are is not known")
    return [site.checked_axis(axis) for axis in range(shape[0])]


def _known_numbers(site: Site, place: int, axis: int) -> Value | None:
    """The positions along an axis that a slice picks, where constants decide them."""
    size, arrays = site.length(axis), [site.constant(index) for index in (1, 2)]
    arrays.append(np.ones(place + 1, np.int64) if site.input(4) is None else site.constant(4))
    bounds = [int(array[place]) for array in arrays if array is not None]
    if size is None or len(bounds) < len(arrays):
        return None
    numbers = taken(size, *bounds)
    return site.ints(numbers, "picked")


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


def _step(site: Site, place: int) -> _Step:
    """The step of one axis, clipped so that additions do not overflow."""
    constant = np.ones(place + 1, np.int64) if site.input(4) is None else site.constant(4)
    if constant is not None:
        number = max(-_FAR, min(int(constant[place]), _FAR))
        numbers = (site.ints([number], "step"), site.ints([abs(number)], "stride"))
        return _Step(*numbers, number < 0, abs(number) == 1)
    step = _number(site, 4, place, "step")
    for test, bound in (("Greater", -_FAR), ("Less", _FAR)):
        step = pick(site, test, step, site.ints([bound], "far"))
    backward = site.emit("Less", [step, site.ints([0], "zero")], "backward")
    stride = site.emit("Where", [backward, site.emit("Neg", [step]), step], "stride")
    return _Step(step, stride, backward)


def _numbers(site: Site, place: int, axis: int) -> Value:
    """The positions along an axis that a slice picks (operator specification, Slice 13)."""
    shape = site.emit("Shape", [site.input(0)], "shape")
    whole = length_of(site, shape, axis, rank=1)
    step, zero, before = _step(site, place), site.ints([0], "zero"), site.ints([-1], "before")
    # A slice that goes backward begins at the last element at most and ends before the first.
    low, high = zero, whole
    if step.backward is not False:
        last = site.emit("Add", [whole, before], "last")
        low, high = _either(site, step, before, zero), _either(site, step, last, whole)
    first = _bound(site, 1, place, whole, (zero, high))
    end = _bound(site, 2, place, whole, (low, high))
    distance = _distance(site, step, first, end)
    none = site.emit("Less", [distance, zero], "none")
    count = site.emit("Where", [none, zero, distance], "count")
    one = Tensor(array=np.ones(1, np.int64)).message()
    ones = site.emit("ConstantOfShape", [count], "ones", value=one)
    places = site.emit("NonZero", [ones], "places")
    offsets = site.emit("Reshape", [places, site.ints([-1], "flat")], "trips")
    if step.backward is not False or not step.is_one:
        offsets = site.emit("Mul", [offsets, step.step], "offsets")
    return site.emit("Add", [offsets, first], "picked")


def _either(site: Site, step: _Step, backward: Value, forward: Value) -> Value:
    """`backward` where a slice goes backward, else `forward`."""
    if isinstance(step.backward, Value):
        return site.emit("Where", [step.backward, backward, forward])
    return backward if step.backward else forward


def _distance(site: Site, step: _Step, first: Value, end: Value) -> Value:
    """The number of steps between two positions, at most 0 where there is none."""
    pair = (_either(site, step, first, end), _either(site, step, end, first))
    distance = site.emit("Sub", pair, "distance")
    if step.is_one:
        return distance
    less = site.emit("Sub", [step.stride, site.ints([1], "one")], "less")
    return site.emit("Div", [site.emit("Add", [distance, less]), step.stride], "steps")


def _number(site: Site, index: int, place: int, label: str) -> Value:
    """One number of an input."""
    value = site.input(index)
    if site.elem_type(index) != _INT64:
        value = site.emit("Cast", [value], to=_INT64)
    return site.emit("Gather", [value, site.ints([place], "place")], label, axis=0)


def _bound(site: Site, index: int, place: int, whole: Value, limits: tuple[Value, Value]) -> Value:
    """A start or end, counted from the front and clipped."""
    bound, (low, high) = _number(site, index, place, "bound"), limits
    back = site.emit("Add", [bound, whole], "back")
    negative = site.emit("Less", [bound, site.ints([0], "zero")], "negative")
    bound = site.emit("Where", [negative, back, bound], "bound")
    bound = site.emit("Where", [site.emit("Less", [bound, low]), low, bound], "bound")
    return site.emit("Where", [site.emit("Greater", [bound, high]), high, bound], "bound")


@downgrade(11, "Slice")
def count_slice_axes(site: Site) -> Outcome:
    """Convert negative axes to positive ones in the input."""
    if site.input(3) is None:
        return None
    axes = site.constant(3)
    if axes is None:
        rank = site.required_rank("a Slice along axes from run time")
        number = site.const(np.array(rank), "rank")
        site.set_input(3, from_the_front(site, as_int64(site, 3), number))
        for index in (1, 2, 4):  # all are of one type
            if site.input(index) is not None:
                site.set_input(index, as_int64(site, index))
    elif (axes < 0).any():
        counted = [
            site.required_axis(axis, "a negative axis") for axis in axes.reshape(-1).tolist()
        ]
        site.set_input(3, site.const(np.array(counted, axes.dtype), "axes"))
    return None
