"""Sizes and trip counts that only run time determines: Max(n, 0), Range(0, n, 1)."""

from collections.abc import Sequence

import onnx

from ....facts.fact import FOLLOWED, Fact, Shape, element, vector
from ....facts.polynomial import Dimension
from ..arithmetic.exact_integers import is_one_integer
from ..arithmetic.inequalities import is_never_negative
from ..arithmetic.trip_counts import at_least, not_negative
from ..arithmetic.trip_counts import quotient as divided
from ..terms.axis_maps import broadcast
from ..terms.term import Args, Head, Term
from ..terms.term_manager import Terms, rule

_MOST = Dimension.constant((1 << 63) - 1)


@rule("Max", constants=True)
def most(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Rewrite Max(n, 0) to the trip count of a loop with input n. Max(n, 1) is one more than that
    of n - 1, and so on."""
    shape = broadcast([None if arg is None else arg.fact.shape for arg in args])
    if len(args) != 2 or args[0] is None or args[1] is None or shape is None:
        return None
    if any(dim.value != 1 for dim in shape):
        return None
    for number, other in (args, args[::-1]):
        if number is None or not is_one_integer(number) or terms.tensor(other) is None:
            continue
        (floor,) = terms.numbers(other) or [-1]
        if floor >= 0 and number.fact.elem_type in FOLLOWED:
            size = at_least(terms, number, floor)
            return [terms.view(terms.sizes([size], number.fact.elem_type), shape)]
    return None


def select_count(terms: Terms, condition: Term, x: Term, y: Term) -> Term | None:
    """Rewrite Where(c, n, 0) to the trip count of a loop; None for another choice."""
    shape = x.fact.shape
    if x.fact.elem_type not in FOLLOWED or x.fact.elem_type != y.fact.elem_type:
        return None
    if shape is None or shape != y.fact.shape or any(dim.value != 1 for dim in shape):
        return None
    content = element(x.fact)
    if terms.numbers(y) != [0] or not isinstance(content, Dimension):
        return None
    if content.less(0) is not False:
        return None
    count = terms.iterations_if(terms.view(condition, ()), content)
    return terms.view(terms.sizes([count], x.fact.elem_type), shape)


@rule("Div", constants=True)
def quotient(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Rewrite the quotient of a size by a number to a size.

    Less than the divisor may be added or subtracted. Integers are divided towards zero: the result
    is never negative, and no larger than the size.
    """
    number, divisor = args
    shape = broadcast([None if arg is None else arg.fact.shape for arg in args])
    if number is None or divisor is None or shape is None or not is_one_integer(number):
        return None
    size, by = element(number.fact), terms.numbers(divisor)
    if number.fact.elem_type != onnx.TensorProto.INT64 or by is None or len(by) != 1:
        return None
    name = size.only_symbol if isinstance(size, Dimension) else None
    # A division by 0 fails, and one by 1 gives the size itself.
    if name is None or by[0] <= 1 or any(dim.value != 1 for dim in shape):
        return None
    if not 0 < size.terms[(name,)] <= by[0] or not -by[0] < size.terms.get((), 0) < by[0]:
        return None
    # A sum that wraps is no size.
    if not terms.symbols.magnitudes.is_size(name) and not is_never_negative(terms, _MOST - size):
        return None
    if size.divided_by(by[0]) is not None or terms.symbols.vary({name}):
        return None
    return [terms.view(terms.sizes([divided(terms, size, by[0])]), shape)]


@rule("Range", constants=True)
def span(terms: Terms, head: Head, args: Args) -> Sequence[Term | None] | None:
    """Size Range(0, n, 1) by the trip count of a loop with input n."""
    start, end, step = args
    if start is None or end is None or step is None or end.fact.elem_type not in FOLLOWED:
        return None
    numbers = [terms.numbers(term) for term in (start, step)]
    if numbers != [[0], [1]] or element(end.fact) is not None:
        return None
    fact = Fact(end.fact.elem_type, (_count(terms, end),))
    return [terms.keep(head, args, fact)]


def _count(terms: Terms, number: Term) -> Dimension:
    content: Dimension | None = element(number.fact)
    if content is not None and content.less(0) is False:
        return content
    return not_negative(terms, terms.view(number, ()))


def sizes_of(terms: Terms, shape: Term | None) -> Shape | None:
    """Sizes in a vector, some of which only run time determines. None if they are not known one by
    one."""
    if shape is None or shape.fact.shape is None or len(shape.fact.shape) != 1:
        return None
    sizes: list[Dimension] = []
    for piece in shape.operands if shape.is_op("Concat") else (shape,):
        content = vector(piece.fact)
        if content is not None and None not in content:
            if any(size.less(0) is not False for size in content):
                return None
            sizes += content
        elif piece.fact.shape is not None and [d.value for d in piece.fact.shape] == [1]:
            sizes.append(terms.size_of(piece))
        else:
            return None
    return tuple(sizes)
