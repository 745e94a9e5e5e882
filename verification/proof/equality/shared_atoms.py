"""Functions of different atoms: over the reals, they are equal if they are after one is the other.

Real terms compare functions of the same atoms. Here the atoms of the rewrite, such as a product of
matrices, take the place of those of the original in the same order. If the functions are equal
then, they are equal if the atoms are, which any rule may prove.
"""

from __future__ import annotations

from collections.abc import Callable

from ....ops.axes import REDUCTIONS
from ..reals.real_terms import FLOATS
from ..terms.axis_maps import ELEMENTWISE
from ..terms.term import Pair, Term
from ..terms.term_manager import Terms
from .substitution import Substitution

_MOST_ATOMS = 6
_MOST_VISITED = 64
_WITHIN = ELEMENTWISE | frozenset(REDUCTIONS) | {"Gelu", "LayerNormalization", "RMSNormalization"}
"""Operators of a function; the results of all others are its atoms."""


def pair_atoms(
    terms: Terms, are_equal: Callable[[Term, Term], bool], one: Term, other: Term
) -> list[Pair] | None:
    """Pairs of atoms that must be equal for two functions to be equal; None where that is unknown.

    Args:
        terms: the terms of both models.
        are_equal: test for functions of equal atoms.
        one: a term of the original.
        other: a term of the rewrite.
    """
    if one.head is other.head or one.fact.elem_type not in FLOATS:
        return None
    atoms = [_atoms(term) for term in (one, other)]
    shared = set(atoms[0]).intersection(atoms[1])
    own, others = ([atom for atom in each if atom not in shared] for each in atoms)
    if len(own) != len(others) or not 0 < len(own) <= _MOST_ATOMS:
        return None
    pairs = list(zip(own, others, strict=True))
    if not all(a.head is b.head and a.fact.shape == b.fact.shape for a, b in pairs):
        return None
    substituted = Substitution(terms, {b: a for a, b in pairs}, {}).of(other)
    return pairs if are_equal(one, substituted) else None


def _atoms(root: Term) -> list[Term]:
    """Atoms of a function but for constants and inputs, from left to right."""
    atoms: dict[Term, None] = {}
    visited, pending = set[Term](), [root]
    while pending and len(visited) < _MOST_VISITED:
        term = pending.pop()
        if term in visited:
            continue
        visited.add(term)
        if term.head.name in _WITHIN and term.index == 0:
            pending += term.operands[::-1]
        elif term.args:
            atoms[term] = None
    return list(atoms)
