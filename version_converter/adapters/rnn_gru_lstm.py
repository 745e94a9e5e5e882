"""RNN, GRU and LSTM: the order of their axes.

- 1: the sequence comes first; `output_sequence` = 0 makes output 0 optional.
- 3: `linear_before_reset` of GRU.
- 7: all outputs are optional.
- 14: `layout` = 1 puts the batch first.
- 22: bfloat16.
"""

from ...ir import Value
from ..form import writes
from ..registry import AdapterResult, NodeDraft, downgrade, harmless, upgrade

_STATES = (5, 6)
"""The positions of the initial states; the other inputs have no batch, or no other axis."""

harmless("RNN", "GRU", "LSTM", attribute="output_sequence")


@upgrade(3, "GRU")
def spell_direction(draft: NodeDraft) -> None:
    """Opset 3: the default direction is spelled "foward" before."""
    if draft.text("direction") == "foward":
        draft.set("direction", "forward")


@downgrade(14, "RNN", "GRU", "LSTM", where=writes("layout"))
def put_sequence_first(draft: NodeDraft) -> AdapterResult:
    """Before opset 14: the sequence first, the batch last but one."""
    layout = draft.attribute("layout")
    draft.drop("layout")
    if not layout:
        return None
    for index in (0, *_STATES):
        value = draft.input(index)
        if value is not None:
            swapped = draft.emit("Transpose", [value], "batch_second", perm=[1, 0, 2])
            draft.set_input(index, swapped)
    return [
        None if value is None else _batch_first(draft, value, index)
        for index, value in enumerate(draft.repeat())
    ]


def _batch_first(draft: NodeDraft, output: Value, index: int) -> Value:
    """An output with the batch as its first axis."""
    perm = [1, 0, 2] if index else [2, 0, 1, 3]
    return draft.emit("Transpose", [output], "batch_first", perm=perm)
