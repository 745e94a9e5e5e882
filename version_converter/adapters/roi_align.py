"""RoiAlign: the positions of a region's pixels.

- 10: the operator appears; positions as in "output_half_pixel".
- 16: `coordinate_transformation_mode`, by default "half_pixel".
- 22: bfloat16.
"""

import numpy as np

from ..registry import NodeDraft, downgrade, upgrade


@upgrade(16, "RoiAlign")
def write_output_half_pixel(draft: NodeDraft) -> None:
    """Before opset 16: "output_half_pixel" only."""
    draft.set("coordinate_transformation_mode", "output_half_pixel")


@downgrade(16, "RoiAlign")
def shift_regions(draft: NodeDraft) -> None:
    """Opset 15: "output_half_pixel" only, whose regions begin half a pixel later, and are no
    smaller than a pixel."""
    mode = draft.text("coordinate_transformation_mode")
    draft.drop("coordinate_transformation_mode")
    if mode == "output_half_pixel":
        return
    if mode != "half_pixel":
        draft.refuse(f"there is no coordinate_transformation_mode '{mode}'")
    regions = draft.required_constant(1, "with 'half_pixel', the size of a region")
    scale = float(draft.attribute("spatial_scale"))
    wide = regions.astype(np.float64).reshape(-1, 4)
    if scale <= 0 or not ((wide[:, 2:] - wide[:, :2]) * scale >= 1).all():
        draft.refuse("with 'half_pixel', a region is smaller than a pixel, or no scale above 0")
    draft.set_input(1, draft.const((regions - 0.5 / scale).astype(regions.dtype), "regions"))
