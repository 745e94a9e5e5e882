"""Clip: bounds that were attributes and are inputs, and what clips integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...ir import Operator
from .inputs import number_like
from .registry import spelling

if TYPE_CHECKING:
    from ..algebra import Terms
    from ..heads import Head
    from ..terms import Args, Term

_BOUNDS_ARE_INPUT = 11


@spelling("Clip")
def clip(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Bounds that are attributes are inputs of the type of the data (11)."""
    if head.opset >= _BOUNDS_ARE_INPUT:
        return None
    x = args[0]
    if x is None or not x.fact.elem_type:
        return None
    bounds = [number_like(terms, x, head.attribute(name)) for name in ("min", "max")]
    made = terms.heads.of(Operator.make("Clip"), {"": _BOUNDS_ARE_INPUT})
    return terms.apply(made, (x, *bounds))
