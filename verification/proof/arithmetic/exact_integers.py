"""Single integers as linear sums that cannot overflow, also where float32 rounds them.

`equality/modular_polynomials.py` decides sums that wrap. An order of two integers is decided here:
from sums that stay within their type, whatever their operands are.

Integers that are compared as float32 round to the same number from 2^24 on. Rounded int32 numbers
lie at most 128 apart, so that no integer rounds to the same number as one that is further away. The
first integer not less than a bound, once both are rounded, follows from the count of those among
the 128 before it that are less.
"""

from __future__ import annotations

import numpy as np
import onnx

from ....facts.fact import PRIVATE, Fact, element, vector
from ....facts.polynomial import Dimension
from ....facts.types import INTEGER_BITS
from ..canonicalize.casts import SIGNED, holds
from ..terms.linear_sum import ZERO_SUM, LinearSum
from ..terms.term import Term
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


INT64, FLOAT, BOOL = onnx.TensorProto.INT64, onnx.TensorProto.FLOAT, onnx.TensorProto.BOOL
SPACING = 128
_MOST = 1 << 31
COUNT = "count"
"""Head of a number of integers; its key holds the side of the bound and the maximum."""


def before_rounding(terms: Terms, term: Term) -> Term | None:
    """Integers that a cast to float32 rounds; None for other terms."""
    tensor = terms.tensor(term)
    if tensor is not None and tensor.elem_type == FLOAT and tensor.size == 1:
        number = tensor.numpy()
        is_whole = bool((abs(number) <= _MOST).all() and (number == np.floor(number)).all())
        return terms.constant(number.astype(np.int64)) if is_whole else None
    below = term.args[0] if term.is_op("Cast") and term.fact.elem_type == FLOAT else None
    return None if below is None or below.fact.elem_type == BOOL else below


def count_before(terms: Terms, bound: Term, rising: bool) -> Term:
    """Number of integers before a bound that stay before it once rounded to float32. Of the
    integers next to the bound, those on the counter's side count.

    Args:
        terms: where terms are made.
        bound: one integer.
        rising: whether the counter approaches from below.
    """
    content = element(bound.fact)
    if isinstance(content, Dimension) and content.value is not None:
        return terms.size(_count(content.value, rising))
    head = terms.heads.own(COUNT, ("below" if rising else "above", SPACING))
    return terms.keep(head, (_plain(terms, bound),), Fact(INT64, ()))


def _count(bound: int, rising: bool) -> int:
    away = np.arange(1, SPACING + 1) * (-1 if rising else 1)
    near, middle = (bound + away).astype(np.float32), np.float32(bound)
    return int((near < middle if rising else near > middle).sum())


def match_count_before(terms: Terms, term: Term) -> Term | None:
    """Number computed as `passed` by a ReduceSum of comparisons; None for another sum."""
    counts = term.args[0] if term.is_op("ReduceSum") else None
    compared = counts.args[0] if counts is not None and counts.is_op("Cast") else None
    if compared is None or not compared.is_op("Less", "Greater") or not _is_row(compared):
        return None
    low, high = compared.args if compared.is_op("Less") else compared.args[::-1]
    rising = _is_row(low)
    near, bound = (low, high) if rising else (high, low)
    near = None if near is None else before_rounding(terms, near)
    bound = None if bound is None else before_rounding(terms, bound)
    if near is None or bound is None or not is_one_integer(bound):
        return None
    return count_before(terms, bound, rising) if _are_near(terms, near, bound, rising) else None


def _is_row(term: Term | None) -> bool:
    shape = None if term is None else term.fact.shape
    return shape is not None and [dim.value for dim in shape] == [SPACING]


def _are_near(terms: Terms, near: Term, bound: Term, rising: bool) -> bool:
    """Test whether a row holds the int64 neighbours of a bound, the nearest first."""
    away = [-n if rising else n for n in range(1, SPACING + 1)]
    content, plain = vector(near.fact), _plain(terms, bound)
    if near.fact.elem_type != INT64 or not _is_row(near):
        return False
    if content is not None and None not in content:
        middle = element(plain.fact)
        return isinstance(middle, Dimension) and content == [middle + n for n in away]
    if not near.is_op("Add"):
        return False
    for numbers, other in (near.args, near.args[::-1]):
        if terms.numbers(numbers) == away and other is not None and is_one_integer(other):
            return _plain(terms, other) is plain
    return False


def _plain(terms: Terms, bound: Term) -> Term:
    """Integer in one form, whatever its type."""
    content = element(bound.fact)
    return terms.size(content) if isinstance(content, Dimension) else unwrap(terms, bound)


TOTAL = "total"
"""Head of a sum in Z; its key holds the coefficients."""

_FACTORS = {"Add": (1, 1), "Sub": (1, -1), "Neg": (-1,)}
_ATOM = "@"
_MOST_TERMS = 32
"""Limit of summands that are visited."""
_MOST_PRODUCTS = 8
_LARGEST_SIZE = 1 << 62
"""Upper bound of a size: no tensor has so many elements along an axis."""
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
    fits = term.head.name == TOTAL or (low <= total.low and total.high <= high)
    return total if fits and len(total.form.terms) <= _MOST_PRODUCTS else _alone(terms, term)


def _alone(terms: Terms, term: Term) -> LinearSum:
    """Linear sum of a single number, size or atom."""
    low, high = range_of(term.fact.elem_type)
    content = element(term.fact)
    if isinstance(content, Dimension):
        least = content.at_least
        low = low if least is None else max(low, least)
        return LinearSum(content, {}, low, min(high, highest(terms, content)))
    term = match_count_before(terms, term) or term
    if term.head.name == COUNT:
        low, high = 0, term.head.key[1]
    return atom(term, low, high)


def atom(term: Term, low: int, high: int) -> LinearSum:
    """Linear sum of a term that is no sum."""
    name = f"{_ATOM}{term.number}"
    return LinearSum(Dimension.symbol(name), {name: term}, low, high)


def highest(terms: Terms, size: Dimension) -> int:
    """Upper bound of a size."""
    total = 0
    for product, factor in size.terms.items():
        if not product:
            total += factor
        elif factor > 0:
            total += factor * (_highest(terms, product[0]) if len(product) == 1 else _LARGEST)
    return total


def _highest(terms: Terms, symbol: str) -> int:
    count = terms.counts.get(symbol)
    if count is not None:
        return count.high
    return _LARGEST if symbol.startswith(PRIVATE) else _LARGEST_SIZE
