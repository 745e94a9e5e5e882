"""Choosing the larger or smaller of integers, and equality of floats, by comparisons."""

from __future__ import annotations

import functools

import numpy as np

from ...ir import Value
from ..site import Site
from .registry import Outcome, downgrade


def _is_float(site: Site) -> bool:
    return site.required_dtype(0, f"{site.op_type} before opset {site.source}").kind == "f"


def _pick(site: Site, test: str, one: Value, other: Value) -> Value:
    """`one` where it passes the test against `other`, else `other`."""
    return site.emit("Where", [site.emit(test, [one, other]), one, other])


@downgrade(12, "Max", "Min")
def extreme_of_integers(site: Site) -> Outcome:
    """Before opset 12 Max and Min take floats only."""
    if _is_float(site):
        return None
    test = "Greater" if site.op_type == "Max" else "Less"
    values = [value for value in site.inputs if value is not None]
    if len(values) == 1:
        return [site.emit("Identity", values)]
    return [functools.reduce(lambda a, b: _pick(site, test, a, b), values)]


@downgrade(12, "Clip")
def clip_integers(site: Site) -> Outcome:
    """Before opset 12 Clip takes floats only. The upper bound is applied last, so that it wins."""
    if _is_float(site):
        return None
    value, low, high = site.input(0), site.input(1), site.input(2)
    assert value is not None
    if low is not None:
        value = _pick(site, "Greater", value, low)
    if high is not None:
        value = _pick(site, "Less", value, high)
    return [value if value is not site.input(0) else site.emit("Identity", [value])]


@downgrade(14, "Relu")
def relu_of_integers(site: Site) -> Outcome:
    """Before opset 14 Relu takes floats only."""
    dtype = site.required_dtype(0, "Relu before opset 14")
    if dtype.kind != "i":
        return None
    return [site.emit("Max", [site.input(0), site.const(np.zeros((), dtype), "zero")])]


@downgrade(11, "Equal")
def equality_of_floats(site: Site) -> Outcome:
    """Before opset 11 Equal takes no floats: equal is neither less, nor greater, nor NaN."""
    if not _is_float(site):
        return None
    pair = [site.input(0), site.input(1)]
    differ = site.emit("Or", [site.emit("Less", pair), site.emit("Greater", pair)])
    nan = site.emit("Or", [site.emit("IsNaN", [value]) for value in pair])
    return [site.emit("Not", [site.emit("Or", [differ, nan])])]


@downgrade(12, "Pow")
def exponent_like_base(site: Site) -> Outcome:
    """Before opset 12 the exponent has the type of the base."""
    base, exponent = site.elem_type(0), site.elem_type(1)
    if base == exponent or base is None or not _is_float(site):
        return None
    known = site.required_constant(1, "the exponent (of another type than the base)")
    cast = known.astype(site.required_dtype(0, "Pow"))
    if (cast != known).any():
        site.refuse("its exponents are not exact in the type of the base, which opset 11 wants")
    site.set_input(1, site.const(cast, "exponent"))
    return None
