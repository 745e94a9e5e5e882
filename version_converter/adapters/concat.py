"""Concat: tensors one after the other along an axis.

- 1: floats; `axis` is 1 where it is absent.
- 4: `axis` is required.
- 11: `axis` may be negative.
- 13: bfloat16.
"""

from ..negative_axes import Axis, negative_axes
from ..registry import NodeDraft, upgrade

negative_axes("Concat", axis=Axis("axis"))


@upgrade(4, "Concat")
def write_axis(draft: NodeDraft) -> None:
    """Opset 4: an explicit axis, which was 1 by default."""
    if "axis" not in draft.attributes:
        draft.set("axis", 1)
