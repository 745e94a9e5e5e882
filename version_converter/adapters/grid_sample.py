"""GridSample: the names of its modes, and its rank.

https://onnx.ai/onnx/operators/onnx__GridSample.html

- 16: the operator appears, for inputs of rank 4.
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#GridSample-16
- 20: any number of axes; "bilinear" and "bicubic" are now "linear" and "cubic".
  https://github.com/onnx/onnx/blob/main/docs/Changelog.md#GridSample-20
- 22: bfloat16. https://github.com/onnx/onnx/blob/main/docs/Changelog.md#GridSample-22
"""

from __future__ import annotations

from ..grid_sampling import sample
from ..node_draft import NodeDraft
from ..registry import Outcome, downgrade, longer_form, upgrade

_SAMPLING = {"bilinear": "linear", "bicubic": "cubic", "nearest": "nearest"}
"""The modes of GridSample before opset 20, and from it on."""


@upgrade(20, "GridSample")
def rename_mode(draft: NodeDraft) -> Outcome:
    """Opset 20: names of modes for any number of dimensions."""
    draft.set("mode", _renamed(draft, _SAMPLING))
    return None


@downgrade(20, "GridSample")
def rename_mode_back(draft: NodeDraft) -> Outcome:
    """Before opset 20: grids of two dimensions only."""
    if draft.required_rank("GridSample before opset 20") != 4:
        draft.refuse("opset 19 samples inputs of rank 4 only")
    draft.set("mode", _renamed(draft, {new: old for old, new in _SAMPLING.items()}))
    return None


def _renamed(draft: NodeDraft, names: dict[str, str]) -> str:
    mode = draft.text("mode")
    if mode not in names:
        draft.refuse(f"opset {draft.source} has no mode '{mode}'")
    return names[mode]


@longer_form(16, "GridSample")
def gather_pixels(draft: NodeDraft) -> Outcome:
    """Below opset 16: gather, weight and add the pixels of each output."""
    return [sample(draft)]
