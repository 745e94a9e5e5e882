"""Reshape to sizes that may be zero, where a 0 would copy an axis.

A tensor is padded for ones in the place of zeros, reshaped to sizes of at least 1, and cut to the
sizes themselves. That is the tensor in these sizes: if none is zero, nothing is padded or cut; else
both are empty.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....facts.fact import Shape, element, vector
from ....facts.polynomial import Dimension, product
from ....ops.axes import ONE
from ..arithmetic.padded_sizes import is_flat_concat, one_for_zero, sizes_in, zero_sizes
from ..terms.term import Term
from ..terms.term_manager import Terms


def ones_for_zeros(terms: Terms, condition: Term, x: Term, y: Term) -> Term | None:
    """Rewrite Where(sizes = 0, 1, sizes) to sizes of at least 1, and -1.

    None for another choice.
    """
    sizes = vector(y.fact)
    if not sizes or None in sizes or set(terms.numbers(x) or ()) != {1}:
        return None
    if any(size != -1 and size.less(0) is not False for size in sizes):
        return None
    if not condition.is_op("Equal") or condition.fact.shape != y.fact.shape:
        return None
    for one, other in (condition.operands, condition.operands[::-1]):
        if set(terms.numbers(other) or ()) == {0} and one is y:
            return _ones(terms, sizes, y.fact.elem_type)
    return None


def at_least_ones(terms: Terms, x: Term, y: Term) -> Term | None:
    """Rewrite Max(sizes, 1) of several sizes; None for another maximum."""
    for own, other in ((x, y), (y, x)):
        sizes = sizes_in(own)
        if sizes and set(terms.numbers(other) or ()) == {1}:
            wide = other.fact.shape not in ((), (ONE,), own.fact.shape)
            return None if wide else _ones(terms, sizes, own.fact.elem_type)
    return None


def _ones(terms: Terms, sizes: Sequence[Dimension], elem_type: int) -> Term:
    """Sizes with 1 in the place of 0."""
    ones = [size if size == -1 else one_for_zero(terms, size) for size in sizes]
    terms.symbols.magnitudes.exists_without_zeros(tuple(sizes), tuple(ones))
    return terms.sizes(ones, elem_type)


def uncut(terms: Terms, x: Term, shape: Shape) -> Term | None:
    """Tensor that is padded, reshaped, and cut to its sizes; None for another cut.

    Args:
        terms: the terms.
        x: the reshaped tensor, or a part of it from its first element on.
        shape: the sizes of the part.
    """
    while x.head.name == "narrow" and element(x.operands[1].fact) == 0:
        x = x.operands[0]
    joined = x.operands[0] if x.head.name == "view" else None
    if joined is None or not is_flat_concat(joined):
        return None
    *pieces, _ = joined.operands
    flat = pieces[0] if len(pieces) == 1 else terms.rebuild(joined, tuple(pieces))
    if flat.shape[0] == product(shape):
        pairs = zip(x.shape, shape, strict=True)
        is_whole = all(whole in (size, one_for_zero(terms, size)) for whole, size in pairs)
    else:
        is_whole = zero_sizes(terms, joined, x.shape) == list(shape)
    return terms.view(flat, shape) if is_whole else None
