"""Shape, Reshape, Split, Slice, Constant."""

from __future__ import annotations

import numpy as np

from ...ir import Function, Tensor, Value, constant_operator
from ..site import Site
from .registry import Outcome, downgrade, upgrade


@downgrade(15, "Shape")
def slice_shape(site: Site) -> Outcome:
    """Before opset 15 a part of the shape is a Slice of all of it."""
    start, end = site.attribute("start"), site.attribute("end")
    if not start and end is None:
        return None
    shape = site.emit("Shape", [site.input(0)], "shape")
    last = np.iinfo(np.int64).max if end is None else end
    starts, ends = site.ints([start], "start"), site.ints([last], "end")
    return [site.emit("Slice", [shape, starts, ends])]


@downgrade(14, "Reshape")
def no_zeros(site: Site) -> Outcome:
    """Before opset 14 a zero in the wanted shape copies the input's dimension."""
    if site.attribute("allowzero"):
        if (site.required_constant(1, "the wanted shape (with allowzero = 1)") == 0).any():
            site.refuse("a dimension of 0 with allowzero = 1 cannot be said in opset 13")
        site.drop("allowzero")
    return None


@upgrade(18, "Split")
def count_outputs(site: Site) -> Outcome:
    """From opset 18 on equal parts are counted by an attribute."""
    if site.input(1) is None:
        site.set("num_outputs", len(site.node.outputs))
    return None


@downgrade(18, "Split")
def spell_lengths(site: Site) -> Outcome:
    """Before opset 18 the last part cannot be a shorter one unless the lengths are given."""
    count = site.attribute("num_outputs")
    site.drop("num_outputs")
    if count is None or site.input(1) is not None:
        return None
    shape, axis = site.shape(), site.attribute("axis")
    length = None if shape is None else shape[axis]
    if length is not None and length % count == 0:
        return None
    if length is None or length < (count - 1) * -(-length // count):
        # So few elements leave a negative rest, which no run reaches that the original survives.
        site.set_input(1, _lengths_at_run_time(site, count, axis))
        return None
    part = -(-length // count)
    site.set_input(1, site.ints([part] * (count - 1) + [length - part * (count - 1)], "split"))
    return None


def _lengths_at_run_time(site: Site, count: int, axis: int) -> Value:
    """Rounded up, as often as there are parts, and what is left for the last one."""
    shape = site.emit("Shape", [site.input(0)], "shape")
    length = site.emit("Gather", [shape, site.ints([axis], "axis")], "length", axis=0)
    rounded = site.emit("Add", [length, site.ints([count - 1], "less_one")], "rounded")
    part = site.emit("Div", [rounded, site.ints([count], "count")], "part")
    before = site.emit("Mul", [part, site.ints([count - 1], "less_one")], "before")
    last = site.emit("Sub", [length, before], "last")
    return site.emit("Concat", [part] * (count - 1) + [last], "split", axis=0)


@downgrade(12, "Constant")
def dense_value(site: Site) -> Outcome:
    """Before opset 12 a Constant has no numbers and strings of its own, only tensors."""
    if not site.attributes.keys() & {"value", "sparse_value"}:
        _as_tensor(site)
    return None


@downgrade(11, "Constant")
def no_sparse_value(site: Site) -> Outcome:
    """Before opset 11 a Constant holds a dense tensor."""
    if "value" not in site.attributes:
        _as_tensor(site)
    return None


@downgrade(9, "Constant")
def initializer_instead(site: Site) -> Outcome:
    """Before opset 9 a Constant holds floats; an initializer holds anything."""
    value = site.node.outputs[0]
    if value is None or value.constant is None or site.takes_constant(value.constant):
        return None
    if isinstance(site.graph.root, Function):
        return [site.cast_constant(value.constant, value.name)]
    return [site.graph.add_initializer(value.name, value.constant)]


def _as_tensor(site: Site) -> None:
    if "sparse_value" in site.attributes:
        tensor: Tensor | None = Tensor(site.attributes["sparse_value"].sparse_tensor)
    else:
        value = site.node.outputs[0]
        tensor = None if value is None else value.constant
    if tensor is None:
        site.refuse("its value comes from the calls of the function; inline it first")
    site.attributes = dict(constant_operator(tensor).attributes)


@downgrade(18, "Pad")
def pad_all_axes(site: Site) -> Outcome:
    """Before opset 18 the pads speak of every axis."""
    if site.input(3) is None:
        return None
    axes = site.required_constant(3, "input 'axes'").astype(np.int64)
    rank = site.required_rank("'axes'")
    axes = np.where(axes < 0, axes + rank, axes)
    places = np.concatenate([axes, axes + rank])
    pads = site.constant(1)
    if pads is not None:
        spread = np.zeros(2 * rank, np.int64)
        spread[places] = pads
        full = site.const(spread, "pads")
    else:
        zeros = site.ints([0] * (2 * rank), "zeros")
        given = [zeros, site.const(places, "places"), site.input(1)]
        full = site.emit("ScatterElements", given, "pads", axis=0)
    site.set_input(1, full)
    site.set_input(3, None)
    return None
