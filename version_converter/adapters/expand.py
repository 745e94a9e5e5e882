"""Expand: broadcasting to a shape.

- 8: the operator appears.
- 13: bfloat16.
"""

from ..registry import AdapterResult, NodeDraft, longer_form
from ..snippets import tile
from ..types import shape_text


@longer_form(8, "Expand")
def tile_axes(draft: NodeDraft) -> AdapterResult:
    """Below opset 8: Tile, which repeats axes of length 1."""
    rank, lengths = draft.rank(), draft.shape(1)
    if rank is None or lengths is None or len(lengths) != 1 or lengths[0] is None:
        draft.refuse(
            "below opset 8 it needs the rank of input 0, and the number of lengths in input 1"
        )
    shape, constant = draft.shape() or [], draft.constant(1)
    pairs = zip(
        reversed(shape), reversed([] if constant is None else constant.tolist()), strict=False
    )
    if any(size not in (None, 1) and other not in (1, size) for size, other in pairs):
        draft.refuse(f"a tensor of shape {shape_text(shape)} does not broadcast to {constant}")
    return [tile(draft, draft.data, rank, draft.required(1), lengths[0])]
