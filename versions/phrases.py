"""What several operators' files say with a few nodes: lengths of axes, choices by comparison."""

from __future__ import annotations

import numpy as np

from ..ir import Value
from .site import Site


def is_float(site: Site) -> bool:
    """Whether input 0 has a float type.

    Raises:
        Refused: its type is not known.
    """
    return site.required_dtype(0, f"{site.op_type} before opset {site.source}").kind == "f"


def pick(site: Site, test: str, one: Value, other: Value) -> Value:
    """`one` where it passes the test against `other`, else `other`."""
    return site.emit("Where", [site.emit(test, [one, other]), one, other])


def length_of(site: Site, shape: Value, axis: int, rank: int = 0) -> Value:
    """The length of an axis, out of a shape that is a tensor, as a tensor of rank 0 or 1."""
    place = site.const(np.full((1,) * rank, axis, np.int64), "axis")
    return site.emit("Gather", [shape, place], "length", axis=0)
