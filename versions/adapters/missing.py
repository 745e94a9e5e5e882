"""Operators that an older version does not have and onnx has no function for, from older ones."""

from __future__ import annotations

import numpy as np
import onnx

from ...ir import Value
from ..site import Site
from .registry import Outcome, downgrade


@downgrade(14, "Trilu")
def triangle_by_mask(site: Site) -> Outcome:
    """Opset 13: compare the numbers of rows and columns."""
    dtype = site.required_dtype(0, "a matrix of zeros")
    data = site.input(0)
    shape = site.emit("Shape", [data], "shape")
    rows = site.unsqueeze(_count(site, shape, -2), [1])
    columns = _count(site, shape, -1)
    if site.input(1) is not None:
        shift = site.emit("Reshape", [site.input(1), site.ints([], "rank_0")], "k")
        rows = site.emit("Add", [rows, shift], "rows")
    test = "GreaterOrEqual" if site.attribute("upper") else "LessOrEqual"
    mask = site.emit(test, [columns, rows], "mask")
    return [site.emit("Where", [mask, data, site.const(np.zeros((), dtype), "zero")])]


def _count(site: Site, shape: Value, axis: int) -> Value:
    """The numbers 0, 1, ... along an axis."""
    length = site.emit("Gather", [shape, site.const(np.array(axis), "axis")], "length", axis=0)
    zero, one = site.const(np.array(0), "zero"), site.const(np.array(1), "one")
    return site.emit("Range", [zero, length, one], "numbers")


@downgrade(15, "CastLike")
def cast_to_known_type(site: Site) -> Outcome:
    """Opset 14: Cast to the type that input 1 is known to have."""
    elem_type = site.elem_type(1)
    if elem_type is None:
        site.refuse("CastLike exists from opset 15 on, and the type to cast to is not known")
    return [site.emit("Cast", [site.input(0)], to=elem_type)]


@downgrade(9, "ConstantOfShape")
def expand_value(site: Site) -> Outcome:
    """Opset 8: expand one element."""
    message = site.attributes.get("value")
    value = np.zeros(1, np.float32) if message is None else onnx.numpy_helper.to_array(message.t)
    element = site.const(value.reshape(()), "value")
    return [site.emit("Expand", [element, site.input(0)])]


@downgrade(9, "IsNaN")
def nan_is_in_no_range(site: Site) -> Outcome:
    """Opset 8: every number is below one or above zero."""
    dtype = site.required_dtype(0, "IsNaN")
    data = site.input(0)
    below = site.emit("Less", [data, site.const(np.ones((), dtype), "one")])
    above = site.emit("Greater", [data, site.const(np.zeros((), dtype), "zero")])
    return [site.emit("Not", [site.emit("Or", [below, above])])]


@downgrade(10, "IsInf")
def infinity_is_beyond_the_largest(site: Site) -> Outcome:
    """Opset 9: compare with the largest finite number."""
    dtype = site.required_dtype(0, "IsInf")
    data, largest = site.input(0), np.array(np.finfo(dtype).max, dtype)
    tests = []
    if site.attribute("detect_positive"):
        tests.append(site.emit("Greater", [data, site.const(largest, "largest")]))
    if site.attribute("detect_negative"):
        tests.append(site.emit("Less", [data, site.const(-largest, "lowest")]))
    if not tests:
        never = site.emit("Less", [data, data])
        return [never]
    return [tests[0] if len(tests) == 1 else site.emit("Or", tests)]


@downgrade(10, "Mod")
def remainder_of_division(site: Site) -> Outcome:
    """Opset 9: Div rounds integers towards zero, so the remainder is corrected by its sign."""
    dtype = site.required_dtype(0, "Mod")
    if dtype not in (np.int32, np.int64) or site.attribute("fmod"):
        site.refuse(
            "Mod exists from opset 10 on; only that of 32 and 64-bit integers with fmod = 0"
            " can be said in opset 9"
        )
    a, b = site.input(0), site.input(1)
    zero = site.const(np.zeros((), dtype), "zero")
    whole = site.emit("Mul", [site.emit("Div", [a, b]), b])
    rest = site.emit("Sub", [a, whole], "rest")
    signs = [site.emit("Less", [value, zero]) for value in (rest, b)]
    exact = site.emit("Equal", [rest, zero])
    wrong = site.emit("And", [site.emit("Xor", signs), site.emit("Not", [exact])])
    return [site.emit("Where", [wrong, site.emit("Add", [rest, b]), rest])]


@downgrade(9, "Where")
def choose_by_gathering(site: Site) -> Outcome:
    """Opset 8: lay both tensors end to end and gather from the one or the other half.

    This takes a known shape, and moves elements as they are, whatever their type.
    """
    shape = site.types.shape(site.node.output())
    if shape is None or None in shape:
        site.refuse("Where exists from opset 9 on, and a way around needs the shape of its output")
    dims = [dim or 0 for dim in shape]
    size = int(np.prod(dims))
    target, flat = site.ints(dims, "shape"), site.ints([size], "size")
    full = [site.emit("Expand", [value, target]) for value in site.inputs]
    condition, *halves = [site.emit("Reshape", [value, flat]) for value in full]
    both = site.emit("Concat", halves, "both", axis=0)
    chosen = site.emit("Cast", [site.emit("Not", [condition])], to=onnx.TensorProto.INT64)
    offset = site.emit("Mul", [chosen, flat], "offset")
    places = site.emit("Add", [offset, site.const(np.arange(size), "places")])
    return [site.emit("Reshape", [site.emit("Gather", [both, places], axis=0), target])]


@downgrade(11, "DepthToSpace")
def columns_then_rows(site: Site) -> Outcome:
    """Opset 10 spreads the depth in one order only; the other one is a Transpose of blocks."""
    if site.text("mode") != "CRD":
        return None
    shape, size = site.shape(), site.attribute("blocksize")
    if shape is None or None in shape[1:]:
        site.refuse("mode = 'CRD' before opset 11 needs channels, height and width, not all known")
    depth, height, width = (dim or 0 for dim in shape[1:])
    depth //= size * size
    blocks = site.ints([0, depth, size, size, height, width], "blocks")
    apart = site.emit("Reshape", [site.input(0), blocks])
    turned = site.emit("Transpose", [apart], perm=[0, 1, 4, 2, 5, 3])
    return [
        site.emit("Reshape", [turned, site.ints([0, depth, height * size, width * size], "shape")])
    ]
