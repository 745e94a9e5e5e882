"""Tile: the repeats of each axis.

- 1: floats; inputs 1 and 2 are the repeats of one axis, and that axis.
- 6: input 1 holds the repeats of all axes.
- 13: bfloat16.
"""

from ..registry import NodeDraft, upgrade


@upgrade(6, "Tile")
def repeat_each_axis(draft: NodeDraft) -> None:
    """Opset 6: repeats of all axes, 1 for those that opset 1 did not name."""
    repeats, axis = (
        int(draft.one_number(draft.required_constant(index, f"input '{name}'"), f"'{name}'"))
        for index, name in ((1, "tiles"), (2, "axis"))
    )
    each = [1] * draft.required_rank("the repeats of all axes")
    each[draft.checked_axis(axis)] = repeats
    draft.inputs = [draft.data, draft.ints(each, "repeats")]
