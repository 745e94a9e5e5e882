"""Inequalities of sizes that hold for all values of their symbols: linear integer arithmetic.

What a symbol stands for says what holds of it; a product of symbols is one unknown.

    m = max(s, 0)              m >= s, m >= 0; one of both is equal
    l = min(p, q)              l <= p, l <= q; one of both is equal
    k = floor(a / b)           b k <= a <= b k + b - 1    for a of at least 0 and b of at least 1
    i, one of n iterations     i <= n - 1

A number is never negative if these facts contradict that it is -1 or less: all unknowns are
eliminated (Fourier and Motzkin) by sums of a lower and an upper bound of each. That is done for
each case of a maximum or minimum that matters. All sums are in Z: no fact rests on a sum that may
wrap, since the parts of a linear sum stay within their type (`exact_integers.py`).
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from ....facts.fact import element
from ....facts.polynomial import Dimension
from ....facts.polynomial_size_limit import Monomial
from ..terms.term import Term
from ..terms.term_manager import Terms
from .exact_integers import LEAST, highest_of_symbol, quotient_of, range_of_atom

_MOST_FACTS = 24
"""Limit of facts, and of those that remain while unknowns are eliminated."""
_MOST_KNOWN = 8
"""Limit of known numbers that a question rests on."""
_MOST_CASES = 3
"""Limit of maxima and minima that are told apart, one after the other."""
_SYMBOL, _SUM = 32, 8
"""Steps of the facts of a symbol, and of a sum of two of them."""
_LESS = "-"
"""Beginning of the suffix of a size less its least number. No input declares such a name."""
_ZERO = Dimension.constant(0)
_Row = dict[Monomial, int]
_Case = tuple[Dimension, Sequence[Dimension]]
"""Number that a maximum or minimum is, and numbers that are then at least 0."""


def is_never_negative(terms: Terms, size: Dimension, facts: Collection[Dimension] = ()) -> bool:
    """Test whether a number is at least 0 for all values of its symbols.

    Args:
        terms: the terms, which define the symbols.
        size: the number.
        facts: numbers that are known to be at least 0.
    """
    # The bounds of single symbols come first: they need no elimination.
    is_negative, facts = size.less(0), (*facts, *terms.demands)
    if is_negative is not None or size in facts:
        return not is_negative
    case = [fact for fact in facts if _names(terms, fact) & size.symbols][:_MOST_KNOWN]
    if case and size.replaced(at_least(least_sizes(case))).less(0) is False:
        return True
    defined = (terms.counts, terms.limits, terms.sized)
    if case or any(name in each for name in size.symbols for each in defined):
        return _Facts(terms).imply(size, case, _MOST_CASES)
    return False


def _names(terms: Terms, fact: Dimension) -> set[str]:
    """Symbols that a fact is about: its own, and those that its quotients divide."""
    quotients = (quotient_of(terms.sized[name]) for name in fact.symbols if name in terms.sized)
    return set(fact.symbols).union(*(each[0].symbols for each in quotients if each is not None))


def least_sizes(facts: Iterable[Dimension]) -> dict[str, int]:
    """Least numbers of symbols, by numbers that are at least 0."""
    minima: dict[str, int] = {}
    for number in facts:
        (product, factor), *others = [(m, f) for m, f in number.terms.items() if m] or [((), 0)]
        rest = number.terms.get((), 0)
        if others or factor <= 0 or rest >= 0:
            continue
        least = -(rest // factor) if len(product) == 1 else 1
        minima.update({name: max(least, minima.get(name, 1)) for name in product})
    return minima


def at_least(minima: Mapping[str, int]) -> dict[str, Dimension]:
    """Sizes of symbols that are at least some numbers: these, and symbols for the rest."""
    return {
        name: Dimension.symbol(f"{name}{_LESS}{least}") + least for name, least in minima.items()
    }


class _Facts:
    """Facts of the symbols that a proof has met.

    Args:
        terms: the terms, which define the symbols.
    """

    def __init__(self, terms: Terms) -> None:
        self._terms = terms
        self._atoms: dict[str, Term] = {}

    def imply(self, size: Dimension, case: Sequence[Dimension], cases: int) -> bool:
        """Test whether a number is at least 0 where all numbers of a case are."""
        size, *case = self._exact([size, *case])
        # Of whole numbers, one that is negative is at most -1.
        if self._contradict([-size - 1, *case, *self._about([size, *case])]):
            return True
        for name in sorted(size.symbols) if cases else ():
            each = self._cases(name, size.terms.get((name,), 0))
            # The cases of one name suffice here; each of them goes on with the other names.
            if each:
                return all(
                    self.imply(size.replaced({name: to}), [*case, *then], cases - 1)
                    for to, then in each
                )
        return False

    def _exact(self, sizes: Sequence[Dimension]) -> list[Dimension]:
        """Sizes with s in the place of max(s, 0) where s is never negative."""
        counts = self._terms.counts
        for _ in range(_MOST_CASES):
            names = {name for size in sizes for name in size.symbols if name in counts}
            forms = {name: counts[name].form for name in names if counts[name].low >= 0}
            sizes = [size.replaced(forms) for size in sizes]
            for name in names:
                self._atoms.update(counts[name].atoms)
        return list(sizes)

    def _cases(self, name: str, factor: int) -> list[_Case]:
        """Cases of a maximum or minimum; none where its bounds say as much."""
        count, parts = self._terms.counts.get(name), self._parts(name)
        # A maximum is at least its parts, which suffices unless it counts negatively.
        if count is not None and factor < 0:
            return [(_ZERO, (-count.form,)), (count.form, (count.form,))]
        return [(part, [other - part for other in parts]) for part in parts if factor > 0]

    def _about(self, sizes: Iterable[Dimension]) -> list[Dimension]:
        """Numbers that are at least 0, by the symbols of sizes and of such numbers."""
        facts: list[Dimension] = []
        waiting = sorted({name for size in sizes for name in size.symbols})
        symbols = {*waiting}
        while waiting and len(facts) < _MOST_FACTS:
            self._terms.budget.step(_SYMBOL)
            new = self._exact([*self._of_symbol(waiting.pop())])
            names = {name for fact in new for name in fact.symbols} - symbols
            facts, waiting, symbols = facts + new, waiting + sorted(names), symbols | names
        return facts

    def _of_symbol(self, name: str) -> Iterator[Dimension]:
        symbol, count = Dimension.symbol(name), self._terms.counts.get(name)
        low, high = 0, max(highest_of_symbol(self._terms, name), 0)
        if name in self._terms.limits:
            yield self._terms.limits[name] - 1 - symbol
        if count is not None:
            yield symbol - count.form
        elif name in self._atoms:
            low, high = range_of_atom(self._terms, self._atoms[name])
            yield symbol - low
        yield Dimension.constant(high) - symbol
        for part in self._parts(name):
            yield part - symbol
        term = self._atoms.get(name, self._terms.sized.get(name))
        operands = None if term is None else quotient_of(term)
        if operands is not None:
            dividend, divisor = operands
            yield dividend - divisor * symbol
            yield divisor * symbol + divisor - 1 - dividend

    def _parts(self, name: str) -> list[Dimension]:
        """Numbers whose minimum an atom is."""
        atom = self._atoms.get(name)
        is_least = atom is not None and atom.head.name == LEAST
        return [element(arg.fact) for arg in atom.operands] if atom and is_least else []

    def _contradict(self, facts: Iterable[Dimension]) -> bool:
        """Test whether no integers satisfy that all these numbers are at least 0."""
        signed = {n for n, atom in self._atoms.items() if range_of_atom(self._terms, atom)[0] < 0}
        rows = [_tight(dict(fact.terms)) for fact in facts]
        while len(rows) <= _MOST_FACTS:
            if any(row.keys() <= {()} and row.get((), 0) < 0 for row in rows):
                return True
            choices = []
            for unknown in {monomial for row in rows for monomial in row if monomial}:
                below = [row for row in rows if row.get(unknown, 0) > 0]
                above = [row for row in rows if row.get(unknown, 0) < 0]
                if signed.isdisjoint(unknown):
                    below.append({unknown: 1})
                choices.append((len(below) * len(above), unknown, below, above))
            if not choices:
                return False
            # The unknown with the fewest pairs of bounds first, since each pair becomes a row.
            count, unknown, below, above = min(choices, key=lambda choice: choice[:2])
            self._terms.budget.step(len(rows) + _SUM * count)
            rows = [row for row in rows if unknown not in row]
            rows += [_without(unknown, one, other) for one in below for other in above]
        return False


def _without(unknown: Monomial, below: _Row, above: _Row) -> _Row:
    """Sum of multiples of two rows in which an unknown cancels out."""
    one, other = -above[unknown], below[unknown]
    names = {**below, **above}
    total = {m: one * below.get(m, 0) + other * above.get(m, 0) for m in names}
    return _tight({m: factor for m, factor in total.items() if factor})


def _tight(row: _Row) -> _Row:
    """Row divided by the common factor of its unknowns; its number is rounded down."""
    common = math.gcd(*[factor for monomial, factor in row.items() if monomial])
    return {m: factor // common for m, factor in row.items()} if common > 1 else row
