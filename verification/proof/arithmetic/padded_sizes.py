"""Sizes with 1 in the place of 0, and vectors padded for them."""

from __future__ import annotations

from collections.abc import Collection

from ....facts.fact import Shape, element, vector
from ....facts.polynomial import Dimension, product
from ..terms.term import Args, Term
from ..terms.term_manager import ZERO, Terms
from .inequalities import is_never_negative
from .trip_counts import at_least


def one_for_zero(terms: Terms, size: Dimension) -> Dimension:
    """Size, or 1 if it is 0."""
    one = at_least(terms, terms.size(size), 1)
    if one != size:
        terms.floors.setdefault(one, size)
    return one


def sizes_in(term: Term) -> list[Dimension] | None:
    """Elements of a vector of sizes; None if one is unknown or may be negative."""
    sizes = vector(term.fact)
    if sizes is None or None in sizes or any(size.less(0) is not False for size in sizes):
        return None
    return list(sizes)


def is_flat_concat(x: Term) -> bool:
    """Test for a Concat of vectors."""
    return x.is_op("Concat") and len(x.fact.shape or ()) == 1 and len(x.operands) > 1


def zero_sizes(terms: Terms, joined: Term, whole: Shape) -> list[Dimension] | None:
    """Sizes of a tensor, padded if and only if one of them is zero.

    Args:
        terms: the terms.
        joined: the elements of the tensor, and the padding.
        whole: the sizes to which these are reshaped, with 1 in the place of zeros.

    Returns:
        The sizes; None if the padding may have another length.
    """
    if not is_flat_concat(joined):
        return None
    length = joined.operands[-1].shape[0]
    condition, padding = terms.choices.get(length.only_symbol or "", (None, None))
    if condition is None or length != Dimension.symbol(length.only_symbol or ""):
        return None
    sizes = [terms.floors.get(size, size) for size in whole]
    fits = padding == product(whole) and [one_for_zero(terms, size) for size in sizes] == list(
        whole
    )
    return sizes if fits and _is_zero(terms, condition, product(sizes)) else None


def is_filled(terms: Terms, args: Args, facts: Collection[Dimension]) -> bool:
    """Test whether a Reshape pads for sizes of zero, and has the elements of others."""
    joined, target = args if len(args) == 2 else (None, None)
    whole = None if joined is None or target is None else sizes_in(target)
    sizes = None if joined is None or whole is None else zero_sizes(terms, joined, tuple(whole))
    if joined is None or sizes is None:
        return False
    missing = product(sizes) - sum([piece.shape[0] for piece in joined.operands[:-1]], ZERO)
    return all(is_never_negative(terms, size, facts) for size in (missing, -missing))


def _is_zero(terms: Terms, condition: Term, size: Dimension) -> bool:
    """Test whether a condition is that a size is 0."""
    while condition.head.name == "view":
        condition = condition.operands[0]
    if not condition.is_op("Equal"):
        return False
    pairs = condition.operands, condition.operands[::-1]
    return any(element(one.fact) == size and terms.numbers(two) == [0] for one, two in pairs)
