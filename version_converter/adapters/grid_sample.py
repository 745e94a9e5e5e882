"""GridSample: the names of its modes, and its rank.

- 16: the operator appears, for inputs of rank 4.
- 20: any number of axes; "bilinear" and "bicubic" are now "linear" and "cubic".
- 22: bfloat16.
"""

from ..grid_sampling import sample
from ..registry import AdapterResult, NodeDraft, downgrade, longer_form, upgrade

_SAMPLING = {"bilinear": "linear", "bicubic": "cubic", "nearest": "nearest"}
"""The modes of GridSample before opset 20, and from it on."""


@upgrade(20, "GridSample")
@downgrade(20, "GridSample")
def rename_mode(draft: NodeDraft) -> None:
    """Opset 20: names of modes for any number of dimensions; before, grids of two only."""
    names = _SAMPLING if draft.is_upgrade else {new: old for old, new in _SAMPLING.items()}
    if not draft.is_upgrade and draft.required_rank("GridSample before opset 20") != 4:
        draft.refuse("opset 19 samples inputs of rank 4 only")
    mode = draft.text("mode")
    if mode not in names:
        draft.refuse(f"opset {draft.source} has no mode '{mode}'")
    draft.set("mode", names[mode])


@longer_form(16, "GridSample")
def gather_pixels(draft: NodeDraft) -> AdapterResult:
    """Below opset 16: gather, weight and add the pixels of each output."""
    return [sample(draft)]
