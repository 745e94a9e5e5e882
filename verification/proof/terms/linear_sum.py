"""Integers in Z rather than modulo 2^n: linear sums that stay within their type, with a range."""

from typing import NamedTuple

from ....facts.polynomial import Dimension
from .term import Term


class LinearSum(NamedTuple):
    """Integer in Z as a linear sum, with its range.

    Attributes:
        form: polynomial over sizes and atoms.
        atoms: terms of the atoms, by symbol.
    """

    form: Dimension
    atoms: dict[str, Term]
    low: int
    high: int

    def plus(self, other: "LinearSum", factor: int = 1) -> "LinearSum":
        """Sum with a multiple of another one."""
        low, high = sorted((other.low * factor, other.high * factor))
        form = self.form + other.form * factor
        return LinearSum(form, {**self.atoms, **other.atoms}, self.low + low, self.high + high)

    def shift(self, number: int) -> "LinearSum":
        """Sum with a constant."""
        return LinearSum(self.form + number, self.atoms, self.low + number, self.high + number)

    def parts(self) -> tuple[Dimension, list[tuple[Term, int]]]:
        """Polynomial over sizes alone, and each other term with its coefficient."""
        names = {(name,): term for name, term in self.atoms.items()}
        sizes = {m: factor for m, factor in self.form.terms.items() if m not in names}
        counts = [(names[m], factor) for m, factor in self.form.terms.items() if m in names]
        return Dimension(sizes), counts


ZERO_SUM = LinearSum(Dimension.constant(0), {}, 0, 0)
