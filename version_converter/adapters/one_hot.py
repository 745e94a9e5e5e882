"""OneHot: negative indices, and negative axes.

https://onnx.ai/onnx/operators/onnx__OneHot.html

- 9: negative indices are out of range; `axis` counts from the front, or is -1.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#OneHot-9
- 11: indices count from the back where they are negative, and so does `axis`.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#OneHot-11
- 28: bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#OneHot-28

    y = OneHot (indices, 3, values)
->  (opset 9 to 8)
    y = Where (Equal (Unsqueeze (indices), [0, 1, 2]), Gather (values, 1), Gather (values, 0))
"""

from __future__ import annotations

import numpy as np
import onnx

from ...ir import Value
from ..negative_axes import Axis, negative_axes
from ..node_draft import Site
from ..registry import Outcome, downgrade, longer_form
from ..snippets import numbers_below

_MOST_KNOWN = 1 << 16
"""Limit of classes up to which their numbers are a constant."""

negative_axes("OneHot", axis=Axis("axis", added=1, at_rest=-1))


@downgrade(11, "OneHot")
def wrap_indices(site: Site) -> Outcome:
    """Before opset 11: a negative index, which counts from the back later, is out of range."""
    indices = site.input(0)
    constant = site.constant(0)
    dtype = site.required_dtype(0, "an index that may be negative")
    if dtype.kind == "u" or (constant is not None and (constant >= 0).all()):
        return None
    if dtype not in (np.int32, np.int64, np.float32, np.float64):
        site.refuse(f"an index of type {dtype} that may be negative cannot be wrapped in opset 10")
    zero = site.const(np.zeros((), dtype), "zero")
    scalar = site.emit("Reshape", [site.input(1), site.ints([], "rank_0")], "depth")
    depth = site.emit("Cast", [scalar], "depth", to=site.elem_type(0))
    wrapped = site.emit("Add", [indices, depth], "wrapped")
    # A still negative index was out of range, and becomes too large, since runtimes wrap once more.
    beyond = site.emit("Less", [wrapped, zero], "beyond")
    wrapped = site.emit("Where", [beyond, depth, wrapped], "wrapped")
    negative = site.emit("Less", [indices, zero], "negative")
    site.set_input(0, site.emit("Where", [negative, wrapped, indices], "indices"))
    return None


@longer_form(9, "OneHot")
def compare_with_each_class(site: Site) -> Outcome:
    """Below opset 9: comparison of the index with each class. An index out of range equals none of
    these."""
    dtype = site.required_dtype(0, "a comparison with each class")
    if dtype.kind not in "iu":
        site.refuse(f"an index of type {dtype} may be no whole number")
    rank, axis = site.required_rank("the axis of the classes"), site.attribute("axis")
    axis = rank if axis == -1 else axis
    if not 0 <= axis <= rank:
        site.refuse(f"its result has no axis {axis}")
    numbers = site.emit("Cast", [site.input(0)], "numbers", to=onnx.TensorProto.INT64)
    shape = site.ints([-1] + [1] * (rank - axis), "shape")
    classes = site.emit("Reshape", [_classes(site), shape], "classes")
    is_it = site.emit("Equal", [site.unsqueeze(numbers, [axis]), classes], "is_it")
    off, on = (
        site.emit("Gather", [site.input(2), site.const(np.array(place), "place")], "value")
        for place in (0, 1)
    )
    return [site.emit("Where", [is_it, on, off])]


def _classes(site: Site) -> Value:
    """The numbers of the classes, as a vector."""
    depth = site.constant(1)
    if depth is not None:
        count = site.one_number(depth, "input 'depth'")
        if not 0 <= count < np.inf:
            site.refuse(f"there are no {count} classes")
        if count <= _MOST_KNOWN:
            return site.ints(range(int(count)), "numbers")
    length = site.emit("Cast", [site.input(1)], "depth", to=onnx.TensorProto.INT64)
    if site.rank(1) == 0:
        length = site.unsqueeze(length, [0])
    elif site.rank(1) != 1:
        length = site.emit("Reshape", [length, site.ints([1], "rank_1")], "depth")
    return numbers_below(site, length)
