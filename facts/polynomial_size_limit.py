"""Polynomials that are too long to be written out: symbols stand for most of their terms.

The product of 24 sizes, each plus one, has 2 to the power of 24 terms. The sum of those with
positive factors is at least 0 whatever the sizes are, and so is that of the others, negated: each
is a symbol. Equal polynomials have the same symbols, so they stay equal.
"""

import hashlib
import weakref
from collections.abc import Iterable, Mapping, Set

from ..limits import limit

Monomial = tuple[str, ...]
Terms = dict[Monomial, int]

MOST_TERMS = limit("size_terms")
"""So many terms a polynomial has at most."""

MOST_PRODUCTS = limit("size_products")
"""So many terms are multiplied with each other at most."""

MOST_FACTORS = limit("size_factors")
"""So many symbols are multiplied at most."""

LARGEST = 1 << 256
"""Larger numbers are no sizes and no bounds of elements; their digits could fill the memory."""

_BEGIN = "?~"


class Abbreviation(str):
    """The name of a symbol that stands for terms.

    Attributes:
        symbols: the name itself, and the symbols in the terms.
    """

    symbols: frozenset[str]


_ALIVE: weakref.WeakValueDictionary[str, Abbreviation] = weakref.WeakValueDictionary()
"""Names that went through text, as through messages, are found here again."""


def known_as(name: str) -> str:
    """The name of a symbol, with what it hides where it is an abbreviation."""
    return _ALIVE.get(name, name) if name.startswith(_BEGIN) else name


def symbols_in(names: Iterable[str]) -> frozenset[str]:
    """Symbols, and those that they stand for."""
    own = frozenset(names)
    return own.union(*[name.symbols for name in own if isinstance(name, Abbreviation)])


class _Shortened:
    times = 0


def times_shortened() -> int:
    """Number of polynomials abbreviated so far."""
    return _Shortened.times


def abbreviated(terms: Terms, most: int = MOST_TERMS) -> Terms:
    """A polynomial with no more terms, factors and digits than are written out."""
    if not _is_long(terms, most):
        return terms
    _Shortened.times += 1
    number = terms.get((), 0)
    short: Terms = {(): number} if 0 < abs(number) < LARGEST else {}
    # A number too large to be written out is among the terms that a symbol stands for.
    rest = {m: f for m, f in terms.items() if m or not short}
    for sign in (1, -1):
        part = {m: sign * f for m, f in rest.items() if sign * f > 0}
        if part:
            short[(_named(part),)] = sign
    return short


def _is_long(terms: Terms, most: int) -> bool:
    if len(terms) > most:
        return True
    for monomial, factor in terms.items():
        if len(monomial) > MOST_FACTORS or not -LARGEST < factor < LARGEST:
            return True
    return False


def _named(part: Terms) -> Abbreviation:
    """The symbol of some terms."""
    # Equal terms in another order must get the same name.
    terms = sorted((monomial, factor) for monomial, factor in part.items())
    symbols = symbols_in(name for monomial in part for name in monomial)
    return _made([f"{'*'.join(map(repr, m))}*{f:x}" for m, f in terms], symbols)


def put_into(name: str, sizes: Mapping[str, tuple[str, Set[str]]]) -> str:
    """Substitute sizes for the symbols hidden in an abbreviation.

    Args:
        name: the abbreviation.
        sizes: for each symbol the text of the size and the symbols in it.
    """
    assert isinstance(name, Abbreviation)
    hidden = name.symbols - sizes.keys() - {name}
    symbols = hidden.union(*(symbols for _, symbols in sizes.values()))
    return _made([name, *(f"{s!r}={text!r}" for s, (text, _) in sorted(sizes.items()))], symbols)


def _made(content: list[str], symbols: frozenset[str]) -> Abbreviation:
    name = Abbreviation(_BEGIN + hashlib.sha256("+".join(content).encode()).hexdigest()[:24])
    symbol = _ALIVE.get(name)
    if symbol is None:
        name.symbols = symbols | {name}
        symbol = _ALIVE[name] = name
    return symbol
