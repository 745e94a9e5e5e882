"""DepthToSpace: the order of blocks.

- 1: depth, then columns, then rows.
- 11: `mode` = "CRD" spreads columns and rows first.
- 13: bfloat16.
- 28: defined by a function.
"""

import numpy as np

from ..registry import AdapterResult, NodeDraft, downgrade


@downgrade(11, "DepthToSpace")
def transpose_blocks(draft: NodeDraft) -> AdapterResult:
    """Opset 10: one order only; the other one is a Transpose of blocks, or where their sizes are
    open, a Gather of channels before."""
    if draft.text("mode") != "CRD":
        return None
    shape, size = draft.shape(), draft.attribute("blocksize")
    if shape is None or len(shape) != 4 or shape[1] is None:
        draft.refuse_unknown("mode = 'CRD' before opset 11 needs the depth of input 0, which")
    depth = shape[1]
    if size < 1 or depth % (size * size):
        draft.refuse(f"a depth of {depth} is not made of blocks of {size} by {size}")
    depth //= size * size
    if None in shape[2:]:
        order = np.arange(shape[1]).reshape(depth, size * size).T.reshape(-1)
        channels = draft.emit("Gather", [draft.data, draft.const(order, "order")], axis=1)
        return [draft.emit("DepthToSpace", [channels], blocksize=size)]
    height, width = (dim or 0 for dim in shape[2:])
    blocks = draft.ints([0, depth, size, size, height, width], "blocks")
    apart = draft.emit("Reshape", [draft.input(0), blocks])
    turned = draft.emit("Transpose", [apart], perm=[0, 1, 4, 2, 5, 3])
    return [
        draft.emit(
            "Reshape", [turned, draft.ints([0, depth, height * size, width * size], "shape")]
        )
    ]
