"""Gather: contiguous indices as a slice, and Gather as Where (below opset 9)."""

from collections.abc import Sequence

import onnx

from ....facts.polynomial import Dimension, product
from ..terms.iota import counts, single_number
from ..terms.term import Args, Head, Term
from ..terms.term_manager import Terms, canonical_form
from .axes import axis_from_front
from .rewrites import matches, pattern

ZERO = Dimension.constant(0)
BOOL = onnx.TensorProto.BOOL


@canonical_form("Gather")
def gather(terms: Terms, head: Head, args: Args, count: int) -> Sequence[Term | None] | None:
    """Rewrite Gather at contiguous indices to a slice. At indices into two halves it is Where; at a
    view of indices it is a view; for any other Gather the axis counts from the front."""
    axis = axis_from_front(head, args)
    if axis is not None:
        return terms.apply(terms.heads.with_attributes(head, axis=axis), args, count)
    data, places = args
    if data is None or places is None:
        return None
    if places.is_op("Range") and counts(terms, places) and data.fact.shape and places.fact.shape:
        (size,) = places.fact.shape
        return [terms.narrow(data, head.attribute("axis", 0), ZERO, size)]
    if places.head.name == "view" and data.fact.shape:
        at = head.attribute("axis", 0)
        viewed = (*data.fact.shape[:at], *places.shape, *data.fact.shape[at + 1 :])
        (inner,) = terms.apply(head, (data, places.args[0]))
        return None if inner is None else [terms.view(inner, viewed)]
    if not places.is_op("Add"):
        return None
    shape, length = places.fact.shape, data.fact.shape
    if shape is None or not length:
        return None
    size, axis = product(shape), head.attribute("axis", 0)
    start = _first_in_order(terms, places)
    if start is not None and (length[axis] - start - size).less(0) is not True:
        part = terms.narrow(data, axis, start, size)
        return [terms.view(part, (*length[:axis], *shape, *length[axis + 1 :]))]
    if len(length) != 1:
        return None
    return _of_halves(terms, head, args, size) if length[0] == size * 2 else None


_INTO_HALVES = pattern("Gather(data, Add(Mul(Cast(c), factor), count))")


def _of_halves(terms: Terms, head: Head, args: Args, size: Dimension) -> Sequence[Term] | None:
    """Choice of two halves: a condition moves the indices 0, 1, 2, ... to the second one."""
    for bound in matches(_INTO_HALVES, head, args):
        condition, count, first = bound["c"], bound["count"], bound["data"]
        shapes = [term.fact.shape for term in (condition, count)]
        if any(shape is None or product(shape) != size for shape in shapes):
            continue
        if condition.fact.elem_type != BOOL or _first_in_order(terms, count) != ZERO:
            continue
        if args[1] is None or single_number(terms, bound["factor"]) != size:
            continue
        halves = [terms.narrow(first, 0, start, size) for start in (size, ZERO)]
        while condition.head.name in ("Not", "view") and condition.args[0] is not None:
            halves = halves[::-1] if condition.is_op("Not") else halves
            condition = condition.args[0]
        operands = [terms.view(half, condition.shape) for half in halves]
        return [terms.view(terms.op("Where", 16, condition, *operands), args[1].shape)]
    return None


def _first_in_order(terms: Terms, places: Term) -> Dimension | None:
    """First of contiguous indices; None if they may not be contiguous."""
    if counts(terms, places):
        return ZERO
    for offset, count in (places.args, places.args[::-1]) if places.is_op("Add") else ():
        start = single_number(terms, offset)
        if start is None or count is None or start.less(0) is not False:
            continue
        if count.fact.shape == places.fact.shape and counts(terms, count):
            return start
    return None
