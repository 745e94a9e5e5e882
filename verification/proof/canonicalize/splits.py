"""Split: how long the parts are, said by an attribute, an input, or by how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ....ir import Operator
from .axes import axis_from_front, rank_of
from .inputs import moved
from .registry import spelling

if TYPE_CHECKING:
    from ..function_symbols import Head
    from ..term_manager import Terms
    from ..terms import Args, Term


@spelling("Split")
def split(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """How long the parts are (13); where that is said, `num_outputs` (18) says nothing. Where it is
    not, and run time tells how much is split, it is computed."""
    found = moved(terms, head, args)
    if found is not None:
        return terms.apply(*found, count)
    axis = axis_from_front(head, args)
    lengths = args[1] if len(args) > 1 else _lengths(terms, head, args[0])
    if head.opset >= 18 and lengths is not None:
        axis = head.attribute("axis") if axis is None else axis
        op = Operator.make("Split", axis=axis)
        made = terms.heads.of(op, {"": 13}, head.outputs)
        return terms.apply(made, (args[0], lengths), count)
    if axis is None:
        return None
    return terms.apply(terms.heads.with_attributes(head, axis=axis), args, count)


def _lengths(terms: Terms, head: Head, x: Term | None) -> Term | None:
    """Split 18 by number: all parts but the last have the length of the axis, divided by the number
    and rounded up; the last has what is left. None where the length is known."""
    parts, axis, rank = head.attribute("num_outputs"), head.attribute("axis"), rank_of(x)
    if x is None or not parts or parts < 2:
        return None
    if rank is not None and (not -rank <= axis < rank or _is_known(x, axis)):
        return None
    shape, place = terms.op("Shape", head, x), terms.constant(np.array([axis]))
    whole = terms.op("Gather", head, shape, place, axis=0)
    more, by = (terms.constant(np.array([n])) for n in (parts - 1, parts))
    part = terms.op("Div", head, terms.op("Add", head, whole, more), by)
    last = terms.op("Sub", head, whole, terms.op("Mul", head, part, more))
    return terms.op("Concat", head, *[part] * (parts - 1), last, axis=0)


def _is_known(x: Term, axis: int) -> bool:
    return x.fact.shape is not None and x.fact.shape[axis].value is not None
