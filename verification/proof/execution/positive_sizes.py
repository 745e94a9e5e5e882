"""Sizes that are certainly not zero where an operator runs: those beside -1 in a target shape, and
the number of keys of an Attention."""

from __future__ import annotations

from collections.abc import Set

from ....facts.polynomial import Dimension, product
from ..terms.term import Args, Head

_NONE: Set[str] = frozenset()


def positive_sizes(head: Head, args: Args) -> Set[str]:
    """Symbols of sizes that are at least 1 wherever an operator runs.

    A Reshape with -1 divides the number of elements by the product of the other sizes. Attention
    without keys fails by its function, which reshapes them, and in all runtimes.
    """
    size = _keys(args) if head.name == "Attention" else _beside_the_rest(head, args, _NONE)
    return _NONE if size is None else _factors(size)


def _keys(args: Args) -> Dimension | None:
    """Number of keys of an Attention; None with keys of a cache, which may suffice."""
    shape = args[1].fact.shape if len(args) > 2 and args[1] is not None else None
    cached = any(arg is not None for arg in args[4:6])
    return None if shape is None or len(shape) not in (3, 4) or cached else shape[-2]


def fits_with(head: Head, args: Args, positive: Set[str]) -> bool:
    """Test whether a Reshape with -1 cannot fail if these sizes are at least 1."""
    rest = _beside_the_rest(head, args, positive)
    if rest is None or args[0] is None or args[0].fact.shape is None:
        return False
    if len(rest.terms) != 1 or not _factors(rest) <= positive:
        return False
    return product(args[0].fact.shape).divided_by(rest) is not None


def _factors(size: Dimension) -> Set[str]:
    """Symbols of a product; none of another polynomial."""
    return frozenset(next(iter(size.terms))) if len(size.terms) == 1 else _NONE


def _beside_the_rest(head: Head, args: Args, positive: Set[str]) -> Dimension | None:
    """Product of the sizes beside -1; None where one of them may copy an axis that has elements."""
    if head.name != "Reshape" or len(args) != 2 or args[0] is None or args[1] is None:
        return None
    source, content = args[0].fact.shape, args[1].fact.content
    if source is None or content is None or content.ndim != 1:
        return None
    copies, dims = not head.attribute("allowzero", 0), []
    for place, size in enumerate(content):
        own = source[place] if place < len(source) else None
        if size is None:
            return None
        if size == -1:
            continue
        if copies and size == 0:
            size = own
        elif (
            copies and size.value is None and not (own and (own == size or own.vanishes_with(size)))
        ):
            size = size if len(size.terms) == 1 and _factors(size) <= positive else None
        if size is None or size.less(0) is not False:
            return None
        dims.append(size)
    return product(dims) if len(dims) == len(content) - 1 else None
