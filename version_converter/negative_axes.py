"""Negative axes, which most operators take from opset 11 on."""

from __future__ import annotations

from typing import NamedTuple

from .form import writes
from .node_draft import Site
from .registry import Outcome, downgrade

NEGATIVE_AXES = 11
"""The opset from which on axes count from the back where they are negative."""


class Axis(NamedTuple):
    """Where an operator says its axes.

    Attributes:
        attribute: the name of the attribute, one axis or a list.
        added: how many axes the result has more than input 0.
        at_rest: a negative value that the older versions take too.
        adds_itself: whether each axis of the list is one more of the result.
    """

    attribute: str
    added: int = 0
    at_rest: int | None = None
    adds_itself: bool = False


AXES: dict[str, Axis] = {}
"""By operator."""


def negative_axes(*op_types: str, axis: Axis) -> None:
    """Say that axes of operators may be negative from opset 11 on; below they are written out."""
    AXES.update(dict.fromkeys(op_types, axis))
    named = writes(axis.attribute)
    downgrade(NEGATIVE_AXES, *op_types, where=named)(count_from_the_front)


def count_from_the_front(site: Site) -> Outcome:
    """Write negative axes as positive ones, which takes the rank."""
    axis = AXES[site.op_type]
    value = site.attribute(axis.attribute) if axis.attribute in site.attributes else None
    if value is None:
        return None
    values = value if isinstance(value, list) else [value]
    if all(v >= 0 or v == axis.at_rest for v in values):
        return None
    rank = site.required_rank(f"a negative '{axis.attribute}'") + axis.added
    if axis.adds_itself:
        rank += len(values)
    counted = [v + rank if v < 0 and v != axis.at_rest else v for v in values]
    if min(v for v in counted if v != axis.at_rest) < 0:
        site.refuse(f"{axis.attribute} = {value} has none of the {rank} axes that there are")
    site.set(axis.attribute, counted if isinstance(value, list) else counted[0])
    return None
