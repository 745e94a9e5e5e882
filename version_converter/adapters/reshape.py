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

    y = Reshape <allowzero = 1> (x[N, 6], [N, -1, 3])
->  (opset 14 to 13)
    y = Reshape (x, [0, 2, 3])
"""

from __future__ import annotations

from collections.abc import Sequence

from ...facts.polynomial import Dimension, product
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
        shape = _shape_without_rest(draft)
        if shape is not None:
            draft.set_input(1, draft.ints(shape, "shape"))
        draft.drop("allowzero")


def _says_the_same(draft: NodeDraft) -> bool:
    """Test whether each target dimension that may be zero equals the input's."""
    sizes, target = draft.types.dimensions(draft.data) or (), _target(draft)
    return target is not None and all(
        size is not None and (size.equals(0) is False or _is_copied(size, place, sizes))
        for place, size in enumerate(target)
    )


def _target(draft: NodeDraft) -> list[Dimension | None] | None:
    """The target shape, None for unknown elements; None for an unknown number of them."""
    constant = draft.constant(1)
    if constant is None:
        return draft.types.elements(draft.required(1))
    return [Dimension.constant(size) for size in constant.reshape(-1).tolist()]


def _is_copied(size: Dimension, place: int, sizes: Sequence[Dimension]) -> bool:
    return place < len(sizes) and size.equals(sizes[place]) is True


def _shape_without_rest(draft: NodeDraft) -> list[int] | None:
    """A constant target with a size in the place of -1; None where -1 is harmless.

    Without allowzero, runtimes stop at -1 in an empty tensor. Also None where a size is neither a
    number nor the input's in its place.
    """
    sizes, target = draft.types.dimensions(draft.data), _target(draft)
    if sizes is None or target is None or None in target:
        return None
    dims = [size for size in target if size is not None]
    others = product(size for size in dims if size.value != -1)
    rest = product(sizes).divided_by(others)
    if rest is None or others.value is not None or all(size.value != -1 for size in dims):
        return None
    shape = []
    for place, size in enumerate(rest if size.value == -1 else size for size in dims):
        if size.value is None and not _is_copied(size, place, sizes):
            return None
        shape.append(size.value or 0)
    return shape


@longer_form(14, "Reshape")
def reshape_then_slice(draft: NodeDraft) -> Outcome:
    """Below opset 14, run-time shapes: ones in the place of zeros, padded, then sliced."""
    return [reshape_with_zeros(draft, draft.data, draft.required(1))]
