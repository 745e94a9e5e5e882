"""Single integers as linear sums that cannot overflow.

`equality/modular_polynomials.py` decides sums that wrap. An order of two integers is decided here:
from sums that stay within their type, whatever their operands are.
"""

import onnx

from ....facts.fact import PRIVATE, element
from ....facts.magnitudes import MOST_ELEMENTS
from ....facts.polynomial import Dimension, product
from ....facts.types import INTEGER_BITS
from ..canonicalize.casts import SIGNED, holds
from ..terms.linear_sum import ZERO_SUM, LinearSum
from ..terms.term import Term, bare
from ..terms.term_manager import Terms


def is_one_integer(term: Term | None) -> bool:
    """Test whether a term certainly is one integer."""
    if term is None or term.fact.shape is None or term.fact.elem_type not in INTEGER_BITS:
        return False
    return all(dim.value == 1 for dim in term.fact.shape)


def unwrap(terms: Terms, term: Term) -> Term:
    """Scalar integer without unit axes and without casts to types that hold it."""
    below: Term | None = term
    while below is not None:
        term, below = below, _below(below)
    return terms.view(term, ())


def _below(term: Term) -> Term | None:
    below = term.args[0] if term.head.name in ("view", "Cast") else None
    if below is None or not is_one_integer(below):
        return None
    if term.is_op("Cast") and not holds(below.fact.elem_type, term.fact.elem_type):
        return None
    return below


def range_of(elem_type: int) -> tuple[int, int]:
    """Smallest and largest integer of a type."""
    bits = INTEGER_BITS[elem_type]
    if elem_type in SIGNED:
        return -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    return 0, (1 << bits) - 1


_BOOL = onnx.TensorProto.BOOL
TOTAL = "total"
"""Head of a sum in Z; its key holds the coefficients."""
LEAST = "least"
"""Head of a minimum of sizes."""
QUOTIENT = "divided"
"""Head of a size by a number; its key holds the number."""

_FACTORS = {"Add": (1, 1), "Sub": (1, -1), "Neg": (-1,)}
_ATOM = "@"
_MOST_TERMS = 32
"""Limit of summands that are visited."""
_MOST_PRODUCTS = 8
_LARGEST = (1 << 63) - 1


def linear_sum(terms: Terms, term: Term) -> LinearSum:
    """Linear sum of an integer, as far as nothing overflows; without recursion."""
    root = unwrap(terms, term)
    memo: dict[Term, LinearSum] = {}
    stack = [root]
    while stack:
        at = stack[-1]
        if at in memo:
            stack.pop()
            continue
        below = _operands(terms, at) if len(memo) + len(stack) <= _MOST_TERMS else []
        waiting = [operand for operand in below if operand not in memo]
        if waiting:
            stack.extend(waiting)
            continue
        terms.budget.step()
        memo[at] = _combine(terms, at, [memo[operand] for operand in below])
        stack.pop()
    return memo[root]


def _operands(terms: Terms, term: Term) -> list[Term]:
    """Summands; none where a term is no sum."""
    is_sum = term.head.name in _FACTORS and element(term.fact) is None
    if term.head.name != TOTAL and not (is_sum and all(map(is_one_integer, term.args))):
        return []
    return [unwrap(terms, arg) for arg in term.args if arg is not None]


def _combine(terms: Terms, term: Term, summands: list[LinearSum]) -> LinearSum:
    if not summands:
        return _alone(terms, term)
    factors = term.head.key if term.head.name == TOTAL else _FACTORS[term.head.name]
    total = ZERO_SUM
    for operand, factor in zip(summands, factors, strict=True):
        total = total.plus(operand, factor)
    low, high = range_of(term.fact.elem_type)
    # A sum that may leave its type wraps at run time, and is an atom here.
    fits = term.head.name == TOTAL or (low <= total.low and total.high <= high)
    return total if fits and len(total.form.terms) <= _MOST_PRODUCTS else _alone(terms, term)


def _alone(terms: Terms, term: Term) -> LinearSum:
    """Linear sum of a single number, size or atom."""
    low, high = range_of(term.fact.elem_type)
    content = element(term.fact)
    if isinstance(content, Dimension):
        low = max(low, -highest(terms, -content))
        return LinearSum(content, {}, low, min(high, highest(terms, content)))
    for bounds in (entry_range, _count_range, _quotient_range):
        narrower = bounds(terms, term)
        if narrower is not None:
            return atom(term, *narrower)
    return atom(term, low, high)


def _count_range(terms: Terms, term: Term) -> tuple[int, int] | None:
    """Range of the number of truth values that hold."""
    term = bare(term)
    cast = term.args[0] if term.is_op("ReduceSum") else None
    flags = cast.args[0] if cast is not None and cast.is_op("Cast") else None
    if flags is None or flags.fact.elem_type != _BOOL or flags.fact.shape is None:
        return None
    count = product(flags.fact.shape).value
    # The sum of more truth values than its type can hold may wrap.
    fits = count is not None and count <= range_of(term.fact.elem_type)[1]
    return (0, count) if fits and count is not None else None


def entry_range(terms: Terms, term: Term) -> tuple[int, int] | None:
    """Range of an entry of a small constant at an unknown position."""
    while term.head.name in ("view", "narrow") and term.args[0] is not None:
        term = term.args[0]
    numbers = terms.numbers(term)
    return (min(numbers), max(numbers)) if numbers else None


def quotient_of(term: Term) -> tuple[Dimension, Dimension] | None:
    """Dividend, at least 0, and divisor, at least 1, of a quotient of sizes."""
    term = bare(term)
    if term.head.name == QUOTIENT:
        size = element(term.operands[0].fact)
        return (size, Dimension.constant(term.head.key)) if size.less(0) is False else None
    if not term.is_op("Div") or not all(map(is_one_integer, term.args)):
        return None
    dividend, divisor = (element(arg.fact) for arg in term.operands)
    if not isinstance(dividend, Dimension) or not isinstance(divisor, Dimension):
        return None
    is_size = dividend.less(0) is False and divisor.less(1) is False
    return (dividend, divisor) if is_size else None


def _quotient_range(terms: Terms, term: Term) -> tuple[int, int] | None:
    """Range of a quotient of sizes."""
    operands = quotient_of(term)
    if operands is None:
        return None
    dividend, divisor = operands
    is_less = dividend.less(divisor)
    if is_less:
        return 0, 0
    low, high = int(is_less is False), range_of(term.fact.elem_type)[1]
    return low, min(highest(terms, dividend), high)


def range_of_atom(terms: Terms, term: Term) -> tuple[int, int]:
    """Range of a term that is no sum. A minimum is one of sizes."""
    number = _alone(terms, term)
    return max(number.low, 0) if term.head.name == LEAST else number.low, number.high


def atom(term: Term, low: int, high: int) -> LinearSum:
    """Linear sum of a term that is no sum."""
    name = f"{_ATOM}{term.number}"
    return LinearSum(Dimension.symbol(name), {name: term}, low, high)


def highest(terms: Terms, size: Dimension) -> int:
    """Upper bound of a number."""
    exact = without_counts(terms, size)
    own = _highest_sum(terms, size)
    return own if exact is size else min(own, _highest_sum(terms, exact))


def without_counts(terms: Terms, size: Dimension) -> Dimension:
    """Number with n in the place of each max(n, 0) where n is never negative."""
    counts = {name: terms.counts[name] for name in size.symbols & terms.counts.keys()}
    numbers = {n: count.form for n, count in counts.items() if count.low >= 0 and not count.atoms}
    return size.replaced(numbers) if numbers else size


def _highest_sum(terms: Terms, size: Dimension) -> int:
    total = 0
    for symbols, factor in size.terms.items():
        if not symbols:
            total += factor
        elif factor > 0:
            total += factor * (
                highest_of_symbol(terms, symbols[0]) if len(symbols) == 1 else _LARGEST
            )
    return total


def highest_of_symbol(terms: Terms, symbol: str) -> int:
    """Upper bound of a size, or of another number of at least 0."""
    count = terms.counts.get(symbol)
    if count is not None:
        return count.high
    return _LARGEST if symbol.startswith(PRIVATE) else MOST_ELEMENTS
