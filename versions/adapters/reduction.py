"""Reductions: what an empty list of axes means once axes are an input."""

from __future__ import annotations

from ..site import Site
from .moves import REDUCTIONS
from .registry import Outcome, downgrade

_PLAIN = frozenset({"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd"})
"""Over no axes these give their input back; the others still take roots, squares or logarithms."""

_ON_ELEMENTS = {
    "ReduceL1": ("Abs",),
    "ReduceL2": ("Abs",),
    "ReduceLogSum": ("Log",),
    "ReduceLogSumExp": (),
}


@downgrade(13, "ReduceSum")
@downgrade(18, *REDUCTIONS)
def empty_axes(site: Site) -> Outcome:
    """An empty list of axes means all of them or, with noop_with_empty_axes, none."""
    if site.input(1) is None:
        axes: list[int] = []
    else:
        axes = site.required_constant(1, "input 'axes'").reshape(-1).tolist()
    does_nothing = site.attribute("noop_with_empty_axes")
    site.drop("noop_with_empty_axes")
    if axes:
        return None
    site.set_input(1, None)
    if not does_nothing:
        return None
    if site.op_type in _PLAIN:
        site.op_type = "Identity"
        site.attributes.clear()
        return None
    data = site.input(0)
    if site.op_type == "ReduceSumSquare":
        return [site.emit("Mul", [data, data])]
    op_types = _ON_ELEMENTS[site.op_type]
    return [site.emit(op_types[0], [data]) if op_types else site.emit("Identity", [data])]
