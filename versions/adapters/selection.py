"""TopK, and operators that pick elements."""

from __future__ import annotations

import numpy as np

from ...ir import Value
from ..site import Site
from .registry import Outcome, downgrade


@downgrade(11, "TopK")
def largest_of_negated(site: Site) -> Outcome:
    """Before opset 11 there are only the largest: the smallest are those of the negated input."""
    largest = site.attribute("largest")
    site.drop("largest", "sorted")
    if largest:
        return None
    if site.required_dtype(0, "largest = 0").kind != "f":
        site.refuse("largest = 0 of integers cannot be said in opset 10")
    negated = site.emit("Neg", [site.input(0)], "negated")
    values, indices = site.emit_all(
        "TopK",
        [negated, site.input(1)],
        ["values", "indices"],
        attributes=site.attributes,
    )
    return [site.emit("Neg", [values]), indices]


@downgrade(12, "ArgMax", "ArgMin")
def first_index(site: Site) -> Outcome:
    """Before opset 12 the first of equal elements is taken: the last is the first from behind."""
    last = site.attribute("select_last_index")
    site.drop("select_last_index")
    if not last:
        return None
    axis = site.attribute("axis")
    data = site.input(0)
    one = site.ints([axis], "axis")
    starts, ends = site.ints([-1], "last"), site.ints([np.iinfo(np.int64).min], "first")
    flipped = site.emit("Slice", [data, starts, ends, one, site.ints([-1], "step")], "flipped")
    found = site.emit(site.op_type, [flipped], "found", attributes=site.attributes)
    length = _length(site, data, axis)
    one_less = site.emit("Sub", [length, site.const(np.array(1, np.int64), "one")])
    return [site.emit("Sub", [one_less, found])]


def _length(site: Site, data: Value | None, axis: int) -> Value:
    """The length of an axis, as a tensor of rank 0."""
    shape = site.emit("Shape", [data], "shape")
    return site.emit("Gather", [shape, site.const(np.array(axis), "axis")], "length", axis=0)


@downgrade(11, "OneHot")
def wrap_indices(site: Site) -> Outcome:
    """From opset 11 on a negative index counts from the back; before, it is out of range."""
    indices = site.input(0)
    known = site.constant(0)
    dtype = site.required_dtype(0, "an index that may be negative")
    if dtype.kind == "u" or (known is not None and (known >= 0).all()):
        return None
    if dtype not in (np.int32, np.int64, np.float32, np.float64):
        site.refuse(f"an index of type {dtype} that may be negative cannot be wrapped in opset 10")
    zero = site.const(np.zeros((), dtype), "zero")
    scalar = site.emit("Reshape", [site.input(1), site.ints([], "rank_0")], "depth")
    depth = site.emit("Cast", [scalar], "depth", to=site.elem_type(0))
    wrapped = site.emit("Add", [indices, depth], "wrapped")
    # What is still negative was out of range, and becomes so above, since runtimes wrap once more.
    beyond = site.emit("Less", [wrapped, zero], "beyond")
    wrapped = site.emit("Where", [beyond, depth, wrapped], "wrapped")
    negative = site.emit("Less", [indices, zero], "negative")
    site.set_input(0, site.emit("Where", [negative, wrapped, indices], "indices"))
    return None
