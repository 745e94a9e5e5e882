"""Integers as they are, not modulo 2^n: sums in which nothing can overflow.

What `rings.py` knows holds of sums that wrap. Which of two numbers is the larger one does not: that
is asked of sums that stay within their type, whatever their operands are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ...facts.fact import PRIVATE, element
from ...facts.polynomial import Dimension
from .float32_rounding import COUNT, read_passed
from .integers import bare, is_one_integer, range_of

if TYPE_CHECKING:
    from .term_manager import Terms
    from .terms import Term

TOTAL = "total"
"""The head of a sum of terms that does not wrap, each as often as its key says."""

_FACTORS = {"Add": (1, 1), "Sub": (1, -1), "Neg": (-1,)}
_ATOM = "@"
_MOST_TERMS = 32
"""So many terms are looked at."""
_MOST_PRODUCTS = 8
_LARGEST_SIZE = 1 << 62
"""No tensor has so many elements along an axis."""
_LARGEST = (1 << 63) - 1


class Whole(NamedTuple):
    """An integer as it is.

    Attributes:
        form: what it is, over sizes and atoms.
        atoms: the terms of the atoms, by their symbols.
        low: it is never less.
        high: it is never more.
    """

    form: Dimension
    atoms: dict[str, Term]
    low: int
    high: int

    def plus(self, other: Whole, factor: int = 1) -> Whole:
        """Itself and another one, so many times."""
        low, high = sorted((other.low * factor, other.high * factor))
        form = self.form + other.form * factor
        return Whole(form, {**self.atoms, **other.atoms}, self.low + low, self.high + high)

    def moved(self, number: int) -> Whole:
        """Itself and a number."""
        return Whole(self.form + number, self.atoms, self.low + number, self.high + number)

    def parts(self) -> tuple[Dimension, list[tuple[Term, int]]]:
        """What sizes tell, and each other term with how often it is in it."""
        names = {(name,): term for name, term in self.atoms.items()}
        told = {m: factor for m, factor in self.form.terms.items() if m not in names}
        counts = [(names[m], factor) for m, factor in self.form.terms.items() if m in names]
        return Dimension(told), counts


NOTHING = Whole(Dimension.constant(0), {}, 0, 0)


def whole(terms: Terms, term: Term) -> Whole:
    """One integer, as far as it is a sum in which nothing overflows; without recursion."""
    root = bare(terms, term)
    known: dict[Term, Whole] = {}
    stack = [root]
    while stack:
        at = stack[-1]
        if at in known:
            stack.pop()
            continue
        below = _operands(terms, at) if len(known) + len(stack) <= _MOST_TERMS else []
        waiting = [operand for operand in below if operand not in known]
        if waiting:
            stack.extend(waiting)
            continue
        terms.budget.step()
        known[at] = _combined(terms, at, [known[operand] for operand in below])
        stack.pop()
    return known[root]


def _operands(terms: Terms, term: Term) -> list[Term]:
    """What a sum is made of; nothing where a term is none."""
    is_sum = term.head.name in _FACTORS and element(term.fact) is None
    if term.head.name != TOTAL and not (is_sum and all(map(is_one_integer, term.args))):
        return []
    return [bare(terms, arg) for arg in term.args if arg is not None]


def _combined(terms: Terms, term: Term, given: list[Whole]) -> Whole:
    if not given:
        return _alone(terms, term)
    factors = term.head.key if term.head.name == TOTAL else _FACTORS[term.head.name]
    made = NOTHING
    for operand, factor in zip(given, factors, strict=True):
        made = made.plus(operand, factor)
    low, high = range_of(term.fact.elem_type)
    fits = term.head.name == TOTAL or (low <= made.low and made.high <= high)
    return made if fits and len(made.form.terms) <= _MOST_PRODUCTS else _alone(terms, term)


def _alone(terms: Terms, term: Term) -> Whole:
    """What is no such sum: a number, a size, or some term."""
    low, high = range_of(term.fact.elem_type)
    told = element(term.fact)
    if isinstance(told, Dimension):
        least = told.at_least
        low = low if least is None else max(low, least)
        return Whole(told, {}, low, min(high, highest(terms, told)))
    term = read_passed(terms, term) or term
    if term.head.name == COUNT:
        low, high = 0, term.head.key[1]
    return atom(term, low, high)


def atom(term: Term, low: int, high: int) -> Whole:
    """A term that is what it is."""
    name = f"{_ATOM}{term.number}"
    return Whole(Dimension.symbol(name), {name: term}, low, high)


def highest(terms: Terms, size: Dimension) -> int:
    """What a size is at most."""
    total = 0
    for product, factor in size.terms.items():
        if not product:
            total += factor
        elif factor > 0:
            total += factor * (_highest(terms, product[0]) if len(product) == 1 else _LARGEST)
    return total


def _highest(terms: Terms, symbol: str) -> int:
    known = terms.counts.get(symbol)
    if known is not None:
        return known.high
    return _LARGEST if symbol.startswith(PRIVATE) else _LARGEST_SIZE
