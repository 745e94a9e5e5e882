"""RoiAlign: the positions of a region's pixels.

- 10: the operator appears; positions as in "output_half_pixel".
- 16: `coordinate_transformation_mode`, by default "half_pixel".
- 22: bfloat16.
"""

from __future__ import annotations

from ..node_draft import NodeDraft
from ..registry import downgrade, upgrade


@upgrade(16, "RoiAlign")
def write_output_half_pixel(draft: NodeDraft) -> None:
    """Before opset 16: "output_half_pixel" only."""
    draft.set("coordinate_transformation_mode", "output_half_pixel")


@downgrade(16, "RoiAlign")
def require_output_half_pixel(draft: NodeDraft) -> None:
    """Opset 15: "output_half_pixel" only, which is not the default of opset 16."""
    mode = draft.text("coordinate_transformation_mode")
    if mode != "output_half_pixel":
        draft.refuse(f"coordinate_transformation_mode = '{mode}' does not exist in opset 15")
    draft.drop("coordinate_transformation_mode")
