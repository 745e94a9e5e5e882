"""Pow: the type of the exponent.

- 1: floats; the exponent has the type of the base, and a place by `broadcast` and `axis`.
- 7: shapes broadcast.
- 12: bases of 32 and 64-bit integers; the exponent has a type of its own.
- 13: bases of bfloat16.
- 15: exponents of bfloat16.
"""

from typing import Any

import numpy as np

from ..attribute_broadcasting import broadcasts_by_attribute
from ..registry import NodeDraft, downgrade
from ..snippets import is_float

broadcasts_by_attribute("Pow")


@downgrade(12, "Pow")
def cast_exponent(draft: NodeDraft) -> None:
    """Before opset 12: an exponent of the base's type."""
    base, exponent = draft.elem_type(0), draft.elem_type(1)
    if base == exponent or base is None or not is_float(draft):
        return
    dtype, own = draft.required_dtype(0, "Pow"), draft.required_dtype(1, "Pow")
    if draft.constant(1) is None and _holds(dtype, own):
        draft.set_input(1, draft.emit("Cast", [draft.input(1)], "exponent", to=base))
        return
    values = draft.required_constant(1, "the exponent (of another type than the base)")
    cast = values.astype(dtype)
    if (cast != values).any():
        draft.refuse("its exponents are not exact in the type of the base, which opset 11 requires")
    draft.set_input(1, draft.const(cast, "exponent"))


def _holds(dtype: np.dtype[Any], other: np.dtype[Any]) -> bool:
    """Test whether a float type holds all numbers of another type."""
    if other.kind == "f":
        return bool(np.can_cast(other, dtype))
    return other.itemsize * 8 <= np.finfo(dtype).nmant + 1
