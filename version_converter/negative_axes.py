"""Negative axes, which most operators support from opset 11 on."""

from typing import NamedTuple

from .form import writes
from .registry import NodeDraft, downgrade

NEGATIVE_AXES = 11
"""The opset from which negative axes count from the back."""


class Axis(NamedTuple):
    """The attribute that holds an operator's axes.

    Attributes:
        attribute: the name of the attribute, one axis or a list.
        added: the number of axes that the output has in addition to those of input 0.
        at_rest: a negative value that the older versions support too.
        adds_itself: true if each axis of the list is an additional one of the output.
    """

    attribute: str
    added: int = 0
    at_rest: int | None = None
    adds_itself: bool = False


AXES: dict[str, Axis] = {}
"""By operator."""


def negative_axes(*op_types: str, axis: Axis) -> None:
    """Register operators whose axes may be negative from opset 11 on."""
    AXES.update(dict.fromkeys(op_types, axis))
    condition = writes(axis.attribute)
    downgrade(NEGATIVE_AXES, *op_types, where=condition)(count_from_the_front)


def count_from_the_front(draft: NodeDraft) -> None:
    """Convert negative axes to positive ones, by the rank."""
    axis = AXES[draft.op_type]
    value = draft.attribute(axis.attribute) if axis.attribute in draft.attributes else None
    if value is None:
        return
    values = value if isinstance(value, list) else [value]
    if all(v >= 0 or v == axis.at_rest for v in values):
        return
    rank = draft.required_rank(f"a negative '{axis.attribute}'") + axis.added
    if axis.adds_itself:
        rank += len(values)
    counted = [v + rank if v < 0 and v != axis.at_rest else v for v in values]
    if min(v for v in counted if v != axis.at_rest) < 0:
        draft.refuse(f"{axis.attribute} = {value} is out of range for {rank} axes")
    draft.set(axis.attribute, counted if isinstance(value, list) else counted[0])
