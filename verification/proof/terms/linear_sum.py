"""Integers in Z rather than modulo 2^n: linear sums that stay within their type, with a range."""

from __future__ import annotations

from typing import NamedTuple

from ....facts.polynomial import Dimension
from .term import Term


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
