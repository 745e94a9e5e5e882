"""Where as a Gather: the elements of one tensor lie behind those of the other (below opset 9)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import onnx

from ...facts.dimension import product
from ...ir import Operator
from .axes import axis_from_front
from .registry import spelling

if TYPE_CHECKING:
    from ..algebra import Terms
    from ..heads import Head
    from ..terms import Args, Term


@spelling("Gather")
def gathered(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Places of the first half where a condition does not hold, else of the second half; of other
    Gathers the axis counts from the front."""
    axis = axis_from_front(head, args)
    if axis is not None:
        return terms.apply(terms.heads.with_attributes(head, axis=axis), args, count)
    data, places = args
    if data is None or places is None or not places.is_op("Add"):
        return None
    shape, length = places.fact.shape, _length(data)
    if shape is None or not length or length % 2:
        return None
    size = length // 2
    condition = _condition(terms, places, size)
    if condition is None or product(condition.fact.shape or ()).value != size:
        return None
    first, second = (terms.narrow(data, 0, start, size) for start in (0, size))
    halves = (second, first)
    if condition.is_op("Not") and condition.args[0] is not None:
        condition, halves = condition.args[0], (first, second)
    bare = condition.args[0] if condition.head.name == "view" else condition
    if bare is None or bare.fact.shape is None:
        return None
    where = terms.heads.of(Operator("Where"), {"": 16})
    operands = [terms.view(half, bare.fact.shape) for half in halves]
    result = terms.apply(where, (bare, *operands))[0]
    assert result is not None
    return [terms.view(result, shape)]


def _length(term: Term) -> int | None:
    """How many elements a vector has."""
    shape = term.fact.shape
    return shape[0].value if shape is not None and len(shape) == 1 else None


def _condition(terms: Terms, places: Term, size: int) -> Term | None:
    """What holds where places, otherwise 0, 1, 2 and on, lie in the second half."""
    for offset, count in (places.args, places.args[::-1]):
        shapes = [None if term is None else term.fact.shape for term in (places, offset, count)]
        if offset is None or terms.numbers(count) != list(range(size)):
            continue
        if size > 1 and shapes[1:] != [shapes[0], shapes[0]]:
            continue
        for cast, factor in (offset.args, offset.args[::-1]) if offset.is_op("Mul") else ():
            if cast is None or terms.numbers(factor) != [size] or not cast.is_op("Cast"):
                continue
            chosen = cast.args[0]
            if chosen is not None and chosen.fact.elem_type == onnx.TensorProto.BOOL:
                return chosen if chosen.fact.shape == offset.fact.shape else None
    return None
