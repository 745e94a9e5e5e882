"""Polynomials over opaque atoms: the symbolic value of an element of a state.

Expanded, (1 - z) * c + z * h and c + z * (h - c) are equal, whatever nodes compute them.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import NamedTuple

from ....ir import Value
from ...iteration.loop_view import State
from ..weights import Matrix, Unfit

MOST_TERMS = 24
"""The limit of terms: no cell has as many."""

_DEEPEST = 12
"""The limit of nested activations and products of matrices."""

Monomial = tuple[int, ...]
"""A product of atoms, by sorted numbers; the empty one is 1."""


class StateAtom(NamedTuple):
    """A loop-carried state at the start of an iteration."""

    state: State


class Free(NamedTuple):
    """A state-independent value, or some of its columns.

    Attributes:
        width: its number of columns; 0 if it is equal in all columns.
        columns: the first column and the end; None for all.
    """

    value: Value
    width: int
    columns: tuple[int, int] | None = None


class Product(NamedTuple):
    """A monomial times a matrix."""

    source: Monomial
    matrix: Matrix


class Activation(NamedTuple):
    """A function of each element.

    Attributes:
        kind: its name, as the attribute `activations` of RNN writes it.
        alpha: its first parameter; 0 where it has none.
        beta: its second one.
    """

    kind: str
    alpha: float
    beta: float
    argument: Sum

    @property
    def function(self) -> tuple[str, float, float]:
        """The function alone."""
        return self.kind, self.alpha, self.beta


Atom = StateAtom | Free | Product | Activation


class Sum:
    """A polynomial: monomials with their factors. Immutable.

    Attributes:
        terms: the factor of each monomial, none of them 0.
    """

    __slots__ = ("_hash", "terms")

    def __init__(self, terms: Mapping[Monomial, float]) -> None:
        self.terms = {monomial: factor for monomial, factor in terms.items() if factor}
        if len(self.terms) > MOST_TERMS:
            raise Unfit(f"has more than {MOST_TERMS} terms")
        self._hash: int | None = None

    @property
    def number(self) -> float | None:
        """The value of a constant sum; None for other sums."""
        if not self.terms:
            return 0.0
        return self.terms.get(()) if len(self.terms) == 1 else None

    def __add__(self, other: Sum) -> Sum:
        terms = dict(self.terms)
        for monomial, factor in other.terms.items():
            terms[monomial] = terms.get(monomial, 0.0) + factor
        return Sum(terms)

    def times(self, factor: float) -> Sum:
        """Multiply by a number."""
        return Sum({monomial: own * factor for monomial, own in self.terms.items()})

    def __sub__(self, other: Sum) -> Sum:
        return self + other.times(-1.0)

    def __mul__(self, other: Sum) -> Sum:
        terms: dict[Monomial, float] = {}
        for monomial, one in self.terms.items():
            for other_monomial, another in other.terms.items():
                product = tuple(sorted(monomial + other_monomial))
                terms[product] = terms.get(product, 0.0) + one * another
        return Sum(terms)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sum) and self.terms == other.terms

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self.terms.items()))
        return self._hash


def number(value: float) -> Sum:
    """A constant sum."""
    return Sum({(): value})


class Atoms:
    """The atoms of one recurrence, each once, by number."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}
        self._atoms: list[Atom] = []
        self._depths: list[int] = []
        self._cut: dict[tuple[int, int, int], int] = {}

    def __getitem__(self, index: int) -> Atom:
        return self._atoms[index]

    def index(self, atom: Atom) -> int:
        """The number of an atom.

        Raises:
            Unfit: an atom nested too deeply.
        """
        position = self._numbers.get(atom)
        if position is None:
            depth = self._depth(atom)
            if depth > _DEEPEST:
                raise Unfit(f"nests more than {_DEEPEST} activations and products of matrices")
            position = self._numbers[atom] = len(self._atoms)
            self._atoms.append(atom)
            self._depths.append(depth)
        return position

    def of(self, atom: Atom) -> Sum:
        """The sum of one atom."""
        return Sum({(self.index(atom),): 1.0})

    def alone(self, monomial: Monomial) -> Atom | None:
        """The only atom of a monomial; None for none or several."""
        return self._atoms[monomial[0]] if len(monomial) == 1 else None

    def free(self, monomial: Monomial) -> bool:
        """Test for a state-independent monomial without products of matrices."""
        return all(isinstance(self._atoms[index], Free) for index in monomial)

    def holds_product(self, total: Sum) -> bool:
        """Test for a product with a matrix, outside of activations."""
        return any(isinstance(self._atoms[i], Product) for terms in total.terms for i in terms)

    def _depth(self, atom: Atom) -> int:
        if isinstance(atom, Product):
            inner = atom.source
        elif isinstance(atom, Activation):
            inner = tuple([index for monomial in atom.argument.terms for index in monomial])
        else:
            return 0
        return 1 + max((self._depths[index] for index in inner), default=0)

    def cut(self, total: Sum, start: int, stop: int) -> Sum:
        """Cut some columns of a sum.

        Raises:
            Unfit: the sum holds a state, whose columns are not separated.
        """
        terms: dict[Monomial, float] = {}
        for monomial, factor in total.terms.items():
            part = tuple(sorted([self._cut_atom(index, start, stop) for index in monomial]))
            terms[part] = terms.get(part, 0.0) + factor
        return Sum(terms)

    def _cut_atom(self, index: int, start: int, stop: int) -> int:
        key = index, start, stop
        if key not in self._cut:
            self._cut[key] = self.index(self._part(self._atoms[index], start, stop))
        return self._cut[key]

    def _part(self, atom: Atom, start: int, stop: int) -> Atom:
        if isinstance(atom, StateAtom):
            raise Unfit(f"takes columns of '{atom.state.argument.name}' alone")
        if isinstance(atom, Free):
            first = atom.columns[0] if atom.columns is not None else 0
            columns = (first + start, first + stop)
            return Free(atom.value, atom.width, columns) if atom.width else atom
        if isinstance(atom, Product):
            return Product(atom.source, atom.matrix.columns(start, stop))
        argument = self.cut(atom.argument, start, stop)
        return Activation(atom.kind, atom.alpha, atom.beta, argument)
