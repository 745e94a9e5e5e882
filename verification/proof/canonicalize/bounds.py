"""Clip: bounds that were attributes and are inputs, and what clips integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....ir import Operator
from .extremes import INTEGERS, extreme
from .inputs import number_like
from .registry import spelling

if TYPE_CHECKING:
    from ..function_symbols import Head
    from ..term_manager import Terms
    from ..terms import Args, Term

_BOUNDS_ARE_INPUT = 11


def _of_integers(terms: Terms, x: Term | None, bounds: Args) -> Sequence[Term | None] | None:
    if x is None or x.fact.elem_type not in INTEGERS or x.fact.shape is None:
        return None
    if any(bound is not None and bound.fact.shape != () for bound in bounds):
        return None
    for name, bound in zip(("Max", "Min"), bounds, strict=False):
        x = x if bound is None else extreme(terms, name, x, bound)
    return [x]


@spelling("Clip")
def clip(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Bounds that are attributes are inputs of the type of the data (11); the upper one of integers
    is applied last (operator specification: where they cross, all is the upper one)."""
    x = args[0]
    if head.opset >= _BOUNDS_ARE_INPUT:
        return _of_integers(terms, x, args[1:])
    if x is None or not x.fact.elem_type:
        return None
    bounds = [number_like(terms, x, head.attribute(name)) for name in ("min", "max")]
    made = terms.heads.of(Operator.make("Clip"), {"": _BOUNDS_ARE_INPUT})
    return terms.apply(made, (x, *bounds))
