"""Numbers of trips: the least of several integers, or none where it is negative, in one form
however a model computes it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import onnx

from ...facts.fact import Fact, element
from ...facts.polynomial import Dimension
from .exact_integers import TOTAL, Whole, atom, highest, whole
from .integers import bare, is_one_integer
from .terms import fingerprint

if TYPE_CHECKING:
    from .term_manager import Terms
    from .terms import Term

LEAST = "least"
"""The head of the least of several sizes."""
_MOST_PARTS = 16
_ZERO = Dimension.constant(0)
_SCALAR = Fact(onnx.TensorProto.INT64, ())


def not_negative(terms: Terms, number: Term) -> Dimension:
    """A number that run time tells, or 0 where it is negative."""
    told = element(number.fact)
    if isinstance(told, Dimension) and told.less(0) is False:
        return told
    if is_one_integer(number):
        return at_least(terms, number, 0)
    return terms.following("least0", number, None)


def at_least(terms: Terms, number: Term, floor: int) -> Dimension:
    """One integer that run time tells, or another one, of at least 0, where it is below that."""
    parts = _least_of(terms, number)
    return (
        least(terms, [counted(terms, whole(terms, part).moved(-floor)) for part in parts]) + floor
    )


def counted(terms: Terms, number: Whole) -> Dimension:
    """A number, or 0 where it is negative."""
    number = _before_zero(terms, number)
    told, atoms = number.parts()
    if number.high <= 0:
        return _ZERO
    if not atoms and told.less(0) is False:
        return told
    return _named(terms, _total(terms, told, atoms), number)


def _before_zero(terms: Terms, number: Whole) -> Whole:
    """Max(n, 0) - 1 is negative where n - 1 is, and else the same."""
    told, atoms = number.parts()
    rest = told.terms.get((), 0)
    symbols = [product for product in told.terms if product]
    if atoms or rest > 0 or len(symbols) != 1 or len(symbols[0]) != 1:
        return number
    known = terms.counts.get(symbols[0][0]) if told.terms[symbols[0]] == 1 else None
    return number if known is None else known.moved(rest)


def _named(terms: Terms, term: Term, number: Whole) -> Dimension:
    """The size that a term is, or 0 where it is negative."""
    size = terms.following("least0", term, None)
    for name in size.symbols:
        known = terms.counts.get(name)
        if known is None or number.high < known.high:
            terms.counts[name] = number
    return size


def _total(terms: Terms, told: Dimension, atoms: list[tuple[Term, int]]) -> Term:
    """One term for a sum, in whatever order it is written."""
    if not atoms:
        return terms.size(told)
    if len(atoms) == 1 and atoms[0][1] == 1 and told.value == 0:
        return atoms[0][0]
    ordered = sorted(atoms, key=lambda atom: (fingerprint(atom[0]), atom[1]))
    head = terms.heads.own(TOTAL, (1, *(factor for _, factor in ordered)))
    return terms.keep(head, (terms.size(told), *(term for term, _ in ordered)), _SCALAR)


def _least_of(terms: Terms, number: Term) -> list[Term]:
    """The numbers of which one is the least; itself where there are none."""
    found: list[Term] = []
    waiting = [number]
    while waiting:
        term = bare(terms, waiting.pop())
        args = [arg for arg in term.args if is_one_integer(arg)]
        if term.head.name not in ("Min", LEAST) or len(args) != len(term.args):
            found.append(term)
        else:
            waiting.extend([arg for arg in args if arg is not None])
        if len(found) + len(waiting) > _MOST_PARTS:
            return [number]
    return found


def least(terms: Terms, sizes: Iterable[Dimension]) -> Dimension:
    """The least of several sizes."""
    known = list(dict.fromkeys(part for size in sizes for part in _parts(terms, size)))
    kept = [size for size in known if not any(_is_more(terms, size, o) for o in known)]
    if len(kept) == 1:
        return kept[0]
    ordered = sorted(kept, key=str)
    term = terms.keep(terms.heads.own(LEAST), tuple(map(terms.size, ordered)), _SCALAR)
    high = min(highest(terms, size) for size in ordered)
    return _named(terms, term, atom(term, 0, high))


def _parts(terms: Terms, size: Dimension) -> list[Dimension]:
    """The sizes of which one is the least one; itself where there are none."""
    (name,) = size.symbols if len(size.symbols) == 1 else ("",)
    known = terms.counts.get(name) if size == Dimension.symbol(name) else None
    (term,) = known.atoms.values() if known is not None and len(known.atoms) == 1 else (None,)
    if term is None or term.head.name != LEAST:
        return [size]
    return [element(arg.fact) for arg in term.args if arg is not None]


def _is_more(terms: Terms, size: Dimension, other: Dimension) -> bool:
    """Whether a size is certainly no less than another one."""
    if size == other:
        return False
    if size.value is not None and highest(terms, other) <= size.value:
        return True
    return (size - other).less(0) is False
