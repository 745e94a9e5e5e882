"""Reshape: zeros in the target shape.

- 5: the dimension of the input.
- 13: bfloat16.
- 14: a dimension of zero with `allowzero` = 1.
- 19: 8-bit floats.
- 21: 4-bit integers.
- 23: float4e2m1.
- 24: float8e8m0.
- 25: 2-bit integers.

    y = Reshape <allowzero = 1> (x, shape)
->  (opset 14 to 13, where the shape is computed at run time and may have a zero)
    y = Slice (Reshape (Concat (x as a vector, padding for ones in the place of zeros),
                        shape with ones in the place of zeros),
               zeros, shape)
"""

from __future__ import annotations

from ...facts.polynomial import Dimension
from ..form import writes
from ..node_draft import NodeDraft
from ..registry import Outcome, downgrade, longer_form
from ..snippets import reshape_with_zeros


@downgrade(14, "Reshape", where=writes("allowzero"))
def drop_allowzero(draft: NodeDraft) -> None:
    """Before opset 14: a zero in the target shape copies the input's dimension."""
    if draft.attribute("allowzero"):
        if not _says_the_same(draft):
            draft.refuse("a dimension of 0 with allowzero = 1 does not exist in opset 13")
        draft.drop("allowzero")


def _says_the_same(draft: NodeDraft) -> bool:
    """Test whether each target dimension that may be zero equals the input's."""
    sizes, constant = draft.types.dimensions(draft.data) or (), draft.constant(1)
    target = draft.types.elements(draft.required(1))
    if constant is not None:
        target = [Dimension.constant(size) for size in constant.reshape(-1).tolist()]
    return target is not None and all(
        size is not None
        and (size.equals(0) is False or (place < len(sizes) and size.equals(sizes[place])))
        for place, size in enumerate(target)
    )


@longer_form(14, "Reshape")
def reshape_then_slice(draft: NodeDraft) -> Outcome:
    """Below opset 14, run-time shapes: ones in the place of zeros, padded, then sliced."""
    return [reshape_with_zeros(draft, draft.data, draft.required(1))]
