"""Dimensions as polynomials over symbols, so that sums and products stay exact.

A symbol stands for the size of an axis: an integer of at least 0. What can be said for all sizes is
said (N + 5 is never 0, 2 * N is never 3), and nothing else. A size of at least k is k plus a symbol
for the rest, so it needs no rule of its own. What would be too long to be written out is
abbreviated: see `polynomial_size_limit.py`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping

from .polynomial_size_limit import (
    MOST_FACTORS,
    MOST_PRODUCTS,
    Monomial,
    abbreviated,
    known_as,
    put_into,
    symbols_in,
)

_ABOVE = "\0>="
"""Mark in the symbol of a size less its least number, which no model can declare."""

_MOST_QUOTIENTS = 16
"""Limit of the terms of a quotient by a sum."""


class Dimension:
    """A polynomial with integer coefficients, for example 2*N*M + 3. Immutable.

    Attributes:
        terms: the factor of each product of symbols; that of the empty product is a number.
        value: the number that it is; None if it holds symbols.

    >>> n = Dimension.symbol("N")
    >>> str((n + 2) * n), (n + 5).equals(n), (n + 5).equals(4)
    ('N*N + 2*N', False, False)
    """

    __slots__ = ("_hash", "_symbols", "_text", "terms", "value")

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        self.terms = abbreviated({m: factor for m, factor in terms.items() if factor})
        self.value = _number(self.terms)
        self._hash: int | None = None
        self._text = ""
        self._symbols: frozenset[str] | None = None

    @classmethod
    def constant(cls, value: int) -> Dimension:
        """A number."""
        return _constant(int(value))

    @classmethod
    def symbol(cls, name: str, least: int = 0) -> Dimension:
        """A symbol, of at least some number; its text is the name.

        >>> n = Dimension.symbol("N", 1)
        >>> str(n), n.equals(0), str(n * 2 - 1)
        ('N', False, '2*N - 1')
        """
        if least:
            return cls({(f"{name}{_ABOVE}{least}",): 1, (): least})
        return cls({(known_as(name),): 1})

    @property
    def only_symbol(self) -> str | None:
        """The symbol of a linear polynomial of one symbol; None for any other."""
        products = [product for product in self.terms if product]
        return products[0][0] if len(products) == 1 and len(products[0]) == 1 else None

    @property
    def symbols(self) -> frozenset[str]:
        """The symbols in it, those that it hides in abbreviations included."""
        if self._symbols is None:
            self._symbols = symbols_in(name for monomial in self.terms for name in monomial)
        return self._symbols

    @property
    def at_least(self) -> int | None:
        """The largest number that it is certainly not below; None if there is none known."""
        # Sizes are 0 or more, so products with positive factors only add.
        rest = self.terms.get((), 0)
        return rest if all(f > 0 for m, f in self.terms.items() if m) else None

    @property
    def at_most(self) -> int | None:
        """The smallest number that it is certainly not above; None if there is none known."""
        rest = self.terms.get((), 0)
        return rest if all(f < 0 for m, f in self.terms.items() if m) else None

    def equals(self, other: Dimension | int) -> bool | None:
        """Compare for equality: True for all sizes, False for none, else None."""
        number = _number_of(other)
        if number is not None and self.value is not None:
            return self.value == number
        difference = self - other
        if not difference.terms:
            return True
        low, high = difference.at_least, difference.at_most
        if (low is not None and low > 0) or (high is not None and high < 0):
            return False
        # 3*N + 6*M + 1 is never 0, because 3 divides all of it but the number.
        common = math.gcd(*(f for m, f in difference.terms.items() if m))
        if common and difference.terms.get((), 0) % common:
            return False
        return None

    def less(self, other: Dimension | int) -> bool | None:
        """Compare for order: True if less for all sizes, False for none, else None."""
        number = _number_of(other)
        if self.value is not None and number is not None:
            return self.value < number
        terms = dict(self.terms)  # of the difference, which need not become a polynomial
        for monomial, factor in _as_dimension(other).terms.items():
            terms[monomial] = terms.get(monomial, 0) - factor
        rest = terms.pop((), 0)
        if rest < 0 and all(factor <= 0 for factor in terms.values()):
            return True
        if rest >= 0 and all(factor >= 0 for factor in terms.values()):
            return False
        return None

    def vanishes_with(self, other: Dimension) -> bool:
        """Test for a size that is certainly 0 where another one, of positive terms, is."""
        if other.at_least != 0:
            return False
        # A sum of positive terms is 0 only where each of its products is.
        factors = [frozenset(monomial) for monomial in other.terms]
        return all(any(each.issubset(monomial) for each in factors) for monomial in self.terms)

    def divided_by(self, other: Dimension | int) -> Dimension | None:
        """The quotient, where the other divides it for all sizes and is not 0; else None."""
        divisor = _as_dimension(other)
        if divisor.value is not None:
            if divisor.value == 0 or any(f % divisor.value for f in self.terms.values()):
                return None
            return Dimension({m: f // divisor.value for m, f in self.terms.items()})
        if len(divisor.terms) == 1 and self.terms:
            return self._divided_by_monomial(divisor)
        return self._divided_by_sum(divisor) if (divisor.at_least or 0) > 0 else None

    def _divided_by_sum(self, divisor: Dimension) -> Dimension | None:
        """Exact division by a polynomial that is never 0: long division, by leading terms."""
        quotient, rest = Dimension({}), self
        by = divisor._leading_term
        for _ in range(_MOST_QUOTIENTS):
            if not rest.terms:
                return quotient
            part = rest._leading_term._divided_by_monomial(by)
            if part is None:
                return None
            quotient, rest = quotient + part, rest - part * divisor
        return None

    @property
    def _leading_term(self) -> Dimension:
        """The term of highest degree, by an order that products keep."""
        monomial = max(self.terms, key=lambda names: (len(names), sorted(names)))
        return Dimension({monomial: self.terms[monomial]})

    def _divided_by_monomial(self, divisor: Dimension) -> Dimension | None:
        """Exact division by one term; 0 / 0 is excluded by whoever divides by a size."""
        ((by, factor),) = divisor.terms.items()
        terms = {}
        for monomial, own in self.terms.items():
            # A list, since a symbol may be there twice, as in N*N.
            rest = list(monomial)
            for name in by:
                if name not in rest:
                    return None
                rest.remove(name)
            if own % factor:
                return None
            terms[tuple(rest)] = own // factor
        return Dimension(terms)

    def replaced(self, symbols: Mapping[str, Dimension]) -> Dimension:
        """The same with other sizes in the place of some symbols."""
        if self.symbols.isdisjoint(symbols):
            return self
        total = Dimension({})
        for monomial, factor in self.terms.items():
            term = Dimension.constant(factor)
            for name in monomial:
                term = term * _replaced(name, symbols)
            total = total + term
        return total

    def at(self, number: int) -> int:
        """The size where each symbol is a number; 0 where it is of no polynomial form."""
        return self.replaced(dict.fromkeys(self.symbols, Dimension.constant(number))).value or 0

    def __add__(self, other: Dimension | int) -> Dimension:
        return self._plus(other, 1)

    def __sub__(self, other: Dimension | int) -> Dimension:
        return self._plus(other, -1)

    def __neg__(self) -> Dimension:
        return Dimension.constant(0)._plus(self, -1)

    def _plus(self, other: Dimension | int, sign: int) -> Dimension:
        number = _number_of(other)
        if number is not None and self.value is not None:
            return Dimension.constant(self.value + sign * number)
        if number == 0:
            return self
        terms = dict(self.terms)
        for monomial, factor in _as_dimension(other).terms.items():
            terms[monomial] = terms.get(monomial, 0) + sign * factor
        return Dimension(terms)

    def __mul__(self, other: Dimension | int) -> Dimension:
        number = _number_of(other)
        if number is not None and self.value is not None:
            return Dimension.constant(self.value * number)
        if number == 1:
            return self
        terms: dict[Monomial, int] = {}
        own, others = self.terms, _as_dimension(other).terms
        # The product of two long ones would be longer still: both are shortened before.
        if len(own) * len(others) > MOST_PRODUCTS:
            own, others = abbreviated(own, 1), abbreviated(others, 1)
        for mine, a in own.items():
            for right, b in others.items():
                # Sorted, so that N*M and M*N are one product.
                product = tuple(sorted(mine + right))
                terms[product] = terms.get(product, 0) + a * b
        return Dimension(terms)

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: int) -> Dimension:
        return -self + other

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, Dimension):
            number = self.value
            return number == other.value if number is not None else self.terms == other.terms
        return isinstance(other, int) and self.value == other

    def __hash__(self) -> int:
        if self._hash is None:
            # A number equals itself as an int, so it is found in the same place of a set.
            whole = frozenset(self.terms.items()) if self.value is None else self.value
            self._hash = hash(whole)
        return self._hash

    def __str__(self) -> str:
        if not self._text:
            self._text = self._written()
        return self._text

    def _written(self) -> str:
        # A size with a least number is shown under its own name.
        above = {n: _rest(n) for monomial in self.terms for n in monomial if _ABOVE in n}
        if above:
            return self.replaced(above)._written()
        ordered = sorted(self.terms.items(), key=lambda term: (-len(term[0]), term[0]))
        text = ""
        for monomial, factor in ordered:
            size = "*".join(
                [*([str(abs(factor))] if abs(factor) != 1 or not monomial else []), *monomial]
            )
            sign = "-" if factor < 0 else "+"
            text += f" {sign} {size}" if text else (f"-{size}" if factor < 0 else size)
        return text or "0"

    __repr__ = __str__


def product(dims: Iterable[Dimension]) -> Dimension:
    """Sizes multiplied; 1 where there are none. Numbers and symbols are multiplied apart, as they
    are many."""
    number, symbols, open_ = 1, list[str](), None
    for dim in dims:
        if dim.value is not None:
            number *= dim.value
        elif len(dim.terms) == 1 and len(symbols) < MOST_FACTORS:
            ((monomial, factor),) = dim.terms.items()
            symbols += monomial
            number *= factor
        else:
            open_ = dim if open_ is None else open_ * dim
    if open_ is None:
        return Dimension({tuple(sorted(symbols)): number}) if symbols else _constant(number)
    return (open_ * Dimension({tuple(sorted(symbols)): 1}) if symbols else open_) * number


def _number(terms: Mapping[Monomial, int]) -> int | None:
    if not terms:
        return 0
    return terms.get(()) if len(terms) == 1 else None


def _rest(name: str) -> Dimension:
    """A size less its least number, by the name of the size."""
    size, least = name.rsplit(_ABOVE, 1)
    return Dimension.symbol(size) - int(least)


def _replaced(name: str, symbols: Mapping[str, Dimension]) -> Dimension:
    """Substitute sizes for a symbol, or for the symbols behind an abbreviation."""
    if name in symbols:
        return symbols[name]
    sizes = {s: symbols[s] for s in symbols_in([name]) if s in symbols}
    texts = {s: (str(dim), frozenset(dim.symbols)) for s, dim in sizes.items()}
    return Dimension.symbol(put_into(name, texts) if texts else name)


@functools.lru_cache(maxsize=1 << 12)
def _constant(value: int) -> Dimension:
    return Dimension({(): value})


def _number_of(size: Dimension | int) -> int | None:
    return size.value if isinstance(size, Dimension) else size


def _as_dimension(value: Dimension | int) -> Dimension:
    return value if isinstance(value, Dimension) else Dimension.constant(value)
