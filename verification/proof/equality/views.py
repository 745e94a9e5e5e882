"""Views through elementwise operators: a reshaped result is the operator on reshaped operands."""

from collections.abc import Iterator

from ....facts.fact import Shape
from ....facts.polynomial import product
from ....ops.axes import ONE
from ..terms.axis_maps import ELEMENTWISE
from ..terms.term import Pair, Term
from ..terms.term_manager import Terms


class Views:
    """Rule of comparison for a view and an operator."""

    def __init__(self, terms: Terms) -> None:
        self._terms = terms

    def pushed(self, one: Term, other: Term) -> list[Pair] | None:
        """Pair after a view on one side has moved to the operands of an operator."""
        for term, place in ((one, other), (other, one)):
            below = term.operands[0] if term.head.name == "view" else None
            if below is None or below.fact.shape is None or place.fact.shape != term.fact.shape:
                continue
            if _long(below.fact.shape) == _long(term.shape):
                continue  # other unit axes: slices see through these
            moved = self.in_shape(place, below.fact.shape)
            if moved is not None:
                return [(below, moved) if term is one else (moved, below)]
            moved = self.in_shape(below, term.shape)
            if moved is not None:
                return [(moved, place) if term is one else (place, moved)]
        return None

    def in_shape(self, term: Term, shape: Shape) -> Term | None:
        """Operator in another shape; None if its operands are not so reshaped.

        An operand has all elements along a group of axes that the shapes share, or one of them.
        """
        if term.head.name not in ELEMENTWISE or term.index or term.head.attribute("broadcast"):
            return None
        whole, operands = term.shape, list(term.args)
        groups = list(_groups(whole, shape))
        for index, arg in enumerate(term.args):
            own = None if arg is None else arg.fact.shape
            if arg is None or own == ():
                continue
            reshaped = None if own is None else _reshaped(own, whole, groups)
            if reshaped is None:
                return None
            operands[index] = self._terms.view(arg, reshaped)
        moved = self._terms.rebuild(term, tuple(operands))
        return moved if moved.fact.shape == shape else None


def _long(shape: Shape) -> Shape:
    """Shape without axes of length 1."""
    return tuple([dim for dim in shape if dim.value != 1])


Group = tuple[int, int, Shape]
"""Axes of a shape from one to another, and the axes that they are in the other shape."""


def _groups(one: Shape, other: Shape) -> Iterator[Group]:
    """Groups of axes, as short as possible, that have equally many elements in both shapes."""
    start = at = 0
    for end in range(1, len(one) + 1):
        for behind in range(at, len(other) + 1):
            if product(one[start:end]) == product(other[at:behind]):
                if end == len(one):
                    behind = len(other)
                yield start, end, other[at:behind]
                start, at = end, behind
                break
    if start < len(one):
        yield start, len(one), other[at:]


def _reshaped(own: Shape, whole: Shape, groups: list[Group]) -> Shape | None:
    """Shape of an operand that broadcasts to a whole, after the whole is reshaped."""
    padded = (ONE,) * (len(whole) - len(own)) + own
    result: list[Shape] = []
    for start, end, behind in groups:
        dims = padded[start:end]
        if dims == whole[start:end]:
            result.append(behind)
        elif all(dim.value == 1 for dim in dims):
            result.append((ONE,) * len(behind))
        else:
            return None
    return tuple([dim for dims in result for dim in dims])
