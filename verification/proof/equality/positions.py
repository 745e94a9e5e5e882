"""Slices at known positions as instances of a slice at any position.

Where a model writes out the iterations of a loop and the other computes a part of them at once,
each iteration compares its own part with a slice. All of these pairs are instances of one pair over
an unknown position (anti-unification, G. Plotkin 1970), which suffices for them.
"""

from ....facts.fact import element
from ....facts.polynomial import Dimension
from ....ops.axes import ONE
from ..terms.term import Pair, Term
from ..terms.term_manager import Terms
from .induction import Induction

_MOST_TERMS = 32
"""Limit of operators in a term, so that a whole history of states is not rebuilt."""

_LEAST_SIZE = 16
"""Size of an axis below which positions are compared one by one."""

_MOVES = ("view", "narrow")

Place = tuple[Dimension, Dimension]
"""Position and size of an axis."""


class Positions:
    """Generalization of pairs over the position of a slice.

    Args:
        induction: the source of symbols for positions.
    """

    def __init__(self, terms: Terms, induction: Induction) -> None:
        self._terms = terms
        self._induction = induction
        self._anywhere: dict[Dimension, Dimension] = {}

    def general(self, one: Term, other: Term) -> Pair | None:
        """Pair at any position, of which two terms are an instance; None if there is none.

        One variable serves all pairs, so that none of these may hold it: they have no variables.
        """
        if self._terms.symbols.free(one) or self._terms.symbols.free(other):
            return None
        cone = _cone(other)
        self._terms.budget.step(len(cone))
        places = [place for term in cone if (place := _place(term)) is not None]
        if not places:
            return None
        after, before = (self._at_any(each, places[0]) for each in (cone, _cone(one)))
        return None if before is None or after is None else (before, after)

    def _at_any(self, cone: list[Term], place: Place) -> Term | None:
        """Last term of a cone with slices at any position instead of one; None without such."""
        terms, results = self._terms, dict[Term | None, Term]()
        for term in cone:
            args = tuple([results.get(arg, arg) for arg in term.args])
            if _place(term) == place and args[0] is not None:
                start = self._symbol(place[1])
                results[term] = terms.narrow(args[0], term.head.key, start, ONE)
            elif any(a is not b for a, b in zip(args, term.args, strict=True)):
                if term.head.op is None and term.head.name not in _MOVES:
                    return None
                results[term] = terms.rebuild(term, args)
        return results.get(cone[-1]) if cone else None

    def _symbol(self, size: Dimension) -> Dimension:
        if size not in self._anywhere:
            self._anywhere[size] = self._induction.symbol(size)
        return self._anywhere[size]


def _place(term: Term) -> Place | None:
    """Position of a slice of one element at a number, along a long axis; None for other terms."""
    if term.head.name != "narrow":
        return None
    x, first, length = term.operands
    start, size = element(first.fact), x.shape[term.head.key]
    if element(length.fact) != ONE or start.value is None or (size.value or 0) < _LEAST_SIZE:
        return None
    return start, size


def _cone(root: Term) -> list[Term]:
    """Operators in a term, arguments first; empty if there are many."""
    visited = {root}
    stack = [root] if root.args else []
    cone = list[Term]()
    while stack:
        term = stack.pop()
        cone.append(term)
        if len(cone) > _MOST_TERMS:
            return []
        new = {arg for arg in term.args if arg is not None and arg.args} - visited
        visited |= new
        stack += new
    return sorted(cone, key=lambda term: term.number)
