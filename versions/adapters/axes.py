"""Negative axes, which most operators take from opset 11 on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..site import Site
from .moves import REDUCTIONS
from .registry import Outcome, downgrade

NEGATIVE_AXES = 11


class _Axis(NamedTuple):
    """Where an operator says its axes.

    Attributes:
        attribute: the name of the attribute, one axis or a list.
        added: how many axes the result has more than input 0.
        at_rest: a negative value that the older versions take too.
    """

    attribute: str
    added: int = 0
    at_rest: int | None = None


_AXES = {
    "ArgMax": _Axis("axis"),
    "ArgMin": _Axis("axis"),
    "Compress": _Axis("axis"),
    "Concat": _Axis("axis"),
    "Flatten": _Axis("axis"),
    "Hardmax": _Axis("axis"),
    "LogSoftmax": _Axis("axis"),
    "OneHot": _Axis("axis", added=1, at_rest=-1),
    "Softmax": _Axis("axis"),
    "Split": _Axis("axis"),
    "Squeeze": _Axis("axes"),
    "Unsqueeze": _Axis("axes"),
    "ReduceSum": _Axis("axes"),
    **{op_type: _Axis("axes") for op_type in REDUCTIONS},
}


@downgrade(NEGATIVE_AXES, *_AXES)
def count_from_the_front(site: Site) -> Outcome:
    """Write negative axes as positive ones, which takes the rank."""
    axis = _AXES[site.op_type]
    value = site.attribute(axis.attribute) if axis.attribute in site.attributes else None
    if value is None:
        return None
    values = value if isinstance(value, list) else [value]
    if all(v >= 0 or v == axis.at_rest for v in values):
        return None
    rank = site.required_rank(f"a negative '{axis.attribute}'") + axis.added
    if site.op_type == "Unsqueeze":
        rank += len(values)
    counted = [v + rank if v < 0 and v != axis.at_rest else v for v in values]
    site.set(axis.attribute, counted if isinstance(value, list) else counted[0])
    return None


@downgrade(NEGATIVE_AXES, "Slice")
def count_slice_axes(site: Site) -> Outcome:
    """Slice 10 has its axes as an input already."""
    if site.input(3) is None:
        return None
    axes = site.required_constant(3, "input 'axes'")
    if (axes < 0).any():
        rank = site.required_rank("a negative axis")
        site.set_input(3, site.const(np.where(axes < 0, axes + rank, axes), "axes"))
    return None


@downgrade(NEGATIVE_AXES, "Scan")
def count_scan_axes(site: Site) -> Outcome:
    """Scan names the axes of its scanned inputs, and those of its outputs in their own rank."""
    body = site.body("body")
    scanned = site.attribute("num_scan_inputs")
    states = len(site.inputs) - scanned
    inputs = [site.rank(states + index) for index in range(scanned)]
    outputs = []
    for value in body.outputs[states:]:
        rank = site.types.rank(value)
        outputs.append(None if rank is None else rank + 1)
    for name, ranks in (("scan_input_axes", inputs), ("scan_output_axes", outputs)):
        axes = site.attribute(name) if name in site.attributes else []
        if all(axis >= 0 for axis in axes):
            continue
        counted = []
        for axis, rank in zip(axes, ranks, strict=True):
            if axis < 0 and rank is None:
                site.refuse(f"a negative axis in '{name}' needs a rank that is not known")
            counted.append(axis + (rank or 0) if axis < 0 else axis)
        site.set(name, counted)
    return None
