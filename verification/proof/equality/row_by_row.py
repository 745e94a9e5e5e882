"""Tensors that are equal at each position of an axis: movement as a map of indices.

One side may move, broadcast or reshape before an operator and the other one after it. A slice at an
unknown position of an axis is pushed down on both sides (`slice_pushdown.py`), and along one axis
after the other the movements become positions of slices of the same tensors.
"""

from collections.abc import Collection

from ....ops.axes import ONE
from ..terms.term import Pair, Term, reach
from ..terms.term_manager import Terms
from .induction import Induction
from .slice_pushdown import SlicePushdown


class RowByRow:
    """Pairs of slices that must be equal for two tensors to be equal.

    Args:
        induction: source of symbols for positions.

    Attributes:
        cuts: terms that both sides are known to contain; the search for others ends there.
    """

    def __init__(self, terms: Terms, pushdown: SlicePushdown, induction: Induction) -> None:
        self._terms = terms
        self._pushdown = pushdown
        self._induction = induction
        self.cuts: Collection[Term] = ()

    def pair(self, one: Term, other: Term) -> Pair | None:
        """Slices of two terms at an unknown position of the first axis that permits it."""
        shape = one.fact.shape
        if not shape or shape != other.fact.shape or one.fact.elem_type != other.fact.elem_type:
            return None
        for axis, size in enumerate(shape):
            if size.value == 1:
                continue
            index = self._induction.symbol(size)
            rows, is_open = [], True
            for term in (one, other):
                row = self._pushdown.of(term, axis, index, ONE)
                stays = row.head.name == "narrow" and row.args[0] in (one, other)
                # A slice of an input stays one, and may be what is left of the other side.
                if stays and term.args:
                    break
                rows.append(row)
                is_open = is_open and stays
            if len(rows) == 2 and not is_open:
                return rows[0], rows[1]
        return None

    def shared(self, one: Term, other: Term) -> set[Term]:
        """Terms that both sides contain. A slice of them needs no rule."""
        # A pair of terms that are cuts themselves still differs.
        ends = {None, *self.cuts} - {one, other}
        visited: tuple[set[Term | None], set[Term | None]] = set(ends), set(ends)
        for term, reached in zip((one, other), visited, strict=True):
            reach(term, reached)
            self._terms.budget.step(len(reached) - len(ends) + 1)
        return {term for term in visited[0] & visited[1] if term is not None and term.args}
