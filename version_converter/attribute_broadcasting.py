"""Broadcasting by attributes, which operators of two operands had before opset 7.

    y = Add <broadcast = 1, axis = 1> (x[2, 3, 4], b[3])
->  (opset 6 to 7)
    y = Add (x, Unsqueeze <axes = [1]> (b))
"""

from .registry import NodeDraft, upgrade

BY_SHAPES = 7
"""The opset from which on shapes alone decide how operands meet."""

_SUFFIX = -1
"""The axis that means the last axes, as does its absence."""


def broadcasts_by_attribute(*op_types: str) -> None:
    """Register operators whose second operand met an axis of the first before opset 7."""
    upgrade(BY_SHAPES, *op_types)(align_second)


def align_second(draft: NodeDraft) -> None:
    """Opset 7: axes of length 1 put the second operand at its axis of the first."""
    axis = draft.attribute("axis") if draft.attribute("broadcast") else None
    draft.drop("broadcast", "axis")
    if axis is None or axis == _SUFFIX:
        return
    rank = draft.required_rank("'axis'", 0)
    own = draft.required_rank("'axis'", 1)
    missing = rank - axis - own
    shape = draft.shape(1)
    if shape is not None and all(size == 1 for size in shape) and own <= rank:
        return
    if axis < 0 or missing < 0:
        draft.refuse(f"an operand of rank {own} has no place at axis {axis} of one of rank {rank}")
    if missing:
        draft.set_input(1, draft.unsqueeze(draft.required(1), range(own, own + missing)))
