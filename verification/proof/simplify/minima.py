"""Minima of sizes, and of numbers with bounds that they never exceed."""

from collections.abc import Sequence

from ....facts.fact import element
from ....facts.polynomial import Dimension
from ..arithmetic.trip_counts import least
from ..terms.axis_maps import broadcast
from ..terms.term import Args, Head, Term
from ..terms.term_manager import ZERO, Terms, rule
from .slices import is_part


@rule("Min", constants=True)
def fewest(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Rewrite Min of sizes to the minimum as a size, or to the smaller number."""
    shape = broadcast([None if arg is None else arg.fact.shape for arg in args])
    if shape is None or any(dim.value != 1 for dim in shape):
        return None
    sizes = [element(arg.fact) for arg in args if arg is not None]
    if not all(isinstance(size, Dimension) for size in sizes):
        return None
    if len(args) == len(sizes) == 2:
        for number, lower, upper in zip(args, sizes, sizes[::-1], strict=True):
            if number is not None and is_part(terms, lower, ZERO, upper):
                return [terms.view(number, shape)]
    if not all(size.less(0) is False for size in sizes):
        return None
    elem_type = args[0].fact.elem_type if args[0] is not None else 0
    return [terms.view(terms.sizes([least(terms, sizes)], elem_type), shape)]
