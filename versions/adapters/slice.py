"""Slice: bounds that were attributes and are inputs.

https://onnx.ai/onnx/operators/onnx__Slice.html

- 1: `starts`, `ends` and `axes` are attributes.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Slice-1
- 10: they are inputs, beside steps.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Slice-10
- 11: axes may be negative; that negative steps go backward is written down.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Slice-11
- 13: bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#Slice-13

    y = Slice (x, starts, ends, axes)
->  (opset 10 to 9, where the bounds are computed at run time)
    first = Clip (starts, 0, length)        (written with Where, since Clip takes floats only)
    count = Clip (ends, 0, length) - first
    y = Gather <axis = 0> (x, NonZero (ConstantOfShape <value = {1}> (count)) + first)
"""

from __future__ import annotations

import numpy as np
import onnx

from ...ir import Tensor, Value
from ..moves import Move, moved
from ..phrases import length_of
from ..registry import Outcome, downgrade
from ..site import Site

moved(
    10,
    "Slice",
    moves=[Move("starts", 1, "ints"), Move("ends", 2, "ints"), Move("axes", 3, "ints")],
)

_INT64 = onnx.TensorProto.INT64


@downgrade(10, "Slice")
def slice_by_gathering(site: Site) -> Outcome:
    """Keep a Slice whose bounds are constant and whose steps are 1; else pick by numbers."""
    steps = None
    if site.input(4) is not None:
        steps = site.required_constant(4, "input 'steps'").reshape(-1).astype(np.int64)
    plain = steps is None or bool((steps == 1).all())
    if plain and site.constant(1) is not None and site.constant(2) is not None:
        site.set_input(4, None)
        return None
    axes = _axes(site)
    value = site.input(0)
    for place, axis in enumerate(axes):
        step = 1 if steps is None else int(steps[place])
        numbers = _numbers(site, place, axis, step)
        value = site.emit("Gather", [value, numbers], axis=axis)
    return [value]


def _axes(site: Site) -> list[int]:
    if site.input(3) is not None:
        return [int(axis) for axis in site.required_constant(3, "input 'axes'").reshape(-1)]
    shape = site.shape(1)
    if shape is None or shape[0] is None:
        site.refuse("opset 9 wants constant bounds, and how many there are is not known")
    return list(range(shape[0]))


def _numbers(site: Site, place: int, axis: int, step: int) -> Value:
    """The positions along an axis that a slice picks (operator specification, Slice 10)."""
    shape = site.emit("Shape", [site.input(0)], "shape")
    whole = length_of(site, shape, axis, rank=1)
    zero = site.ints([0], "zero")
    # A slice that goes backward may begin at the last element at most and end before the first.
    if step > 0:
        low, high = zero, whole
    else:
        low = site.ints([-1], "before")
        high = site.emit("Add", [whole, low], "last")
    first, end = (_bound(site, index, place, whole, low, high) for index in (1, 2))
    ahead = [end, first] if step > 0 else [first, end]
    distance = site.emit("Sub", ahead, "distance")
    stride = abs(step)
    if stride > 1:
        rounded = site.emit("Add", [distance, site.ints([stride - 1], "stride_less_one")])
        distance = site.emit("Div", [rounded, site.ints([stride], "stride")], "steps")
    none = site.emit("Less", [distance, zero], "none")
    count = site.emit("Where", [none, zero, distance], "count")
    one = Tensor(array=np.ones(1, np.int64)).message()
    ones = site.emit("ConstantOfShape", [count], "ones", value=one)
    places = site.emit("NonZero", [ones], "places")
    trips = site.emit("Reshape", [places, site.ints([-1], "flat")], "trips")
    if step != 1:
        trips = site.emit("Mul", [trips, site.ints([step], "step")], "offsets")
    return site.emit("Add", [trips, first], "picked")


def _bound(site: Site, index: int, place: int, whole: Value, low: Value, high: Value) -> Value:
    """A start or end: counted from the front, and brought into range."""
    given = site.input(index)
    if site.elem_type(index) != _INT64:
        given = site.emit("Cast", [given], to=_INT64)
    bound = site.emit("Gather", [given, site.ints([place], "place")], "bound", axis=0)
    back = site.emit("Add", [bound, whole], "back")
    negative = site.emit("Less", [bound, site.ints([0], "zero")], "negative")
    bound = site.emit("Where", [negative, back, bound], "bound")
    bound = site.emit("Where", [site.emit("Less", [bound, low]), low, bound], "bound")
    return site.emit("Where", [site.emit("Greater", [bound, high]), high, bound], "bound")


@downgrade(11, "Slice")
def count_slice_axes(site: Site) -> Outcome:
    """Write negative axes as positive ones; they are an input already."""
    if site.input(3) is None:
        return None
    axes = site.required_constant(3, "input 'axes'")
    if (axes < 0).any():
        rank = site.required_rank("a negative axis")
        site.set_input(3, site.const(np.where(axes < 0, axes + rank, axes), "axes"))
    return None
